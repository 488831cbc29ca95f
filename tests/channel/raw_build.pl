# Asks a nix-daemon, at the socket that is the first argument, for a build that no nix client would ask for:
# of a derivation's text alone (operation BuildDerivation, for remote builders), which is nowhere in the
# store. It fetches the second argument; the third is the store path that it would make, the fourth the
# hash that this is of. Prints what the daemon says.
use strict;
use IO::Socket::UNIX;
my ($socket, $url, $path, $hash) = @ARGV;
my $daemon = IO::Socket::UNIX->new(Peer => $socket) or die "$socket: $!\n";

sub number { pack "Q<", $_[0] }
sub string { my $text = shift; number(length $text) . $text . "\0" x (-length($text) % 8) }
sub take { my $got = read $daemon, my $text, 8; exit unless $got; unpack "Q<", $text }
sub take_string {
	my $length = take;
	read $daemon, my $text, $length + (-$length % 8);
	substr $text, 0, $length;
}
# Passes what the daemon logs, until it is done.
sub work {
	while ((my $frame = take) != 0x616c7473) {
		if ($frame == 0x6f6c6d67 or $frame == 0x63787470) { print take_string; last if $frame == 0x63787470 }
		else { die sprintf "frame %x\n", $frame }
	}
}

# An old version of the protocol has the fewest parts.
print $daemon number(0x6e697863), number(0x112), number(0), number(0);
$daemon->flush;
take; take; work;
my %environment = (name => "taken", url => $url, outputHash => $hash, outputHashAlgo => "sha256",
	outputHashMode => "flat", out => $path);
print $daemon number(36), string("/nix/store/" . "0" x 32 . "-taken.drv"),
	number(1), string("out"), string($path), string("sha256"), string($hash),
	number(0), string("builtin"), string("builtin:fetchurl"), number(0),
	number(scalar keys %environment), map({ (string($_), string($environment{$_})) } sort keys %environment), number(0);
$daemon->flush;
work;
print "status ", take, ": ", take_string, "\n";
