#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Get the kernels of tests/vm/matrix from Debian, without installing anything:
#
#   tests/vm/kernels.sh DIR NAME...
#
# puts DIR/NAME/vmlinuz, DIR/NAME/release and a module of that kernel, which burns CPU
# when it is loaded, DIR/NAME/raid6_pq.ko; or says in DIR/NAME/why why there is none.  The mirror is the one that this machine's apt uses for Debian
# (TRIFOLD_MIRROR, TRIFOLD_SECURITY_MIRROR override it); apt runs with a state
# of its own below DIR, so the system's sources stay as they are, and believes
# only what Debian's own keys signed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: kernels.sh DIR NAME...}
shift
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror REGEX: the first of this machine's sources that matches
mirror() {
	# shellcheck disable=SC2016	# the format is apt's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | grep -m 1 -E "$1"
}

# private SUITE ARCH COMMAND...: apt with a state of its own
private() {
	local state=$dir/apt/$1-$2 arch=$2 cmd=$3
	shift 3
	"$cmd" -o Dir::Etc::sourcelist="$state/list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$state/lists" \
		-o Dir::State::status=/dev/null \
		-o Dir::Cache="$state/cache" \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Acquire::Languages=none -o Acquire::Retries=2 \
		-o Acquire::http::Timeout=30 "$@"
}

# A suite's index, once.  Those that a mirror keeps although they have ended
# are out of date by design: the signature still counts, the date does not.
update() {
	local suite=$1 arch=$2 state=$dir/apt/$1-$2 from=$main
	[ ! -e "$state/list" ] || return 0
	case $suite in *-security) from=$security ;; esac
	[ -n "$from" ] || return 1
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb [signed-by=$keyring arch=$arch check-valid-until=no] $from $suite main" \
		>"$state/list"
	private "$suite" "$arch" apt-get -q update >"$state/log" 2>&1 &&
		! grep -q '^\(E\|Err\)' "$state/log" && return 0
	rm -f "$state/list"
	return 1
}

# take SUITE ARCH PACKAGE DIR: its kernel and its module, where it has them
take() {
	rm -rf "$4/x" && mkdir -p "$4/x"
	(cd "$4/x" && private "$1" "$2" apt-get -q download "$3" >log 2>&1) || return 1
	dpkg-deb --fsys-tarfile "$4"/x/*.deb | tar -x -C "$4/x" --wildcards './boot/vmlinu*' \
		'./usr/lib/modules/*/vmlinu*' '*/raid6_pq.ko*' 2>/dev/null
	find "$4/x" -name 'vmlinu*' -exec mv {} "$4/vmlinuz" \;
	find "$4/x" -name 'raid6_pq.ko.xz' -exec unxz {} \;
	find "$4/x" -name 'raid6_pq.ko' -exec mv {} "$4/" \;
	rm -rf "$4/x"
}

# get NAME SUITE ARCH REGEX: the newest package whose version matches.  From
# 6.19 on the image is in linux-binary-* and modules in linux-modules-*, before
# in linux-image-*.
get() {
	local suite=$2 arch=$3 regex=$4 p to=$dir/$1
	update "$suite" "$arch" || { echo "no index of $suite"; return 1; }
	for p in $(private "$suite" "$arch" apt-cache pkgnames linux- |
		grep -E "^linux-(binary|image)-$regex\$" |
		sed 's/^\(linux-[a-z]*-\)\(.*\)/\2 \1/' | sort -rV |
		sed 's/\(.*\) \(.*\)/\2\1/'); do
		rm -f "$to/vmlinuz" "$to/raid6_pq.ko"
		take "$suite" "$arch" "$p" "$to" || continue
		[ -s "$to/vmlinuz" ] || continue
		[ -s "$to/raid6_pq.ko" ] || take "$suite" "$arch" "${p/binary/modules}" "$to"
		[ -s "$to/raid6_pq.ko" ] || continue
		echo "$p" | sed 's/^linux-[a-z]*-//' >"$to/release"
		return 0
	done
	echo "no linux $regex for $arch in $suite"
	return 1
}

main=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')}
security=${TRIFOLD_SECURITY_MIRROR:-$(mirror '/debian-security/?$')}
for name; do
	[ ! -s "$dir/$name/vmlinuz" ] || [ ! -s "$dir/$name/raid6_pq.ko" ] || continue
	mkdir -p "$dir/$name"
	if [ -z "$main" ] || [ ! -e "$keyring" ]; then
		echo "no mirror of Debian, or no keys of it" >"$dir/$name/why"
		continue
	fi
	: >"$dir/$name/why"
	while read -r n arch _ regex suites; do
		[ "$n" = "$name" ] || continue
		for suite in ${suites%%|*}; do
			get "$name" "$suite" "$arch" "$regex" >>"$dir/$name/why" &&
				rm "$dir/$name/why" && break
		done
	done < <(grep -v '^#' "$here/matrix")
done
