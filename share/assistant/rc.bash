# What the assistant's shell begins with (client/assistant/shell.h), and each nix-shell in it again, of
# whose own file LODGER_NIX_RC then is the name. Has every prompt print a mark instead of a prompt.
# shellcheck shell=bash disable=SC1090
LODGER_STATUS=$?

if [ -n "${LODGER_NIX_RC-}" ]; then
	LODGER_STATUS=0
	LODGER_RC=$LODGER_NIX_RC
	unset LODGER_NIX_RC
	. "$LODGER_RC"
	unset LODGER_RC
fi

# Pagers and editors that end by themselves come first, the two words of the conversation last.
[[ :$PATH: == *:@LIBEXEC@/assistant/bin:* ]] || PATH=@LIBEXEC@/assistant/bin:$PATH
[[ :$PATH: == *:@LIBEXEC@/talk:* ]] || PATH=$PATH:@LIBEXEC@/talk
export PATH TERM=dumb NO_COLOR=1 PAGER=cat GIT_PAGER=cat MANPAGER=cat SYSTEMD_PAGER=cat
# Python 3.13's own line editor says at each start that it cannot use such a terminal.
export PYTHON_BASIC_REPL=1
export EDITOR=@LIBEXEC@/assistant/no-editor
export VISUAL=$EDITOR GIT_EDITOR=$EDITOR GIT_TERMINAL_PROMPT=0 DEBIAN_FRONTEND=noninteractive
unset HISTFILE
set +o histexpand

# The number behind the last "-" is what client and shell know.
export NIX_BUILD_SHELL PROMPT_COMMAND
PROMPT_COMMAND='LODGER_STATUS=$?; [[ -t 0 ]] && builtin printf "\033]7717;'${NIX_BUILD_SHELL##*-}';%d\007" "$LODGER_STATUS" 2>/dev/null >/dev/tty; PS1= PS2='
return "$LODGER_STATUS"
