# lodger put and get with a session that wants to harm its owner: it has a tar of its own, which sends
# what it likes. Nothing may come to be outside of what was fetched, and no wait may be without end.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

setup() {
	T=$BATS_TEST_TMPDIR
	HERE=/home/$USERS-a/hostile
	rm -rf "$HERE"
	as a mkdir -p "$HERE/to"
	echo outside >"$HERE/outside"
	mkdir "$HERE/elsewhere"
	chown -R "$USERS-a:" "$HERE"
	# What is mounted over a program here is what the session sees in its place.
	printf '#!/bin/bash\nexec bash ~/tar "$@"\n' >"$T/tar"
	chmod 755 "$T/tar"
	SESSION=$(elsewhere 'mount --bind "$T/tar" /usr/bin/tar; as a lodger create')
	S=$SESSION
	before=$(find "$HERE" -path "$HERE/to/*" -prune -o -printf '%p %y %m %s\n' | sort)
}

teardown() {
	lodger_teardown
	rm -rf "$HERE"
}

# tar_is SCRIPT: what the session does in tar's place.
tar_is() {
	as a lodger exec "$S" -- sh -c 'cat >tar' <<<"$1"
}

# archive_is PERL: makes the session send the tar that this adds to, with entry NAME, DATA,
# MODE; directory NAME, MODE; link_to NAME, TARGET; special TYPE, NAME, TARGET, DATA, MODE, SIZE field.
archive_is() {
	perl -e '
sub special {
	my ($type, $name, $target, $data, $mode, $size) = @_;
	my $header = pack "a100 a8 a8 a8 a12 a12 A8 a1 a100 a8 a32 a32 a8 a8 a167", $name,
		sprintf("%07o", $mode // 0644), "0000000", "0000000",
		$size // sprintf("%011o", length $data), "00000000000", "", $type, $target, "ustar  ",
		"root", "root", "0000001", "0000003", "";
	substr $header, 148, 8, sprintf "%06o\0 ", unpack "%32C*", $header;
	print $header, $data, "\0" x (-length($data) % 512);
}
sub directory { special 5, $_[0], "", "", $_[1] // 0755 }
sub entry { special 0, $_[0], "", $_[1], $_[2] }
sub link_to { special 2, $_[0], $_[1], "" }
'"$1"'; print "\0" x 1024' >"$T/archive"
	as a lodger exec "$S" -- sh -c 'cat >archive' <"$T/archive"
	tar_is 'cat archive'
}

# get SOURCE [OPTION]…: fetches into $HERE/to, for no more than 20 seconds.
get() {
	local source=$1
	shift
	run --separate-stderr as a timeout -k 2 20 lodger get "$@" "$S" "$source" "$HERE/to"
}

# all_inside: fails if anything changed but below $HERE/to.
all_inside() {
	[ "$(find "$HERE" -path "$HERE/to/*" -prune -o -printf '%p %y %m %s\n' | sort)" = "$before" ]
	[ "$(cat "$HERE/outside")" = outside ]
	[ -z "$(find "$HERE" -name '.lodger-get*')" ]
}

# fetched: what is below $HERE/to, in one line.
fetched() {
	(cd "$HERE/to" && find . -mindepth 1 -printf '%P\n' | sort | xargs)
}

@test "control: an archive without malice is unpacked" {
	archive_is 'directory "./d"; entry "./d/file", "x"; link_to "./d/link", "file"'
	get d
	succeeds
	[ "$(fetched)" = 'd d/file d/link' ]
	all_inside
}

@test "names that lead out, or to something else, are left out" {
	archive_is 'directory "./d";
		entry $_, "evil" for "../outside", "d/../../outside", "d/../outside",
			"'"$HERE"'/outside", "outside", "..", ".", "./../to2", "d/..", "//outside",
			"e", "D/x", "d2", "d/./../e", "./d/sub/../../../outside";
		directory "/"; entry "d/./good", "x"; entry "d//good2", "x"'
	get d
	exits 1
	says "skipped '../outside': it is not part of what was asked for" 'lodger: 16 skipped in all'
	[ "$(fetched)" = 'd d/good d/good2' ]
	all_inside
}

@test "links that lead out are left out, wherever they climb" {
	archive_is 'directory "d"; directory "d/s";
		link_to "d/l".$i++, $_ for "..", "../..", "/", "/etc/passwd", "s/../..",
			"s/../../outside", "./..", "s/..", "../d", "//x", "";
		link_to "d/s/m".$i++, $_ for "../..", "../../outside", ".././../x", "../l/../..",
			"x/../../../y", "../../d";
		link_to "d/s/ok".$j++, $_ for "..", "../s", ".", "n", "./x"'
	get d
	exits 1
	says 'lodger: 17 skipped in all' 'a link that leads out of what is fetched'
	[ "$(fetched)" = 'd d/s d/s/ok0 d/s/ok1 d/s/ok2 d/s/ok3 d/s/ok4' ]
	local link
	while read -r link; do
		[[ $(realpath -m "$link") == "$HERE/to/d"* ]]
	done < <(find "$HERE/to" -type l)
	all_inside
}

@test "what was fetched as itself, a link, is left out" {
	archive_is 'link_to "d", "elsewhere"'
	get d
	exits 1
	[ -z "$(fetched)" ]
	archive_is 'link_to "d", "/etc"; entry "d/x", "evil"'
	get d
	exits 1
	[ "$(fetched)" = 'd d/x' ]
	[ ! -L "$HERE/to/d" ]
	all_inside
}

@test "nothing is written through a link, neither one just made nor one that was there" {
	archive_is 'directory "d"; directory "d/s"; link_to "d/l", "s"; entry "d/l/x", "evil"'
	get d
	fails 'unpacking d/l/x: entering the directory l: it is a link or a file, which are not followed'
	as a ln -s ../../elsewhere "$HERE/to/d/out"
	archive_is 'directory "d"; entry "d/out/x", "evil"'
	get d
	fails 'entering the directory out: it is a link'
	archive_is 'directory "d"; directory "d/out"; entry "d/x", "x"'
	get d
	fails 'entering the directory d/out: '
	as a bash -c "rm -r '$HERE/to/d'; ln -s ../elsewhere '$HERE/to/d'; ln -s ../outside '$HERE/to/file'"
	archive_is 'directory "d"; entry "d/x", "evil"'
	get d
	exits 125
	archive_is 'entry "file", "evil"'
	get file
	succeeds
	[ ! -L "$HERE/to/file" ]
	[ "$(cat "$HERE/to/file")" = evil ]
	all_inside
}

@test "devices, FIFOs, hard links and unknown types are left out" {
	archive_is 'directory "d"; special 3, "d/a"; special 4, "d/b"; special 6, "d/c";
		special 1, "d/e", "/etc/passwd"; special 1, "d/f", "d/g"; entry "d/g", "x";
		special 1, "d/h", "d/g"; special 1, "d", "../outside"'
	get d
	exits 1
	says "skipped 'd/a': neither file nor directory nor link" "skipped 'd/e': a hard link" \
		'lodger: 7 skipped in all'
	[ "$(fetched)" = 'd d/g' ]
	all_inside
}

@test "set-id bits, owners and closed directories have no effect" {
	archive_is 'directory "d", 07777; entry "d/a", "x", 06777; directory "d/closed", 0;
		entry "d/closed/x", "x", 01000; entry "d/w", "x", 0222'
	get d
	succeeds
	[ "$(cd "$HERE/to" && stat -c '%n %a %U' d d/a d/closed d/closed/x d/w | sed "s/$USERS-a/a/" | xargs)" = \
		'd 755 a d/a 755 a d/closed 700 a d/closed/x 0 a d/w 200 a' ]
	all_inside
}

@test "control characters in names are not written, nor sent to the terminal" {
	archive_is 'directory "d"; entry "d/\e[31m", "x"; entry "d/a\nb", "x"; entry "d/\x7f", "x";
		directory "d/\e]0;x\a"; link_to "d/l", "a\eb"; entry "d/\xc3\xa9", "x"'
	get d
	exits 1
	says 'd/\x1b[31m' 'd/a\x0ab' 'lodger: 5 skipped in all'
	[[ $stderr != *$'\e'* ]]
	[ "$(fetched)" = 'd d/é' ]
	tar_is 'printf "\e[31mred\e]0;title\a\rmore\n" >&2; exit 3'
	get d
	fails 'tar in the session ended with status 3: \x1b[31mred\x1b]0;title\x07\x0dmore'
	all_inside
}

@test "sizes that lie, or are larger than --max, end it, and leave no half file" {
	archive_is 'directory "d"; entry "d/a", "x" x 2000000'
	get d --max 1M
	fails 'that --max allows'
	[ "$(fetched)" = d ]
	# The header announces what never comes.
	tar_is 'head -c 20000 archive'
	get d
	fails 'unpacking d/a: '
	[ "$(fetched)" = d ]
	# Eight exbibytes and less than nothing, in base 256; no number.
	local field
	for field in '\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff' \
		'\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0' 77777777777 xxxxxxxxxxx; do
		archive_is 'directory "d"; special 0, "d/a", "", "x", 0644, "'"$field"'"'
		get d
		[ "$status" = 1 ] || [ "$status" = 125 ]
		[ -z "$(find "$HERE/to" -type f -size +0)" ]
	done
	all_inside
}

@test "a thousand entries are more than --max" {
	archive_is 'directory "d"; entry "d/$_" for 1..1000'
	get d --max 2M
	fails 'that --max allows (4096 are counted for each entry)'
	[ "$(find "$HERE/to" | wc -l)" -lt 520 ]
	all_inside
}

@test "what is no tar is refused, and not decompressed" {
	archive_is 'directory "d"; entry "d/x", "x"'
	local script
	for script in 'gzip -c archive' 'head -c 4096 /dev/urandom' 'echo "#!/bin/sh"; cat archive' \
		'yes | head -c 100000'; do
		tar_is "$script"
		get d
		fails 'reading the archive: '
	done
	tar_is 'true'
	get d
	[ "$status" != 0 ] || [ -z "$(fetched)" ]
	[ -z "$(fetched)" ]
	all_inside
}

@test "an endless archive, and one that never comes, end" {
	tar_is 'cat /dev/zero'
	get d
	fails 'getting files: tar in the session ended with status'
	archive_is 'directory "d"'
	tar_is 'head -c 512 archive >d1; for i in 1 2 3 4 5 6; do cat d1 d1 >d2; mv d2 d1; done; while :; do cat d1; done'
	get d --max 1M
	fails 'allows'
	tar_is 'sleep 88051'
	get d --timeout 1s
	fails 'not done in time; --timeout gives it more'
	tar_is 'head -c 512 archive; exec >&-; sleep 88052'
	get d --timeout 1s
	fails 'not done in time; --timeout gives it more'
	tar_is 'head -c 700 archive; kill -STOP $$'
	get d --timeout 1s
	fails 'not done in time; --timeout gives it more'
	until_true 10 eval '! as a lodger exec "$S" -- pgrep -f "^sleep 8805"'
}

@test "a tar that takes nothing, or ends early, ends put" {
	head -c 300000 /dev/zero >"$HERE/big"
	chmod 644 "$HERE/big"
	tar_is 'sleep 88053'
	run --separate-stderr as a timeout -k 2 20 lodger put --timeout 1s "$S" "$HERE/big" .
	fails 'putting files: not done in time; --timeout gives it more'
	tar_is 'cat >/dev/null; sleep 88054'
	run --separate-stderr as a timeout -k 2 20 lodger put --timeout 1s "$S" "$HERE/big" .
	fails 'not done in time; --timeout gives it more'
	tar_is 'echo no more >&2; exit 4'
	run --separate-stderr as a timeout -k 2 20 lodger put "$S" "$HERE/big" .
	fails 'putting files: tar in the session ended with status 4: no more'
	tar_is 'exit 0'
	run --separate-stderr as a timeout -k 2 20 lodger put "$S" "$HERE/big" .
	fails 'takes no more'
	tar_is 'exec <&-; sleep 88055'
	run --separate-stderr as a timeout -k 2 20 lodger put --timeout 1s "$S" "$HERE/big" .
	exits 125
}

@test "what tar says without end holds up neither get nor put" {
	archive_is 'directory "d"; entry "d/x", "x"'
	tar_is 'yes "something is wrong" | head -c 300000 >&2; cat archive'
	get d --timeout 5s
	succeeds
	[ "$(fetched)" = 'd d/x' ]
	tar_is 'yes "something is wrong" | head -c 300000 >&2; cat >/dev/null; exit 2'
	run --separate-stderr as a timeout -k 2 20 lodger put --timeout 5s "$S" "$HERE/outside" .
	fails 'tar in the session ended with status 2: something is wrong'
}

@test "a real tar that has much to say holds up neither get nor put" {
	as a lodger destroy "$S" >/dev/null
	create a --inodes 2000
	S=$SESSION
	local name
	name=$(head -c 200 /dev/zero | tr '\0' n)
	in_session a "$S" 'mkdir d && cd d && for i in {1..600}; do : >'"$name"'$i; done && chmod 0 *'
	get d --timeout 10s
	fails 'tar in the session ended with status 2' 'Permission denied'
	in_session a "$S" 'mkdir into && chmod 500 into'
	as a bash -c "mkdir '$HERE/many' && cd '$HERE/many' && for i in {1..600}; do : >$name\$i; done"
	run --separate-stderr as a timeout -k 2 20 bash -c "cd '$HERE/many' &&
		exec lodger put --timeout 10s $S $name{1..600} into"
	fails 'tar in the session ended with status 2' 'Permission denied'
}
