# What commands and bats' `run` of them gave, held against what was expected. Shows all of it when that is
# not so.
# shellcheck shell=bash disable=SC2154  # bats' own

# no COMMAND…: fails when the command does not. Under errexit a bare `!` fails nobody, unless it stands last.
no() {
	! "$@"
}

# exits STATUS: fails unless `run` got it.
exits() {
	[ "$status" = "$1" ] || {
		printf 'status %s, not %s\noutput: %s\nstderr: %s\n' "$status" "$1" "${output-}" "${stderr-}"
		return 1
	}
}

# says TEXT…, says_not TEXT…: fails unless all of them stand in $output or, from `run --separate-stderr`,
# $stderr; or unless none does.
says() {
	local text
	for text; do
		[[ ${output-}${stderr-} == *"$text"* ]] || {
			printf 'not said: %s\noutput: %s\nstderr: %s\n' "$text" "${output-}" "${stderr-}"
			return 1
		}
	done
}

says_not() {
	local text
	for text; do
		[[ ${output-}${stderr-} != *"$text"* ]] || {
			printf 'said: %s\noutput: %s\nstderr: %s\n' "$text" "${output-}" "${stderr-}"
			return 1
		}
	done
}
