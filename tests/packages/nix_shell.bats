# nix itself inside a session: what people, scripts and models know of it works there as they know it, and
# what cannot work says why; and where nix under another user fell elsewhere (issues of NixOS/nix and of
# others, by number).
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load packages

setup() {
	create a
}

# gives TEXT SCRIPT: run in the session, it ends with 0 and prints just that.
gives() {
	run --separate-stderr in_session a "$SESSION" "$2"
	if [ "$status" != 0 ] || [ "$output" != "$1" ]; then
		printf 'script: %s\nstatus: %s\noutput: %s\nstderr: %s\n' "$2" "$status" "$output" "$stderr"
		return 1
	fi
}

@test "nix-shell -p with several packages, --run, --command, --pure and --keep" {
	gives $'42\n42' 'nix-shell -p jq lua --run "jq -n 6*7; lua -e \"print(6 * 7)\""'
	gives 42 'nix-shell -p jq --command "jq -n 6*7; exit" </dev/null'
	gives '/nix/store none' 'nix-shell --pure -p jq --run "p=\$(type -P jq); type -P perl || echo \${p:0:10} none"'
	gives 'kept, not' 'KEPT=kept LOST=lost nix-shell --pure --keep KEPT -p jq --run "echo \$KEPT, \${LOST-not}"'
	gives '7 3' 'nix-shell -p jq --run "exit 7"; a=$?; nix-shell -p jq --run "(exit 3)"; echo $a $?'
	# A module for python, and only where it was asked for.
	gives '5*sqrt(2)' 'nix-shell -p python3Packages.sympy --run "python3 -c \"import sympy; print(sympy.sqrt(50))\""'
}

@test "shell.nix, default.nix and an expression, with a hook and variables" {
	gives $'hook of project\n42' 'cat >shell.nix <<-"END"
			{ pkgs ? import <nixpkgs> { } }:
			pkgs.mkShell { name = "project"; packages = [ pkgs.jq ]; shellHook = "echo hook of $name"; }
		END
		nix-shell --run "jq -n 6*7"'
	gives 42 'mkdir other; cd other; echo "with import <nixpkgs> {}; mkShell { buildInputs = [ lua ]; ANSWER = 42; }" >default.nix
		nix-shell --run "lua -e \"print(os.getenv(\\\"ANSWER\\\"))\""'
	gives 42 'nix-shell -E "with import <nixpkgs> {}; mkShell { packages = [ jq ]; }" --run "jq -n 6*7"'
}

@test "shells in shells, and scripts that begin with nix-shell" {
	gives 'jq lua make' 'nix-shell -p jq --run "nix-shell -p lua --run \"nix-shell -p gnumake --run \\\"for p in jq lua make; do
		type -P \\\\\\\$p >/dev/null && echo \\\\\\\$p; done | xargs\\\"\""'
	gives '5*sqrt(2)' 'printf "%s\n" "#! /usr/bin/env nix-shell" "#! nix-shell -i python3 -p python3 python3Packages.sympy" \
			"import sympy" "print(sympy.sqrt(50))" >script; chmod +x script; ./script'
	gives '42 one two' 'printf "%s\n" "#! /usr/bin/env nix-shell" "#! nix-shell --pure -i bash -p jq bash" "echo \$(jq -n 6*7) \$*" >script
		chmod +x script; ./script one two'
}

@test "nix-build of a package, nix-instantiate, and nix-env as far as it asks" {
	gives 42 'nix-build "<nixpkgs>" -A jq >path && [ "$(cat path)" = "$(readlink result)" ] && ./result/bin/jq -n 6*7'
	gives "$CHANNEL" 'nix-instantiate --find-file nixpkgs'
	gives "\"$(tree jq)\"" 'nix-instantiate --eval -E "(import <nixpkgs> {}).jq.outPath"'
	gives '' 'nix-env --query'
	run in_session a "$SESSION" 'nix-env --file "<nixpkgs>" --query --available jq'
	exits 0
	says jq-
}

