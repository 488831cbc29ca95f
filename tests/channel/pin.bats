# Channels of a pinned package set, for real, on machines of the tests' own (pin.bash): needs root, nix and
# python3, no network and no installed Lodger. What shows that something does not happen has a control
# beside it, in which it does.
# shellcheck disable=SC2016,SC2154  # scripts for other shells; bats' own

bats_require_minimum_version 1.5.0

load pin

@test "help names the commands, and what is not understood changes nothing" {
	machine_make a
	works a '$TOOL help'
	says pin add remove build rollback cache list status starter
	fails a '$TOOL pin'
	says 'which package set'
	fails a '$TOOL pin /x'
	says '--sha256 is needed'
	fails a '$TOOL pin /x --sha256'
	says 'needs a value'
	fails a '$TOOL pin /x --frobnicate y'
	says 'unknown option --frobnicate'
	fails a '$TOOL pin /x /y --sha256 z'
	says 'one source only'
	fails a '$TOOL build now'
	says 'takes no arguments'
	fails a '$TOOL add'
	says 'which attributes'
	local command
	for command in "pin $W/set --sha256 x" 'add hello' 'remove hello' build rollback status "cache $T/x"; do
		fails a "setpriv --reuid=65534 --clear-groups \$TOOL $command"
		says 'must run as root'
	done
	works a 'setpriv --reuid=65534 --clear-groups $TOOL list'
	works a '$TOOL status'
	says "attributes: ${LISTED// /, }"
}

@test "a directory or a tarball, by file or http, with its hash in any form" {
	EMPTY=1 machine_make a
	tar -c -z -f "$W/www/set.tar.gz" -C "$W" set
	tar -c -J -f "$W/www/set.tar.xz" -C "$W" set
	tar -c --zstd -f "$W/www/set.tar.zst" -C "$W" set
	tar -c -z -f "$W/www/flat.tar.gz" -C "$W/set" .
	local form source hex
	hex=$(nix-hash --type sha256 "$W/set")
	for form in "$hex" "${hex^^}" "sha256:$hex" "$(nix-hash --type sha256 --to-base32 "$hex")" \
		"sha256-$(printf %s "${hex^^}" | basenc --base16 -d | base64)"; do
		works a "\$TOOL pin \$W/set --sha256 $form"
		says "source: $W/set"
	done
	works a 'serve; trap "kill $SERVER" EXIT
		for source in "$W/set" "file://$W/set" "$W/www/set.tar.gz" "file://$W/www/set.tar.gz" "file://$W/www/set.tar.xz" \
			"file://$W/www/set.tar.zst" "file://$W/www/flat.tar.gz" http://127.0.0.1:8421/set.tar.xz; do
			echo "# $source"
			rm "$ROOTS/source"
			store nix-store --gc >/dev/null 2>&1
			$TOOL pin "$source" --sha256 '"$hex"'
			[ "$(sum "$(readlink "$ROOTS/source")")" = "$(sum "$W/set")" ]
		done'
	says "source: file://$W/www/set.tar.gz" 'source: http://127.0.0.1:8421/set.tar.xz'
	[ "$(grep -c '^pinned:' <<<"$output")" = 8 ]
	# What is in the store already is not fetched again: the server is gone.
	works a '$TOOL pin http://127.0.0.1:8421/set.tar.xz --sha256 '"$hex"
	says 'is in the store'
	works a 'rm "$ROOTS/source"; store nix-store --gc; no $TOOL pin http://127.0.0.1:8421/set.tar.xz --sha256 '"$hex"
	says 'cannot fetch'
}

