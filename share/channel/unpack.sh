# Builder of one tree: unpacks Debian packages into $out and makes them self-contained. Runs in a
# nix build, from build.nix, with the host's bash, dpkg-deb, tar, perl-base and patchelf.
#
#   debs        .deb files        uses     trees whose libraries and programs it may use
#   propagates  trees for nix-support/propagated-build-inputs
#   kind        which finish_KIND to run             links  more links, name=target
#   moved       names to be changed in texts         environment  variables of its programs, name=value

# shellcheck shell=bash disable=SC2154  # nix gives the variables
shopt -s nullglob
read -ra debs <<<"$debs"
read -ra uses <<<"$uses"
read -ra links <<<"$links"
read -ra moved <<<"$moved"
read -ra environment <<<"$environment"
trees=("$out" "${uses[@]}")

fail() {
	printf 'unpack: %s\n' "$*" >&2
	exit 1
}

# Unpacks all packages as onto a machine where /bin, /lib … are links into /usr, then takes usr for
# the tree. tar's options leave out owners and, with them, set-uid bits.
unpack() {
	local name deb
	for name in bin sbin lib lib64; do
		mkdir -p "root/usr/$name"
		ln -s "usr/$name" "root/$name"
	done
	for deb in "${debs[@]}"; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C root --no-same-owner --no-same-permissions --keep-directory-symlink
	done
	chmod -R u+w,u-s,g-s root
	rm -rf root/usr/share/{man,info,locale,lintian,bug,doc-base}
	[[ ! -d root/usr/share/doc ]] ||
		find root/usr/share/doc ! -type d ! -name copyright -delete
	mv root/usr "$out"
	for name in etc var; do
		[[ ! -d root/$name ]] || mv "root/$name" "$out/$name"
	done
	find "$out" -depth -type d -empty -delete
}

