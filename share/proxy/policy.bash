# The policy of lodger-proxy: HOST[:PORT] a line. Sourced by lodger-proxy; whoever runs that may read it.
# shellcheck shell=bash

readonly POLICY_BYTES=65536
# squid goes through all of them for each connection.
readonly POLICY_RULES=1000
readonly LABEL='[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?'

# policy_refuse FILE LINE REASON: says where, what, and what there may be.
policy_refuse() {
	die "$1, line $2: $3; a line is HOST or HOST:PORT, HOST a name or .NAME for all names below it"
}

# policy_line FILE NUMBER LINE: adds the line's rules, as "HOST PORT", to RULES.
policy_line() {
	local line=${3%%#*} host port
	read -r line <<<"$line"
	[[ $line ]] || return 0
	[[ $line != *[[:space:]]* ]] || policy_refuse "$1" "$2" "more than one word"
	host=${line%%:*} host=${host,,} port=
	if [[ $line == *:* ]]; then
		port=${line#*:}
		[[ $port =~ ^[1-9][0-9]{0,4}$ ]] && ((port < 65536)) ||
			policy_refuse "$1" "$2" "'$port' is no port from 1 to 65535"
	fi
	[[ $host =~ ^\.?($LABEL\.)+$LABEL$ ]] && ((${#host} < 254)) ||
		policy_refuse "$1" "$2" "'$host' is no name of a host with a domain"
	# An address, or a name that squid takes for one.
	[[ ! ${host##*.} =~ ^(0x[0-9a-f]*|[0-9]+)$ ]] || policy_refuse "$1" "$2" "'$host' is an address, not a name"
	for port in ${port:-443 80}; do
		RULES+=("$host $port")
	done
}

# policy_read FILE: sets RULES, sorted and without those that another one covers. Dies of a line that is not
# understood, and of a file that others than root can write.
policy_read() {
	local file=$1 number=0 line owner mode rule host port above
	local -A all=()
	RULES=()
	[[ -e $file ]] || die "there is no $file: no proxy for sessions; lodger-proxy(8) has an example"
	for line in "$(dirname "$file")" "$file"; do
		read -r owner mode < <(stat -L -c '%u %a' "$line")
		[[ $owner == 0 ]] && ! ((0$mode & 022)) || die "$line must be root's, and root's alone to write"
	done
	[[ -f $file ]] && (($(stat -L -c %s "$file") <= POLICY_BYTES)) ||
		die "$file is not a file of at most $POLICY_BYTES bytes"
	# Bash would leave NULs out.
	[[ -z $(tr -dc '\0' <"$file" | head -c 1 | od -An -tx1) ]] || die "$file: there is a NUL in it"
	while IFS= read -r line || [[ $line ]]; do
		number=$((number + 1))
		policy_line "$file" "$number" "$line"
	done <"$file"
	((${#RULES[@]} > 0)) || die "$file names no host: nothing to do"
	for rule in "${RULES[@]}"; do
		all[$rule]=1
	done
	RULES=()
	for rule in "${!all[@]}"; do
		host=${rule% *} port=${rule#* }
		# .a.b covers a.b, c.a.b and .c.a.b; squid refuses to have such twice.
		[[ $host == .* || ! ${all[".$host $port"]-} ]] || continue
		above=${host#.}
		while [[ $above == *.* ]]; do
			above=${above#*.}
			[[ ! ${all[".$above $port"]-} ]] || continue 2
		done
		RULES+=("$rule")
	done
	((${#RULES[@]} <= POLICY_RULES)) || die "$file: more than $POLICY_RULES rules"
	mapfile -t RULES < <(printf '%s\n' "${RULES[@]}" | sort)
}
