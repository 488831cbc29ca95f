# What the starter channel has by default, at work in sessions: python's modules together, drawings, git,
# sqlite, and their commands on demand. And what a channel could have besides, as sessions see it.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # scripts for other shells; bats' own

load packages

setup() {
	create a --memory 2G
}

# gives TEXT SCRIPT: run in the session, it ends with 0 and prints just that.
gives() {
	run --separate-stderr in_session a "$SESSION" "$2"
	if [ "$status" != 0 ] || [ "$output" != "$1" ]; then
		printf 'script: %s\nstatus: %s\noutput: %s\nstderr: %s\n' "$2" "$status" "$output" "$stderr"
		return 1
	fi
}

# python TEXT SCRIPT MODULE…: the same of a script for python, with these modules asked for.
python() {
	local text=$1 modules=("${@:3}")
	in_session a "$SESSION" 'cat >script.py' <<<"$2"
	gives "$text" "nix-shell -p ${modules[*]/#/python3Packages.} --run 'python3 script.py'"
}

@test "python's modules combine, and what one needs comes with it" {
	python '[1.0, 2.0] 3*x**2' 'import numpy, sympy
print(numpy.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0]).tolist(), sympy.diff(sympy.Symbol("x") ** 3))' sympy numpy
	python '32 [2, 3]' 'import pandas, numpy, sympy
frame = pandas.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
print((frame.a * frame.b).sum(), sympy.lambdify("x", "x + 1", "numpy")(numpy.array([1, 2])).tolist())' pandas sympy
	# Only those.
	python 'no sympy' 'import importlib.util, numpy
print("sympy" if importlib.util.find_spec("sympy") else "no sympy")' numpy
}

@test "pandas reads and writes files, and knows time zones" {
	python $'b    4\ndtype: int64\n2026-12-01 13:00:00+01:00' 'import io, pandas
frame = pandas.read_csv(io.StringIO("a,b\n1,4\n1,5\n"))
frame.to_csv("x.csv", index=False); frame.to_json("x.json")
print(pandas.read_csv("x.csv")[["b"]].min())
print(pandas.Timestamp("2026-12-01 12:00", tz="UTC").tz_convert("Europe/Vienna"))' pandas
}

@test "matplotlib draws, without being told for which screen: a line, text and a formula" {
	# The picture has a red line, black text, and is of the size that was asked for.
	python '(640, 480) True True PDF' 'import matplotlib.pyplot as plot
plot.figure(figsize=(6.4, 4.8), dpi=100)
plot.plot([0, 1, 2], [0, 1, 4], color="red", linewidth=3)
plot.title("Häuser: $\\int_0^1 \\sqrt{x}\\,dx$")
plot.savefig("plot.png"); plot.savefig("plot.pdf"); plot.savefig("plot.svg")
from PIL import Image
image = Image.open("plot.png").convert("RGB")
colours = dict((colour, count) for count, colour in image.getcolors(1 << 24))
print(image.size, colours.get((255, 0, 0), 0) > 500, colours.get((0, 0, 0), 0) > 500,
      open("plot.pdf", "rb").read(4)[1:].decode())' matplotlib
	# And in the form that people type.
	gives PNG 'nix-shell -p python3Packages.matplotlib --run "python3 -c \"import matplotlib.pyplot as p; p.plot([1, 2]); p.savefig(\\\"x.png\\\")\"" >/dev/null
		head -c 4 x.png | tail -c 3'
}

@test "a table drawn by pandas, of numbers by numpy and a function by sympy" {
	python PNG 'import numpy, pandas, sympy
x = sympy.Symbol("x")
values = numpy.linspace(0, 1, 11)
frame = pandas.DataFrame({"x": values, "y": sympy.lambdify(x, sympy.sin(x), "numpy")(values)})
frame.plot(x="x", y="y").figure.savefig("frame.png")
print(open("frame.png", "rb").read(4)[1:].decode())' sympy pandas matplotlib
}

