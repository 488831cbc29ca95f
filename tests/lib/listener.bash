# Somebody on the network, for tests of what must not reach it. Sourced inside and outside of namespaces.
# shellcheck shell=bash disable=SC2034  # for those who source it

# shellcheck source=tests/lib/until.bash
. "${BASH_SOURCE[0]%/*}/until.bash"

# listen: answers 404 on a free port of 127.0.0.1 and writes what arrives to $T/heard; sets PORT and
# LISTENER, its pid. Fails unless it hears.
listen() {
	perl -MIO::Socket::INET -e '
		my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
		open my $port, ">", "$ARGV[0]/port.new"; print $port $s->sockport; close $port;
		rename "$ARGV[0]/port.new", "$ARGV[0]/port";
		while (my $c = $s->accept) {
			sysread $c, my $data, 4096;
			open my $heard, ">>", "$ARGV[0]/heard"; print $heard $data; close $heard;
			print $c "HTTP/1.0 404 no\r\n\r\n"; close $c;
		}' "$T" 3>&- &
	LISTENER=$!
	until_true 10 test -s "$T/port"
	PORT=$(cat "$T/port")
	# One that hears nothing at all would prove nothing.
	exec 9<>"/dev/tcp/127.0.0.1/$PORT"
	echo hello >&9
	cat <&9 >/dev/null
	exec 9>&-
	[ "$(cat "$T/heard")" = hello ]
	: >"$T/heard"
}

# fetch_expression NAME: prints a derivation by which nix-daemon itself asks the listener for /NAME.
fetch_expression() {
	cat <<-END
		derivation {
		  name = "$1"; system = "builtin"; builder = "builtin:fetchurl";
		  url = "http://127.0.0.1:$PORT/$1"; outputHashMode = "flat"; outputHashAlgo = "sha256";
		  outputHash = "$(printf %s "$1" | sha256sum | cut -d ' ' -f 1)";
		}
	END
}
