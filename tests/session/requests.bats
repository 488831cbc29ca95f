# What a caller can write to the set-user-ID helper: requests of every shape and pace, for every
# session. Each is refused by a sentence that names what is wrong, and leaves nothing.
# shellcheck disable=SC2016,SC2030,SC2031  # scripts for other shells; each test is a subshell
# shellcheck disable=SC2153  # NUMBER and OPEN are rawhelper.bash's

load ../lib/lodger
load ../lib/rawhelper

limits_of() {
	as a lodger show "lodger-$1" --json | jq -c '.limits | [.memory, .pids, .cpu, .disk, .inodes, .ttl]'
}

@test "a limit is granted up to its maximum and down to its least, and refused by name beyond" {
	local key least most value
	while read -r key least most; do
		for value in "$least" "$most"; do
			made "$OPEN" --create="$key=$value"
			[ "$(as a lodger show "lodger-$NUMBER" --json | jq ".limits.$key")" = "$value" ]
			destroyed
		done
		for value in $((most + 1)) $((least - 1)) 4294967296000 9223372036854775808 18446744073709551615; do
			[ "$value" = 0 ] || refused LIMIT "$key" "$key of $value asked for" --create="$key=$value"
		done
	done <<-END
		memory 8388608 2147483648
		pids 4 256
		cpu 1 200
		disk 1048576 1073741824
		inodes 256 20000
		ttl 1 7200
	END
	refused LIMIT pids 'pids of 257' --create=memory=16777216,pids=257,cpu=10
}

@test "a limit of zero is the policy's default, like one that is left out" {
	made "$OPEN" --create
	[ "$(limits_of "$NUMBER")" = '[268435456,64,100,67108864,4000,1800]' ]
	destroyed
	made "$OPEN" --create=memory=0,pids=0,cpu=0,disk=0,inodes=0,ttl=0,network=0
	[ "$(limits_of "$NUMBER")" = '[268435456,64,100,67108864,4000,1800]' ]
	destroyed
	# A default above the maximum grants no more than that.
	policy 'maximum pids 32'
	made "$OPEN" --create
	[ "$(limits_of "$NUMBER")" = '[268435456,32,100,67108864,4000,1800]' ]
	destroyed
}

@test "the host's network needs the policy's leave, and no third kind exists" {
	local value
	refused PERMISSION network 'does not allow' --create=network=1
	for value in 2 255 2147483647 2147483648 18446744073709551615; do
		refused REQUEST network 'neither none nor host' --create=network="$value"
	done
	policy "group $(id -g "$USERS-b") allow network-host"
	refused PERMISSION network 'does not allow' --create=network=1
	policy "group $(id -g "$USERS-a") allow network-host"
	made --create=network=1
	destroyed
}

@test "another version of the protocol is refused before anything else" {
	local version
	for version in 0 2 4294967295 18446744073709551615; do
		refused VERSION version 'different versions' --version="$version" --create
		refused VERSION version 'different versions' --version="$version" --collect --suffix=2801
	done
	refused VERSION version 'different versions' --hex=
	refused VERSION version 'different versions' --hex= --length=0
}

@test "unknown fields are refused wherever they stand" {
	local hex
	refused REQUEST request 'does not know' --create --suffix=2801
	refused REQUEST request 'does not know' --create --suffix=2a00
	refused REQUEST request 'does not know' --create --suffix=f8ffffff0f01
	# In Create, in Limits, in Destroy, in Collect.
	for hex in 080112021801 080112040a023801 08011a0408011001 080122020801; do
		refused REQUEST request 'does not know' --hex="$hex"
	done
	# Two bytes each, until the decoder's memory is at its end.
	hex=$(printf '2801%.0s' {1..2000})
	refused REQUEST request '' --collect --suffix="$hex"
	# Control.
	raw --hex=08012200
	answers 'exit 0' 'code OK'
}

@test "of fields and operations that are given twice the last one counts, and one alone" {
	made "$OPEN" --create=pids=10,memory=16777216,pids=20
	[ "$(limits_of "$NUMBER" | jq '.[1]')" = 20 ]
	destroyed
	made "$OPEN" --destroy=65535 --collect --create=pids=30
	[ "$(limits_of "$NUMBER" | jq '.[1]')" = 30 ]
	destroyed
	refused LIMIT pids 'pids of 257' --create=pids=10 --create=pids=257
	local before
	before=$(ls /run/lodger/sessions)
	raw --create --create --destroy=65535
	answers 'exit 0' 'code ALREADY_GONE field - session 65535'
	raw --create --collect
	answers 'exit 0' 'code OK field - session 0'
	[ "$before" = "$(ls /run/lodger/sessions)" ]
	refused REQUEST operation 'names no operation' --version=1
}

