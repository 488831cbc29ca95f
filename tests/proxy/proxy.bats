# The proxy of sessions, installed, with real pip and squid, on a machine and among hosts of the tests' own
# (world.bash): what is allowed works, all else is refused and logged. Each refusal has a control beside it.
# shellcheck disable=SC2016,SC2154  # for other shells; bats' own

load ../lib/lodger
load world

setup_file() {
	[ -x /usr/local/sbin/lodger-proxy ] || skip 'the proxy is not installed'
	type -P squid >/dev/null || skip 'squid is not installed'
	/usr/bin/python3 -m pip --version >/dev/null || skip 'there is no pip'
	world_start
	export W MACHINE INTERNET
}

teardown() {
	proxy_end
	lodger_teardown
	[ -n "${BATS_TEST_COMPLETED-}" ] || cat "$W/proxy.log" "$W/log"
}

teardown_file() {
	[ ! -e "${W-}/held" ] || world_end
}

setup() {
	: >"$W/heard"
	: >"$W/asked"
}

# ask REQUEST…: what a session's proxy answers, into `lines`.
ask() {
	local request words=''
	for request; do
		words+=" $(printf '%q' "$request")"
	done
	run session "/usr/bin/python3 /etc/lodger/ask.py$words"
}

# answered STATUS REQUEST…: fails unless that is the answer to each.
answered() {
	local i=0 request
	ask "${@:2}"
	for request in "${@:2}"; do
		[ "${lines[i]-}" = "$1" ] || {
			echo "$request: ${lines[i]-}, not $1"
			return 1
		}
		i=$((i + 1))
	done
}

in_log() {
	sed 's/lodger-[1-9][0-9]*:/lodger-N:/' "$W/proxy.log" | grep -qxF -- "$1"
}

# logged REQUEST…: fails unless the log has each as refused.
logged() {
	local request
	for request; do
		until_true 1 in_log "lodger-proxy: lodger-N: refused: $request" || {
			echo "not logged: $request"
			return 1
		}
	done
}

INSTALL='-m pip install --quiet --disable-pip-version-check --retries 0'
SHOW='-c "import tiny; print(tiny.answer, tiny.__file__)"'
CERTIFIED='--cert /etc/lodger/certificate.pem --index-url https://index.test/simple'
PLAIN='--trusted-host index.test --index-url http://index.test/simple'

@test "pip installs from an allowed index into the lodger's home, by https and by http" {
	proxy index.test
	run session "/usr/bin/python3 $INSTALL $CERTIFIED tiny && /usr/bin/python3 $SHOW"
	exits 0
	[[ ${lines[-1]} =~ ^42\ /home/lodger-[0-9]+/\.local/lib/python3[^/]*/site-packages/tiny.py$ ]]
	grep -q '^203.0.113.7 443 /simple/tiny/tiny-1.0-py3-none-any.whl$' "$W/heard"
	run session "/usr/bin/python3 $INSTALL $PLAIN tiny && /usr/bin/python3 $SHOW"
	exits 0
	grep -q '^203.0.113.7 80 /simple/tiny/tiny-1.0-py3-none-any.whl$' "$W/heard"
	# In a virtual environment, too, where there is venv.
	! /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || {
		run session "/usr/bin/python3 -m venv v && v/bin/python3 $INSTALL $PLAIN tiny && v/bin/python3 $SHOW"
		exits 0
	}
	run ! grep -q refused "$W/proxy.log"
}

@test "npm installs from an allowed registry, by https and by http, and nothing from another host" {
	[ -x /usr/bin/npm ] || skip 'there is no npm'
	local npm='/usr/bin/npm install --no-audit --no-fund --no-update-notifier --fetch-retries 0'
	local show='/usr/bin/node -p "require(\"tiny\")"' https http
	https="$npm --cafile /etc/lodger/certificate.pem --registry https://index.test/npm/https/ tiny"
	http="$npm --registry http://index.test/npm/http/ tiny"
	proxy index.test
	run session "$https && $show"
	exits 0
	[ "${lines[-1]}" = 42 ]
	grep -qx '203.0.113.7 443 /npm/tiny-1.0.0.tgz' "$W/heard"
	run session "$http && $show"
	exits 0
	grep -qx '203.0.113.7 80 /npm/tiny-1.0.0.tgz' "$W/heard"
	: >"$W/heard"
	proxy other.test
	run session "$https"
	[ "$status" != 0 ]
	logged 'CONNECT index.test:443'
	run session "$http"
	[ "$status" != 0 ]
	logged 'GET http://index.test/npm/http/tiny'
	[ ! -s "$W/heard" ]
}

