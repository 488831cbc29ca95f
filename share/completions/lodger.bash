# bash completion for lodger: commands, options, and the caller's own sessions.

_lodger_sessions() {
	lodger list 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_lodger_packages() {
	lodger packages 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The options of a command, as its help lists them.
_lodger_options() {
	lodger "$1" --help 2>/dev/null | grep -o -e '--[a-z-]\+' | sort -u
}

_lodger() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local commands='create run exec shell list show destroy collect put get packages which command
		assistant fill export doctor'

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands help --help --version" -- "$current")
		return
	fi
	if [[ $before == -p || $before == --package ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_lodger_packages)" -- "$current")
		return
	fi
	if [[ $before == --net ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'none host' -- "$current")
		return
	fi
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_lodger_options "$command")" -- "$current")
		return
	fi
	case $command in
	exec | shell | show | destroy)
		mapfile -t COMPREPLY < <(compgen -W "$(_lodger_sessions)" -- "$current")
		;;
	packages)
		mapfile -t COMPREPLY < <(compgen -W "$(_lodger_packages)" -- "$current")
		;;
	put | get)
		mapfile -t COMPREPLY < <(compgen -W "$(_lodger_sessions)" -- "$current")
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
		;;
	help)
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
		;;
	esac
}

# What stands behind run and exec is a command like any other: bash completes it as file names.
complete -o default -F _lodger lodger