@test "what is no message is refused, and never more than that" {
	local hex i
	# Ends within a field, wire types that do not fit or do not exist, field 0, endless varints,
	# lengths over the end.
	for hex in 08 0801120a 08011205 0801ff 00 0a0108 0801100100 08011c 08011b 08011f00 0801120308ffff 0801126000 \
		08ffffffffffffffffffffff01 0801128080808080808080808001 080112ffffffff0f 08011204ffffffff \
		080112040a028801 "0801$(printf '0b%.0s' {1..500})"; do
		refused REQUEST request 'the request ' --hex="$hex"
	done
	RANDOM=4711
	for ((i = 0; i < 60; i++)); do
		hex=$(for ((j = RANDOM % 60; j >= 0; j--)); do printf %02x $((RANDOM % 256)); done)
		raw --hex="$hex"
		[[ ${lines[0]} == 'exit 0' && ${lines[1]} == 'code '@(REQUEST\ field\ request|VERSION)* ]] || {
			echo "$hex: $output" && return 1
		}
	done
}

@test "a request with any one byte changed is refused or is another request" {
	local good=080112140a100880808010101018642080808020300a1000 i byte hex
	made --hex="$good"
	destroyed
	for ((i = 0; i < ${#good}; i += 2)); do
		for byte in 00 01 7f 80 ff; do
			hex=${good:0:i}$byte${good:i+2}
			raw --hex="$hex"
			[[ ${lines[0]} == 'exit 0' && ${lines[1]} == 'code '@(OK|ALREADY_GONE|LIMIT|PERMISSION|REQUEST|VERSION)\ * &&
				$output != *'child failed'* ]] || { echo "$hex: $output" && return 1; }
		done
	done
	as a lodger collect
}

@test "a frame that is cut, too long or followed by more is refused" {
	local n
	for n in {0..7}; do
		refused REQUEST frame 'before it was whole' --create --cut="$n"
	done
	made --create --cut=8
	destroyed
	refused REQUEST frame 'before it was whole' --create --length=4092
	for n in 4093 4097 65536 2147483648 4294967295; do
		refused REQUEST frame 'longer than a request can be' --create --length="$n"
	done
	# The longest that can be is read as a whole: what is wrong with it is its content.
	refused REQUEST request 'does not know' --collect --suffix="2af51f$(printf '00%.0s' {1..4085})"
	refused REQUEST frame 'longer' --collect --suffix="2af61f$(printf '00%.0s' {1..4086})"
	refused REQUEST operation 'names no operation' --create --length=2
	refused REQUEST frame 'more behind' --create --after=00
	refused REQUEST frame 'more behind' --collect --after="$(printf '00%.0s' {1..4000})"
	refused VERSION version '' --collect --length=0
}

@test "bytes that arrive later are nobody's, and do not hide that their sender went away" {
	run as a bash -c 'mkfifo in out; exec 5<>in 6<>out; rm in out
		(exec -a lodger-helper '"$HELPER"' </dev/fd/5 >/dev/fd/6 5>&- 6>&-) &
		printf "\4\0\0\0\10\1\22\0" >&5; wait $!; echo "status $?"; sleep 0.2
		for i in 1 2 3; do printf "\4\0\0\0\10\1\22\0" >&5; done; sleep 0.3; lodger list'
	says 'status 0'
	[ "$(grep -c ' live ' <<<"$output")" = 1 ]
	until_true 10 eval 'as a lodger list 2>/dev/null | grep -q " ended "'
	as a lodger collect
	[ "$(as a lodger list | wc -l)" = 1 ]
}

@test "a caller that is silent, drips or does not read is given up on, and holds up nobody" {
	local out=$BATS_TEST_TMPDIR start=$SECONDS alone name
	silent() { as a "$HOST_PROBES/rawhelper" "${@:2}" >"$out/$1" 2>&1; }
	others() {
		local i
		for i in 1 2 3 4 5; do
			as b timeout 300 lodger run -- true
			as a timeout 300 lodger run -- true
			as b timeout 300 lodger collect
		done
	}
	# Control: how long the others take by themselves.
	others
	alone=$((SECONDS - start)) start=$SECONDS
	background silent nothing --create --cut=0 --silent
	background silent half --create --cut=6 --silent
	background silent drip --create=memory=268435456,pids=10,cpu=10 --drip
	background silent full --create --full --seconds=60
	others
	wait "${BACKGROUND[@]}"
	[ $((SECONDS - start)) -lt $((50 + 3 * alone)) ]
	for name in nothing half drip; do
		grep -qx 'code REQUEST field frame session 0' "$out/$name"
		grep -q 'no whole request arrived within 5 seconds' "$out/$name"
	done
	# The helper's own alarm.
	[ "$(cat "$out/full")" = 'signal 14' ]
	as a lodger collect
}

@test "a caller that does not stay for the answer keeps nothing" {
	raw --create --deaf
	answers 'exit 5'
	as b lodger collect
	raw --create --full --seconds=1
	answers hangs
	until_true 10 eval '! lodger_processes | grep -q lodger-helper'
	as b lodger collect
	run as a lodger list
	[[ $output != *lodger-[0-9]* ]]
}

@test "a session is destroyed by its number, its owner and nobody else" {
	local number open
	for number in 0 65536 4294967295 4294967296 18446744073709551615; do
		refused REQUEST session 'no session can have that number' --destroy="$number"
	done
	raw --destroy=65535
	answers 'exit 0' 'code ALREADY_GONE field - session 65535'
	made --create "$OPEN"
	open=$NUMBER
	# Numbers have 32 bits, so that the second is the first.
	for number in "$open" $((open + 4294967296)); do
		run as b "$HOST_PROBES/rawhelper" --destroy="$number"
		answers 'exit 0' 'code PERMISSION field session session 0' \
			"lodger-$open belongs to uid $(id -u "$USERS-a"), not to you"
	done
	works a "lodger-$open"
	raw --destroy="$open"
	answers 'exit 0' "code OK field - session $open"
	raw --destroy="$open"
	answers 'exit 0' "code ALREADY_GONE field - session $open"
	run as b "$HOST_PROBES/rawhelper" --destroy="$open"
	answers 'exit 0' "code ALREADY_GONE field - session $open"
}

@test "anybody collects what is dead, and nobody what lives" {
	made --create
	local dead=$NUMBER
	made --create "$OPEN"
	until_true 10 eval 'as b lodger list --all 2>/dev/null | grep -q "^lodger-$dead .* ended "'
	run as b "$HOST_PROBES/rawhelper" --collect
	answers 'exit 0' 'code OK field - session 0'
	[ ! -e "/run/lodger/sessions/$dead" ]
	works a "lodger-$NUMBER"
	destroyed
}

# all_refused TEXT: for the policy's sake, be it a create, a destroy or a collect.
all_refused() {
	local request
	for request in --create --destroy="$NUMBER" --collect; do
		refused POLICY - "$1" "$request"
	done
	run as a lodger create
	exits 125
	says "$1"
}

@test "a policy that others could have written, or that is no plain file, refuses everything" {
	local change text saved=$BATS_TEST_TMPDIR/.policy-before directory='must be a plain file'
	# Its AppArmor profile lets the helper open no directory there.
	! apparmor_in_force || directory="opening $POLICY: Permission denied"
	made --create "$OPEN"
	while IFS='|' read -r text change; do
		policy '# to be spoiled'
		(cd /etc/lodger && eval "$change")
		all_refused "$text" || { echo "$change" && rmdir "$POLICY" 2>/dev/null; return 1; }
		rmdir "$POLICY" 2>/dev/null || true
		policy_restore
	done <<-END
		opening $POLICY: No such file|rm lodger.conf
		writable by root alone|chmod 664 lodger.conf
		writable by root alone|chmod 646 lodger.conf
		owned by root|chown $USERS-a lodger.conf
		owned by root|install -o $USERS-b -m 444 $saved lodger.conf
		opening $POLICY: Too many levels|ln -sf $saved lodger.conf
		must be a plain file|rm lodger.conf; mkfifo -m 644 lodger.conf
		$directory|rm lodger.conf; mkdir -m 755 lodger.conf
		must be a plain file|rm lodger.conf; mknod -m 644 lodger.conf c 1 3
		opening $POLICY|rm lodger.conf; socat -u UNIX-RECV:lodger.conf OPEN:/dev/null & sleep 0.2; kill \$!
	END
	works a "lodger-$NUMBER"
	destroyed
}

@test "a policy in a directory where others can write refuses everything" {
	local mode owner
	made --create "$OPEN"
	mode=$(stat -c %a /etc/lodger) owner=$(stat -c %U:%G /etc/lodger)
	for change in 'chmod 775' 'chmod 757' "chown $USERS-a"; do
		$change /etc/lodger
		all_refused '/etc/lodger must be a plain directory' || mode="$mode /failed"
		chown "$owner" /etc/lodger
		chmod "${mode% *}" /etc/lodger
		[[ $mode != *failed ]]
	done
	works a "lodger-$NUMBER"
	destroyed
}

@test "a line of the policy that is not understood is named and refuses everything" {
	local line
	made --create "$OPEN"
	while read -r line; do
		policy "$line" 'maximum pids 20'
		all_refused "$POLICY, line $(($(wc -l <"$POLICY") - 1)):" || { echo "$line" && return 1; }
		policy_restore
	done <<-END
		nonsense
		maximum memory
		maximum memory lots
		maximum memory -1
		maximum memory 1MB
		maximum memory 99999999999999999999
		maximum memory 2T
		maximum files 3
		default sessions 3
		expose usr
		expose /usr/../etc
		expose /usr /etc
		expose //usr
		device /dev/a b
		allow everything
		group nobody allow network-host
		group 1 expose /root
		optional disk
		cgroup ../lodger
		cgroup /lodger
		include /etc/passwd
		a b c d e f g h
	END
	policy $'maximum pids 20\r'
	all_refused "$POLICY, line $(wc -l <"$POLICY"):"
	policy_restore
	policy '# ' && printf '\0' >>"$POLICY"
	all_refused "$POLICY is not a text of at most 16384 bytes"
	policy_restore
	policy "$(printf '#%.0s' {1..16384})"
	all_refused "$POLICY is not a text of at most 16384 bytes"
	policy_restore
	# Control: as long as one can be.
	policy "$(printf "#%.0s" $(seq $((16383 - $(wc -c <"$POLICY")))))"
	[ "$(wc -c <"$POLICY")" = 16384 ]
	destroyed
	made --create
	destroyed
}
