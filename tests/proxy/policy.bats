# The policy of lodger-proxy: what a line may be, what covers what, who may have written it; and what squid
# is told of it. Needs no installed Lodger.
# shellcheck disable=SC2154  # bats' own

bats_require_minimum_version 1.5.0

setup() {
	SHARE=$BATS_TEST_DIRNAME/../../share/proxy
	DIRECTORY=$BATS_TEST_TMPDIR/etc
	mkdir -m 755 "$DIRECTORY"
}

# reads [LINE…]: what rules they make.
reads() {
	printf '%s\n' "$@" >"$DIRECTORY/proxy.conf"
	chmod 644 "$DIRECTORY/proxy.conf"
	rules
}

rules() {
	run bash -c 'set -euo pipefail; export LC_ALL=C; die() { echo "$*"; exit 1; }
		. "$1/policy.bash"; policy_read "$2"; printf "%s\n" "${RULES[@]}"' - "$SHARE" "$DIRECTORY/proxy.conf"
}

# are RULE…: fails unless these are the rules.
are() {
	[ "$status" = 0 ] && [ "$output" = "$(printf '%s\n' "$@")" ] || {
		echo "status $status: $output"
		return 1
	}
}

# refuses TEXT LINE…
refuses() {
	reads "${@:2}"
	[ "$status" = 1 ] && [[ $output == *"$1"* ]] || {
		echo "line ${*:2}: status $status: $output"
		return 1
	}
}

@test "a host is allowed for https and http, or for the port that the line says" {
	reads pypi.org
	are 'pypi.org 443' 'pypi.org 80'
	reads '# comment' '' '   ' $'\tPyPI.org:443 # comment' '.example.org:8443' 'xn--a.b_c.de:1'
	are '.example.org 8443' 'pypi.org 443' 'xn--a.b_c.de 1'
	# The last line's end may be missing.
	printf 'a.b:2\nc.d:3' >"$DIRECTORY/proxy.conf"
	rules
	are 'a.b 2' 'c.d 3'
}

@test "what another line covers is left out, port by port" {
	reads .a.b:443 a.b:443 x.a.b:443 .y.a.b:443 a.b:80 xa.b:443 a.b:443
	are '.a.b 443' 'a.b 80' 'xa.b 443'
}

@test "a line that is not understood is refused with file, number and reason" {
	refuses "$DIRECTORY/proxy.conf, line 2: more than one word" a.b 'c.d e.f'
	local port host
	for port in '' 0 65536 443x -1 +1 0443 443:80 '*' 123456; do
		refuses "line 1: '$port' is no port" "a.b:$port"
	done
	for host in localhost '*' '*.a.b' .b . .. a..b ..a.b a.b. -a.b a-.b a.b/c http 'a@b.c' 'a"b.c' "$(printf 'a%.0s' {1..260}).b" 'a\b.c' ä.de; do
		refuses "is no name of a host with a domain" "$host"
	done
	refuses "line 1: '//a.b/' is no port" http://a.b/
	for host in 127.0.0.1 10.1 .1 1.2.3.0x7f 0x7f.1; do
		refuses "" "$host"
	done
	refuses "'10.0.0.1' is an address" 10.0.0.1:443
	refuses "line 1: 'include' is no name" include
	refuses 'names no host' '# nothing'
}

@test "a file that is not root's alone, or too long, is refused" {
	reads a.b
	are 'a.b 443' 'a.b 80'
	chmod 664 "$DIRECTORY/proxy.conf"
	rules
	[[ $status == 1 && $output == *"root's alone to write"* ]]
	chmod 644 "$DIRECTORY/proxy.conf"
	chmod 777 "$DIRECTORY"
	rules
	[[ $status == 1 && $output == *"$DIRECTORY must be root's"* ]]
	chmod 755 "$DIRECTORY"
	chown nobody "$DIRECTORY/proxy.conf"
	rules
	[[ $status == 1 && $output == *"root's alone to write"* ]]
	rm "$DIRECTORY/proxy.conf"
	rules
	[[ $status == 1 && $output == *"there is no $DIRECTORY/proxy.conf"* ]]
	refuses 'not a file of at most' "$(printf '# %070000d' 1)"
	mapfile -t many < <(printf 'a%d.b\n' {1..501})
	refuses 'more than 1000 rules' "${many[@]}"
	printf 'a.b\0c.d\n' >"$DIRECTORY/proxy.conf"
	rules
	[[ $status == 1 && $output == *NUL* ]]
	mkfifo "$DIRECTORY/fifo"
	run timeout 5 bash -c 'die() { echo "$*"; exit 1; }; . "$1/policy.bash"; policy_read "$2"' - "$SHARE" "$DIRECTORY/fifo"
	[[ $status == 1 && $output == *'not a file'* ]]
}

@test "the sample is a policy" {
	cp "$SHARE/proxy.conf.sample" "$DIRECTORY/proxy.conf"
	rules
	are 'files.pythonhosted.org 443' 'files.pythonhosted.org 80' 'pypi.org 443' 'pypi.org 80'
}

@test "refusals are printed a session at a time, as many as may be in a minute, and nothing but text" {
	{
		printf '%s\n' '5 CONNECT a.b:443' $'6 GET http://\e[31m/\x80' 'x y'
		for _ in {1..100}; do echo '7 CONNECT flood.test:443'; done
		echo '8 CONNECT last.test:443'
	} >"$BATS_TEST_TMPDIR/log"
	run bash -c 'say() { echo "$*"; }; export LC_ALL=C; . "$1/squid.bash"; refusals_print <"$2"' - "$SHARE" "$BATS_TEST_TMPDIR/log"
	[ "$status" = 0 ]
	[ "${lines[0]}" = 'lodger-5: refused: CONNECT a.b:443' ]
	[ "${lines[1]}" = 'lodger-6: refused: GET http://?[31m/?' ]
	[ "${lines[2]}" = 'lodger-0: refused: y' ]
	[ "$(grep -c flood <<<"$output")" = 60 ]
	[ "$(grep -c 'lodger-7: no more of it' <<<"$output")" = 1 ]
	[ "${lines[-1]}" = 'lodger-8: refused: CONNECT last.test:443' ]
}
