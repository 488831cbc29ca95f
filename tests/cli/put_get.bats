# lodger put and get with a session that means well: what is copied, as what, and what is refused.
# With one that does not: hostile.bats.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

setup() {
	create a
	S=$SESSION
	HERE=/home/$USERS-a/put-get
	rm -rf "$HERE"
	as a mkdir "$HERE"
}

teardown() {
	lodger_teardown
	rm -rf "$HERE"
}

# here SCRIPT: runs it as a, in $HERE, with $S.
here() {
	as a env S="$S" bash -c "cd '$HERE' && $1"
}

# says_here TEXT SCRIPT: fails unless it ends as `fails` wants it.
says_here() {
	run --separate-stderr here "$2" </dev/null
	fails "$1"
}

@test "a file comes back as it went, under its own name and under another" {
	here 'head -c 3000000 /dev/urandom >file; : >empty; lodger put $S file empty . && lodger put $S file ./other
		mkdir back; lodger get $S file other empty back && lodger get $S other renamed'
	cmp "$HERE/file" "$HERE/back/file"
	cmp "$HERE/file" "$HERE/back/other"
	cmp "$HERE/file" "$HERE/renamed"
	[ -f "$HERE/back/empty" ]
	[ ! -s "$HERE/back/empty" ]
	[ "$(stat -c %U:%G "$HERE/back/file")" = "$USERS-a:$USERS-a" ]
	[ "$(in_session a "$S" 'stat -c %U file; cmp file other')" = "$S" ]
}

@test "put and get say nothing when all is well" {
	run --separate-stderr here 'echo x >file; lodger put $S file . && lodger get $S file back'
	succeeds
	[ -z "$output" ]
}

@test "a directory goes with all in it, links as links, under its own name or another" {
	here 'mkdir -p d/sub/deep d/none; echo 1 >d/one; echo 2 >d/sub/deep/two; ln -s ../one d/sub/link
		ln -s /etc/passwd d/absolute; ln -s nowhere d/dangling; ln d/one d/hard
		lodger put $S d . && lodger put $S d/ renamed && lodger put $S d renamed'
	run in_session a "$S" 'diff -r d/sub renamed/sub && diff -r d/sub renamed/d/sub && readlink d/sub/link \
		d/absolute d/dangling && cat renamed/sub/deep/two d/hard && ls -d d/none'
	exits 0
	[ "$output" = $'../one\n/etc/passwd\nnowhere\n2\n1\nd/none' ]
	in_session a "$S" 'rm d/absolute'
	here 'lodger get $S d back && lodger get $S d/ back && diff -r d/sub back/sub && diff -r d/sub back/d/sub'
	[ "$(readlink "$HERE/back/sub/link")" = ../one ]
	[ "$(readlink "$HERE/back/dangling")" = nowhere ]
	[ -d "$HERE/back/none" ]
	# Hard links become files of their own.
	[ "$(cat "$HERE/back/one" "$HERE/back/hard")" = $'1\n1' ]
	[ "$(stat -c %h "$HERE/back/hard")" = 1 ]
}

@test "names are taken as they are: blanks, dashes, quotes, wildcards, long ones" {
	here 'long=$(head -c 250 /dev/zero | tr "\0" n)
		names=("a b" -x --help "--directory=x" "q\"u'\''o" "*" "[a]" "\\n" "é" "$long" "a:b" "!" ".hidden" "@file")
		mkdir in; for name in "${names[@]}"; do echo "$name" >"in/$name"; done
		lodger put $S in . && lodger get $S in back && diff -r in back
		cd in && lodger put $S -- "${names[@]}" . && mkdir ../single && lodger get $S -- "${names[@]}" ../single &&
		diff -r . ../single'
	[ "$(find "$HERE/single" -type f | wc -l)" = 14 ]
	# Options of lodger itself end at --.
	says_here 'put: there is no option -x' 'lodger put $S -x . ; exit $?'
	# Targets as well.
	here 'echo x >f; lodger put $S -- f -t && lodger put $S f "a  b" && lodger get $S -- -t -T && cmp f ./-T'
	[ "$(in_session a "$S" 'cat ./-t "a  b"')" = $'x\nx' ]
}

