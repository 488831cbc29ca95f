# What the tests of packages and commands on demand share beside ../cli/cli.bash.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154  # for other shells; for those who load it; bats' own

load ../cli/cli

CHANNEL=$(readlink /var/lib/lodger/channel)
SYSTEM=$(uname -m)-linux

# tree ATTRIBUTE: its store path.
tree() {
	awk -F '\t' -v name="$1" '$1 == name { print $3 }' "$CHANNEL/packages.tsv"
}

# another_channel SED: for `elsewhere`: a table of packages that the script of sed has been over, in the
# place of the channel's own. Prints what to run there first.
another_channel() {
	sed "$1" "$CHANNEL/packages.tsv" | LC_ALL=C sort >"$BATS_TEST_TMPDIR/packages.tsv"
	chmod 644 "$BATS_TEST_TMPDIR/packages.tsv"
	printf 'mount --bind "$T/packages.tsv" %s\n' "$CHANNEL/packages.tsv"
}

# A store path that no store has.
ABSENT=/nix/store/00000000000000000000000000000000-absent
