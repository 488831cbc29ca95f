# The starter channel and the sessions' nix-daemon, for real: as root on this machine's /nix, with an
# installed Lodger (or the source tree's scripts and an installed /etc/lodger/nix/nix.conf). Clients
# run as an unprivileged uid of the session range. What is changed on purpose is changed in a mount
# namespace of the test's own.

bats_require_minimum_version 1.5.0

setup_file() {
	local share=$BATS_TEST_DIRNAME/../../share
	[ "$EUID" = 0 ] || {
		echo "must run as root" >&2
		return 1
	}
	CHANNEL_TOOL=${LODGER_CHANNEL_TOOL:-/usr/local/sbin/lodger-channel}
	[ -x "$CHANNEL_TOOL" ] || CHANNEL_TOOL=$share/channel/lodger-channel
	DAEMON=${LODGER_LIBEXEC:-/usr/local/libexec/lodger}/lodger-nix-daemon
	[ -x "$DAEMON" ] || DAEMON=$share/nix/lodger-nix-daemon
	export CHANNEL_TOOL DAEMON
	"$CHANNEL_TOOL" starter >&2
	DAEMON_PID=
	if ! daemon_runs; then
		"$DAEMON" >"$BATS_FILE_TMPDIR/daemon.log" 2>&1 3>&- &
		DAEMON_PID=$!
		until daemon_runs; do
			kill -0 "$DAEMON_PID" || return 1
			sleep 0.1
		done
	fi
	export DAEMON_PID
}

teardown_file() {
	[ -z "$DAEMON_PID" ] || kill "$DAEMON_PID"
}

setup() {
	. "$BATS_TEST_DIRNAME/../lib/listener.bash"
	. "$BATS_TEST_DIRNAME/../lib/said.bash"
	T=$BATS_TEST_TMPDIR
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$T" "$(dirname "$T")"
	mkdir "$T/socket"
	install -d -o 1879048200 -g 1879048200 "$T/home"
	CHANNEL=$(readlink /var/lib/lodger/channel)
	LISTENER=
}

teardown() {
	[ -z "$LISTENER" ] || kill "$LISTENER" 2>/dev/null || true
}

daemon_runs() {
	[ -S /run/lodger/packages/daemon/socket ] && ! flock --nonblock /run/lodger/packages/lock true
}

# Runs a command as a session's uid, in a home of its own, with the gate's socket where only a
# session has it.
as_lodger() {
	client 1879048200 /run/lodger/packages/daemon-socket "$@"
}

# The same past the gate: as its user, with the daemon's own socket, or another's (SOCKETS).
past_gate() {
	chown -R lodger-gate: "$T/home"
	client lodger-gate "${SOCKETS:-/run/lodger/packages/daemon}" "$@"
}

client() {
	T=$T WHO=$1 SOCKETS=$2 unshare --mount bash -c '
		mount --bind "$SOCKETS" "$T/socket" && cd "$T/home" || exit 99
		exec setpriv --reuid="$WHO" --regid="$WHO" --clear-groups --no-new-privs \
			env -i PATH=/usr/bin:/bin HOME="$T/home" TMPDIR="$T/home" LANG=C.UTF-8 TERM=dumb \
			NIX_REMOTE=daemon NIX_DAEMON_SOCKET_PATH="$T/socket/socket" \
			NIX_PATH=nixpkgs="$0" "$@"' "$CHANNEL" "${@:3}"
}

# Runs the channel tool with its state and roots in the test's own directory, so that it can switch
# there whatever it likes.
apart() {
	mkdir -p "$T/state" "$T/roots"
	T=$T unshare --mount bash -c '
		mount --bind "$T/state" /var/lib/lodger && mount --bind "$T/roots" /nix/var/nix/gcroots/lodger &&
			exec "$@"' - "$CHANNEL_TOOL" "$@"
}

# A derivation that asks the daemon to fetch from the listener, each time another.
fetch_file() {
	fetch_expression "secret-$RANDOM" >"$T/home/fetch.nix"
	chmod 644 "$T/home/fetch.nix"
}

