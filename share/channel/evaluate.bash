# What the attributes of a pinned package set are: asks nix, one at a time.
# Sourced by lodger-channel: runs as it does, as root for the administrator. The set is code of the
# pinned source's, which nix evaluates as root here; its hash is what the administrator trusts.

# shellcheck shell=bash

# evaluate [NAME VALUE…]: writes what evaluate.nix says of the set in `path` to $work/found. With the
# derivations going into the store.
evaluate() {
	tied nix-instantiate --eval --strict --json --read-write-mode "$DATA/evaluate.nix" \
		--argstr source "$path" "$@" >"$work/found" 2>"$work/said" || {
		cat "$work/said" >&2
		return 1
	}
}

# A name as nix reads it, which is pasted into an expression by nix-shell -p.
attribute_check() {
	[[ $2 =~ ^[A-Za-z_][A-Za-z0-9_\'-]*(\.[A-Za-z_][A-Za-z0-9_\'-]*)*$ ]] ||
		die "$1: '$2' is not the name of a package; write an attribute of nixpkgs, as jq or" \
			"python3Packages.sympy"
}

# Those of the names on standard input, a JSON array, that are like $1: the same but for the case, one
# the beginning of the other, or one letter too many, too few, changed, or two swapped. At most five.
names_near() {
	jq -r --arg wanted "$1" --arg before "$2" '
		def less: . as $text | [range(0; length) | $text[0:.] + $text[. + 1:]];
		($wanted | ascii_downcase) as $w
		| ([$w] + ($w | less) | map({(.): true}) | add) as $near
		| map(select(ascii_downcase as $n | ($n | length) as $l | ($w | length) as $k
			| ($l > 1 and $k > 1 and (($n | startswith($w)) or ($w | startswith($n))))
			or ($l - $k <= 1 and $k - $l <= 1 and any($n, ($n | less)[]; $near[.]))))
		| sort_by((length - ($w | length)) | if . < 0 then -. else . end) | .[0:5]
		| map($before + .) | join(", ")'
}

# Says why there is no such package, from what evaluate.nix wrote.
attribute_refuse() {
	local command=$1 attribute=$2 before near
	before=$(jq -r '.passed | map(. + ".") | add // ""' "$work/found")
	if [[ $(jq '.left == []' "$work/found") == true ]]; then
		[[ $(jq .isSet "$work/found") == true ]] ||
			die "$command: $attribute is something else than a package"
		near=$(jq -r --arg before "$before" '.names[0:3] | map($before + .) | join(", ")' "$work/found")
		die "$command: $attribute is a set of packages; name those that are wanted, as ${near:-$before…}"
	fi
	near=$(jq .names "$work/found" | names_near "$(jq -r '.left[0]' "$work/found")" "$before")
	die "$command: the pinned package set has no $attribute; ${near:+near it: }${near:-nothing there has a name like it}"
}

# Evaluates attributes in turn, for a command; writes an object for each, with its name in it, to
# $work/packages, a line each. What was evaluated for a build is a root until the channel is made.
attributes_evaluate() {
	local command=$1 attribute drv count=0
	shift
	: >"$work/packages"
	for attribute; do
		count=$((count + 1))
		say "evaluating $count of $#: $attribute"
		evaluate --argstr attribute "$attribute" || die "$command: $attribute does not evaluate (above)"
		[[ $(jq 'has("package")' "$work/found") == true ]] || attribute_refuse "$command" "$attribute"
		jq -c --arg attribute "$attribute" '.package + {attribute: $attribute}
			| .description |= (gsub("[[:cntrl:]\\s]+"; " "))
			| .version |= (gsub("[[:cntrl:]\\s]+"; " ") | if . == "" then "-" else . end)' \
			"$work/found" >>"$work/packages"
		drv=$(jq -r .package.drv "$work/found")
		[[ ! -d $ROOTS/pin ]] || ln -sfn "$drv" "$ROOTS/pin/${drv##*/}"
	done
}
