# lodger create: what each option does to a session, what is refused, and by whom.
# shellcheck disable=SC2030,SC2031,SC2086,SC2153,SC2154  # tests are subshells; words; bats' own

load cli

# made OPTION…: creates a session, and puts what show says of it into $shown.
made() {
	create a "$@"
	shown=$(as a lodger show "$SESSION" --json)
}

# limit NAME VALUE: fails unless the session has it.
limit() {
	[ "$(jq -r ".limits.$1" <<<"$shown")" = "$2" ] || {
		printf '%s is %s, not %s\n' "$1" "$(jq -r ".limits.$1" <<<"$shown")" "$2"
		return 1
	}
}

# refuses_values OPTION VALUE…: fails unless each is refused by name.
refuses_values() {
	local option=$1 value
	shift
	for value; do
		refuses "$option: '$value' is " create "$option=$value"
	done
}

@test "create prints the session's name and nothing else" {
	run --separate-stderr as a lodger create
	succeeds
	[[ $output =~ ^lodger-[1-9][0-9]*$ ]]
	[ "$(as a lodger list --json | jq -r '.[].session')" = "$output" ]
}

@test "create --json tells name, uid, network and limits, as show does" {
	run --separate-stderr as a lodger create --json --memory 100M --ttl 60
	succeeds
	jq -e 'keys == ["limits", "network", "session", "uid"] and (.uid | type) == "number" and
		.network == "none" and (.limits | map_values(type)) == {memory: "number", pids: "number",
		cpu: "number", disk: "number", inodes: "number", ttl: "number"}' <<<"$output"
	local session
	session=$(jq -r .session <<<"$output")
	[ "$(as a lodger show "$session" --json | jq -S '{session, uid, network, limits}')" = \
		"$(jq -S . <<<"$output")" ]
	works a "$session"
}

@test "without options the policy's defaults count" {
	made
	[ "$(jq -c -S .limits <<<"$shown")" = \
		'{"cpu":100,"disk":67108864,"inodes":4000,"memory":268435456,"pids":64,"ttl":1800}' ]
	[ "$(jq -r .network <<<"$shown")" = none ]
}

@test "a default above the maximum counts as the maximum" {
	policy 'default pids 250' 'maximum pids 32'
	made
	limit pids 32
	refuses 'pids of 33 asked for; the policy allows 4 to 32' create --pids 33
}

@test "each limit becomes what its option says, and the others stay" {
	made --memory 100M
	limit memory 104857600
	limit disk 67108864
	made --pids 20
	limit pids 20
	limit inodes 4000
	made --cpu 50
	limit cpu 50
	made --disk 10M
	limit disk 10485760
	limit memory 268435456
	made --inodes 1000
	limit inodes 1000
	limit pids 64
	made --ttl 10m
	limit ttl 600
	jq -e '.remaining <= 600 and .remaining >= 590' <<<"$shown"
	made --net none
	[ "$(jq -r .network <<<"$shown")" = none ]
	made --memory 9M --pids 5 --cpu 150 --disk 2M --inodes 300 --ttl 20m --net none
	[ "$(jq -c -S .limits <<<"$shown")" = \
		'{"cpu":150,"disk":2097152,"inodes":300,"memory":9437184,"pids":5,"ttl":1200}' ]
}

@test "figures may be written in all their units" {
	made --memory 20971520 --cpu '50%' --ttl 90
	limit memory 20971520
	limit cpu 50
	limit ttl 90
	made --memory 20480K --disk 2m --ttl 90s
	limit memory 20971520
	limit disk 2097152
	limit ttl 90
	made --memory 1g --disk 20480k --ttl 1h
	limit memory 1073741824
	limit disk 20971520
	limit ttl 3600
	# Too much for the policy, but understood.
	refuses 'memory of 1099511627776 asked for' create --memory 1T
	refuses 'ttl of 86400 asked for' create --ttl 1d
	made --pids 007 --ttl 000090s
	limit pids 7
	limit ttl 90
}

@test "exactly the most and the least that the policy allows can be had" {
	made --memory 2G --pids 256 --cpu 200 --disk 1G --inodes 20000 --ttl 2h
	[ "$(jq -c -S .limits <<<"$shown")" = \
		'{"cpu":200,"disk":1073741824,"inodes":20000,"memory":2147483648,"pids":256,"ttl":7200}' ]
	made --memory 8M --pids 4 --cpu 1 --disk 1M --inodes 256 --ttl 60
	[ "$(jq -c -S .limits <<<"$shown")" = \
		'{"cpu":1,"disk":1048576,"inodes":256,"memory":8388608,"pids":4,"ttl":60}' ]
}

@test "one more than the most, or less than the least, is refused, and never lowered" {
	local words
	for words in 'memory 2147483649 2147483648 8388608' 'pids 257 256 4' 'cpu 201 200 1' \
		'disk 1073741825 1073741824 1048576' 'inodes 20001 20000 256' 'ttl 7201 7200 1'; do
		set -- $words
		refuses "creating a session: $1 of $2 asked for; the policy allows $4 to $3" create "--$1" "$2"
		says "in $POLICY"
		[ "$4" = 1 ] ||
			refuses "$1 of $(($4 - 1)) asked for; the policy allows $4 to $3" create "--$1" "$(($4 - 1))"
	done
	[ "$(sessions)" = 0 ]
}

