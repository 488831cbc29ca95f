# What nix-shell sources first inside a session: turns buildInputs into PATH and PYTHONPATH, as
# nixpkgs' stdenv does, and nothing more. Runs as the session's user, in a bash with no strict mode.

# shellcheck shell=bash
# Adds a package and, after it, what it propagates; each once.
addInput() {
	local propagated
	case " $allInputs " in *" $1 "*) return ;; esac
	allInputs+=" $1"
	[ -d "$1/bin" ] && PATH+=${PATH:+:}$1/bin
	[ -d "$1/lib/python3/dist-packages" ] && pythonPath+=${pythonPath:+:}$1/lib/python3/dist-packages
	# shellcheck disable=SC1091
	[ -e "$1/nix-support/setup-hook" ] && . "$1/nix-support/setup-hook"
	if [ -e "$1/nix-support/propagated-build-inputs" ]; then
		read -r propagated <"$1/nix-support/propagated-build-inputs"
		addInputs "$propagated"
	fi
}

addInputs() {
	local input
	# Split on purpose: store paths have no blanks.
	for input in $1; do
		addInput "$input"
	done
}

# nix-shell runs shellHook through this, if it is there.
runHook() {
	if [ "$(type -t "$1")" = function ]; then
		"$1"
	else
		eval "${!1-}"
	fi
}

# shellcheck disable=SC2123
PATH=
allInputs=
pythonPath=
addInputs "${nativeBuildInputs-} ${buildInputs-}"
addInputs '@initialPath@'
# Assigned before PYTHONPATH's old value only when there is something: an empty part would put the
# current directory on Python's path.
if [ -n "$pythonPath" ]; then
	export PYTHONPATH=$pythonPath${PYTHONPATH:+:$PYTHONPATH}
fi
# The C library's own locale data and character sets; the host's may be of another version.
export LOCPATH=@libc@/lib/locale GCONV_PATH=@gconv@
export PATH
unset allInputs pythonPath
