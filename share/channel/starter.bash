# The starter channel: built out of packages that the distribution signed, which apt downloads.
# Sourced by lodger-channel: runs as it does, as root for the administrator.

# shellcheck shell=bash

# Evaluates a text attribute of build.nix. Takes the attribute and further arguments of nix.
nix_text() {
	nix eval --store dummy:// --raw --file "$DATA/build.nix" "$@"
}

# --- apt: which packages, of which checksum --------------------------------------------------

# What apt's list of what is installed says of a package.
apt_installed() {
	printf '%s\n' "Package: $1" 'Status: install ok installed' 'Architecture: all' \
		'Multi-Arch: foreign' 'Version: 9999' 'Maintainer: root <root@localhost>' \
		'Description: not needed in the store' ''
}

# Makes apt's configuration for this run in $work: the system's sources and signed indexes, but an
# empty system, so that the closure holds everything down to libc; the distribution's packages only.
apt_setup() {
	local name
	mkdir -p "$work/apt/cache" "$work/apt/debs"
	# apt downloads as this user.
	chown _apt "$work/apt/debs"
	nix_text assumed >"$work/assumed"
	while read -r name; do
		apt_installed "$name"
	done <"$work/assumed" >"$work/apt/status"
	printf '%s\n' 'Package: *' "Pin: release o=$ORIGIN" 'Pin-Priority: 990' '' \
		'Package: *' 'Pin: release a=*' 'Pin-Priority: -1' >"$work/apt/preferences"
	apt_options=(
		-qq -y
		-o "Dir::State::status=$work/apt/status"
		-o "Dir::Cache=$work/apt/cache"
		-o Dir::Cache::pkgcache=pkgcache.bin
		-o Dir::Cache::srcpkgcache=srcpkgcache.bin
		-o "Dir::Etc::Preferences=$work/apt/preferences"
		-o Dir::Etc::PreferencesParts=/dev/null
		-o Acquire::ForceHash=SHA256
		-o Acquire::AllowInsecureRepositories=false
		-o APT::Get::AllowUnauthenticated=false
		-o APT::Install-Recommends=false
	)
}

