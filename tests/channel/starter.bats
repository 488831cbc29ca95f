# All that the starter channel can have, which `make check-starter` builds, apart from the channel in use, and
# runs in sessions: the compilers and Octave, which a channel has only when asked for. Takes minutes, and
# fetches hundreds of megabytes the first time.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load ../cli/cli

TOOL=${LODGER_CHANNEL_TOOL:-/usr/local/sbin/lodger-channel}

setup_file() {
	export APART=$BATS_FILE_TMPDIR/apart
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$(dirname "$BATS_FILE_TMPDIR")"
	mkdir -m 755 "$APART" "$APART/state" "$APART/roots"
	apart starter --all >&2
}

# Runs the channel tool with a state and roots that are not the machine's.
apart() {
	unshare --mount bash -c 'mount --bind "$APART/state" /var/lib/lodger &&
		mount --bind "$APART/roots" /nix/var/nix/gcroots/lodger && exec "$@"' - "$TOOL" "$@"
}

setup() {
	T=$BATS_TEST_TMPDIR
	CHANNEL=$(readlink "$APART/state/channel")
}

# gives TEXT FILES SCRIPT: run in a session of that channel, with the files of a directory in its home, it ends
# with 0 and prints just that.
gives() {
	export FILES=$2 SCRIPT=$3
	run --separate-stderr elsewhere 'mount --bind "$APART/state" /var/lib/lodger
		S=$(as a lodger create --memory 2G --disk 1G)
		trap "as a lodger destroy $S >/dev/null" EXIT
		tar -c -C "$FILES" . | as a lodger exec "$S" -- tar -x
		as a lodger exec "$S" -- bash -c "$SCRIPT"'
	if [ "$status" != 0 ] || [ "$output" != "$1" ]; then
		printf 'script: %s\nstatus: %s\noutput: %s\nstderr: %s\n' "$3" "$status" "$output" "$stderr"
		return 1
	fi
}

@test "everything that it can have is there, and nothing is left to be added" {
	local attribute
	for attribute in ghc ocaml octave python3Packages.matplotlib git sqlite graphviz jq lua gcc gnumake; do
		grep -q "^$attribute"$'\t' "$CHANNEL/packages.tsv"
	done
	[ ! -s "$CHANNEL/more.tsv" ]
	run --separate-stderr elsewhere 'mount --bind "$APART/state" /var/lib/lodger; as a lodger packages ghc'
	succeeds
	says ' local '
}

@test "no tree of it names another place for its programs' libraries than the store" {
	local tree file
	while IFS= read -r tree; do
		while IFS= read -r file; do
			run patchelf --print-rpath "$file"
			[ "$status" = 0 ] || continue
			[[ $output != *:/usr* && $output != /usr* ]] || { echo "$file: $output" && return 1; }
		done < <(find "$tree/bin" -type f | head -40)
	done < <(cut -f 3 "$CHANNEL/packages.tsv" | sort -u)
}

@test "ghc compiles and links, runghc and ghc -e interpret, and what is made maps nothing of the host" {
	cat >"$T/x.hs" <<-'END'
		import Data.List
		import qualified Data.Map as Map
		main = do
		  print (product [6, 7 :: Integer] + 2 ^ 70 - 2 ^ 70)
		  maps <- readFile "/proc/self/maps"
		  mapM_ putStrLn [l | l <- lines maps, '/' `elem` l, not ("/nix/store/" `isInfixOf` l), not ("/home/" `isInfixOf` l)]
		  print (Map.toList (Map.fromList [(1 :: Int, "one")]))
	END
	gives $'42\n[(1,"one")]' "$T" 'nix-shell -p ghc --run "ghc -v0 x.hs -o x && ./x"'
	gives $'42\n[(1,"one")]' "$T" 'nix-shell -p ghc --run "ghc -v0 -O2 -dynamic x.hs -o x && ./x"'
	gives $'42\n42' "$T" 'nix-shell -p ghc --run "runghc x.hs | head -1; ghc -v0 -e \"6 * 7\"; ghc-pkg check"'
	# Two modules, and what a compiler refuses.
	printf '%s\n' 'module Two where' 'two :: Int' 'two = 2' >"$T/Two.hs"
	printf '%s\n' 'import Two' 'main = print (two * 21)' >"$T/main.hs"
	printf 'main = putStrLn 1\n' >"$T/wrong.hs"
	gives $'42\nno' "$T" 'nix-shell -p ghc --run "ghc -v0 --make main.hs -o main && ./main; ghc -v0 wrong.hs 2>/dev/null || echo no"'
}

