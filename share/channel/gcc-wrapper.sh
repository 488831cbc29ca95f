#!@bash@
# shellcheck shell=bash disable=SC2239
# A compiler driver of the store: the real one with this tree's headers, start files, assembler and
# linker in place of the host's.
exec @real@ --sysroot=@out@ -B@out@/bin/ "$@"
