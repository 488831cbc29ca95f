# Makes a channel of what is pinned: evaluates, realises, assembles, and puts it into use.
# Sourced by lodger-channel: runs as it does, as root for the administrator.
#
# Interrupted anywhere, the channel in use is what it was: nothing before the last step touches it.
# What was built or fetched until then is kept by the links in $ROOTS/pin, and found by the next build.

# shellcheck shell=bash

# Of nix's log, in its internal-json form, what an administrator follows the work by: a line for each
# thing begun, with how many there are; warnings and errors; and the last lines of a build that failed.
# 105 is the activity of a build, 108 that of a fetch, 100 that of a copy, 101 a line of a build's log.
progress() {
	jq -nRr --unbuffered --argjson build "$1" --argjson fetch "$2" '
		def name: sub("^.*/[a-z0-9]{32}-"; "") | sub("[.]drv$"; "");
		def plain: gsub("\u001b\\[[0-9;]*m"; "");
		def begun($word; $which; $total; $text):
			.[$which] += 1 | .say = ["\($word) \(.[$which]) of \([$total, .[$which]] | max): \($text)"];
		foreach inputs as $line ({built: 0, fetched: 0, logs: {}};
			.say = []
			| if $line | startswith("@nix ") | not then .say = [$line]
			else (try ($line[5:] | fromjson) catch {}) as $event | ($event.id | tostring) as $id
				| if $event.action == "start" and $event.type == 105 then
					.logs[$id] = {drv: $event.fields[0], lines: []}
					| begun("building"; "built"; $build; $event.fields[0] | name)
				elif $event.action == "start" and $event.type == 108 then
					begun("fetching"; "fetched"; $fetch; "\($event.fields[0] | name) from \($event.fields[1])")
				elif $event.action == "start" and $event.type == 100 and $build < 0 then
					begun("copying"; "fetched"; $fetch; $event.fields[0] | name)
				elif $event.action == "result" and $event.type == 101 and .logs[$id] then
					.logs[$id].lines = (.logs[$id].lines + $event.fields)[-10:]
				elif $event.action == "msg" and $event.level <= 1 then
					# Of which one build it is; a message that names several is of none.
					[.logs | to_entries[] | select(.value.drv as $drv | $event.msg | contains($drv))] as $of
					| .say = [$event.msg | plain]
					| if $event.level == 0 and ($of | length) == 1 then
						.say = ($of[0].value.lines | map("  > " + plain)) + .say | del(.logs[$of[0].key])
					else . end
				else . end
			end;
			.say[] | "lodger-channel: " + .)' >&2
}

# Has nix get or build what is named, with progress.
realise() {
	local missing builds fetches
	missing=$(nix-store --realise --dry-run "$@" 2>&1) || {
		printf '%s\n' "$missing" >&2
		return 1
	}
	builds=$(grep -c '^ */nix/store/.*\.drv$' <<<"$missing" || true)
	fetches=$(grep '^ */nix/store/' <<<"$missing" | grep -cv '\.drv$' || true)
	say "to build: $builds; to fetch: $fetches"
	# As `tied` has it, of which this is no place to be called.
	setpriv --pdeathsig KILL nix-store --realise "$@" --add-root "$work/realised" \
		--log-format internal-json 2>&1 >/dev/null | progress "$builds" "$fetches"
}

# The inputs of the derivation that `nix-shell -p` makes, each as an object like a package's: what every
# shell needs, whatever is asked for.
base_evaluate() {
	local drv
	nix-store --query --references "$1" | while IFS= read -r drv; do
		[[ $drv == *.drv ]] || continue
		ln -sfn "$drv" "$ROOTS/pin/${drv##*/}"
		nix-store --query --outputs "$drv" | jq -Rcn --arg drv "$drv" \
			'{drv: $drv, outputs: ([inputs | {(.): .}] | add)}'
	done
}

# Makes the links in $ROOTS/pin those to what is to be kept, and no others. To what is not there yet,
# too: from its first moment on it is kept.
roots_keep() {
	local path root
	local -A kept=()
	for path; do
		kept[${path##*/}]=1
		[[ -L $ROOTS/pin/${path##*/} ]] || ln -sfn "$path" "$ROOTS/pin/${path##*/}"
	done
	for root in "$ROOTS"/pin/*; do
		[[ ${kept[${root##*/}]-} ]] || rm -rf "$root"
	done
}

