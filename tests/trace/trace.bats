# What the helper does as root stands in the tables of SECURITY.md, all of it.

load ../lib/lodger

setup_file() {
	"$BATS_TEST_DIRNAME/run" some "$BATS_FILE_TMPDIR/rows" 3>&- 4>&-
	"$BATS_TEST_DIRNAME/table" --parse "$BATS_TEST_DIRNAME/../../SECURITY.md" >"$BATS_FILE_TMPDIR/known"
}

# lacks TABLE: prints what was seen and is not in it.
lacks() {
	LC_ALL=C comm -23 "$BATS_FILE_TMPDIR/rows" "$1"
}

@test "the helper does nothing as root that SECURITY.md lacks" {
	[ "$(grep -c '^call' "$BATS_FILE_TMPDIR/rows")" -gt 100 ]
	[ "$(grep -c '^path' "$BATS_FILE_TMPDIR/rows")" -gt 50 ]
	lacks "$BATS_FILE_TMPDIR/known"
	[ -z "$(lacks "$BATS_FILE_TMPDIR/known")" ]
}

@test "control: a call, a path or a capability that the tables lack is noticed" {
	local line
	for line in "$(printf 'call\twork\t\tclone')" "$(printf 'call\tlast\tcap_kill\tpidfd_send_signal')" \
		"$(printf 'path\t/dev/log\tconnect')"; do
		grep -vxF "$line" "$BATS_FILE_TMPDIR/rows" >"$BATS_TEST_TMPDIR/short" || true
		[ "$(wc -l <"$BATS_TEST_TMPDIR/short")" -lt "$(wc -l <"$BATS_FILE_TMPDIR/rows")" ] || {
			grep -F "${line##*$'\t'}" "$BATS_FILE_TMPDIR/rows"
			continue
		}
		[ "$(lacks "$BATS_TEST_TMPDIR/short")" = "$line" ]
	done
}

@test "the tables are as they are written: parsing and writing them changes nothing" {
	local before
	before=$(sha256sum <"$BATS_TEST_DIRNAME/../../SECURITY.md")
	cp "$BATS_TEST_DIRNAME/../../SECURITY.md" "$BATS_TEST_TMPDIR/SECURITY.md"
	mkdir -p "$BATS_TEST_TMPDIR/tests/trace"
	cp "$BATS_TEST_DIRNAME/table" "$BATS_TEST_TMPDIR/tests/trace/"
	cp -r "$TESTS/lib" "$BATS_TEST_TMPDIR/tests/"
	"$BATS_TEST_TMPDIR/tests/trace/table" --write "$BATS_FILE_TMPDIR/known"
	[ "$(sha256sum <"$BATS_TEST_TMPDIR/SECURITY.md")" = "$before" ]
}