# Starts a daemon on a socket of the test's own, with nix.conf as installed but for a sed script, and
# with the host's network.
other_daemon() {
	mkdir -p "$T/conf" "$T/sockets"
	sed "$1" /etc/lodger/nix/nix.conf >"$T/conf/nix.conf"
	env -i PATH=/usr/bin:/bin HOME=/ NIX_CONF_DIR="$T/conf" NIX_USER_CONF_FILES=/dev/null \
		NIX_DAEMON_SOCKET_PATH="$T/sockets/socket" nix-daemon >"$T/daemon.log" 2>&1 3>&- &
	OTHER=$!
	until [ -S "$T/sockets/socket" ]; do sleep 0.1; done
}

@test "help and errors" {
	run -0 "$CHANNEL_TOOL" help
	[[ $output == *starter* ]]
	run -1 "$CHANNEL_TOOL" frobnicate
	[[ $output == *"unknown command frobnicate"* ]]
	run -1 "$CHANNEL_TOOL" starter --attr
	[[ $output == *"--attr needs a name"* ]]
	run -1 apart starter --attr no-such-thing
	[[ $output == *"no attribute no-such-thing"*jq* ]]
	run -1 "$CHANNEL_TOOL" starter --with
	[[ $output == *"--with needs a name"* ]]
	run -1 apart starter --with no-such-thing
	[[ $output == *"no attribute no-such-thing"*ghc* ]]
	run -1 setpriv --reuid=65534 --clear-groups "$CHANNEL_TOOL" starter
	[[ $output == *"must run as root"* ]]
}

@test "list needs no root and has nixpkgs' names" {
	run -0 setpriv --reuid=65534 --clear-groups "$CHANNEL_TOOL" list
	local name
	for name in python3 python39 python3Packages.sympy python39Packages.sympy jq lua lua5_4 gcc; do
		grep -q "^$name  *[0-9]" <<<"$output"
	done
}

@test "status says which channel is in use, or what is wrong" {
	run -0 "$CHANNEL_TOOL" status
	[[ $output == "in use: $CHANNEL"* ]]
	run -1 apart status
	[[ $output == *"no channel yet; run: lodger-channel starter"* ]]
	ln -s "$CHANNEL" "$T/state/channel"
	run -1 apart status
	[[ $output == *"not protected from garbage collection"* ]]
	ln -sfn "/nix/store/00000000000000000000000000000000-lodger-channel" "$T/state/channel"
	run -1 apart status
	[[ $output == *"not in the store"* ]]
}

@test "the main job, by an unprivileged uid through the daemon" {
	run -0 as_lodger nix-shell -p python39Packages.sympy \
		--run "python -c \"import sympy; print(sympy.simplify('sqrt(50)'))\""
	[ "$output" = '5*sqrt(2)' ]
}

