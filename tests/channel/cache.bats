# Caches of pinned channels, and what the daemon of sessions does with such a channel; as pin.bats.
# shellcheck disable=SC2016,SC2154  # scripts for other shells; bats' own

bats_require_minimum_version 1.5.0

load pin

@test "a cache that is signed serves another machine, which builds nothing" {
	machine_make a
	works a '$TOOL cache "$W/cache"; stat -c %a "$STATE/cache-key.secret"; key=$(nix --extra-experimental-features nix-command key convert-secret-to-public <"$STATE/cache-key.secret")
		for path in $(store nix-store --query --requisites "$LINK/"); do
			path=${path#/nix/store/}; grep -q "^Sig: ${key%%:*}:" "$W/cache/${path%%-*}.narinfo"
		done'
	says "lodger-channel pin $W/set --sha256 sha256-" "--cache file://$W/cache --key" '--attr python3Packages.module' $'\n600' \
		'made a key to sign with' 'copying 1 of '
	# Its source is somewhere else there, and nothing answers at that address.
	sed -n '/^  lodger-channel pin/,/^  lodger-channel build/p' <<<"$output" |
		sed "s|^ *lodger-channel|$W/share/channel/lodger-channel|; s|$W/set|http://127.0.0.1:1/set.tar.gz|" >"$T/advice"
	EMPTY=1 machine_make b
	works b '. "$T/advice"; $TOOL status'
	says 'in the store, or in a cache' 'to build: 0; to fetch: ' 'fetching 1 of ' 'hello-1.0 from file://' 'whole: yes' "cache: file://$W/cache, which signs as"
	says_not 'building '
	[ "$(on b 'cut -f 1-4 "$LINK/packages.tsv"')" = "$(on a 'cut -f 1-4 "$LINK/packages.tsv"')" ]
	works b '"$(tree uses)/bin/uses"; cat "$LINK/nix.conf"; readlink "$STATE/nix.conf"'
	says 'hello 1.0' "substituters = file://$W/cache" channel/nix.conf
	# The control: without the cache it builds all of it.
	EMPTY=1 machine_make c
	works c "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" && \$TOOL add $LISTED && \$TOOL build"
	says 'to build: 9; to fetch: 0' 'building 9 of 9'
	# By http, a second time on the first machine, and forgotten again.
	works a 'cp -r "$W/cache" "$W/www/cache"; serve; trap "kill $SERVER" EXIT; key=$(grep -o "[^ ]*$" <<<"$($TOOL cache "$W/cache")" | grep : | head -1)
		$TOOL pin "$W/set" --sha256 "$(sum "$W/set")" --cache http://127.0.0.1:8421/cache --key "$key"
		rm "$ROOTS"/*; store nix-store --gc >/dev/null 2>&1; $TOOL build; grep -c "GET /cache/nar/" "$T/served"
		$TOOL pin "$W/set" --sha256 "$(sum "$W/set")" --no-cache; $TOOL build; cat "$LINK/nix.conf"'
	says 'to build: 0; to fetch: ' $'\nsubstituters = \n' 'cache: none'
}

@test "what a cache has without the key's signature is not taken" {
	machine_make a
	on a '$TOOL cache "$W/signed" >"$T/said" 2>/dev/null'
	local key other name
	key=$(sed -n 's/.*--key \([^ ]*\).*/\1/p' "$T/said")
	other=$(on a 'store nix-store --generate-binary-cache-key "${1-other}" "$T/secret" "$T/public"; cat "$T/public"')
	cp -r "$W/signed" "$W/unsigned"
	sed -i '/^Sig:/d' "$W/unsigned"/*.narinfo
	cp -r "$W/signed" "$W/tampered"
	sed -i 's/^NarSize: \(.*\)/NarSize: 1\1/' "$W/tampered"/*.narinfo
	build_with() {
		EMPTY=1 machine_make "$1"
		run on "$1" "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache file://\$W/$2 --key $3 --attr hello --attr uses; \$TOOL build"
	}
	for name in "unsigned $key" "tampered $key" "signed $other"; do
		# shellcheck disable=SC2086  # two words
		build_with "${name%% *}" $name
		[ "$status" = 0 ]
		says 'building 5 of 5' 'signed by any of the keys'
		says_not 'fetching '
	done
	# The control.
	build_with good signed "$key"
	[ "$status" = 0 ]
	says 'to build: 0' 'fetching '
	says_not 'building ' 'signed by any'
}

@test "a cache whose files are not what was signed fails the build, and the channel stays" {
	machine_make a
	works a '$TOOL cache "$W/files" >"$T/said" 2>/dev/null; $TOOL add sandbox >/dev/null 2>&1; $TOOL build >/dev/null 2>&1; $TOOL cache "$W/files" >/dev/null 2>&1
		hello=$(tree hello); nar=$(sed -n "s/^URL: //p" "$W/files/$(basename "$hello" | cut -c 1-32).narinfo"); two=$(sed -n "s/^URL: //p" "$W/files/$(basename "$(tree two)" | cut -c 1-32).narinfo")
		cp "$W/files/$two" "$W/files/$nar"'
	key=$(sed -n 's/.*--key \([^ ]*\).*/\1/p' "$T/said")
	EMPTY=1 machine_make b
	works b "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache file://\$W/files --key $key --attr two; \$TOOL build; readlink \$LINK >\$T/link"
	says_not 'building '
	fails b '$TOOL add hello; e=0; $TOOL build || e=$?; readlink "$LINK" | cmp - "$T/link"; exit $e'
	says 'the build failed' 'is unchanged'
	says_not 'new: '
	works b '$TOOL status; no store nix-store --check-validity "$(store nix-instantiate --eval --json "$LINK/" -A hello.outPath | tr -d \")"'
}

@test "a cache with a key of one's own, and into a directory with another's signatures" {
	machine_make a
	works a 'store nix-store --generate-binary-cache-key mine-1 "$T/secret" "$T/public"; $TOOL cache "$T/cache" --secret-key "$T/secret"; [ ! -e "$STATE/cache-key.secret" ]'
	says "--key $(cat "$T/public")" 'signed as mine-1:'
	works a '$TOOL cache "$T/cache" --secret-key "$T/secret"'
	fails a '$TOOL cache "$T/cache"'
	says 'without a signature of' 'take an empty directory'
	echo text >"$T/text"
	fails a '$TOOL cache "$T/other" --secret-key "$T/text"'
	says 'not a key'
	fails a '$TOOL cache "$T/other" --secret-key "$T/nowhere"'
	says 'no such file'
	fails a '$TOOL cache'
	says 'into which directory'
}

@test "the daemon has no network and no users to build as, unless the channel in use says otherwise" {
	machine_make a
	works a 'daemon_start; readlink /proc/self/ns/net "/proc/$DAEMON/ns/net"; daemon_end'
	says 'builds what is in the closure of a kept channel, as the members of nixbld' 'has no network'
	[ "$(grep ^net: <<<"$output" | uniq | wc -l)" = 2 ]
	works a 'mkdir "$T/channel"; : >"$T/channel/closure"; cp -P "$LINK" "$T/link"; ln -sfn "$T/channel" "$LINK"; daemon_start; daemon_end; cp -PT "$T/link" "$LINK"'
	says 'builds nothing: the channel in use has nothing to build'
	local key
	key=$(on a 'store nix-store --generate-binary-cache-key k "$T/secret" "$T/public"; cat "$T/public"')
	works a "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache file:///srv --key $key; \$TOOL build; daemon_start; daemon_end"
	says 'has no network'
	works a "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache http://127.0.0.1:8421/x --key $key; \$TOOL build; daemon_start
		readlink /proc/self/ns/net /proc/\$DAEMON/ns/net; daemon_end"
	says "has the machine's network"
	[ "$(grep ^net: <<<"$output" | uniq | wc -l)" = 1 ]
	# A running one does not notice a change by itself.
	works a 'daemon_start; $TOOL rollback; daemon_end; $TOOL rollback'
	[ "$(grep -c 'runs with the settings of the channel before' <<<"$output")" = 1 ]
	works a 'grep -v ^nixbld /etc/group >"$T/group"; mount --bind "$T/group" /etc/group; daemon_start; daemon_end'
	says 'neither of the groups nixbld and lodger-build has members'
}

# In what follows sessions ask as their gate does, and as no gate would let them.

@test "sessions have built what is in the closure of a kept channel, and nothing else" {
	machine_make a
	works a 'store nix-store --gc >/dev/null 2>&1; no ls -d /nix/store/*-compiler-1.0; daemon_start
		session nix-build --no-out-link "<nixpkgs>" -A compiler; ls -d /nix/store/*-compiler-1.0
		no session nix-build --no-out-link "<nixpkgs>" -A sandbox; no ls -d /nix/store/*-sandbox-1.0
		no session nix-build --no-out-link "<nixpkgs>" -A fixed; daemon_end'
	says "lodger-refuse-build' failed with exit code 1"
	# The channel before counts, one before that does not.
	works a '$TOOL add sandbox >/dev/null 2>&1; $TOOL build >/dev/null 2>&1; cp -P "$LINK" "$T/with"; $TOOL rollback >/dev/null; rm "$ROOTS"/*-lodger-channel
		ln -s "$(readlink "$LINK")" "$(readlink "$T/with")" "$ROOTS/"; store nix-store --delete --ignore-liveness "$(tree two)" >/dev/null 2>&1 || true
		grep -c sandbox "$ROOTS"/*/closure'
	says ':1' ':0'
	# Nobody lets more be built: with the hook away it is (the control), and without users it is not.
	machine_make b
	works b 'daemon_start /^pre-build-hook/d; session nix-build --no-out-link "<nixpkgs>" -A sandbox; daemon_end; store nix-store --gc >/dev/null 2>&1
		mkdir "$T/channel"; : >"$T/channel/closure"; channel=$(readlink "$LINK"); ln -sfn "$T/channel" "$LINK"
		daemon_start /^pre-build-hook/d; no session env NIX_PATH=nixpkgs=$channel nix-build --no-out-link "<nixpkgs>" -A sandbox; daemon_end'
	says lodger-sessions-build-nothing
}

@test "sessions have fetched what a pinned cache has, listed or not, and from no other" {
	machine_make a
	works a '$TOOL add sandbox >/dev/null 2>&1; $TOOL build >/dev/null 2>&1; $TOOL cache "$W/sessions" >"$T/said" 2>/dev/null'
	key=$(sed -n 's/.*--key \([^ ]*\).*/\1/p' "$T/said")
	machine_make b
	# The control comes first: no cache.
	works b 'daemon_start; no session nix-build --no-out-link "<nixpkgs>" -A sandbox --option substituters "file://$W/sessions" --option trusted-public-keys "'"$key"'"; daemon_end'
	says "lodger-refuse-build' failed"
	works b "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache file://\$W/sessions --key $key; \$TOOL build"'
		daemon_start; session nix-build --no-out-link "<nixpkgs>" -A sandbox; ls -d /nix/store/*-sandbox-1.0
		session nix-shell -p sandbox hello --run hello; daemon_end'
	says 'copying path' 'hello 1.0'
}

@test "a derivation's text, sent to be built without a .drv, is refused too, and nothing is fetched" {
	machine_make a
	local key
	key=$(on a 'store nix-store --generate-binary-cache-key k "$T/secret" "$T/public"; cat "$T/public"')
	works a "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --cache http://127.0.0.1:8421/cache --key $key; \$TOOL build"
	cp "$BATS_TEST_DIRNAME/raw_build.pl" "$W/"
	works a 'serve; trap "kill $SERVER" EXIT; hash=$(printf "b\n" | sha256sum | cut -d " " -f 1); path=$(store nix-store --print-fixed-path sha256 $hash taken)
		ask() { session perl "$W/raw_build.pl" "$T/socket/socket" http://127.0.0.1:8421/secret $path $hash; }
		daemon_start; ask; daemon_end; no grep "GET /secret" "$T/served"
		daemon_start /^pre-build-hook/d; ask; daemon_end; grep "GET /secret" "$T/served"'
	# nix colours it.
	output=$(sed $'s/\e\\[[0-9;]*m//g' <<<"$output")
	says "has the machine's network" "lodger-refuse-build' failed with exit code 1" 'GET /secret'
}
