# Builder of the channel itself: the files that a session's <nixpkgs> consists of, and the index of the
# programs in its packages. Runs in a nix build, from build.nix or pin.nix, with the host's bash,
# nix-store, sqlite3 and, for the starter, dpkg-deb and tar.
#
#   packages  the table of packages, but for the sizes    lock, default  files that are part of it
#   closure   the derivations that sessions may have built
#   settings  of the daemon of sessions, in nix.conf's form
#   stdenv    the starter's: what a shell starts from     libexec        where lodger-packages is
#   source    a pinned set's tree, whose files stand beside default.nix

# shellcheck shell=bash disable=SC2154  # nix gives the variables

# Names of a tree's programs, one a line. With a package, only that package's, and links to them.
programs() {
	local tree=$1 deb=$2 own=
	[[ -d $tree/bin ]] || return 0
	[[ $deb == - ]] || own=$(dpkg-deb --fsys-tarfile "$deb" | tar -t)
	# With a dot begin what nixpkgs has behind a script of the same name.
	find "$tree/bin" -mindepth 1 -maxdepth 1 -xtype f -executable ! -name '*[[:cntrl:]]*' ! -name '.*' \
		-printf '%f\t%l\n' |
		DEB=$deb OWN=$own perl -F'\t' -lane '
			BEGIN { %own = map { (m{^\./(?:usr/)?bin/(.+)}, 1)[0, -1] } split /\n/, $ENV{OWN} }
			$F[1] =~ s{.*/}{};
			print $F[0] if $ENV{DEB} eq "-" or $own{$F[0]} or $own{$F[1]};
		'
}

# Writes packages.tsv, and to `index` a line for each program: name, system, attribute.
table() {
	local name version tree drv description deb
	local -A sizes=()
	while IFS=$'\t' read -r name version tree drv description deb; do
		[[ ${sizes[$tree]-} ]] || sizes[$tree]=$(nix-store --dump "$tree" | wc -c)
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' \
			"$name" "$version" "$tree" "$drv" "$description" "${sizes[$tree]}"
		programs "$tree" "$deb" | sed "s|\$|\t$system\t$name|" >&"$index"
	done <"$packagesPath"
}

mkdir "$out" "$out/commands"
cp "$defaultPath" "$out/default.nix"
LC_ALL=C sort "$morePath" >"$out/more.tsv"
cp "$lockPath" "$out/lock.json"
cp "$closurePath" "$out/closure"
cp "$settingsPath" "$out/nix.conf"
# By bytes: lodger looks names up by halves.
exec {index}>index.unsorted
table | LC_ALL=C sort >"$out/packages.tsv"
exec {index}>&-
LC_ALL=C sort -u index.unsorted >index

# As NixOS's channels have it. The mode named ascii is the one that takes no quotes for special.
sqlite3 "$out/programs.sqlite" <<-END
	create table Programs (
	  name text not null, system text not null, package text not null,
	  primary key (name, system, package)
	);
	.mode ascii
	.separator "\t" "\n"
	.import index Programs
	vacuum;
END

# What a shell sets beside PATH, for programs that are run without one.
: >"$out/environment"
if [[ ${stdenv-} ]]; then
	sed -n 's/^export \(LOCPATH=[^ ]*\) \(GCONV_PATH=[^ ]*\)$/\1\n\2/p' "$stdenv/setup" >"$out/environment"
	[[ -s $out/environment ]]
fi

# The last directory of a session's PATH: each program by its name, to have it when it is called.
ln -s "$libexec/lodger-packages" "$out/command"
cut -f 1 index | uniq | while IFS= read -r name; do
	ln -s ../command "$out/commands/$name"
done

# <nixpkgs/lib> and the like. What has a name of the channel's own is not among them.
if [[ ${source-} ]]; then
	find "$source" -mindepth 1 -maxdepth 1 -print0 | while IFS= read -r -d '' file; do
		[[ -e $out/${file##*/} ]] || ln -s "$file" "$out/${file##*/}"
	done
fi