@test "python and python3 are one program under all of the channel's names" {
	local digits
	digits=$(sed -n 's/^\(python3[0-9]*\)\t.*/\1/p' "$CHANNEL/packages.tsv" | tr '\n' ' ')
	[[ $digits == *"python3 "*"python31"* ]]
	for name in $digits; do
		run -0 as_lodger nix-shell -p "$name" --run 'realpath $(type -P python) $(type -P python3) | uniq'
		[[ ${#lines[@]} == 1 && $output == /nix/store/*/bin/python3.* ]]
	done
}

@test "python modules combine, a compiled one among them" {
	run -0 as_lodger nix-shell -p python3Packages.sympy python3Packages.mpmath python3Packages.gmpy2 \
		--run 'python3 -c "import sympy, mpmath, gmpy2; print(mpmath.libmp.BACKEND, gmpy2.mpz(6) * 7)"'
	[ "$output" = 'gmpy 42' ]
	# And only those that were asked for.
	run -1 as_lodger nix-shell -p python3 --run 'python3 -c "import sympy"'
	[[ $output == *"No module named 'sympy'"* ]]
}

@test "modules are compiled beforehand" {
	run -0 as_lodger nix-shell -p python3Packages.sympy \
		--run 'python3 -v -c "import sympy" 2>&1 | grep "^# code object from .*\.py.$" | grep -vc zipimport || true'
	[ "$output" = 0 ]
}

@test "a program whose segments overlap, as patchelf may leave it, is refused" {
	local out=$T/tree look
	mkdir "$out"
	cp /usr/bin/env "$out/program"
	look=$(sed -n '/^elf_files() {/,/^}/p' "$BATS_TEST_DIRNAME/../../share/channel/unpack.sh")
	run env out="$out" bash -euo pipefail -c "$look"$'\n''elf_files'
	exits 0
	says "$out/program"
	# Its first segment reaches into the second.
	/usr/bin/python3 - "$out/program" <<-'END'
		import struct, sys
		file = open(sys.argv[1], "r+b")
		at, = struct.unpack_from("<Q", file.read(64), 32)
		while True:
		    file.seek(at)
		    if struct.unpack("<I", file.read(4)) == (1,):
		        break
		    at += 56
		file.seek(at + 40)
		file.write(struct.pack("<Q", 1 << 20))
	END
	run env out="$out" bash -euo pipefail -c "$look"$'\n''elf_files'
	exits 255
	says "$out/program: its segments overlap"
}

@test "python maps no file of the host, also after looking up names in its nss databases" {
	cat >"$T/home/maps.py" <<-'END'
		import bz2, ctypes, curses, dbm, decimal, locale, lzma, pwd, readline, socket, sqlite3, ssl, sys, uuid, zlib
		import gmpy2, mpmath, sympy
		locale.setlocale(locale.LC_ALL, "")
		for look_up in (lambda: pwd.getpwnam("no-such-user"), lambda: socket.getaddrinfo("x.invalid", 1)):
		    try:
		        look_up()
		    except (KeyError, OSError):
		        pass
		files = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
		print(len(files) > 20, sorted(f for f in files if not f.startswith("/nix/store/")))
	END
	run -0 as_lodger nix-shell -p python3Packages.sympy python3Packages.gmpy2 --run 'python3 maps.py'
	[ "$output" = 'True []' ]
}

@test "jq, lua and make" {
	run -0 as_lodger nix-shell -p jq lua gnumake --run \
		'jq -n "6 * 7"; lua -e "print(_VERSION)"; type -P make'
	[ "${lines[0]}" = 42 ]
	[ "${lines[1]}" = 'Lua 5.4' ]
	[[ ${lines[2]} == /nix/store/* ]]
}

@test "numpy, pandas and matplotlib combine with the others, and map no file of the host" {
	cat >"$T/home/figures.py" <<-'END'
		import matplotlib
		matplotlib.use("Agg")
		import matplotlib.pyplot, numpy, pandas, sympy
		print(numpy.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0]).tolist())
		frame = pandas.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
		print(int((frame.a * frame.b).sum()), sympy.lambdify("x", "x + 1", "numpy")(numpy.array([1, 2])).tolist())
		frame.plot(x="a", y="b").figure.savefig("plot.png")
		frame.plot(x="a", y="b").figure.savefig("plot.pdf")
		files = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
		print(len(files) > 50, sorted(f for f in files if not f.startswith("/nix/store/")))
	END
	run --separate-stderr as_lodger nix-shell -p python3Packages.numpy python3Packages.pandas python3Packages.matplotlib \
		python3Packages.sympy --run 'python3 figures.py && head -c 4 plot.png | tail -c 3 && head -c 4 plot.pdf'
	exits 0
	[ "$output" = $'[1.0, 2.0]\n32 [2, 3]\nTrue []\nPNG%PDF' ]
}

@test "gcc and g++ compile with the store's headers, and what they make maps nothing of the host" {
	cat >"$T/home/x.c" <<-'END'
		#include <math.h>
		#include <stdio.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			char line[4096];
			FILE *maps = fopen("/proc/self/maps", "r");

			printf("%.0f\n", sqrt(argc * 49));
			while (fgets(line, sizeof(line), maps))
				if (strchr(line, '/') && !strstr(line, "/nix/store/") && !strstr(line, "/home/x"))
					fputs(line, stdout);
		}
	END
	cat >"$T/home/x.cc" <<-'END'
		#include <iostream>
		int main() { try { throw 7; } catch (int seven) { std::cout << seven << "\n"; } }
	END
	local option options=("" -static -static-pie "-flto -O2" -fuse-ld=bfd)
	# Debian 13 has gold in a package of its own.
	! as_lodger nix-shell -p gcc --run 'type -P ld.gold' || options+=(-fuse-ld=gold)
	for option in "${options[@]}"; do
		run -0 as_lodger nix-shell -p gcc --run "gcc $option x.c -o x -lm && ./x"
		[ "$output" = 7 ]
	done
	run -0 as_lodger nix-shell -p gcc --run "g++ x.cc -o x && ./x && cpp x.cc"
	[ "${lines[0]}" = 7 ]
	[[ $output == *'"/nix/store/'* && $output != *'"/usr/'* ]]
}

@test "--pure leaves bash and basic tools, from the store, and nothing else" {
	run -0 as_lodger nix-shell --pure -p jq --run 'for tool in bash sh ls sed grep awk find diff tar gzip jq; do
		type -P $tool; $tool --version >/dev/null </dev/null || echo broken; done; type -P python3 perl || echo none'
	[ "${#lines[@]}" = 12 ]
	[ "${lines[11]}" = none ]
	for line in "${lines[@]:0:11}"; do
		[[ $line == /nix/store/*/bin/* ]]
	done
}

@test "a shell.nix with mkShell and a hook, nix-build, and an unknown name" {
	echo 'with import <nixpkgs> { }; mkShell { packages = [ jq ]; shellHook = "echo hook"; }' >"$T/home/shell.nix"
	run -0 as_lodger nix-shell --run 'jq -n 1'
	[ "$output" = $'hook\n1' ]
	run -0 as_lodger nix-build --no-out-link '<nixpkgs>' -A jq
	[[ $output == /nix/store/*-jq-* ]]
	run -1 as_lodger nix-shell -p no-such-thing --run true
	[[ $output == *"undefined variable 'no-such-thing'"* ]]
}

# attributes SCRIPT: runs it with the pieces of the tool, with a channel whose lock has what is on standard input.
attributes() {
	mkdir -p "$T/state" "$T/other" "$T/work"
	cat >"$T/other/lock.json"
	ln -sfn "$T/other" "$T/state/channel"
	T=$T unshare --mount bash -c 'mount --bind "$T/state" /var/lib/lodger
		. "$1"; nix_setup; work=$T/work; eval "$2"' - "$CHANNEL_TOOL" "$1"
}

@test "what was added to a starter stays in the next, of a pinned channel nothing does" {
	run -0 --separate-stderr attributes attributes_kept <<<'{"groups": {"ghc": [], "jq": [], "gone": []}}'
	[ "$output" = 'ghc jq ' ]
	run -0 --separate-stderr attributes attributes_kept <<<'{"kind": "pin", "groups": {"ghc": []}}'
	[ -z "$output" ]
	# By default there are no compilers of hundreds of megabytes.
	run -0 --separate-stderr attributes 'nix_text plan' <<<'{}'
	[[ $output == *$'\ngit '* && $output == *$'\nmatplotlib '* && $output != *ghc* && $output != *octave* && $output != *ocaml* ]]
	run -0 --separate-stderr attributes 'nix_text plan --argstr also "ghc jq"' <<<'{}'
	[[ $output == *$'\nghc ghc'* && $output == *$'\nmatplotlib '* && $output != *octave* ]]
	run -0 --separate-stderr attributes 'nix_text plan --argstr wanted jq --argstr also lua' <<<'{}'
	[ "$(cut -d ' ' -f 1 <<<"$output" | xargs)" = 'bash jq libc lua tools' ]
}

@test "each attribute that the starter can have is in the channel, or in the table of what it could have" {
	local known
	known=$(attributes 'nix_text names' <<<'{}' | cut -d ' ' -f 1)
	[ "$(wc -l <<<"$known")" -gt 30 ]
	for name in $known; do
		[ "$(cat "$CHANNEL/packages.tsv" "$CHANNEL/more.tsv" | grep -c "^$name"$'\t')" = 1 ]
	done
	LC_ALL=C sort -c "$CHANNEL/more.tsv"
	# Besides, the table has python's modules by their other names, and nothing else.
	[ -z "$(cut -f 1 "$CHANNEL/more.tsv" | grep -vxF "$known" | grep -v '^python3[0-9]*Packages\.')" ]
}

@test "a package's place in the store is worked out as the store itself does" {
	local sum path
	echo x >"$T/x+1_1%3a2_all.deb"
	sum=$(sha256sum <"$T/x+1_1%3a2_all.deb")
	echo "x ${sum%% *} x+1_1-2_all.deb" >"$T/debs"
	path=$(NIX_REMOTE=local nix-store --print-fixed-path sha256 "${sum%% *}" x+1_1-2_all.deb)
	[ "$(attributes 'nix_text located --read-only --argstr debs "$T/debs"' <<<'{}')" = "x $path" ]
}

@test "a second run changes nothing and needs no network" {
	echo 'Acquire::http::Proxy "http://127.0.0.1:1"; Acquire::Retries "0";' >"$T/apt.conf"
	APT_CONFIG=$T/apt.conf run -0 --separate-stderr "$CHANNEL_TOOL" starter
	[[ $output == "unchanged: $CHANNEL"* ]]
	# shellcheck disable=SC2154  # bats' own
	[[ $stderr != *downloading* && $stderr != *"will be built"* ]]
	[ "$(readlink /var/lib/lodger/channel)" = "$CHANNEL" ]
}

@test "garbage collection would take nothing of the channel, whose closure is all that is needed" {
	local needed
	needed=$(NIX_REMOTE=local nix-store --query --requisites "$CHANNEL")
	run -0 env NIX_REMOTE=local nix-store --gc --print-dead
	[ -z "$(grep -xF "$needed" <<<"$output")" ]
	# Each tree and .drv, and each .deb.
	cut -f 3,4 "$CHANNEL/packages.tsv" | tr '\t' '\n' | sort -u >"$T/paths"
	grep -o '/nix/store/[^"]*\.deb' "$CHANNEL/lock.json" >>"$T/paths"
	[ "$(wc -l <"$T/paths")" -gt 100 ]
	[ -z "$(grep -vxF "$needed" "$T/paths")" ]
}

@test "the index has the programs of each tree, and each has a link" {
	local program attribute tree
	sqlite3 -tabs "$CHANNEL/programs.sqlite" "select name, package from Programs
		where system = '$(uname -m)-linux'" >"$T/index"
	[ "$(sqlite3 "$CHANNEL/programs.sqlite" 'select count(*) from Programs')" = "$(wc -l <"$T/index")" ]
	while IFS=$'\t' read -r program attribute; do
		tree=$(awk -F '\t' -v name="$attribute" '$1 == name { print $3 }' "$CHANNEL/packages.tsv")
		[ -f "$tree/bin/$program" ]
		[ -x "$tree/bin/$program" ]
	done <"$T/index"
	# Nothing is left out: whatever a tree has, one of its attributes has.
	cut -f 3 "$CHANNEL/packages.tsv" | sort -u | while IFS= read -r tree; do
		find -L "$tree/bin" -maxdepth 1 -type f -perm /111 -printf '%f\n' 2>/dev/null || true
	done | sort -u >"$T/programs"
	[ "$(wc -l <"$T/programs")" -gt 100 ]
	diff "$T/programs" <(cut -f 1 "$T/index" | sort -u)
	diff "$T/programs" <(ls -A "$CHANNEL/commands" | sort)
	# Of those in one tree each attribute has its own.
	[ "$(awk '$1 == "ls" || $1 == "diff" || $1 == "awk" { print $2 }' "$T/index" | sort | xargs)" = \
		'coreutils diffutils gawk' ]
	[ "$(find "$CHANNEL/commands" -mindepth 1 ! -lname ../command)" = "" ]
	[ "$(readlink "$CHANNEL/command")" = "${LODGER_LIBEXEC:-/usr/local/libexec/lodger}/lodger-packages" ]
}

@test "the index is as NixOS's channels have it" {
	run -0 sqlite3 "$CHANNEL/programs.sqlite" 'pragma table_info(Programs)'
	[ "$output" = $'0|name|TEXT|1||1\n1|system|TEXT|1||2\n2|package|TEXT|1||3' ]
	run -0 sqlite3 "$CHANNEL/programs.sqlite" 'pragma integrity_check'
	[ "$output" = ok ]
}

@test "the table is sorted by bytes, and its sizes are the store's" {
	LC_ALL=C sort -c "$CHANNEL/packages.tsv"
	cut -f 3,6 "$CHANNEL/packages.tsv" | sort -u | while IFS=$'\t' read -r tree size; do
		[ "$(NIX_REMOTE=local nix-store --query --size "$tree")" = "$size" ]
	done
}

@test "the same packages make the same channel, byte for byte" {
	run -0 bash -c '. "$1"; nix_setup; nix-store --realise --check "$(nix-store --query --deriver "$2")"' \
		- "$CHANNEL_TOOL" "$CHANNEL"
}

@test "no file in the channel's closure is set-uid or writable" {
	run -0 --separate-stderr bash -c 'NIX_REMOTE=local nix-store --query --requisites "$1" |
		xargs -I{} find {} ! -type l -perm /6222' - "$CHANNEL"
	[ -z "$output" ]
}

@test "a package whose SHA256 differs from the index is refused" {
	echo good >"$T/x_1_all.deb"
	local sum
	sum=$(sha256sum <"$T/x_1_all.deb")
	run -0 bash -c '. "$1"; deb_verify "$2" "$3"' - "$CHANNEL_TOOL" "$T/x_1_all.deb" "${sum%% *}"
	echo evil >"$T/x_1_all.deb"
	run -1 bash -c '. "$1"; deb_verify "$2" "$3"' - "$CHANNEL_TOOL" "$T/x_1_all.deb" "${sum%% *}"
	[[ $output == *"x_1_all.deb: SHA256 is"*refused* ]]
}

# Makes apt see, besides the system's sources, a mirror with a newer jq.
test_mirror() {
	local mirror=$T/mirror architecture
	architecture=$(dpkg --print-architecture)
	mkdir -p "$T/jq/DEBIAN" "$T/jq/usr/bin" "$mirror" "$T/sources" "$T/lists/partial"
	printf '%s\n' 'Package: jq' 'Version: 99' "Architecture: $architecture" 'Maintainer: x <x@x>' \
		'Description: x' >"$T/jq/DEBIAN/control"
	printf '#!/bin/sh\necho ninety-nine\n' >"$T/jq/usr/bin/jq"
	chmod 755 "$T/jq/usr/bin/jq"
	dpkg-deb -Znone --build "$T/jq" "$mirror/jq_99_$architecture.deb" >/dev/null
	(
		cat "$T/jq/DEBIAN/control"
		echo "Filename: ./jq_99_$architecture.deb"
		echo "Size: $(stat -c %s "$mirror/jq_99_$architecture.deb")"
		echo "SHA256: $(sha256sum "$mirror/jq_99_$architecture.deb" | cut -d ' ' -f 1)"
	) >"$mirror/Packages"
	printf '%s\n' "Origin: ${1-Debian}" 'Suite: test' 'SHA256:' \
		" $(sha256sum "$mirror/Packages" | cut -d ' ' -f 1) $(stat -c %s "$mirror/Packages") Packages" \
		>"$mirror/Release"
	chmod -R go+rX "$mirror"
	cp /etc/apt/sources.list.d/* "$T/sources/" 2>/dev/null || true
	[ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$T/sources/system.list"
	echo "deb [trusted=yes] file:$mirror ./" >"$T/sources/test.list"
	find /var/lib/apt/lists -maxdepth 1 -type f ! -name lock -exec cp {} "$T/lists/" \;
	printf '%s\n' "Dir::Etc::sourceparts \"$T/sources\";" 'Dir::Etc::sourcelist "/dev/null";' \
		"Dir::State::lists \"$T/lists\";" 'APT::Sandbox::User "root";' >"$T/apt.conf"
	APT_CONFIG=$T/apt.conf apt-get -qq update -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::sourcelist="$T/sources/test.list" -o APT::Get::List-Cleanup=false
	export APT_CONFIG=$T/apt.conf
}

@test "a new version is taken, the link switched, and one channel before it kept" {
	apart starter --attr jq
	local old new
	old=$(readlink "$T/state/channel")
	test_mirror
	run -0 --separate-stderr apart starter --attr jq
	[[ $output == "new: "* && $stderr == *"downloading 1 of "* ]]
	new=$(readlink "$T/state/channel")
	[ "$new" != "$old" ]
	CHANNEL=$new run -0 as_lodger nix-shell -p jq --run jq
	[ "$output" = ninety-nine ]
	[ "$(readlink "$T/roots/"*-lodger-channel | sort)" = "$(printf '%s\n' "$new" "$old" | sort)" ]
	unset APT_CONFIG
	run -0 apart starter --attr lua
	[ "$(readlink "$T/roots/"*-lodger-channel | wc -l)" = 2 ]
	[ ! -e "$T/roots/${old##*/}" ]
	# What was not asked for is not there.
	CHANNEL=$(readlink "$T/state/channel") run -1 as_lodger nix-shell -p jq --run jq
	[[ $output == *"jq is not in this machine's channel"*"lodger-channel starter --with jq"* ]]
}

@test "a mirror's tampered package, or none, is refused, and the channel stays" {
	ln -s "$CHANNEL" "$T/kept"
	test_mirror
	mkdir -p "$T/state"
	cp -P "$T/kept" "$T/state/channel"
	# Of the same length, so that only the checksum tells.
	sed -i s/ninety-nine/ninety-evil/ "$T/mirror/"*.deb
	run -1 apart starter --attr jq
	[[ $output == *"Hash Sum mismatch"*"download failed; the channel in use is unchanged"* ]]
	[ "$(readlink "$T/state/channel")" = "$CHANNEL" ]
	rm "$T/mirror/"*.deb
	run -1 apart starter --attr jq
	[[ $output == *"download failed; the channel in use is unchanged"* ]]
	[ "$(readlink "$T/state/channel")" = "$CHANNEL" ]
	[ -z "$(ls -A "$T/roots")" ]
}

@test "a source that the distribution did not sign is not used" {
	test_mirror Elsewhere
	run -0 apart starter --attr jq
	CHANNEL=$(readlink "$T/state/channel") run -0 as_lodger nix-shell -p jq --run 'jq -n 1'
	[ "$output" = 1 ]
}

@test "a client cannot have the daemon fetch anything: no byte leaves, and the error says so" {
	listen
	fetch_file
	local client
	run -1 as_lodger nix-build fetch.nix
	[[ $output == *'lodger: '*'fetched from elsewhere'* ]]
	run -1 past_gate nix-build fetch.nix
	[[ $output == *lodger-sessions-build-nothing* ]]
	for client in past_gate as_lodger; do
		chown -R 1879048200:1879048200 "$T/home"
		run -1 "$client" nix-build fetch.nix --option build-users-group '' --option sandbox false \
			--option sandbox-fallback true --option pre-build-hook '' --option substituters "http://127.0.0.1:$PORT"
	done
	[ ! -s "$T/heard" ]
}

@test "behind the gate each of the two locks on builds is enough, and without both the listener hears it" {
	listen
	fetch_file
	other_daemon 's/^build-users-group.*/build-users-group =/'
	SOCKETS=$T/sockets run -1 past_gate nix-build fetch.nix --option sandbox false --option pre-build-hook ''
	kill "$OTHER"
	[[ $output == *"lodger-refuse-build' failed with exit code 1"* ]]
	[ ! -s "$T/heard" ]

	rm "$T/sockets/socket"
	other_daemon '/^pre-build-hook/d'
	SOCKETS=$T/sockets run -1 past_gate nix-build fetch.nix --option build-users-group ''
	kill "$OTHER"
	[[ $output == *lodger-sessions-build-nothing* ]]
	[ ! -s "$T/heard" ]

	rm "$T/sockets/socket"
	other_daemon '/^pre-build-hook/d; s/^build-users-group.*/build-users-group =/'
	SOCKETS=$T/sockets run -1 past_gate nix-build fetch.nix
	kill "$OTHER"
	grep -q 'GET /secret' "$T/heard"
}

@test "an ordinary build is refused too" {
	echo 'derivation { name = "x"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "id >$out" ]; }' \
		>"$T/home/x.nix"
	run -1 as_lodger nix-build x.nix
	[[ $output == *'lodger: '*"neither the channel's"* ]]
	run -1 past_gate nix-build x.nix
	[[ $output == *lodger-sessions-build-nothing* ]]
}

@test "the daemon has no network" {
	local pid
	pid=$(lsof_lock)
	[ -n "$pid" ]
	[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]
	[ "$(grep -c : "/proc/$pid/net/dev")" = 1 ]
}

# The process that holds the daemon's lock.
lsof_lock() {
	local fd
	for fd in /proc/[0-9]*/fd/*; do
		if [[ $fd -ef /run/lodger/packages/lock ]]; then
			fd=${fd#/proc/}
			echo "${fd%%/*}"
			return
		fi
	done
}

@test "the daemon starts once, for root, without arguments; others do not reach its socket" {
	run -1 "$DAEMON"
	[[ $output == *"already running"*"processes: "* ]]
	run -1 "$DAEMON" x
	[[ $output == *"takes no arguments"* ]]
	run -1 setpriv --reuid=65534 --clear-groups "$DAEMON"
	[[ $output == *"must run as root"* ]]
	run -2 setpriv --reuid=65534 --clear-groups ls /run/lodger/packages
	[[ $output == *"Permission denied"* ]]
}
