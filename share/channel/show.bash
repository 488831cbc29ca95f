# What an administrator gets to see of channels.
# Sourced by lodger-channel: runs as it does, as root for the administrator; `list` as anybody.

# shellcheck shell=bash

# Prints what a channel is and how much it takes up.
channel_summary() {
	local channel=$1 packages all from
	packages=$(cut -f 3 "$channel/packages.tsv" | sort -u | wc -l)
	all=$(nix-store --query --requisites "$channel" | xargs nix-store --query --size |
		awk '{ sum += $1 } END { printf "%d MB", sum / 1000000 }')
	case $(channel_kind "$channel") in
	pin) from=$(jq -r '"of \(.source)"' "$channel/lock.json") ;;
	*) from=$(jq -r '"made from \(.debs | length) packages of \(.distribution)"' "$channel/lock.json") ;;
	esac
	printf '%s\n' "$channel"
	printf '%s packages under %s names, %s; %s in the store\n' \
		"$packages" "$(wc -l <"$channel/packages.tsv")" "$from" "$all"
}

# Prints lines of fields between tabs with the fields below one another.
in_columns() {
	awk -F '\t' '
		{ for (i = 1; i <= NF; i++) { field[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }; count[NR] = NF }
		END { for (n = 1; n <= NR; n++) {
			for (i = 1; i < count[n]; i++) printf "%-*s  ", width[i], field[n, i]
			print field[n, count[n]]
		} }'
}

list() {
	local channel listed=
	channel=$(channel_current)
	[[ -n $channel ]] || die "list: no channel yet; as root: lodger-channel starter"
	need_programs jq
	# Columns: attribute name, version, in a pinned channel whether it was asked for, description.
	if [[ $(channel_kind "$channel") == pin ]]; then
		listed=$(jq -r '.attributes | join(" ")' "$channel/lock.json")
		cut -f 1,2,5 "$channel/packages.tsv" | LISTED=$listed awk -F '\t' -v OFS='\t' '
			BEGIN { split(ENVIRON["LISTED"], names, " "); for (i in names) listed[names[i]] = 1 }
			{ print $1, $2, ($1 in listed) ? "*" : "-", $3 }'
	else
		cut -f 1,2,5 "$channel/packages.tsv"
	fi | in_columns
}

# What a channel refers to and is not there, though nix holds it for whole.
channel_lost() {
	local path
	nix-store --query --requisites "$1" | while IFS= read -r path; do
		[[ -e $path || -L $path ]] || printf '%s\n' "$path"
	done
}

# What a lock or a pin says of its source, attributes and caches.
pin_print() {
	jq -r '
		"source: \(.source)",
		"sha256: \(.sha256)",
		"attributes: \(if .attributes == [] then "none" else .attributes | join(", ") end)",
		(.caches[] | "cache: \(.url), which signs as \(.key)"),
		(if .caches == [] then "cache: none" else empty end)' "$1"
}

status() {
	local channel previous lost again
	need_root status
	need_programs nix-store jq
	nix_setup
	channel=$(channel_current)
	again='lodger-channel starter'
	[[ ! -e $PIN ]] || again='lodger-channel build'
	[[ -n $channel ]] || die "status: no channel yet; run: $again"
	store_has "$channel" ||
		die "status: $LINK leads to $channel, which is not in the store; run: $again"
	[[ $(readlink "$ROOTS/${channel##*/}") == "$channel" ]] ||
		die "status: $channel is not protected from garbage collection; run: $again"
	lost=$(channel_lost "$channel")
	[[ -z $lost ]] ||
		die "status: $channel is not whole: the store has lost ${lost//$'\n'/ };" \
			"nix-store --verify --check-contents --repair gets back what a cache has"
	printf 'in use: '
	channel_summary "$channel"
	printf 'kind: %s\n' "$(channel_kind "$channel")"
	[[ $(channel_kind "$channel") != pin ]] || pin_print "$channel/lock.json"
	[[ ! -s $channel/more.tsv ]] ||
		printf 'not in it: %s (starter --with NAME, or --all)\n' "$(cut -f 1 "$channel/more.tsv" | xargs)"
	printf 'whole: yes\nrooted: yes\n'
	previous=$(channel_previous "$channel")
	printf 'previous: %s\n' "${previous:-none}"
	[[ -z $previous ]] || store_has "$previous" || printf 'previous is not in the store any more\n'
	if [[ -e $PIN ]] && [[ $(pin_print "$PIN") != "$(pin_print "$channel/lock.json" 2>/dev/null)" ]]; then
		printf 'the next lodger-channel build takes:\n'
		pin_print "$PIN" | sed 's/^/  /'
	fi
}
