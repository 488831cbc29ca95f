# Login shells in Lodger's sessions: /etc/profile has just set PATH anew, without the channel's commands
# (lodger(1), "Commands on demand"). Does nothing elsewhere. Sourced by any POSIX shell.
# shellcheck shell=sh
case ${LODGER_SESSION:+${NIX_PATH-}} in
nixpkgs=/nix/store/*)
	[ ! -d "${NIX_PATH#nixpkgs=}/commands" ] || PATH=$PATH:${NIX_PATH#nixpkgs=}/commands
	;;
esac
