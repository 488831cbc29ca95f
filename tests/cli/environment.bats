# What a caller's process can have that is unusual: variables, descriptors, directories, limits,
# signals; and an installation that is not whole.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load cli

# Commands that print, each with its name in SESSION's place as S.
PRINTING=('--version' '--help' help 'help run' 'create --help' list 'list --json' 'list --all' 'show S'
	'show --json S' collect 'collect --json' 'doctor' 'doctor --json')

# no_output REDIRECTION: fails unless every command that prints fails where it cannot.
no_output() {
	local words
	create a
	for words in "${PRINTING[@]}"; do
		run --separate-stderr as a bash -c "lodger ${words/%S/$SESSION} $1"
		fails 'writing to standard output: ' || {
			echo "command: $words"
			return 1
		}
	done
}

@test "a full standard output is an error, not silence" {
	no_output '>/dev/full'
	says 'No space left on device'
}

@test "a closed standard output is an error, not silence" {
	no_output '>&-'
}

@test "a session whose name cannot be printed is not left behind" {
	local redirection
	for redirection in '>/dev/full' '>&-' '>/dev/full --json' '>&- --json'; do
		run --separate-stderr as a bash -c "lodger create $redirection"
		fails 'writing to standard output: '
	done
	run --separate-stderr as a bash -c 'lodger create | true; echo "${PIPESTATUS[0]}"'
	exits 0
	[ "$(sessions)" = 0 ] || [ "$output" = 0 ]
	[ "$output" = 0 ] || [ "$output" = 125 ]
}

@test "destroy destroys, even if it cannot say so" {
	local words
	for words in '' --json; do
		create a
		run --separate-stderr as a bash -c "lodger destroy $words $SESSION >/dev/full"
		fails 'writing to standard output: No space left on device'
		[ "$(sessions)" = 0 ]
	done
}

@test "without standard error, or a full one, exit codes are the same" {
	local redirection
	for redirection in '2>&-' '2>/dev/full'; do
		run as a bash -c "lodger nonsense $redirection"
		exits 125
		run as a bash -c "lodger run -- sh -c 'echo out; exit 7' $redirection"
		exits 7
		[ "$output" = out ]
		run as a bash -c "lodger run --usage -- true $redirection"
		exits 0
	done
}

@test "with all three closed it still works, and nothing lands on the wrong descriptor" {
	create a
	run as a bash -c "lodger exec $SESSION -- sh -c 'readlink /proc/self/fd/0; cat; exit 3' <&- >&- 2>&-"
	exits 3
	[ -z "$output" ]
	as a bash -c "lodger exec $SESSION -- sh -c 'echo x >file' <&- >&- 2>&-"
	[ "$(in_session a "$SESSION" 'cat file')" = x ]
	run as a bash -c "echo y >~/y; lodger put $SESSION ~/y . <&- >&- 2>&- && lodger get $SESSION y ~/z <&- >&- 2>&-
		cat ~/z; rm ~/y ~/z"
	[ "$output" = y ]
	as a bash -c "lodger destroy $SESSION <&- 2>&- >/dev/null"
	[ "$(sessions)" = 0 ]
}

@test "what cannot be passed to a command is said to be" {
	create a
	run --separate-stderr as a bash -c "lodger exec $SESSION -- cat </"
	fails 'standard input is a directory; use a file, a pipe or a terminal'
	run --separate-stderr as a bash -c "lodger exec $SESSION -- cat <>/dev/null >/dev/null"
	succeeds
}