@test "cargo builds with a crate of an allowed registry, by https and by http, and nothing from another host" {
	local version
	version=$(/usr/bin/cargo --version 2>/dev/null) || skip 'there is no cargo'
	[[ $version =~ ^cargo\ 1\.([0-9]+)\. && ${BASH_REMATCH[1]} -ge 68 ]] || skip "$version knows registries in git alone"
	# build SCHEME: in a home without anything of cargo's.
	build() {
		run session "mkdir -p .cargo src && echo 'fn main() { println!(\"{}\", tiny::ANSWER) }' >src/main.rs
			printf '[package]\nname = \"one\"\nversion = \"1.0.0\"\n[dependencies]\n' >Cargo.toml
			echo 'tiny = { version = \"1\", registry = \"test\" }' >>Cargo.toml
			printf '[registries.test]\nindex = \"sparse+$1://index.test/cargo/$1/\"\n' >.cargo/config.toml
			printf '[net]\nretry = 0\n[http]\ncainfo = \"/etc/lodger/certificate.pem\"\n' >>.cargo/config.toml
			/usr/bin/cargo run"
	}
	proxy index.test
	build https
	exits 0
	[ "${lines[-1]}" = 42 ]
	grep -qx '203.0.113.7 443 /cargo/tiny-1.0.0.crate' "$W/heard"
	build http
	exits 0
	[ "${lines[-1]}" = 42 ]
	grep -qx '203.0.113.7 80 /cargo/tiny-1.0.0.crate' "$W/heard"
	: >"$W/heard"
	proxy other.test
	build https
	exits 101
	logged 'CONNECT index.test:443'
	build http
	exits 101
	logged 'GET http://index.test/cargo/http/config.json'
	[ ! -s "$W/heard" ]
}

@test "pip gets nothing from another host, nor without the proxy" {
	proxy other.test
	run session "/usr/bin/python3 $INSTALL $CERTIFIED tiny"
	exits 1
	logged 'CONNECT index.test:443'
	proxy_end
	run session "/usr/bin/python3 $INSTALL $CERTIFIED tiny"
	exits 1
	[ ! -s "$W/heard" ]
}

@test "other hosts and ports are refused and logged, until they are allowed" {
	local requests=('CONNECT other.test:443' 'GET http://other.test/' 'CONNECT sub.other.test:443'
		'CONNECT index.test:8443' 'GET http://index.test:8080/')
	proxy index.test
	answered 403 "${requests[@]}"
	logged "${requests[@]}"
	[ ! -s "$W/heard" ]
	answered 200 'CONNECT index.test:443' 'GET http://index.test/' 'GET http://INDEX.test/' 'CONNECT index.test.:443'
	proxy .other.test index.test:8443 index.test:8080
	answered 200 "${requests[@]}"
	answered 403 'CONNECT index.test:443' 'GET http://index.test/' 'CONNECT other.test:8443' 'CONNECT another.test:443'
}

@test "addresses are refused as such, and so is whatever is neither http nor a tunnel for https" {
	local requests=('CONNECT 203.0.113.7:443' 'GET http://203.0.113.7/' 'CONNECT 127.0.0.1:443' 'GET http://127.0.0.1/'
		'GET http://localhost/' 'GET http://10.9.9.9/' 'GET http://169.254.9.9/' 'CONNECT [fd00::9]:443'
		'CONNECT [::1]:443' 'GET http://198.51.100.1/' 'CONNECT index.test:80' 'CONNECT index.test:22'
		'GET http://index.test:443/' 'GET ftp://index.test/' 'GET https://index.test/')
	proxy index.test
	answered 403 "${requests[@]}"
	logged "${requests[@]}"
	# Other words for addresses, and for squid itself.
	for request in 'GET http://2130706433/' 'GET http://0x7f.1/' 'CONNECT 0:443' 'GET /squid-internal-mgr/info' \
		'GET http://lodger-proxy/squid-internal-mgr/info' 'GET cache_object://localhost/info' \
		'GET http://index.test@127.0.0.1/' 'GARBAGE'; do
		ask "$request"
		[[ ${lines[0]} =~ ^(403|400|none)$ ]] || { echo "$request: ${lines[0]}" && return 1; }
	done
	[ ! -s "$W/heard" ]
	# All of these are there.
	local url
	for url in https://203.0.113.7/ http://203.0.113.7/ https://127.0.0.1/ http://127.0.0.1/ http://10.9.9.9/ \
		http://169.254.9.9/ 'https://[fd00::9]/' 'https://[::1]/' http://198.51.100.1/; do
		reaches "$url"
	done
}