# Evaluates all that is pinned, into $work/packages and $work/base: an object a line.
pin_evaluate() {
	local shell
	say "evaluating what every shell needs"
	evaluate || die "build: the pinned package set does not evaluate (above); the channel in use is unchanged"
	shell=$(jq -r '.shell // ""' "$work/found")
	# nix-shell itself asks for it by this name.
	if [[ $(jq .bash "$work/found") == true && " ${listed[*]} " != *' bashInteractive '* ]]; then
		set -- bashInteractive
	fi
	: >"$work/base"
	if [[ $shell ]]; then
		base_evaluate "$shell" >"$work/base"
	else
		say "the package set has neither runCommandCC nor runCommand: nix-shell -p will not work with it"
	fi
	attributes_evaluate build "${listed[@]}" "$@"
}

# The derivations of the build closure, sorted by bytes: what sessions may have built.
closure_write() {
	jq -r .drv "$work/packages" "$work/base" | sort -u | xargs -r nix-store --query --requisites |
		{ grep '\.drv$' || true; } | LC_ALL=C sort -u
}

# Names the sources of these derivations that the gate does not take from a session, unless it was told to
# (lodger-gate(8), --item): nix in a session sends what it evaluates once more, whether it is there or not.
sources_tell() {
	local most=$((2 << 20)) source size
	xargs -r nix-store --query --references <"$work/closure" | { grep -v '\.drv$' || true; } | sort -u >"$work/sources"
	xargs -r nix-store --query --size <"$work/sources" | paste "$work/sources" - |
		while IFS=$'\t' read -r source size; do
			((size <= most)) || say "$source is larger than the 2M that a session may add at once: there, what is" \
				"made of it does not evaluate, unless lodger-gate has an --item of $size or more"
		done
}

lock_of_pin() {
	jq -n --slurpfile pin "$PIN" --slurpfile packages "$work/packages" --slurpfile base "$work/base" \
		--arg sqlite "$(sqlite3 --version | cut -d ' ' -f 1)" \
		'$pin[0] + {kind: "pin", sqlite: $sqlite, packages: $packages, base: $base}'
}

# Builds the channel itself out of $work, as the starter's is; sets `channel`.
channel_build() {
	local drv
	drv=$(nix-instantiate "$DATA/pin.nix" --argstr work "$work" --argstr libexec "$LODGER_LIBEXEC" \
		--add-root "$ROOTS/pin/channel.drv") &&
		drv=$(readlink "$drv") &&
		channel=$(nix-store --query --outputs "$drv") &&
		ln -sfn "$channel" "$ROOTS/pin/channel" &&
		tied nix-store --realise "$drv" --no-build-output --quiet --add-root "$work/channel" >/dev/null
}

build() {
	local source type hash path caches listed group channel wanted=() kept=()
	[[ $# == 0 ]] || die "build: takes no arguments; see: lodger-channel help"
	need_root build
	need_programs nix nix-store nix-hash nix-prefetch-url nix-instantiate flock jq sqlite3 perl setpriv
	nix_setup
	work_begin
	trap 'rm -rf "$work" "$ROOTS/source.new"' EXIT
	pin_read build
	group=$(build_group)
	mkdir -p "$ROOTS/pin"
	nix_setup_pin "$caches" "$group"
	pin_source
	pin_evaluate

	mapfile -t wanted < <(jq -r '"\(.drv)!\(.outputs | keys | join(","))"' "$work/packages")
	mapfile -t -O "${#wanted[@]}" wanted < <(jq -r .drv "$work/base")
	mapfile -t kept < <(jq -r '.drv, .outputs[]' "$work/packages" "$work/base")
	roots_keep "${kept[@]}"
	[[ ${#wanted[@]} == 0 ]] || realise "${wanted[@]}" ||
		die "the build failed (above); the channel in use is unchanged. What is done is kept, and the next" \
			"build goes on from there; lodger-channel remove takes an attribute off the list"

	say "making the channel"
	closure_write >"$work/closure"
	sources_tell
	lock_of_pin >"$work/lock.json"
	{
		echo "# What the daemon of sessions may fetch from with this channel, and what its builds see."
		caches_settings "$caches"
	} >"$work/settings"
	source_programs
	nix_setup
	channel_build || die "the channel could not be made (above); the one in use is unchanged"
	channel_adopt "$channel"
	rm -rf "$ROOTS/pin"
}

# nixpkgs' own channels come with an index of all programs. Where their packages are in the store, only
# an evaluation of each would tell, and a command on demand cannot do without.
source_programs() {
	local count
	[[ -f $path/programs.sqlite ]] || return 0
	count=$(sqlite3 "file:$path/programs.sqlite?immutable=1" \
		"select count(distinct package) from Programs where system = '$(uname -m)-linux'") || return 0
	say "the package set's own index names programs of $count packages; of these only the listed ones are" \
		"taken, as nothing says where the others are in the store"
}