@test "hostile variables reach neither lodger nor the session" {
	local variables=(
		LD_LIBRARY_PATH=/no/such LANG=xx_YY LC_ALL=../../etc TZ=:/etc/shadow TERM=$'\e[31m'
		TMPDIR=/no/such TAR_OPTIONS=--no-such-option NIX_PATH=nixpkgs=/no/such NIX_REMOTE=unix:///x
		BASH_ENV=/no/such ENV=/no/such IFS=/ SHELL=/no/such USER=root LOGNAME=root LODGER_SESSION=x
		'BASH_FUNC_ls%%=() { echo hijacked; }' PERL5OPT=-Mno GCONV_PATH=/tmp MALLOC_CHECK_=3
		GETCONF_DIR=/tmp RES_OPTIONS=x HOSTALIASES=/etc/shadow $'NL=a\nb'
	)
	run --separate-stderr as a env "${variables[@]}" lodger run -- env
	exits 0
	local names
	names=$(cut -d= -f1 <<<"$output" | sort | xargs)
	[ "$names" = 'HOME LANG LODGER_SESSION LOGNAME NIX_PATH NIX_REMOTE PATH SHELL TMPDIR USER' ]
	[[ $output != *no/such* && $output != *root* ]]
	run --separate-stderr as a env "${variables[@]}" lodger create
	succeeds
	SESSION=$output
	run --separate-stderr as a env "${variables[@]}" bash --noprofile --norc -c "echo x >~/v &&
		lodger put $SESSION ~/v . && lodger get $SESSION v ~/w && cat ~/w; rm ~/v ~/w"
	exits 0
	[ "$output" = x ]
	run --separate-stderr as a env "${variables[@]}" lodger show "$SESSION"
	succeeds
	run --separate-stderr as a env "${variables[@]}" lodger run -p jq -- jq -n 6*7
	exits 0
	[ "$output" = 42 ]
}

@test "an empty environment, no HOME and no PATH are enough" {
	local lodger
	lodger=$(as a bash -c 'command -v lodger')
	run --separate-stderr as a env -i "$lodger" run -- echo works
	succeeds
	[ "$output" = works ]
	run --separate-stderr as a env PATH= "$lodger" run -p jq -- jq -n 6*7
	exits 0
	[ "$output" = 42 ]
	run --separate-stderr as a env -u HOME PATH=/no/such "$lodger" create
	succeeds
	run --separate-stderr as a env -i "$lodger" destroy "$output"
	succeeds
	run --separate-stderr as a env -i "$lodger" doctor
	succeeds
}

@test "an environment of a megabyte does no harm" {
	run --separate-stderr as a bash -c 'printf -v long %01000d 0; for i in {1..1000}; do export "V$i=$long"; done
		lodger run -- echo works'
	succeeds
	[ "$output" = works ]
}

@test "a working directory that is gone, or closed, is enough" {
	local script
	for script in 'set -e; mkdir gone; cd gone; rmdir ../gone; set +e' \
		'trap "chmod 700 ~/closed; rmdir ~/closed" EXIT; mkdir closed && cd closed && chmod 0 .'; do
		run --separate-stderr as a bash -c "$script; lodger run -- sh -c '[ \"\$PWD\" = \"\$HOME\" ]'"
		succeeds
		run --separate-stderr as a bash -c "$script; lodger create"
		succeeds
		SESSION=$output
		run --separate-stderr as a bash -c "$script; lodger put $SESSION file ."
		exits 125
		[[ $stderr == "lodger: "*" file: "* ]]
		in_session a "$SESSION" 'echo x >file'
		run --separate-stderr as a bash -c "$script; lodger get $SESSION file ."
		exits 125
		[[ $stderr =~ ^lodger:\ .*:\ (No\ such\ file|Permission\ denied) ]]
		run --separate-stderr as a bash -c "$script; lodger destroy $SESSION"
		succeeds
	done
}

@test "a low limit on open files is named, and others do no harm" {
	run --separate-stderr as a bash -c 'ulimit -n 100; lodger create'
	# Lifted where the machine's root may do so (CAP_SYS_RESOURCE), and nowhere else.
	if bash -c 'ulimit -n 100 && ulimit -n 200' 2>/dev/null; then
		succeeds
		as a lodger destroy "$output"
	else
		fails 'the hard limit RLIMIT_NOFILE is 100'
	fi
	run --separate-stderr as a bash -c 'ulimit -n 4; lodger run -- true'
	exits 125
	[ -n "$stderr" ]
	run --separate-stderr as a bash -c 'ulimit -s 1024; lodger run -- echo works'
	succeeds
	[ "$output" = works ]
	# Lifted, or named where root may not lift it.
	run --separate-stderr as a bash -c 'ulimit -c 0; lodger run -- echo works'
	[ "$output" = works ] || fails 'the hard limit RLIMIT_CORE is 0'
	[ "$(sessions)" = 0 ]
}

