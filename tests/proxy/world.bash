# A small internet for tests of the proxy, in namespaces: a machine on which lodger-proxy runs and whose users
# have sessions, and hosts that it reaches. Sourced by proxy.bats.
# shellcheck shell=bash disable=SC2034  # for those who source it

# The machine has mounts and a network of its own: /etc/lodger, /etc/hosts, /etc/resolv.conf and
# /run/lodger/packages are the test's, and nobody else's sessions see a proxy. What the policy cannot name but
# for a test has addresses that look public (documentation's, RFC 5737).
#   index.test 203.0.113.7, other.test 203.0.113.8, sub.other.test 203.0.113.9: hosts
#   inner.test 10.9.9.9, six.test fd00::9, shared.test 100.64.0.9: hosts that a policy cannot open
#   loop.test 127.0.0.1, own.test 198.51.100.1, link.test 169.254.9.9: the machine itself
#   named.test: only in the DNS, which is 203.0.113.53 and keeps a list of what it was asked
HOSTS='203.0.113.7 index.test
203.0.113.8 other.test
203.0.113.9 sub.other.test
10.9.9.9 inner.test
fd00::9 six.test
100.64.0.9 shared.test
127.0.0.1 localhost loop.test
198.51.100.1 own.test
169.254.9.9 link.test'

# holder NAME COMMAND…: starts it in the background, and sets NAME to its pid. Ended by world_end.
holder() {
	local -n pid=$1
	shift
	"$@" </dev/null >>"$W/log" 2>&1 3>&- 4>&- &
	pid=$!
	echo "$pid" >>"$W/held"
}

# machine COMMAND…: as root, with the machine's mounts and network; internet COMMAND…: among the hosts.
machine() {
	nsenter --target "$MACHINE" --mount --net -- "$@"
}
internet() {
	nsenter --target "$INTERNET" --net -- "$@"
}

# user SCRIPT: user a runs it on the machine, as users of the host do, whose network is not the machine's.
user() {
	nsenter --target "$MACHINE" --mount -- bash -c "$(declare -f as); USERS=$USERS; as a bash -c \"\$0\"" "$1"
}

# session SCRIPT: runs it with bash in a session of user a's that is made for it.
session() {
	user "lodger run -- bash -c $(printf '%q' "$1")"
}

world_start() {
	W=$BATS_FILE_TMPDIR
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR/file"
	mkdir -p "$W/lodger" "$W/packages" "$W/site/simple/tiny"
	cp /etc/lodger/lodger.conf "$W/lodger/"
	printf '%s\n' "$HOSTS" >"$W/hosts"
	echo 'nameserver 203.0.113.53' >"$W/resolv.conf"
	: >"$W/asked"
	: >"$W/heard"
	# To be mounted on; it is there where sessions have packages.
	[ -d /run/lodger/packages ] || { mkdir -p /run/lodger && mkdir /run/lodger/packages && touch "$W/made"; }
	holder INTERNET unshare --net sleep infinity
	holder MACHINE unshare --mount --net sleep infinity
	until_true 10 in_own_network "$INTERNET"
	until_true 10 in_own_network "$MACHINE"
	internet bash -ec 'ip link set lo up
		for a in 203.0.113.{7,8,9,53} 10.9.9.9 100.64.0.9; do ip address add $a/32 dev lo; done
		ip -6 address add fd00::9/128 dev lo nodad'
	machine bash -ec 'ip link set lo up; ip address add 169.254.9.9/32 dev lo
		ip link add outside type veth peer name inside netns '"$INTERNET"'
		ip address add 198.51.100.1/24 dev outside; ip -6 address add fd01::1/64 dev outside nodad
		ip link set outside up
		mount --make-rprivate /
		mount --bind "$0/lodger" /etc/lodger; mount --bind "$0/packages" /run/lodger/packages
		mount --bind "$0/hosts" /etc/hosts; mount --bind "$0/resolv.conf" "$(realpath /etc/resolv.conf)"' "$W"
	internet bash -ec 'ip address add 198.51.100.2/24 dev inside; ip -6 address add fd01::2/64 dev inside nodad
		ip link set inside up'
	machine bash -ec 'ip route add default via 198.51.100.2; ip -6 route add default via fd01::2'
	site_make
	# Sessions see what is in /etc.
	cp "$W/certificate.pem" "$BATS_TEST_DIRNAME/ask.py" "$W/lodger/"
	holder DNS internet /usr/bin/python3 "$BATS_TEST_DIRNAME/dns.py" "$W/asked"
	holder SITE internet /usr/bin/python3 "$BATS_TEST_DIRNAME/site.py" "$W"
	holder LOCAL machine /usr/bin/python3 "$BATS_TEST_DIRNAME/site.py" "$W"
	until_true 10 reaches http://203.0.113.8/
	until_true 10 reaches http://127.0.0.1/
}