@test "another hash is refused with both named, and nothing is changed" {
	machine_make a
	tar -c -z -f "$W/www/set.tar.gz" -C "$W" set
	local source right wrong
	right=$(nix-hash --type sha256 "$W/set" | tr a-f A-F | basenc --base16 -d | base64)
	wrong=sha256-$(head -c 32 /dev/zero | base64)
	for source in "$W/set" "file://$W/www/set.tar.gz" http://127.0.0.1:8421/set.tar.gz; do
		fails a 'serve; trap "kill $SERVER" EXIT; ls /nix/store >"$T/before"; cp "$PIN" "$T/"
			store nix-store --query --requisites "$LINK/" | grep -x "$(readlink "$ROOTS/source")"
			cp -P "$LINK" "$T/link"; e=0; $TOOL pin '"$source --sha256 $wrong"' --attr two || e=$?
			cmp "$PIN" "$T/pin.json" && [ "$(readlink "$LINK")" = "$(readlink "$T/link")" ] &&
			[ -L "$ROOTS/source" ] && [ ! -L "$ROOTS/source.new" ] || exit 9
			exit $e'
		says "sha256-$right" "$wrong" 'nothing is changed'
	done
	# Nor is what was refused in the store, of a machine that had nothing of it before.
	EMPTY=1 machine_make b
	fails b "serve; trap 'kill \$SERVER' EXIT; \$TOOL pin http://127.0.0.1:8421/set.tar.gz --sha256 $wrong"
	works b 'ls /nix/store'
	says_not source
	works b "\$TOOL pin \$W/set --sha256 sha256-$right; ls /nix/store"
	says -source
}

@test "a source that is none is refused, and so is a hash" {
	machine_make a
	mkdir -p "$T/empty" "$T/odd name"
	echo text >"$T/file"
	local hash
	hash=$(sum "$T/empty")
	fails a "\$TOOL pin $T/empty --sha256 $hash"
	says 'no default.nix'
	fails a "\$TOOL pin $T/nowhere --sha256 $hash"
	says 'no such file'
	fails a "\$TOOL pin $T/file --sha256 $(printf %064d 0)"
	says 'cannot fetch and unpack'
	fails a "\$TOOL pin '$T/odd name' --sha256 $hash"
	says 'other characters'
	fails a "\$TOOL pin ftp://example.org/x --sha256 $hash"
	says 'https, http or file'
	fails a "\$TOOL pin https://me:secret@example.org/x --sha256 $hash"
	says 'name or password'
	local word
	for word in x "${hash}0" sha512-AAAA= "sha1:$(head -c 20 /dev/zero | basenc --base16)" "-$hash" ''; do
		fails a "\$TOOL pin $W/set --sha256 '$word'"
	done
	fails a "\$TOOL pin $W/set --sha256 $hash --cache file:///x"
	says 'followed by --key'
	fails a "\$TOOL pin $W/set --sha256 $hash --cache 'file:///x y' --key a:b"
	says 'plain characters'
	fails a "\$TOOL pin $W/set --sha256 $hash --cache 'file:///x?trusted=1' --key a:b"
	says 'plain characters'
	fails a "\$TOOL pin $W/set --sha256 $hash --cache file:///x --key a:b"
	says 'not a public key'
	works a '$TOOL status'
	says "attributes: ${LISTED// /, }" 'cache: none'
	says_not 'the next lodger-channel build'
}

@test "add and remove change the list; the next build makes it so" {
	machine_make a
	works a '$TOOL add sandbox two; $TOOL remove hello uses first; $TOOL remove two; $TOOL add two'
	says 'attributes: python3Packages.module, sandbox, two' 'until: lodger-channel build'
	works a '$TOOL list'
	says hello
	says_not sandbox
	works a '$TOOL status'
	says "attributes: ${LISTED// /, }" 'the next lodger-channel build takes:' \
		'  attributes: python3Packages.module, sandbox, two'
	works a '$TOOL build && $TOOL list'
	says 'new: /nix/store/' 'sandbox                 1.0  *  the test' 'bashInteractive         1.0  -  '
	says_not hello
	# Another pin keeps the list, unless it says one.
	works a 'set_make "$W/other" 2.0; $TOOL pin "$W/other" --sha256 "$(sum "$W/other")"'
	says 'attributes: python3Packages.module, sandbox, two'
	works a '$TOOL pin "$W/other" --sha256 "$(sum "$W/other")" --attr hello --attr two --attr hello'
	says 'attributes: hello, two'
	works a '$TOOL build; $TOOL list'
	says 'hello            2.0  *'
	says_not sandbox
}

