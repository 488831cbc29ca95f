#!@bash@
# shellcheck shell=bash disable=SC2239
# A linker of the store: what it makes uses the store's loader in place of the host's, and finds the
# C and C++ libraries there.
arguments=()
rpath=(-rpath @rpath@)
for argument; do
	case $argument in
	/lib64/ld-linux* | /lib/ld-linux*) argument=@loader@ ;;
	# No loader, no rpath; glibc 2.36 crashes in a static-pie program that has one.
	-static | -no-dynamic-linker) rpath=() ;;
	esac
	arguments+=("$argument")
done
exec @real@ "${arguments[@]}" "${rpath[@]}"