in_own_network() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# A certificate for all of the hosts, and one package of one module, in an index for pip and registries for npm
# and cargo.
site_make() {
	local names
	names=$(awk '{ for (i = 2; i <= NF; i++) printf "%sDNS:%s", c++ ? "," : "", $i }' "$W/hosts")
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=index.test \
		-addext "subjectAltName=$names,DNS:named.test" -keyout "$W/key.pem" -out "$W/certificate.pem"
	/usr/bin/python3 - "$W/site/simple/tiny" <<-'END'
		import sys, zipfile
		name = "tiny-1.0-py3-none-any.whl"
		with zipfile.ZipFile(sys.argv[1] + "/" + name, "w") as wheel:
		    wheel.writestr("tiny.py", "answer = 42\n")
		    wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
		    wheel.writestr("tiny-1.0.dist-info/WHEEL",
		                   "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
		    wheel.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\n"
		                   "tiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n")
		open(sys.argv[1] + "/index.html", "w").write(f'<a href="{name}">{name}</a>\n')
	END
	# The same as npm's registries have it.
	mkdir -p "$W/package" "$W/site/npm"
	echo 'module.exports = 42' >"$W/package/index.js"
	echo '{ "name": "tiny", "version": "1.0.0", "main": "index.js" }' >"$W/package/package.json"
	tar -C "$W" -czf "$W/site/npm/tiny-1.0.0.tgz" package
	local url
	for url in http://index.test https://index.test; do
		mkdir -p "$W/site/npm/${url%%:*}"
		cat >"$W/site/npm/${url%%:*}/tiny" <<-END
			{ "name": "tiny", "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": { "name": "tiny",
			  "version": "1.0.0", "dist": { "tarball": "$url/npm/tiny-1.0.0.tgz",
			    "integrity": "sha512-$(openssl dgst -sha512 -binary "$W/site/npm/tiny-1.0.0.tgz" | base64 -w 0)" } } } }
		END
	done
	# And cargo's, of the kind that is read file by file (RFC 2789).
	local crate=$W/site/cargo/tiny-1.0.0.crate
	mkdir -p "$W/tiny-1.0.0/src" "$W/site/cargo"
	echo 'pub const ANSWER: u8 = 42;' >"$W/tiny-1.0.0/src/lib.rs"
	printf '[package]\nname = "tiny"\nversion = "1.0.0"\n' >"$W/tiny-1.0.0/Cargo.toml"
	tar -C "$W" -czf "$crate" tiny-1.0.0
	for url in http://index.test https://index.test; do
		mkdir -p "$W/site/cargo/${url%%:*}/ti/ny"
		echo "{ \"dl\": \"$url/cargo/{crate}-{version}.crate\" }" >"$W/site/cargo/${url%%:*}/config.json"
		printf '{"name":"tiny","vers":"1.0.0","deps":[],"features":{},"yanked":false,"cksum":"%s"}\n' \
			"$(sha256sum <"$crate" | cut -d ' ' -f 1)" >"$W/site/cargo/${url%%:*}/ti/ny/tiny"
	done
}

# reaches URL: whether the machine does, without any proxy.
reaches() {
	machine /usr/bin/python3 -c 'import ssl, sys, urllib.request as u
u.build_opener(u.ProxyHandler({}), u.HTTPSHandler(context=ssl._create_unverified_context())).open(sys.argv[1], timeout=5)' "$1"
}

# proxy LINE…: runs lodger-proxy with this policy, in the place of one that ran before.
PROXY=
proxy() {
	proxy_end
	printf '%s\n' "$@" >"$W/lodger/proxy.conf"
	chmod 644 "$W/lodger/proxy.conf"
	# Before it is looked at.
	: >"$W/proxy.log"
	# Not by a function, which would be another process in between.
	nsenter --target "$MACHINE" --mount --net -- /usr/local/sbin/lodger-proxy </dev/null >>"$W/proxy.log" 2>&1 3>&- 4>&- &
	PROXY=$!
	until_true 20 proxy_decided
	proxy_listens
}
proxy_listens() {
	grep -q 'squid listens on' "$W/proxy.log"
}
proxy_decided() {
	proxy_listens || ! kill -0 "$PROXY" 2>/dev/null
}
proxy_end() {
	[ -z "$PROXY" ] || { kill "$PROXY" 2>/dev/null; wait "$PROXY" 2>/dev/null; } || true
	PROXY=
	rm -f "$W/lodger/proxy.conf"
}

world_end() {
	local pid
	while read -r pid; do
		tree_kill "$pid"
		wait "$pid" 2>/dev/null || true
	done <"$W/held"
	[ ! -e "$W/made" ] || rmdir /run/lodger/packages
}