# Sets REPLY to where a path of the distribution is in one of the trees; fails if it is in none.
tree_find() {
	local path=${1#/usr} tree
	for tree in "${trees[@]}"; do
		REPLY=$tree$path
		[[ ! -e $REPLY ]] || return 0
	done
	return 1
}

# Prints it.
in_trees() {
	tree_find "$1" && printf '%s' "$REPLY"
}

# Sets REPLY to an absolute path without dots, whatever of it is a link or not there. As realpath -ms, but
# some packages have a thousand links.
plain_path() {
	local part parts plain=()
	IFS=/ read -ra parts <<<"$1"
	for part in "${parts[@]}"; do
		case $part in
		'' | .) ;;
		..) [[ ${#plain[@]} == 0 ]] || unset "plain[-1]" ;;
		*) plain+=("$part") ;;
		esac
	done
	printf -v REPLY '/%s' "${plain[@]}"
}

# A link pointed into /usr, /etc or /var, absolute or by dots: now to the same file in this tree, or in one
# it uses. What is in neither (documentation of others, update-alternatives) goes.
fix_symlinks() {
	local link at to found
	# Twice, since a link to a link that is still broken counts as missing.
	for _ in 1 2; do
		while IFS= read -r -d '' link && IFS= read -r -d '' to; do
			[[ $to != "$NIX_STORE"/* ]] || continue
			at=${link#"$out"}
			[[ $at == /etc/* || $at == /var/* ]] || at=/usr$at
			[[ $to == /* ]] && at=$to || at=${at%/*}/$to
			plain_path "$at"
			tree_find "$REPLY" && [[ $REPLY != "$link" ]] || continue
			found=$REPLY
			if [[ $found != "$out"/* ]]; then
				ln -sfn "$found" "$link"
			elif plain_path "${link%/*}/$to" && [[ $to == /* || $REPLY != "$found" ]]; then
				ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$found")" "$link"
			fi
		done < <(find "$out" -type l -printf '%p\0%l\0')
	done
	find "$out" -type l \( -xtype l -o -lname '/*' ! -lname "$NIX_STORE/*" \) -printf 'dropped link: %P -> %l\n' -delete
}

# Prints the programs and shared libraries among the tree's files that can take an rpath, ELF files of type
# EXEC or DYN with a dynamic section, each once: interpreter, rpath, needed libraries and name. What there
# is none of is "-". Fails at a file of which one segment would be mapped over another.
elf_files() {
	find "$out" -type f -print0 | perl -0ne '
		chomp;
		open my $file, "<:raw", $_ or die "$_: $!\n";
		next if $seen{join " ", (stat $file)[0, 1]}++;
		sub part { seek $_[0], $_[1], 0; read $_[0], my $bytes, $_[2]; return $bytes }
		my $head = part($file, 0, 64);
		next unless length $head == 64 and $head =~ /^\x7fELF\x02\x01/;
		my ($type, $at, $size, $count) = unpack "x16 v x14 Q< x14 v v", $head;
		next unless $type == 2 or $type == 3;
		my (@loads, $interpreter, @entries);
		for (unpack "(a$size)$count", part($file, $at, $size * $count)) {
			my ($kind, $offset, $address, $length, $memory) = unpack "V x4 Q< Q< x8 Q< Q<", $_;
			push @loads, [$address, $offset, $length, $memory] if $kind == 1;
			@entries = unpack "(Q<2)*", part($file, $offset, $length) if $kind == 2;
			$interpreter = unpack "Z*", part($file, $offset, $length) if $kind == 3;
		}
		my ($name, $end) = ($_, 0);
		for (sort { $a->[0] <=> $b->[0] } @loads) {
			die "$name: its segments overlap\n" if ($_->[0] & ~0xfff) < $end;
			$end = $_->[0] + $_->[3];
		}
		next unless @entries;
		my %of;
		while (my ($tag, $value) = splice @entries, 0, 2) {
			last unless $tag;
			push @{$of{$tag}}, $value;
		}
		my ($strings) = map { $of{5}[0] - $_->[0] + $_->[1] }
			grep { $of{5}[0] >= $_->[0] and $of{5}[0] < $_->[0] + $_->[2] } @loads;
		my $text = part($file, $strings, $of{10}[0]);
		my @needed = map { unpack "x$_ Z*", $text } @{$of{1}};
		my ($rpath) = map { unpack "x$_ Z*", $text } @{$of{29}}, @{$of{15}};
		print join("\t", map { length ? $_ : "-" } $interpreter, $rpath, "@needed", $_), "\n";
	'
}

# Every ELF file gets the loader of the C library's tree, and an rpath of this tree and those it
# uses. RPATH, not RUNPATH: it holds for libraries loaded later too, and before LD_LIBRARY_PATH.
# The rpath first, and the loader by itself: both at once, or the other way round, patchelf 0.18 may give a
# program at a fixed address segments that overlap, which then ends before it begins.
fix_elf() {
	local directories=() tree file interpreter rpath old needed part change names
	local -A files=() programs=()
	for tree in "${trees[@]}"; do
		for part in "$tree"/lib/*-linux-gnu* "$tree"/lib; do
			if compgen -G "$part/*.so*" >/dev/null; then
				directories+=("$part")
			fi
		done
	done
	elf_files >elf-files
	while IFS=$'\t' read -r interpreter old needed file; do
		case ${file##*/} in
		# The loader and the C library need nothing else, and patchelf breaks them.
		ld-linux*.so.* | libc.so.6) continue ;;
		esac
		rpath=$(rpath_of "$file" "${old#-}")
		rpath+=$(IFS=: && printf '%s' "${directories[*]}")
		for part in ${needed#-}; do
			library_found "$part" "$file" "$rpath" ||
				fail "${file#"$out"/} needs $part, which is in none of: ${trees[*]}"
		done
		files[$rpath]+=$file$'\n'
		[[ $interpreter == - ]] || programs[$(in_trees "$interpreter")]+=$file$'\n'
	done <elf-files
	for change in "${!files[@]}"; do
		mapfile -t names <<<"${files[$change]%$'\n'}"
		patchelf --force-rpath --set-rpath "$change" "${names[@]}"
	done
	for change in "${!programs[@]}"; do
		mapfile -t names <<<"${programs[$change]%$'\n'}"
		patchelf --set-interpreter "$change" "${names[@]}"
	done
	elf_files >/dev/null
}

# What of a file's own rpath, if it has one, is to stay before the trees, with a colon behind each.
rpath_of() {
	local part
	for part in ${2//:/ }; do
		case $part in
		/usr/*) printf '%s:' "$out${part#/usr}" ;;
		\$ORIGIN*) printf '%s:' "$part" ;;
		# Where the distribution built it, which is nowhere.
		/build/*) ;;
		*) fail "${1#"$out"/}: rpath $part" ;;
		esac
	done
}

# Whether the loader will find a library for a file with this rpath.
library_found() {
	local needed=$1 file=$2 rpath=$3 part
	for part in ${rpath//:/ }; do
		part=${part//\$ORIGIN/${file%/*}}
		[[ ! -e $part/$needed ]] || return 0
	done
	return 1
}

# The interpreters of scripts, where one of the trees has them. The rest (/bin/sh, /usr/bin/perl) is
# in every session at its usual place.
fix_shebangs() {
	local file line interpreter
	while IFS= read -r -d '' file; do
		IFS= read -r -n 200 line <"$file" 2>/dev/null || continue
		[[ $line =~ ^'#!'\ *(/usr/bin/env\ +)?([^ ]+)(.*)$ ]] || continue
		interpreter=${BASH_REMATCH[2]##*/}
		if interpreter=$(in_trees "/bin/$interpreter"); then
			sed -i "1s|.*|#!$interpreter${BASH_REMATCH[3]}|" "$file"
		fi
	done < <(find "$out" -type f -perm /111 -print0)
}

# In scripts, modules and settings, what is in this tree now.
fix_texts() {
	local name place file
	for name in "${moved[@]}"; do
		place=$out${name#/usr}
		[[ -e $place ]] || fail "$name is to be moved, and is not there"
		while IFS= read -r -d '' file; do
			# Interpreters have been seen to.
			sed -i -e '1{/^#!/b' -e '}' -e "s|$name\\b|$place|g" "$file"
		done < <(grep -rlIZF "$name" "$out")
	done
}

# Programs that look for their files at the distribution's places are told of the tree's. Those that
# are links to a program elsewhere in it may be what they are by their name.
fix_environment() {
	local script='#!@bash@' variable program
	((${#environment[@]})) || return 0
	for variable in "${environment[@]}"; do
		variable=${variable//@lib@/$library}
		script+=$'\n'"export ${variable%%=*}='${variable#*=}'"
	done
	script+=$'\nexec -a "$0" @real@ "$@"'
	for program in "$out"/bin/*; do
		if [[ ! -L $program ]]; then
			wrap "$program" "$script"
		elif [[ $(realpath "$program") != "$out"/bin/* ]]; then
			wrapper "$program" "$(realpath "$program")" "$script"
		fi
	done
}

finish_plain() {
	:
}

# Closes the ways by which the C library and its loader would still map the host's libraries into
# a process: the loader's cache, preload list and default directories (nss modules come in like
# that: the host's nsswitch.conf names them), and the directory of character sets. The names that
# they get instead, of the same length, exist nowhere.
finish_libc() {
	local directory=("$out"/lib/*-linux-gnu*) loader
	loader=$(realpath "${directory[0]}"/ld-linux*.so.*)
	TRIPLET=${directory[0]##*/} perl -0777 -i -pe '
		my $t = $ENV{TRIPLET};
		if (m{/etc/ld\.so\.cache}) {
			s{\0/lib/\Q$t\E/\0/usr/lib/\Q$t\E/\0/lib/\0/usr/lib/\0}
			 {\0/nix/$t/\0/nix/lib/$t/\0/nix/\0/nix/lib/\0}g or die "$ARGV: no directories\n";
			s{/etc/ld\.so\.cache}{/nix/ld-so-cache}g;
			s{/etc/ld\.so\.preload}{/nix/ld-so-preload}g or die "$ARGV: no preload list\n";
		} else {
			s{/usr/lib/\Q$t\E/gconv}{/nix/lib/$t/gconv}g or die "$ARGV: no gconv\n";
		}
	' "$loader" "${directory[0]}/libc.so.6"
}

# Compiles the modules beforehand, since the store is read-only. Without time stamps in the result:
# the store sets all of them to 1970.
finish_python() {
	local python
	python=$(in_trees /bin/python3)
	PYTHONHASHSEED=0 "$python" -m compileall -q --invalidation-mode unchecked-hash \
		"$out"/lib/python3*
}

# The list of plugins, which the distribution has the package make when it is installed.
finish_graphviz() {
	"$out/bin/dot" -c
}

# Programs are linked by the compiler that it uses, with the linker of always, and find the libraries that
# are not Haskell's in this tree. Profiling takes a third of it all.
finish_ghc() {
	local directory=$out/lib/ghc compiler
	compiler=$(in_trees /bin/gcc)
	find "$directory" \( -name '*_p.a' -o -name '*.p_hi' -o -name '*-iserv-prof' \) -delete
	find "$directory" -name settings -exec sed -i -e 's/-fuse-ld=gold//; s/-ld\.gold/-ld/' \
		-e "s|\"\([a-z0-9_]*-linux-gnu-\)|\"${compiler%/*}/\1|" \
		-e "s|(\"C compiler link flags\", \"|&-Wl,-rpath,$out/$library |" {} +
	sed -i "s|^\(dynamic-\)\?library-dirs: .*|& $out/$library|" "$out"/var/lib/ghc/package.conf.d/{rts,ghc-bignum-*}.conf
	"$out/bin/ghc-pkg" recache
}

# What programs of bytecode begin with: the name of what runs them.
finish_ocaml() {
	find "$out/lib/ocaml" -name '*camlheader*' -exec sed -i "1s|^#!/usr/bin/|#!$out/bin/|" {} +
}

# The compiler finds its own parts from where it lies; headers, start files and libraries it takes
# from a system root. The tree is made one: usr leads to itself, the C library is linked in. The
# linker's wrapper names the store's loader and libraries in what it makes.
finish_gcc() {
	local libc=${uses[0]} library name loader triplet
	triplet=$(basename "$out"/lib/*-linux-gnu*)
	ln -s . "$out/usr"
	for library in "$libc/lib/$triplet"/*.so* "$libc"/lib64/* "$libc"/lib/ld-linux*; do
		name=$out${library#"$libc"}
		mkdir -p "${name%/*}"
		[[ -e $name ]] || ln -s "$library" "$name"
	done
	loader=$(patchelf --print-interpreter "$(realpath "$out/bin/gcc")")
	for name in "$out/bin/$triplet"-{cpp,gcc,g++}-[0-9]*; do
		wrap "$name" "$gccWrapper"
	done
	# Debian 13 has gold in a package of its own.
	for name in "$out/bin/$triplet"-ld.{bfd,gold}; do
		[[ -e $name ]] || continue
		wrap "$name" "$ldWrapper" -e "s|@loader@|$loader|" \
			-e "s|@rpath@|$libc/lib/$triplet:$out/lib/$triplet|"
	done
}

# Puts a script in a program's place, and the program into libexec. That has to be beside bin: the
# compiler driver finds its parts by going up from its own directory and into lib/gcc.
wrap() {
	local program=$1 real=$out/libexec/${1##*/}
	mkdir -p "$out/libexec"
	# Some have a directory of their own name there.
	[[ ! -e $real ]] || real+=.program
	mv "$program" "$real"
	wrapper "$program" "$real" "${@:2}"
}

# Writes the script of a program that is elsewhere, with what sed has to replace besides.
wrapper() {
	local program=$1 real=$2 script=$3
	rm -f "$program"
	sed -e "s|@bash@|$(in_trees /bin/bash)|" -e "s|@real@|$real|" -e "s|@out@|$out|g" "${@:4}" \
		<<<"$script" >"$program"
	chmod 755 "$program"
}

unpack
# Where shared libraries are, in each tree that has some.
for tree in "${trees[@]}"; do
	for library in "$tree"/lib/*-linux-gnu*; do
		library=${library#"$tree/"}
		break 2
	done
done
for link in "${links[@]}"; do
	name=${link%%=*}
	ln -sfn "${link#*=}" "$out/${name//@lib@/$library}"
done
fix_symlinks
fix_elf
fix_shebangs
fix_texts
fix_environment
"finish_$kind"
if [[ -n $propagates ]]; then
	mkdir -p "$out/nix-support"
	printf '%s\n' "$propagates" >"$out/nix-support/propagated-build-inputs"
fi