@test "a name that is none is refused with those near it, and nothing is changed" {
	machine_make a
	local line
	on a 'cp "$PIN" "$T/"'
	while IFS='|' read -r line names; do
		fails a "\$TOOL add two $line"
		says "$names"
		fails a "\$TOOL pin \$W/set --sha256 \"\$(sum \"\$W/set\")\" --attr $line"
		says "$names"
		on a 'cmp "$PIN" "$T/pin.json"'
	done <<-'END'
		helo|has no helo; near it: hello
		Hello|near it: hello
		hlelo|near it: hello
		sand|near it: sandbox
		python3Packages.modul|near it: python3Packages.module
		python3Package|near it: python3Packages
		xyzzy|nothing there has a name like it
		hello.xyzzy|has no hello.xyzzy
		python3Packages|is a set of packages; name those that are wanted, as python3Packages.module
		text|something else than a package
		refused|marked as broken
		'hello; x'|is not the name of a package
		'builtins.trace'|has no builtins
		'two${x}'|is not the name of a package
		.two|is not the name of a package
		'hello two'|is not the name of a package
	END
	fails a '$TOOL remove hello xyzzy'
	says 'xyzzy is not listed'
	on a 'cmp "$PIN" "$T/pin.json"'
	# The control: what is one.
	works a '$TOOL add sandbox; no cmp -s "$PIN" "$T/pin.json"'
	# A list with names that another set does not have is for its build to say.
	works a 'set_make "$W/less" 1.1; sed -i "/^    hello = /,/;/d; s/exec .{hello}//" "$W/less/default.nix"
		$TOOL pin "$W/less" --sha256 "$(sum "$W/less")"; cp -P "$LINK" "$T/link"
		no $TOOL build; [ "$(readlink "$LINK")" = "$(readlink "$T/link")" ]'
	says 'has no hello'
}

@test "the channel holds what is listed, as lodger and the gate read it" {
	machine_make a
	works a 'cd "$LINK/"; LC_ALL=C sort -c packages.tsv; cut -f 1 packages.tsv | xargs'
	[ "$output" = "bashInteractive $LISTED" ]
	works a 'while IFS=$'\''\t'\'' read -r name version path drv description size; do
			[ "$(store nix-store --query --size "$path")" = "$size" ]
			store nix-store --query --outputs "$drv" | grep -qx "$path"
			store nix-store --check-validity $(store nix-store --query --outputs "$drv" | grep -v -e -debug)
		done <"$LINK/packages.tsv"'
	works a 'grep -P "^first\t1\.0\t/nix/store/[a-z0-9]{32}-first-1\.0\t/nix/store/[a-z0-9]{32}-first-1.0\.drv\tone of two that have it\t[0-9]+$" "$LINK/packages.tsv"
		grep -P "^two\t1\.0\t/nix/store/[a-z0-9]{32}-two-1\.0-bin\t" "$LINK/packages.tsv"'
	works a 'sqlite3 -tabs "$LINK/programs.sqlite" "select name, package from Programs where system = '\''$(uname -m)-linux'\'' order by 1"'
	[ "$output" = $'bash\tbashInteractive\nboth\tfirst\nhello\thello\nmodule\tpython3Packages.module\ntwo\ttwo\nuses\tuses' ]
	works a 'ls -A "$LINK/commands" | xargs; readlink "$LINK/commands/two" "$LINK/command"'
	[ "$output" = $'bash both hello module two uses\n../command\n/usr/local/libexec/lodger/lodger-packages' ]
	works a 'jq -r ".kind, .sha256, (.attributes | join(\" \"))" "$LINK/lock.json"'
	[ "$output" = "$(printf '%s\n' pin "sha256-$(nix-hash --type sha256 "$W/set" | tr a-f A-F | basenc --base16 -d | base64)" "$LISTED")" ]
}