@test "what cannot work says why" {
	run in_session a "$SESSION" 'nix-env --install --attr jq --file "<nixpkgs>"'
	[ "$status" != 0 ]
	says -user-environment.drv 'sessions build nothing else'
	run in_session a "$SESSION" 'nix-channel --add http://127.0.0.1:1/ x && nix-channel --update --option download-attempts 1'
	[ "$status" != 0 ]
	says "unable to download 'http://127.0.0.1:1"
	run in_session a "$SESSION" 'nix-shell -p no-such-package --run true'
	[ "$status" != 0 ]
	says "undefined variable 'no-such-package'"
	run in_session a "$SESSION" 'nix-build -E "with import <nixpkgs> {}; runCommand \"x\" {} \"echo >\$out\""'
	[ "$status" != 0 ]
	says 'lodger: building /nix/store/' 'sessions build nothing else'
}

@test "a user that no passwd entry of the machine's has is somebody: whoami, home, git, ssh (nix 8074, 6834, nix-user-chroot 112)" {
	gives "$SESSION" whoami
	gives "$SESSION $SESSION yes" 'stat -c "%U %G" "$HOME" | tr "\n" " "; [ ~ = "$HOME" ] && [ "$(getent passwd "$(id -u)" | cut -d : -f 6)" = "$HOME" ] && echo yes'
	run in_session a "$SESSION" 'ssh -o BatchMode=yes -o ConnectTimeout=2 nobody@127.0.0.1 true; git var GIT_COMMITTER_IDENT; nix-shell -p jq --run "jq -n 1"'
	exits 0
	[[ $output != *"No user exists"* && $output != *"you don't exist"* && $output != *"not owned by you"* ]]
}

@test "what another shell left in /tmp, and a TMPDIR that is small or gone, breaks nothing (nix 262, 11470, 395, nixpkgs 299272)" {
	gives 42 'mkdir /tmp/env-vars; echo "exit 9" >/tmp/env-vars.sh; nix-shell -p jq --run "jq -n 6*7"; rmdir /tmp/env-vars'
	gives 42 'echo "exit 9" >/tmp/env-vars; chmod 0 /tmp/env-vars; nix-shell -p jq --run "jq -n 6*7"'
	gives "$(printf '%s\n' 1 2 3 4)" 'for i in 1 2 3 4; do nix-shell -p jq --run "sleep 0.2; jq -n $i" & done | sort; wait'
	# nix takes its shell's directory away; another's in the same place stays.
	gives kept 'mkdir -p "$HOME/t"; TMPDIR=$HOME/t; export TMPDIR; echo kept >"$TMPDIR/file"; nix-shell -p jq --run true; cat "$TMPDIR/file"'
}

@test "nothing of the calling user's environment leads astray (nix 568, nixpkgs 5712, 68242)" {
	local said
	said=$(as a env XDG_RUNTIME_DIR=/run/user/4242 XDG_CACHE_HOME=/nowhere TMPDIR=/nowhere NIX_PATH=nixpkgs=/nowhere \
		NIX_REMOTE=local NIX_CONFIG='substituters = http://127.0.0.1:1' NIX_USER_CONF_FILES=/nowhere NIX_PROFILES=/nowhere \
		lodger run -- bash -c 'env | grep -c nowhere; env | grep -c 4242; nix-shell -p jq --run "jq -n 6*7"')
	[ "$said" = $'0\n0\n42' ]
}

@test "the administrator's garbage collection takes nothing of an open shell's (nix 2208)" {
	background in_session a "$SESSION" 'nix-shell -p jq --run "echo >ready; until [ -e go ]; do sleep 0.1; done; jq -n 6*7 >answer"'
	until_true 20 in_session a "$SESSION" '[ -e ready ]'
	run env NIX_REMOTE=local nix-store --gc --print-dead
	exits 0
	[[ $output != *"$(tree jq)"* ]]
	gives 42 'echo >go; until [ -s answer ]; do sleep 0.1; done; cat answer'
}
