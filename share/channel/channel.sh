# Builder of the channel itself: the files that a session's <nixpkgs> consists of, and the index of the
# programs in its packages. Runs in a nix build, from build.nix, with the host's bash, nix-store,
# dpkg-deb, tar and sqlite3.
#
#   packages  the table of packages, but for the sizes    lock, default  files that are part of it
#   stdenv    what a shell starts from                    libexec        where lodger-packages is

# shellcheck shell=bash disable=SC2154  # nix gives the variables

# Names of a tree's programs, one a line. With a package, only that package's, and links to them.
programs() {
	local tree=$1 deb=$2 own=
	[[ -d $tree/bin ]] || return 0
	[[ $deb == - ]] || own=$(dpkg-deb --fsys-tarfile "$deb" | tar -t)
	find "$tree/bin" -mindepth 1 -maxdepth 1 -xtype f -executable ! -name '*[[:cntrl:]]*' \
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
cp "$lockPath" "$out/lock.json"
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
sed -n 's/^export \(LOCPATH=[^ ]*\) \(GCONV_PATH=[^ ]*\)$/\1\n\2/p' "$stdenv/setup" >"$out/environment"
[[ -s $out/environment ]]

# The last directory of a session's PATH: each program by its name, to have it when it is called.
ln -s "$libexec/lodger-packages" "$out/command"
cut -f 1 index | uniq | while IFS= read -r name; do
	ln -s ../command "$out/commands/$name"
done
