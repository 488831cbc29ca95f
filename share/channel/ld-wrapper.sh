#!@bash@
# shellcheck shell=bash disable=SC2239
# A linker of the store: what it makes uses the store's loader in place of the host's, and finds the
# C and C++ libraries there.
arguments=()
loader=()
rpath=(-rpath @rpath@)
for argument; do
	case $argument in
	/lib64/ld-linux* | /lib/ld-linux*) argument=@loader@ ;;
	# No loader, no rpath; glibc 2.36 crashes in a static-pie program that has one.
	-static | -no-dynamic-linker) rpath=() ;;
	# gcc hands its arguments on in a file when it got them in one. The last loader counts.
	@*)
		words=" $(<"${argument#@}") "
		case ${words//$'\n'/ } in
		*' -static '* | *' -no-dynamic-linker '*) rpath=() ;;
		*) loader=(-dynamic-linker @loader@) ;;
		esac
		;;
	esac
	arguments+=("$argument")
done
exec @real@ "${arguments[@]}" "${rpath[@]}" "${loader[@]}"