@test "what is no size is named" {
	local option value
	for option in --memory --disk; do
		refuses_values $option '' -1 +1 ' 1M' '1M ' 1.5G 1,5G 1MB 1MiB 5Q M 0x100000 1e9 1M1 10X \
			99999999999999999999 18446744073709551616 16E 8E 9223372036854775808
		refuses "$option: '10M\\x0a' is not a size" create $option $'10M\n'
		refuses "$option: the size must be more than 0" create $option 0
		refuses "$option: the size must be more than 0" create $option 0G
	done
	refuses 'write bytes, or a number and one of K, M, G, T, as in 512M' create --memory big
	[ "$(sessions)" = 0 ]
}

@test "what is no number is named" {
	local option
	for option in --pids --inodes; do
		refuses_values $option '' -1 +5 ' 5' '5 ' 1.5 10K x 0x10 1e2 0 00 \
			99999999999999999999 18446744073709551617 1099511627777
	done
	refuses "--pids: 'many' is not a number; write digits alone" create --pids many
	refuses "--pids: '0' is too small; it is 1 to 1099511627776" create --pids 0
	refuses "--inodes: '1099511627777' is too large; it is 1 to" create --inodes 1099511627777
	refuses 'inodes of 1099511627776 asked for' create --inodes 1099511627776
}

@test "what is no percentage is named" {
	refuses_values --cpu '' -5 +5 ' 5' 5x '50%%' % 1.5 0 '0%' 1000001 99999999999999999999
	refuses "--cpu: 'half' is not a percentage; write 50 or 50% for half" create --cpu half
	refuses "--cpu: '0' is too small; it is 1 to 1000000 percent of one CPU" create --cpu 0
	refuses "--cpu: '1000001%' is too large" create --cpu 1000001%
	refuses 'cpu of 1000000 asked for' create --cpu 1000000
}

@test "what is no time is named" {
	refuses_values --ttl '' -5 +5 ' 5' '5 s' 1.5h 1w 1y 5M 5S 1h30m s 0 0s 0d 3651d 87601h \
		99999999999999999999 307445734561825861m
	refuses "--ttl: 'long' is not a time; write seconds, or a number and one of s, m, h, d" \
		create --ttl long
	refuses "--ttl: '0' is too small; a time is at least 1s and at most 3650d" create --ttl 0
	refuses "--ttl: '3651d' is too large" create --ttl 3651d
	refuses 'ttl of 315360000 asked for' create --ttl 3650d
}

@test "a network that there is not is named" {
	local value
	for value in '' None HOST hosts 'host ' bridge none,host; do
		refuses "--net: '$value' is neither none nor host" create --net "$value"
	done
}

@test "the host's network is for those whom the policy allows it" {
	refuses "creating a session: the policy does not allow you the host's network" create --net host
	refuses "the policy does not allow you the host's network" create --net none --net host
	[ "$(sessions)" = 0 ]
	policy 'allow network-host'
	run --separate-stderr as a lodger create --net host --json
	succeeds
	[ "$(jq -r .network <<<"$output")" = host ]
	[ "$(as a lodger show "$(jq -r .session <<<"$output")" --json | jq -r .network)" = host ]
	# Of two, the later one counts.
	made --net host --net none
	[ "$(jq -r .network <<<"$shown")" = none ]
}

@test "a line for a group is for its members alone" {
	local group
	group="group $(id -g "$USERS-a")"
	policy "$group maximum pids 300" "$group default pids 30" "$group allow network-host"
	made --pids 300 --net host
	limit pids 300
	made
	limit pids 30
	run --separate-stderr as b lodger create --pids 300
	fails 'pids of 300 asked for; the policy allows 4 to 256'
	run --separate-stderr as b lodger create --net host
	fails "the policy does not allow you the host's network"
}

@test "more sessions than the policy allows are refused, until one goes" {
	policy 'maximum sessions-per-caller 1'
	create a
	refuses 'creating a session: maximum sessions-per-caller is 1, and as many sessions live' create
	says 'destroy one first' "$POLICY"
	refuses 'maximum sessions-per-caller is 1, and as many sessions live' run -- true
	refuses 'maximum sessions-per-caller is 1, and as many sessions live' shell
	[ "$(sessions)" = 1 ]
	as a lodger destroy "$SESSION"
	create a
	policy 'maximum sessions-per-caller 0'
	refuses 'maximum sessions-per-caller is 0, and as many sessions live' create
}

@test "a policy that is not understood is named, with the line" {
	policy 'maximum memory lots'
	local line
	line=$(wc -l <"$POLICY")
	refuses "creating a session: $POLICY, line $line: the value is not a number" create
	refuses "line $line" run -- true
	policy_restore
	policy '' '# all of it' 'nonsense here'
	refuses "line $(wc -l <"$POLICY"): not a line of a policy" create
	[ "$(sessions)" = 0 ]
	policy_restore
	made
}