@test "a newline in a name goes in, and is left out on the way back" {
	here 'mkdir d; echo x >$'\''d/a\nb'\''; echo y >d/c; lodger put $S d .'
	[ "$(in_session a "$S" 'cat d/a?b d/c')" = $'x\ny' ]
	run --separate-stderr here 'lodger get $S d back'
	exits 1
	[ "$stderr" = "lodger: skipped './d/a\\x0ab': control characters in its name
lodger: 1 skipped in all" ]
	[ "$(ls "$HERE/back")" = c ]
	says_here "getting '" 'lodger get $S d/$'\''a\nb'\'' .'
	says 'control characters in its name'
}

@test "permission bits are kept, less the umask's, and no others" {
	here 'umask 022; mkdir -m 750 d; for mode in 644 600 755 666 777 4755 2755 400; do
		echo x >d/$mode; chmod $mode d/$mode; done; lodger put $S d .'
	run in_session a "$S" 'cd d && stat -c "%n %a" *'
	exits 0
	[[ $output != *' 4755'* && $output != *' 2755'* ]]
	grep -qx '600 600' <<<"$output"
	grep -qx '755 755' <<<"$output"
	grep -qx '400 400' <<<"$output"
	here 'umask 027; lodger get $S d back'
	[ "$(cd "$HERE/back" && stat -c '%n %a' 600 644 755 777 400 4755 | xargs)" = \
		'600 600 644 640 755 750 777 750 400 400 4755 750' ]
	[ "$(stat -c %a "$HERE/back")" = 750 ]
	in_session a "$S" 'mkdir ro; echo x >ro/file; chmod 500 ro'
	here 'umask 077; lodger get $S ro . && cat ro/file'
	[ "$(stat -c %a "$HERE/ro")" = 700 ]
	[ "$(stat -c %a "$HERE/ro/file")" = 600 ]
}

@test "what exists is replaced, file by file, and a link there is not written through" {
	here 'echo old >file; ln -s file link; mkdir -p tree/d; echo old >tree/d/one; echo stays >tree/d/two'
	in_session a "$S" 'echo new >link; mkdir d; echo new >d/one; echo old >file; ln -s file hard'
	here 'lodger get $S link . && lodger get $S d tree'
	[ "$(cat "$HERE/file")" = old ]
	[ ! -L "$HERE/link" ]
	[ "$(cat "$HERE/link" "$HERE/tree/d/one" "$HERE/tree/d/two")" = $'new\nnew\nstays' ]
	here 'echo newer >file; lodger put $S file . && lodger put $S file hard'
	[ "$(in_session a "$S" 'cat file hard')" = $'newer\nnewer' ]
	[ "$(in_session a "$S" 'test -L hard || cat file')" = newer ]
	# A directory is not replaced by a file, nor a file by a directory.
	in_session a "$S" 'mkdir x; echo y >x/y; echo z >z'
	says_here 'finishing ./z: Is a directory' 'mkdir z; lodger get $S z .'
	says_here './x/: Not a directory' 'echo x >x; lodger get $S x .'
	says_here 'tar: x: Cannot open: ' 'lodger put $S x .'
	[ "$(cat "$HERE/x")" = x ]
	[ -z "$(find "$HERE" -name '.lodger-get*')" ]
}

@test "sources that are not there are named" {
	says_here 'reading nothing: No such file or directory' 'lodger put $S nothing .'
	says_here 'getting files: tar in the session ended with status 2: tar: ./nothing: Cannot stat' \
		'lodger get $S nothing .'
	says_here 'reading dangling: No such file' 'ln -s nowhere dangling; lodger put $S dangling .'
	# What came before is there.
	says_here 'reading nothing: No such file' 'echo x >file; lodger put $S file nothing .'
	in_session a "$S" 'echo x >file'
	says_here './nothing: Cannot stat' 'rm file; lodger get $S file nothing .'
	[ "$(cat "$HERE/file")" = x ]
}

@test "what may not be read is named" {
	in_session a "$S" 'echo x >closed; chmod 0 closed'
	says_here 'tar: ./closed: Cannot open: Permission denied' 'lodger get $S closed .'
	says_here 'opening closed: Permission denied' 'echo x >closed; chmod 0 closed; lodger put $S closed .'
	says_here 'opening d/closed: Permission denied' 'mkdir -p d/closed; chmod 0 d/closed; lodger put $S d .
		status=$?; chmod 700 d/closed; exit $status'
}

@test "names that are none are refused" {
	here 'echo x >file'
	local name
	for name in "'' ." "file ''"; do
		says_here 'copying: an empty file name' "lodger put \$S $name"
		says_here 'copying: an empty file name' "lodger get \$S $name"
	done
	for name in . .. / d/.. d/. ./; do
		says_here "'$name' has no name of its own; name a file or a directory" "lodger get \$S $name ."
	done
	says_here "'..' has no name of its own that it could get in the session; name the target, as in '.. NAME'" \
		'lodger put $S .. .'
	here 'mkdir d; lodger put $S . all'
	[ "$(in_session a "$S" 'ls all | xargs')" = 'd file' ]
}

@test "a target that is no directory is named" {
	here 'echo x >one; echo y >two; echo z >file'
	in_session a "$S" 'echo x >one; echo y >two; echo z >file'
	local target
	for target in file no/ no; do
		says_here "putting files: '$target' is not a directory in the session" "lodger put \$S one two $target"
	done
	says_here "putting files: 'no/' is not a directory in the session" 'lodger put $S one no/'
	says_here 'tar: no: Cannot open: No such file' 'lodger put $S one no/such'
	says_here 'getting files: opening the directory file: Not a directory' 'lodger get $S one two file'
	says_here 'getting files: opening the directory no: No such file' 'lodger get $S one two no'
	says_here "getting files: 'no/' is not a directory here" 'lodger get $S one no/'
	says_here "getting files: 'file/' is not a directory here" 'lodger get $S one file/'
	says_here 'getting files: opening the directory no/: No such file' 'lodger get $S one no/such'
	[ "$(cat "$HERE/file")" = z ]
	says_here 'Permission denied' 'mkdir -m 500 ro; lodger get $S one ro'
	says_here 'tar: ' 'lodger put $S one /usr'
}

@test "sockets, FIFOs and devices are skipped, said, and counted, and the rest is copied" {
	run --separate-stderr here 'mkdir d; mkfifo d/fifo; echo x >d/file
		socat -u UNIX-LISTEN:d/socket OPEN:/dev/null 2>/dev/null & until [ -e d/socket ]; do sleep 0.02; done
		lodger put $S d /dev/null .; status=$?; kill $!; wait; exit $status'
	exits 1
	[ "${#stderr_lines[@]}" = 4 ]
	says "skipped 'd/fifo': neither file nor directory nor link" "skipped 'd/socket': neither" \
		"skipped 'null': neither" 'lodger: 3 skipped in all'
	[ "$(in_session a "$S" 'ls d')" = file ]
	in_session a "$S" 'mkfifo d/fifo; ln -s /etc d/out; ln -s ../.. d/up; ln -s file d/in'
	run --separate-stderr here 'lodger get $S d back'
	exits 1
	says "skipped './d/fifo': neither file nor directory nor link" 'lodger: 3 skipped in all' \
		"skipped './d/out': a link that leads out of what is fetched" "skipped './d/up': a link"
	[ "$(cd "$HERE/back" && echo *)" = 'file in' ]
	run --separate-stderr here 'lodger get $S d/in alone'
	exits 1
	[ ! -e "$HERE/alone" ]
}

@test "of many that are skipped, twenty are named and all counted" {
	run --separate-stderr here 'mkdir d; for i in {1..30}; do mkfifo d/$i; done; lodger put $S d .'
	exits 1
	[ "${#stderr_lines[@]}" = 21 ]
	says '30 skipped in all'
}

@test "--max bounds what is copied, both ways, each entry counted" {
	here 'head -c 2M /dev/zero >big; mkdir many; touch many/{1..300}; lodger put $S big many .'
	says_here 'packing big: it is more than the 1048576 bytes that --max allows' \
		'lodger put --max 1M $S big .'
	says_here 'unpacking: it is more than the 1048576 bytes that --max allows (4096 are counted' \
		'lodger get --max=1M $S big x'
	says_here 'that --max allows' 'lodger put --max 1M $S many x'
	says_here 'that --max allows' 'lodger get --max 1M $S many x'
	[ ! -e "$HERE/x" ] || [ -d "$HERE/x" ]
	here 'rm -rf x; lodger get --max 3M $S big x && cmp big x && lodger put --max 3m $S big x'
	# A gigabyte is the most without it; nobody has to write that much to say so.
	in_session a "$S" 'truncate -s 1G sparse'
	says_here 'more than the 1073741824 bytes' 'lodger get $S sparse .'
	says_here 'more than the 1073741824 bytes' 'truncate -s 1G sparse; lodger put $S sparse .'
	[ -z "$(find "$HERE" -name '.lodger-get*')" ]
}

@test "--max and --timeout refuse what is no size and no time" {
	local command word
	for command in put get; do
		for word in '' -1 1.5M 5Q x; do
			refuses "--max: '$word' is not a size" $command --max "$word" "$S" a b
		done
		refuses '--max: the size must be more than 0' $command --max 0 "$S" a b
		for word in '' 0 -1 1.5 5Q 3651d; do
			refuses "--timeout: '$word' is " $command --timeout "$word" "$S" a b
		done
	done
}

@test "what does not fit into the session is said in tar's words" {
	as a lodger destroy "$S"
	create a --disk 4M
	S=$SESSION
	says_here 'putting files: tar in the session ended with status 2: tar: big: ' \
		'head -c 8M /dev/zero >big; lodger put $S big .'
}

@test "a tree that is too deep is refused, and one that is not is copied" {
	here 'path=d; for i in {1..100}; do path+=/d; done; mkdir -p $path; echo x >$path/file
		lodger put $S d . && lodger get $S d back && cat ${path/d/back}/file'
	says_here 'nested deeper than 128 directories' 'path=d; for i in {1..140}; do path+=/d; done
		mkdir -p $path; lodger put $S d .'
}

@test "relative names count from the caller's directory and the session's home" {
	here 'mkdir -p a/b; echo x >a/file; cd a/b; lodger put $S ../file dir 2>&1 && lodger get $S ./dir ../got &&
		cmp ../file ../got && lodger put $S "$PWD/../file" /tmp/abs && lodger get $S /tmp/abs . && cmp abs ../file'
	[ "$(in_session a "$S" 'cat ~/dir')" = x ]
}