@test "an allowed name that leads to this host, its networks or private ones is refused" {
	local name names=(inner.test six.test shared.test loop.test own.test link.test) requests=()
	for name in "${names[@]}"; do
		requests+=("CONNECT $name:443" "GET http://$name/")
	done
	proxy "${names[@]}"
	answered 403 "${requests[@]}"
	logged "${requests[@]}"
	[ ! -s "$W/heard" ]
	for name in "${names[@]}"; do
		reaches "http://$name/"
	done
	# It is the address, not the name.
	# Written over: what is mounted is the file, not the name.
	sed -E 's/^[^ ]+ (localhost )?([a-z]*(inner|six|shared|loop|own|link).test)/203.0.113.8 \2/' <<<"$HOSTS" >"$W/hosts"
	proxy "${names[@]}"
	answered 200 "${requests[@]}"
	printf '%s\n' "$HOSTS" >"$W/hosts"
}

@test "a name that is not allowed is not asked for in the DNS, and a session cannot ask itself" {
	proxy named.test
	answered 403 'CONNECT secret.other.test:443' 'GET http://secret.index.test/' 'CONNECT secret.named.test:443'
	run ! grep -q secret "$W/asked"
	answered 200 'GET http://named.test/' 'CONNECT named.test:443'
	grep -qx named.test "$W/asked"
	local query='import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"xx\1\0\0\1\0\0\0\0\0\0\7session\4test\0\0\1\0\1", ("203.0.113.53", 53))
s.settimeout(5); s.recv(512)'
	run session "/usr/bin/python3 -c '$query'"
	[ "$status" != 0 ]
	says 'Network is unreachable'
	run ! grep -q session "$W/asked"
	machine /usr/bin/python3 -c "$query"
	grep -qx session.test "$W/asked"
}

@test "a session with the proxy has no network but its loopback, and its own variables win" {
	proxy index.test
	run session 'ip -oneline link | wc -l; ip route; ip -6 route show default; echo "$http_proxy $HTTPS_PROXY $NO_PROXY"
		/usr/bin/python3 -c "import socket; socket.create_connection((\"203.0.113.7\", 80), 3)"'
	[ "${lines[0]}" = 1 ]
	[ "${lines[1]}" = 'http://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1,::1' ]
	says 'Network is unreachable'
	reaches http://203.0.113.7/
	[ "$(user 'lodger run --env http_proxy=mine -- sh -c "echo \$http_proxy"')" = mine ]
}

@test "without lodger-proxy, and with the host's network, there is no proxy in a session" {
	local look='env | grep -i -e proxy -e ^PIP; exec 3<>/dev/tcp/127.0.0.1/3128' listeners
	run session "$look"
	exits 1
	[[ $output == *'Connection refused'* && $output != *3128\ * ]]
	proxy index.test
	run session "$look"
	exits 0
	says http_proxy= PIP_BREAK_SYSTEM_PACKAGES=1
	echo 'allow network-host' >>"$W/lodger/lodger.conf"
	# Whoever listens at that port of the host's, the session adds nobody.
	listeners='env | grep -i -e proxy -e ^PIP; grep " [0-9A-F]*:0C38 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6 | wc -l'
	run user "lodger run --net host -- bash -c $(printf '%q' "$listeners")"
	sed -i '$d' "$W/lodger/lodger.conf"
	[ "$output" = "$(as c bash -c "$listeners")" ]
	# Control: with an empty network it is one.
	run session "$listeners"
	[ "${lines[-1]}" = 1 ]
}