# Asks apt for the closure of one group, given as in the plan. Adds to deb_version, deb_architecture,
# deb_sha256 and group_debs.
apt_closure() {
	local group=$1 status=$work/apt/status uri file _size hash name version architecture debs=()
	shift
	for name in "$@"; do
		[[ $name == !* ]] || debs+=("$name")
	done
	if [[ ${#debs[@]} != $# ]]; then
		status+=-$group
		cp "$work/apt/status" "$status"
		for name in "$@"; do
			[[ $name != !* ]] || apt_installed "${name#!}"
		done >>"$status"
	fi
	apt-get "${apt_options[@]}" -o "Dir::State::status=$status" --print-uris install "${debs[@]}" >"$work/uris" ||
		die "apt cannot resolve: ${debs[*]} (if its lists are old or missing: apt-get update)"
	while read -r uri file _size hash; do
		[[ $file =~ ^([a-z0-9][a-z0-9+.-]*)_([A-Za-z0-9.+~%-]+)_([a-z0-9]+)\.deb$ ]] ||
			die "apt names a file of unknown form: $file"
		name=${BASH_REMATCH[1]} version=${BASH_REMATCH[2]} architecture=${BASH_REMATCH[3]}
		[[ $hash =~ ^SHA256:([0-9a-f]{64})$ ]] || die "no SHA256 in the signed index for $uri"
		deb_version[$name]=${version//%3a/:}
		deb_architecture[$name]=$architecture
		deb_sha256[$name]=${BASH_REMATCH[1]}
		group_debs[$group]+=" $name"
	done <"$work/uris"
	[[ -n ${group_debs[$group]-} ]] || die "apt found nothing to download for: ${debs[*]}"
}

# --- packages as store paths -----------------------------------------------------------------

# The name that a package has in the store, which takes fewer characters than a version has.
deb_store_name() {
	local version=${deb_version[$1]}
	printf '%s_%s_%s.deb' "$1" "${version//[:~]/-}" "${deb_architecture[$1]}"
}

# Refuses a file whose SHA256 is not the expected one. apt has compared it already; this holds also
# if apt was told to be lax.
deb_verify() {
	local file=$1 expected=$2 actual
	actual=$(sha256sum "$file")
	[[ ${actual%% *} == "$expected" ]] ||
		die "${file##*/}: SHA256 is ${actual%% *}, but the signed index says $expected; refused"
}

# Where each package is, or will be, in the store: its checksum and name alone decide that. Fills
# deb_path and, with those that are not there yet, deb_missing.
deb_locate() {
	local name path invalid
	for name in "${!deb_sha256[@]}"; do
		printf '%s %s %s\n' "$name" "${deb_sha256[$name]}" "$(deb_store_name "$name")"
	done >"$work/debs"
	nix_text located --read-only --argstr debs "$work/debs" >"$work/located"
	while read -r name path; do
		deb_path[$name]=$path
	done <"$work/located"
	invalid=" $(nix-store --check-validity --print-invalid "${deb_path[@]}" | tr '\n' ' ')"
	deb_missing=()
	for name in "${!deb_path[@]}"; do
		[[ $invalid != *" ${deb_path[$name]} "* ]] || deb_missing+=("$name")
	done
}

# Downloads the packages that are missing and puts them into the store. Links under $ROOTS/building
# keep a garbage collection from taking them before they are used.
deb_fetch() {
	local name file files added specs=() complete=() paths=()
	for name in "${deb_missing[@]}"; do
		specs+=("$name=${deb_version[$name]}")
	done
	say "downloading ${#specs[@]} of ${#deb_sha256[@]} packages"
	(cd "$work/apt/debs" && apt-get "${apt_options[@]}" download "${specs[@]}") ||
		die "download failed; the channel in use is unchanged. Is the mirror reachable? If it" \
			"no longer has these versions: apt-get update, then this again"
	for name in "${deb_missing[@]}"; do
		files=("$work/apt/debs/${name}"_*.deb)
		[[ ${#files[@]} == 1 && -f ${files[0]} ]] || die "apt did not download $name"
		deb_verify "${files[0]}" "${deb_sha256[$name]}"
		file=$work/$(deb_store_name "$name")
		mv "${files[0]}" "$file"
		ln -sfn "${deb_path[$name]}" "$ROOTS/building/$name"
		complete+=("$file")
		paths+=("${deb_path[$name]}")
	done
	added=$(nix-store --add-fixed sha256 "${complete[@]}")
	[[ $added == "$(printf '%s\n' "${paths[@]}")" ]] ||
		die "packages went elsewhere in the store than their checksums say; refused: ${added//$'\n'/ }"
	rm "${complete[@]}"
}

# Writes the lock: everything that decides what is built. Names, versions and hashes were matched
# when they came from apt, and need no quoting.
lock_write() {
	local name group separator=
	# shellcheck disable=SC1091  # every distribution has the file
	printf '{\n"distribution": "%s",\n' "$(. /etc/os-release && printf '%s' "${PRETTY_NAME//[\"\\]/}")"
	printf '"tools": "%s, dpkg %s",\n' "$(patchelf --version)" "$(dpkg-query -Wf '${Version}' dpkg)"
	printf '"sqlite": "%s",\n' "$(sqlite3 --version | cut -d ' ' -f 1)"
	printf '"debs": {\n'
	for name in $(printf '%s\n' "${!deb_sha256[@]}" | sort); do
		printf '%s"%s": {"version": "%s", "architecture": "%s", "sha256": "%s", "path": "%s"}' \
			"$separator" "$name" "${deb_version[$name]}" "${deb_architecture[$name]}" \
			"${deb_sha256[$name]}" "${deb_path[$name]}"
		separator=$',\n'
	done
	printf '\n},\n"groups": {\n'
	separator=
	for group in $(printf '%s\n' "${!group_debs[@]}" | sort); do
		# shellcheck disable=SC2086  # a list of words
		printf '%s"%s": [%s]' "$separator" "$group" \
			"$(printf '%s\n' ${group_debs[$group]} | sort | sed 's/.*/"&"/' | paste -sd,)"
		separator=$',\n'
	done
	printf '\n}\n}\n'
}

# --- the command -----------------------------------------------------------------------------

# Takes attribute names; prints them as packages.nix has them. The python3NNPackages.X that a
# channel also offers are one set.
attributes_known() {
	local name known
	known=$(nix_text names | cut -d ' ' -f 1)
	for name in "$@"; do
		[[ $name =~ ^python3[0-9]*(Packages.*)?$ ]] && name=python3${BASH_REMATCH[1]}
		grep -qxF -e "$name" <<<"$known" ||
			die "starter: no attribute $name in the starter channel; there are: ${known//$'\n'/ }"
		printf '%s ' "$name"
	done
}

# What plain `starter` takes besides the default: what of the rest the starter in use has.
attributes_kept() {
	local channel
	channel=$(channel_current)
	[[ -e $channel/lock.json && $(channel_kind "$channel") == starter ]] || return 0
	jq -r '.groups | keys[]' "$channel/lock.json" >"$work/groups"
	nix_text names | awk 'NR == FNR { has[$1]; next } $2 in has { printf "%s ", $1 }' "$work/groups" -
}

starter() {
	local -A deb_version=() deb_architecture=() deb_sha256=() deb_path=() group_debs=()
	local -a deb_missing=() apt_options=()
	local wanted='' also='' kept=1 group debs drv channel

	while [[ $# -gt 0 ]]; do
		case $1 in
		--attr)
			[[ $# -gt 1 ]] || die "starter: --attr needs a name"
			wanted+=" $2"
			kept=
			shift 2
			;;
		--with)
			[[ $# -gt 1 ]] || die "starter: --with needs a name"
			also+=" $2"
			shift 2
			;;
		--all)
			also=$(nix_setup && nix_text names | cut -d ' ' -f 1 | tr '\n' ' ')
			shift
			;;
		--default)
			kept=
			shift
			;;
		--help)
			usage
			return
			;;
		*) die "starter: unknown argument $1; see: lodger-channel help" ;;
		esac
	done
	need_root starter
	need_programs nix nix-store nix-instantiate patchelf dpkg-deb apt-get perl flock sqlite3 jq
	nix_setup
	work_begin
	trap 'rm -rf "$work" "$ROOTS/building"' EXIT
	mkdir -p "$ROOTS/building"
	# shellcheck disable=SC2086
	[[ -z $wanted ]] || wanted=$(attributes_known $wanted)
	# shellcheck disable=SC2086
	[[ -z $also ]] || also=$(attributes_known $also)
	[[ -z $kept ]] || also+=$(attributes_kept)

	say "asking apt which packages are needed"
	apt_setup
	nix_text plan --argstr wanted "$wanted" --argstr also "$also" >"$work/plan"
	while read -r group debs; do
		# shellcheck disable=SC2086
		apt_closure "$group" $debs
	done <"$work/plan"
	deb_locate
	[[ ${#deb_missing[@]} == 0 ]] || deb_fetch
	lock_write >"$work/lock.json"

	say "building (what is in the store already is not built again)"
	drv=$(nix-instantiate "$DATA/build.nix" -A channel --argstr wanted "$wanted" --argstr also "$also" \
		--argstr lock "$work/lock.json" --argstr libexec "$LODGER_LIBEXEC" --add-root "$ROOTS/building/drv")
	channel=$(nix-store --realise "$drv" --no-build-output --add-root "$ROOTS/building/channel") ||
		die "the build failed (above); the channel in use is unchanged"
	channel=$(readlink "$channel")

	channel_adopt "$channel"
}