@test "ocaml runs and compiles to both kinds of programs, which map nothing of the host" {
	cat >"$T/x.ml" <<-'END'
		let () = Printf.printf "%d\n" (List.fold_left ( * ) 1 [6; 7])
		let () = let f = open_in "/proc/self/maps" in
		  try while true do
		    let l = input_line f in
		    if String.contains l '/' && not (Str.string_match (Str.regexp ".*/nix/store/\\|.*/home/") l 0) then print_endline l
		  done with End_of_file -> ()
	END
	gives 42 "$T" 'nix-shell -p ocaml --run "ocaml str.cma x.ml"'
	gives $'42\n42\n42' "$T" 'nix-shell -p ocaml --run "ocamlc str.cma x.ml -o x && ./x && ocamlopt str.cmxa x.ml -o x && ./x && ocamlc -custom str.cma x.ml -o x && ./x"'
}

@test "octave computes: a system of equations, eigenvalues, a Fourier transform, a function in a file" {
	printf '%s\n' 'function y = twice(x)' '  y = 2 * x;' 'end' >"$T/twice.m"
	printf '%s\n' 'x = [2 0; 0 4] \ [2; 8];' 'printf("%g %g %.0f\n", x(2), mean([1 2 3]), det(magic(3)));' \
		'printf("%g ", eig([2 0; 0 3]), abs(fft([1 1])));' 'printf("%g\n", twice(21));' >"$T/x.m"
	gives $'2 2 -360\n2 3 2 0 42' "$T" 'nix-shell -p octave --run "octave-cli --quiet x.m"'
	gives 42 "$T" 'nix-shell -p octave --run "octave --no-gui --quiet --eval \"disp(6 * 7)\""'
	[ -z "$stderr" ]
}

@test "octave maps no file of the host" {
	printf '%s\n' 'x = fft(rand(4)) \ eye(4);' 'save -hdf5 x.h5 x' 'text = fileread("/proc/self/maps");' 'lines = strsplit(text, "\n");' \
		'for i = 1:numel(lines)' '  l = lines{i};' \
		'  if any(l == "/") && isempty(strfind(l, "/nix/store/")), disp(l); end' 'end' 'disp(numel(lines) > 50)' >"$T/x.m"
	gives 1 "$T" 'nix-shell -p octave --run "octave-cli --quiet x.m"'
}

@test "their commands on demand" {
	printf 'main = print 42\n' >"$T/x.hs"
	printf 'print_int 42\n' >"$T/x.ml"
	gives 42 "$T" "$CHANNEL/commands/runghc x.hs"
	[ "$stderr" = 'lodger: runghc is from ghc' ]
	gives 42 "$T" "$CHANNEL/commands/ocaml x.ml"
	[ "$stderr" = 'lodger: ocaml is from ocaml' ]
	gives 42 "$T" "$CHANNEL/commands/octave-cli --quiet --eval 'disp(42)'"
	[ "$stderr" = 'lodger: octave-cli is from octave' ]
	# A compiler needs gcc, which comes along.
	gives 42 "$T" "$CHANNEL/commands/ghc -v0 x.hs -o x && ./x"
}

@test "plain starter keeps what was added, and --default leaves it out" {
	run --separate-stderr apart starter
	exits 0
	[[ $output == "unchanged: $CHANNEL"* ]]
	run --separate-stderr apart starter --default --with ocaml
	exits 0
	[[ $output == 'new: '* ]]
	[ "$(cut -f 1 "$APART/state/channel/more.tsv" | xargs)" = 'ghc octave' ]
	grep -q $'^ocaml\t' "$APART/state/channel/packages.tsv"
	run --separate-stderr apart starter --default
	exits 0
	[ "$(cut -f 1 "$APART/state/channel/more.tsv" | xargs)" = 'ghc ocaml octave' ]
	run --separate-stderr apart status
	exits 0
	says 'not in it: ghc ocaml octave'
	run --separate-stderr apart starter --all
	exits 0
	[[ $output == "new: $CHANNEL"* ]]
}