@test "git keeps a history, with its own files alone" {
	gives $'two\none\n2\n1 file changed, 1 insertion(+)' 'nix-shell -p git --run "
		git config --global user.name x; git config --global user.email x@x
		git init --quiet --initial-branch=main r; cd r
		echo a >a; git add a; git commit --quiet --message=one; echo b >>a; git commit --quiet --all --message=two
		git clone --quiet . ../s; git -C ../s log --format=%s; git rev-list --count HEAD
		git diff --shortstat HEAD^ | sed \"s/^ //\""'
	run in_session a "$SESSION" 'nix-shell -p git --run "git --exec-path; cd r; git stash list; git submodule status; git config --list --show-origin"'
	exits 0
	[[ ${lines[0]} == "$(tree git)/lib/git-core" ]]
	says_not /usr/
}

@test "dot and neato draw, with a font of the store" {
	gives '3 PNG PDF' 'nix-shell -p graphviz --run "echo \"digraph { a -> b [label=\\\"text\\\"] }\" >g
		dot -Tsvg g >g.svg; neato -Tpng g >g.png; dot -Tpdf g >g.pdf"
		echo $(grep -Ec "class=.(node|edge)" g.svg) $(head -c 4 g.png | tail -c 3) $(head -c 4 g.pdf | tail -c 3)'
	run in_session a "$SESSION" 'nix-shell -p graphviz --run "dot -v -Tpng g 2>&1 >/dev/null"'
	exits 0
	[[ $output == *fontname*/nix/store/*-graphviz-*.ttf* ]]
}

@test "sqlite's shell keeps a database" {
	gives '42|3.0' 'nix-shell -p sqlite --run "sqlite3 x.db \"create table t(n); insert into t values (6), (36)\"; sqlite3 x.db \"select sum(n), sqrt(9.0) from t\""'
}

@test "their commands on demand" {
	local name
	gives 42 "$CHANNEL/commands/sqlite3 :memory: 'select 6 * 7'"
	for name in sqlite3 git dot; do
		run --separate-stderr in_session a "$SESSION" "$CHANNEL/commands/$name $([ $name = dot ] && echo -V || echo --version) 2>&1"
		exits 0
		[[ $output == *"lodger: $name is from "* && $output =~ [0-9]\.[0-9] ]]
	done
	run --separate-stderr in_session a "$SESSION" "echo 'graph { a -- b }' | $CHANNEL/commands/dot -Tplain"
	exits 0
	says 'edge a b'
}

# without_lua: prints what to run first `elsewhere` so that the channel lacks lua and says that it could have it.
without_lua() {
	local more=$BATS_TEST_TMPDIR/more.tsv
	printf 'lua\t-\t-\t-\tLua (not in this channel; %s)\t-\n' "an administrator adds it with: lodger-channel starter --with lua" |
		LC_ALL=C sort - "$CHANNEL/more.tsv" >"$more"
	chmod 644 "$more"
	another_channel '/^lua\t/d'
	printf 'mount --bind "$T/more.tsv" %s\n' "$CHANNEL/more.tsv"
}

@test "what the channel could have is shown behind what it has, and asked for it says who adds it" {
	export FIRST
	FIRST=$(without_lua)
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger packages lua'
	succeeds
	[[ ${lines[-1]} =~ ^lua\ +-\ +-\ \ Lua\ .*'lodger-channel starter --with lua)'$ ]]
	[[ ${lines[1]} =~ ^lua5_4\ .*\ local\ \  ]]
	# Not where only what is there, or can be had, is asked for.
	[ "$(elsewhere 'eval "$FIRST"; as a lodger packages --json lua' | jq -r '.[].attribute')" = lua5_4 ]
	[ "$(elsewhere 'eval "$FIRST"; as a lodger packages --cached lua' | tail -n +2 | wc -l)" = 1 ]
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -p jq -p lua -- true'
	fails "-p: 'lua' is not in this machine's channel" 'lodger-channel starter --with lua'
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -- nix-shell -p lua --run true'
	[ "$status" != 0 ]
	says "lua is not in this machine's channel" 'lodger-channel starter --with lua'
	# One that is not asked for is in nobody's way.
	run --separate-stderr elsewhere 'eval "$FIRST"; as a lodger run -p jq -- jq -n 6*7'
	succeeds
	[ "$output" = 42 ]
}