@test "ignored signals, a mask of none, and being a leader do no harm" {
	run --separate-stderr as a bash -c 'trap "" CHLD PIPE HUP TERM INT ALRM; umask 777
		lodger run -- sh -c "umask; exit 7"'
	exits 7
	[ "$output" = 0022 ]
	run --separate-stderr as a setsid -w lodger run -- echo works
	succeeds
	[ "$output" = works ]
	run --separate-stderr as a bash -c 'exec -a "" lodger run -- echo works'
	succeeds
	run --separate-stderr as a bash -c 'exec -a lodger-helper lodger nonsense'
	fails "there is no command 'nonsense'"
}

@test "an installation that is not whole says what is missing, and who can do something" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	run --separate-stderr elsewhere 'mount --bind "$T/empty" /usr/local/libexec/lodger; as a lodger create'
	fails "creating a session: $HELPER does not exist: Lodger is not fully installed here" 'make install'
	create a
	export S=$SESSION
	# Only the installed client has a program of its own for this.
	[ -n "${CLIENT_DIRECTORY-}" ] || {
		local program command
		while read -r program command; do
			run --separate-stderr elsewhere 'mount --bind "$T/empty" /usr/local/libexec/lodger
				as a lodger '"$command"
			fails "${command%% *}: starting /usr/local/libexec/lodger/$program: No such file" \
				'install Lodger again'
		done <<-'END'
			lodger-get get "$S" x y
			lodger-packages packages
			lodger-assistant fill x
		END
	}
	install -m 755 "$HELPER" "$BATS_TEST_TMPDIR/plain"
	run --separate-stderr elsewhere 'mount --bind "$T/plain" '"$HELPER"'; as a lodger create'
	fails 'creating a session: not running as root: the helper must be owned by root and set-user-ID'
	install -m 644 /dev/null "$BATS_TEST_TMPDIR/dead"
	run --separate-stderr elsewhere 'mount --bind "$T/dead" '"$HELPER"'; as a lodger create'
	fails "creating a session: starting $HELPER: Permission denied; lodger doctor says what is wrong"
}

# helper SCRIPT: what create says when this stands in the helper's place.
helper() {
	printf '#!/bin/bash\n%s\n' "$1" >"$BATS_TEST_TMPDIR/other"
	chmod 755 "$BATS_TEST_TMPDIR/other"
	run --separate-stderr elsewhere 'mount --bind "$T/other" '"$HELPER"'; as a lodger create'
}

@test "a helper that does not answer, or not as it should, is explained" {
	! apparmor_in_force || skip 'the AppArmor profile of that path lets no other program run there'
	helper 'exit 9'
	fails 'creating a session: lodger-helper ended with status 9 and did not answer; the system log'
	helper 'exit 3'
	fails 'lodger-helper did not accept how it was started (status 3); are client and helper of the same'
	helper 'kill -SEGV $$'
	fails 'creating a session: lodger-helper was ended by signal 11 (Segmentation fault)'
	helper 'kill -ALRM $$'
	fails 'creating a session: lodger-helper gave up after 30 seconds; is the machine overloaded? Try again'
	helper 'printf "\0\0\0\4xxxx"; cat >/dev/null & exit 0'
	fails 'creating a session: '
	helper 'head -c 5000 /dev/zero'
	fails 'creating a session: '
	helper 'exec 0<&-; exit 0'
	fails 'creating a session: lodger-helper ended with status 0 and did not answer'
}