@test "the closure is the derivations that what is listed is built of, and no others" {
	machine_make a
	# Found in another way: by what each derivation names.
	works a 'cp "$LINK/closure" "$T/closure"; LC_ALL=C sort -uc "$T/closure"; [ -z "$(tail -c 1 "$T/closure" | tr -d "\n")" ]
		todo=$(cut -f 4 "$LINK/packages.tsv"; ls -d /nix/store/*-stdenv-1.0.drv) seen=
		while [ -n "$todo" ]; do
			seen+=$todo$'\''\n'\''
			todo=$(for drv in $todo; do grep -o "/nix/store/[a-z0-9]*-[^\"]*\.drv" "$drv" || true; done | sort -u | grep -vxF "$seen" || true)
		done
		LC_ALL=C sort -u <<<"$seen" | grep . >"$T/walked"'
	diff "$T/closure" "$T/walked"
	grep -q -- -compiler-1.0.drv "$T/closure"
	grep -q -- -stdenv-1.0.drv "$T/closure"
	# There are others in the store.
	works a 'store nix-instantiate "$LINK/" -A sandbox --add-root "$T/sandbox" && grep -vxF "$(cat "$LINK/closure")" <(ls -d /nix/store/*-sandbox-1.0.drv)'
}

@test "a source that is larger than what sessions may add is named, with what would let it in" {
	local size
	machine_make a
	set_make "$W/large" 1.0
	head -c 2097152 /dev/zero >"$W/large/large"
	works a '$TOOL pin "$W/large" --sha256 "$(sum "$W/large")"; $TOOL add large; $TOOL build; store nix-store --query --size /nix/store/*-large'
	size=${lines[-1]}
	says "-large is larger than the 2M that a session may add at once" "an --item of $size or more"
	[ "$(grep -c 'larger than' <<<"$output")" = 1 ]
	works a '$TOOL remove large; $TOOL build'
	says_not 'larger than'
}

@test "a second build does nothing" {
	machine_make a
	works a 'ls /nix/store >"$T/before"; cp -P "$LINK" "$T/link"; $TOOL build; ls /nix/store >"$T/after"'
	says 'to build: 0; to fetch: 0' 'unchanged: /nix/store/'
	says_not 'building '
	diff "$T/before" "$T/after"
	works a '[ "$(readlink "$LINK")" = "$(readlink "$T/link")" ]; ls "$ROOTS"; $TOOL status'
	says 'previous: none'
	says_not $'\npin\n'
}

@test "a build that fails leaves the channel, keeps what it has, and the next goes on" {
	machine_make a
	works a '$TOOL add slow broken sandbox; cp -P "$LINK" "$T/link"; e=0; $TOOL build || e=$?; [ $e = 1 ]
		[ "$(readlink "$LINK")" = "$(readlink "$T/link")" ]; store nix-store --gc >/dev/null 2>&1; $TOOL status'
	says 'this one is broken' 'the build failed' 'lodger-channel remove' "attributes: ${LISTED// /, }"
	works a '$TOOL remove broken; store nix-store --realise /nix/store/*-sandbox-1.0.drv >/dev/null 2>&1 || true; $TOOL build'
	says 'new: '
	says_not 'building 1 of 3'
	works a '$TOOL status'
	says 'slow' 'sandbox'
}

@test "a build that is killed in the middle leaves the channel, and the next goes on" {
	machine_make a
	works a '$TOOL add slow sandbox; cp -P "$LINK" "$T/link"
		$TOOL build >"$T/build" 2>&1 & build=$!
		until grep -q "building .*slow" "$T/build" && ls /nix/store/*-sandbox-1.0 >/dev/null 2>&1; do sleep 0.05; done
		kill -9 $build; wait $build || true
		[ "$(readlink "$LINK")" = "$(readlink "$T/link")" ]
		no ls /nix/store/*-slow-1.0 2>/dev/null
		$TOOL status'
	says "attributes: ${LISTED// /, }" 'the next lodger-channel build takes:'
	# At once, with nothing in its way, and without what was done; not even a collection takes that.
	works a 'store nix-store --gc >/dev/null 2>&1; ls -d /nix/store/*-sandbox-1.0; $TOOL build; "$(sed -n "s/^slow\t[^\t]*\t\([^\t]*\)\t.*/\1/p" "$LINK/packages.tsv")/bin/slow"'
	says 'to build: 1; to fetch: 0' 'building 1 of 1: slow-1.0' 'new: '
	[ "${lines[-1]}" = slow ]
	works a 'ls "$ROOTS" "$STATE"'
	says_not $'\npin\n' work
}

@test "killed anywhere, the channel in use is whole, and a build follows" {
	machine_make a
	on a 'cp -P "$LINK" "$T/link"'
	local delay
	for delay in 0.2 0.8 2 3 4.5; do
		# What it had started ends a moment after it, and has the lock until then.
		works a '$TOOL add sandbox; $TOOL build >/dev/null 2>&1 & build=$!
			sleep '"$delay"'; kill -9 $build 2>/dev/null || true; wait $build || true
			flock -w 20 "$STATE/channel.lock" true
			$TOOL status'
		says 'whole: yes' 'rooted: yes'
	done
	works a '$TOOL build; $TOOL status'
	says 'attributes: first, hello, python3Packages.module, sandbox, two, uses' 'whole: yes'
}

@test "killed while nix evaluates, nothing of it goes on, and the lock is free" {
	machine_make a
	works a '$TOOL add thinks >"$T/said" 2>&1 & add=$!
		until pgrep -x nix-instantiate >"$T/evaluates" && grep -q "1 of 1: thinks" "$T/said"; do sleep 0.05; done
		sleep 0.5; pgrep -x nix-instantiate; kill -9 $add; wait $add || true; until_true 10 no pgrep -x -r D,R,S nix-instantiate
		flock -w 20 "$STATE/channel.lock" true; $TOOL remove hello'
}

@test "two at a time are not possible" {
	machine_make a
	works a 'exec 8>"$STATE/channel.lock"; flock 8
		for command in build "add two" "remove two" rollback "cache $T/x" "pin $W/set --sha256 $(sum "$W/set")"; do
			! $TOOL $command || exit 9
		done'
	[ "$(grep -c 'another lodger-channel is at work' <<<"$output")" = 6 ]
}

@test "whoever looks while channels are switched sees a whole one, old or new" {
	machine_make a
	works a '$TOOL remove uses; $TOOL build >/dev/null
		reader() {
			local n=0 channel
			while [ ! -e "$T/done" ]; do
				channel=$(readlink "$LINK")
				[ -s "$channel/packages.tsv" ] && [ -s "$channel/closure" ] && [ -L "$channel/commands/hello" ] && [ -L "$ROOTS/${channel##*/}" ] &&
				grep -q sandbox-paths "$STATE/nix.conf" || { echo "half: $channel"; return 1; }
				echo "$channel" >>"$T/seen"
			done
		}
		reader & reader=$!
		for _ in 1 2 3 4 5 6; do $TOOL rollback >/dev/null; done
		: >"$T/done"; wait $reader; sort "$T/seen" | uniq -c | wc -l'
	says_not half
	[ "${lines[-1]}" = 2 ]
}

@test "rollback leads to the channel before, and another one forward again" {
	machine_make a
	fails a '$TOOL rollback'
	says 'there is no channel before'
	works a 'readlink "$LINK" >"$T/one"; $TOOL add sandbox; $TOOL build; readlink "$LINK" >"$T/two"; no cmp -s "$T/one" "$T/two"'
	works a '$TOOL rollback; readlink "$LINK" | cmp - "$T/one"; $TOOL status'
	says "in use again: $(cat "$T/one")" "before: $(cat "$T/two") (pin)" "previous: $(cat "$T/two")" 'rooted: yes'
	works a 'store nix-store --gc >/dev/null 2>&1; $TOOL rollback; readlink "$LINK" | cmp - "$T/two"; $TOOL status'
	says "previous: $(cat "$T/one")"
	# A third channel, and one is kept beside it.
	works a '$TOOL remove first; $TOOL build; ls "$ROOTS" | grep -c -- -lodger-channel; $TOOL status'
	says "previous: $(cat "$T/two")" $'\n2\n'
	works a 'rm "$ROOTS/$(basename "$(cat "$T/two")")"; store nix-store --gc >/dev/null 2>&1; ln -s "$(cat "$T/two")" "$ROOTS/"; cp -P "$LINK" "$T/link"
		no $TOOL rollback; [ "$(readlink "$LINK")" = "$(readlink "$T/link")" ]'
	says 'no longer in the store'
}

@test "a garbage collection takes nothing that is listed, and all the rest" {
	machine_make a
	works a 'store nix-store --query --requisites "$LINK/" >"$T/needed"; rubbish=$(store nix-store --add "$BATS_TEST_DIRNAME/pin.bash")
		ls -d $rubbish; store nix-store --gc >/dev/null 2>&1; xargs -a "$T/needed" ls -d >/dev/null; no ls -d $rubbish; $TOOL status'
	says 'whole: yes'
	for path in $(cut -d ' ' -f 1 "$T/needed"); do echo "$path"; done >"$T/paths"
	# What it refers to: each output, each derivation of the closure, the package set.
	works a 'sort -u <(cat "$LINK/closure") <(cut -f 3 "$LINK/packages.tsv") <(jq -r ".path, .packages[].outputs[], .base[].outputs[]" "$LINK/lock.json") | grep -vxF -f "$T/needed" | wc -l'
	[ "$output" = 0 ]
	# The control: without its root it goes.
	works a 'rm "$ROOTS"/*-lodger-channel; store nix-store --gc >/dev/null 2>&1; ls -d $(head -1 "$T/needed") "$LINK/" 2>&1 | grep -c "No such"'
	[ "$output" = 2 ]
	fails a '$TOOL status'
	says 'not in the store; run: lodger-channel build'
	# And comes again, the same.
	works a '$TOOL build && store nix-store --query --requisites "$LINK/" | sort | diff - <(sort "$T/needed")'
}

@test "nixpkgs is the pinned set: every attribute, and what is below it" {
	machine_make a
	works a 'export NIX_PATH=nixpkgs=$(readlink "$LINK")
		store env NIX_PATH="$NIX_PATH" nix-instantiate --eval -E "(import <nixpkgs> { }).sandbox.version + (import <nixpkgs/lib>).one + import <nixpkgs/lib/one.nix>"
		store env NIX_PATH="$NIX_PATH" nix-instantiate --eval --json --strict -E "builtins.attrNames (import <nixpkgs> { })" >"$T/names"
		store env NIX_PATH="$NIX_PATH" nix-instantiate --eval --json --strict -E "builtins.attrNames (import $W/set { })" | cmp - "$T/names"
		for attribute in hello sandbox fixed; do
			[ "$(store nix-instantiate "$LINK/" -A $attribute 2>/dev/null)" = "$(store nix-instantiate "$W/set" -A $attribute 2>/dev/null)" ]
		done'
	says '"1.01.01.0"'
	# What nix-shell asks for is there already: with no builds at all, and none but listed ones.
	works a 'export NIX_PATH=nixpkgs=$(readlink "$LINK")
		store env NIX_PATH="$NIX_PATH" NIX_CONFIG="max-jobs = 0" nix-shell -p hello python3Packages.module --run "hello; module"'
	says $'hello 1.0\nmodule'
	fails a 'export NIX_PATH=nixpkgs=$(readlink "$LINK")
		store env NIX_PATH="$NIX_PATH" NIX_CONFIG="max-jobs = 0" nix-shell -p sandbox --run true'
}

@test "builds run in nix's sandbox, as its users, without network but for a fixed result" {
	machine_make a
	works a 'serve; trap "kill $SERVER" EXIT; $TOOL add sandbox online fixed; $TOOL build
		awk -F "\t" "\$1 ~ /sandbox|online|fixed/ { print \$3 }" "$LINK/packages.tsv" | xargs cat; grep fixed "$T/served"'
	says $'\noffline\n' $'\na\n' 'GET /fixed'
	works a 'cat "$(awk -F "\t" "\$1 == \"sandbox\" { print \$3 }" "$LINK/packages.tsv")"'
	# As one of them, which is called 1000 there; nothing of this machine but a shell and what it is linked to.
	[ "${lines[0]}" = 1000 ]
	[ "$(tail -n +2 <<<"$output" | grep -v -e '^[a-z0-9]\{32\}-' -e '^\.' | xargs)" = 'bin build dev etc lib lib64 nix proc tmp sh' ]
	# Without users to build as nothing is built, not even a fixed result.
	works a 'sed -i /^nixbld/d /etc/group 2>/dev/null || { grep -v ^nixbld /etc/group >"$T/group"; mount --bind "$T/group" /etc/group; }
		$TOOL remove sandbox; no $TOOL build; sed "s/^nixbld/lodger-build/" "$T/a/group" >"$T/group"; $TOOL build'
	says 'neither of the groups nixbld and lodger-build' 'new: '
}

@test "status of what is broken" {
	machine_make a
	works a '$TOOL status'
	says 'in use: ' 'kind: pin' "source: $W/set" 'sha256: sha256-' "attributes: ${LISTED// /, }" 'cache: none' \
		'whole: yes' 'rooted: yes' 'previous: none'
	fails a 'mount -t tmpfs tmpfs "$STATE"; e=0; $TOOL status || e=$?; umount "$STATE"; exit $e'
	says 'no channel yet; run: lodger-channel starter'
	fails a 'rm "$ROOTS"/*-lodger-channel; e=0; $TOOL status || e=$?; ln -s "$(readlink "$LINK")" "$ROOTS/"; exit $e'
	says 'not protected from garbage collection; run: lodger-channel build'
	fails a 'cp -P "$LINK" "$T/link"; ln -sfn /nix/store/00000000000000000000000000000000-lodger-channel "$LINK"; e=0; $TOOL status || e=$?
		cp -PT "$T/link" "$LINK"; exit $e'
	says 'not in the store; run: lodger-channel build'
	works a '$TOOL status'
	fails a 'tree=$(awk -F "\t" "\$1 == \"two\" { print \$3 }" "$LINK/packages.tsv"); rm -rf "$tree"; $TOOL status'
	says 'is not whole: the store has lost /nix/store/' two-1.0-bin
	echo '{}' >"$T/pin.json"
	fails a 'cp "$T/pin.json" "$PIN"; $TOOL build'
	says 'pin again'
	fails a 'rm "$PIN"; $TOOL build'
	says 'nothing is pinned yet'
}

@test "an index that comes with the set is left out, and that is said" {
	machine_make a
	works a 'cp -r "$W/set" "$W/indexed"; cd "$W/indexed"; echo "insert into Programs values ('\''hello'\'', '\''$(uname -m)-linux'\'', '\''hello'\''), ('\''other'\'', '\''$(uname -m)-linux'\'', '\''other'\''),
			('\''mac'\'', '\''aarch64-darwin'\'', '\''mac'\'');" |
			cat <(echo "create table Programs (name text, system text, package text);") - | sqlite3 programs.sqlite
		chmod 644 programs.sqlite; $TOOL pin "$W/indexed" --sha256 "$(sum "$W/indexed")"; $TOOL build
		sqlite3 "$LINK/programs.sqlite" "select count(*) from Programs where name in ('\''hello'\'', '\''other'\'')"'
	says 'names programs of 2 packages'
	[ "${lines[-1]}" = 1 ]
}