@test "users of the host get nothing from squid's port, nor to the socket" {
	local port key
	proxy index.test
	port=$(sed -n 's/.*squid listens on 127.0.0.1:\([0-9]*\),.*/\1/p' "$W/proxy.log")
	# ask_host USER FIRST
	ask_host() {
		machine setpriv --reuid="$1" --regid=nogroup --clear-groups /usr/bin/python3 /etc/lodger/ask.py --port "$port" \
			--first "$2" 'CONNECT index.test:443'
	}
	key=$(sed -n 's/^acl key_address localip //p;s/^acl key_port localport //p' "$W/packages/proxy/squid.conf" | paste -sd ' ')
	[[ $key =~ ^[0-9.]+\ [0-9]+$ ]]
	[[ $(ask_host "$USERS-c" '') == none* ]]
	[ "$(ask_host "$USERS-c" 'PROXY TCP4 127.0.0.1 127.0.0.1 1 1')" = 403 ]
	[ "$(ask_host "$USERS-c" "PROXY TCP4 127.0.0.1 ${key% *} 1 $((${key#* } % 65535 + 1))")" = 403 ]
	[ "$(ask_host "$USERS-c" "PROXY TCP4 127.0.0.1 ${key% *} 1 ${key#* }")" = 200 ]
	user 'test -e /run/lodger/packages/daemon-socket/proxy || test -r /run/lodger/packages/proxy/squid.conf' && return 1
	[ -S "$W/packages/daemon-socket/proxy" ]
}

@test "one session cannot take all connections, and its end of the proxy comes back when it is killed" {
	proxy index.test
	local hog='import socket, time
held = []
try:
    while len(held) < 200:
        s = socket.socket(socket.AF_UNIX)
        s.connect("/nix/var/nix/daemon-socket/proxy")
        s.sendall(b"GET"); held.append(s)
except OSError: pass
time.sleep(0.5)
open_ones = 0
for s in held:
    s.setblocking(False)
    try: open_ones += s.recv(1) != b""
    except BlockingIOError: open_ones += 1
    except OSError: pass
print(open_ones, flush=True)
time.sleep(30)'
	SESSION=$(user 'lodger create')
	background user "lodger exec $SESSION -- /usr/bin/python3 -c $(printf '%q' "$hog") >$(printf '%q' /home/$USERS-a/hog)"
	PLANTED+=("/home/$USERS-a/hog")
	until_true 10 test -s "/home/$USERS-a/hog"
	[ "$(cat "/home/$USERS-a/hog")" = 48 ]
	answered 200 'CONNECT index.test:443'
	# The first process that the agent starts.
	run session 'kill -9 2; sleep 0.2; /usr/bin/python3 /etc/lodger/ask.py "CONNECT index.test:443"
		sleep 2; /usr/bin/python3 /etc/lodger/ask.py "CONNECT index.test:443"'
	[ "${lines[-1]}" = 200 ]
}

@test "doctor says off, on and broken" {
	# found: the proxy's line.
	found() {
		user 'lodger doctor' | grep -A 1 ' proxy  '
	}
	run found
	[[ ${lines[0]} =~ ^info\ +proxy\ +off: ]]
	proxy index.test
	run found
	[[ ${lines[0]} =~ ^ok\ +proxy\ +on: ]]
	kill -KILL "$PROXY"
	run found
	[[ ${lines[0]} =~ ^FAILED\ +proxy\ +asked\ from\ a\ session ]]
	says 'no answer' 'lodger-proxy --check'
	rm "$W/packages/daemon-socket/proxy"
	run found
	[[ ${lines[0]} =~ ^FAILED\ +proxy\ +there\ is\ /etc/lodger/proxy.conf ]]
}

@test "squid and relay have no privilege, and nothing is left of them" {
	local pid
	proxy index.test
	mapfile -t pids < <(processes_of lodger-proxy)
	[ "${#pids[@]}" = 2 ]
	for pid in "${pids[@]}"; do
		[ "$(grep -cE '^Cap(Inh|Prm|Eff|Bnd|Amb):.0000000000000000$' "/proc/$pid/status")" = 5 ]
		grep -q '^NoNewPrivs:.1$' "/proc/$pid/status"
		grep -qE '^Groups:\s*$' "/proc/$pid/status"
	done
	none() { [ -z "$(processes_of lodger-proxy)" ]; }
	kill "$PROXY"
	wait "$PROXY"
	until_true 5 none
	[ ! -e "$W/packages/daemon-socket/proxy" ]
	[ ! -e "$W/packages/proxy" ]
	# Killed, it leaves the socket, which the next one replaces, and squid what it shares of its memory. That
	# of the distribution's squid, or what somebody puts in its place, is in nobody's way.
	local shared=/dev/shm/squid-cf__metadata.shm
	[ -e "$shared" ] || { as c touch "$shared" && PLANTED+=("$shared"); }
	proxy index.test
	kill -KILL "$PROXY"
	until_true 5 none
	proxy index.test
	answered 200 'CONNECT index.test:443'
	run machine /usr/local/sbin/lodger-proxy
	exits 1
	says 'already running'
	run machine /usr/local/libexec/lodger/lodger-relay "$W/relay" 1 <<<'1.2.3.4 5'
	exits 125
	says 'must not run as root; its user is lodger-proxy'
	run machine setpriv --reuid=lodger-proxy --inh-caps=+kill --ambient-caps=+kill \
		/usr/local/libexec/lodger/lodger-relay "$W/relay" 1 <<<'1.2.3.4 5'
	exits 125
	says 'must not run with capabilities'
	proxy_end
	[ -z "$(find /dev/shm -user lodger-proxy -name 'lodger*')" ]
}

@test "a policy that is not understood keeps it from starting, and --check says what is allowed" {
	printf '%s\n' index.test 'allow all' >"$W/lodger/proxy.conf"
	run machine /usr/local/sbin/lodger-proxy
	exits 78
	says '/etc/lodger/proxy.conf, line 2: more than one word'
	echo index.test:443 >"$W/lodger/proxy.conf"
	[ "$(user '/usr/local/sbin/lodger-proxy --check')" = 'index.test 443' ]
	rm "$W/lodger/proxy.conf"
	run machine /usr/local/sbin/lodger-proxy
	exits 78
	says 'there is no /etc/lodger/proxy.conf'
}
