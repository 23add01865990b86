#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# piuparts over Debian's packages of the last commit: in a fresh root they are
# installed, upgraded from a version before, removed, installed again and purged, and
# it compares what is there before and after.  TAP.  Needs root.
#
#   tests/install/long_piuparts.sh
#
# SUITE: of the root; by default this machine's.  TRIFOLD_MIRROR: where its packages
# come from.  DEBS: a directory with trifold's packages; else they are built.
#
# The root has systemd, as every Debian host that runs units: installed as one of our
# dependencies it leaves directories of its own.  piuparts has a PID namespace: it wants
# nobody to use a file of the root, and a profiler on this machine may.
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
for p in piuparts:piuparts lsof:lsof mmdebstrap:mmdebstrap dpkg-scanpackages:dpkg-dev; do
	if ! command -v "${p%:*}" >/dev/null; then
		echo "not ok - needs ${p%:*}: install the package ${p#*:}"
		exit 1
	fi
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/trifold-piuparts.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 1' INT TERM
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")}
# shellcheck disable=SC2016	# the format is apt's
from=${TRIFOLD_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	grep -m 1 -E '/debian/?$')}
[ -n "$from" ] || { echo "not ok - a source of Debian's packages: set TRIFOLD_MIRROR"; exit 1; }
old=0.0.1
failed=0

check() {	# name, command...
	local name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		grep '^# ' "$tmp/log"
		echo "ok - $name"
		return 0
	fi
	tail -n 30 "$tmp/log" | sed 's/^/# /'
	echo "not ok - $name"
	failed=1
	return 1
}

build() {
	debs=${DEBS:-$tmp/debs}
	[ -n "${DEBS:-}" ] ||
		DEB_BUILD_OPTIONS=nocheck packaging/deb/make_deb.sh "$debs" </dev/null
}

# a repository with the same, of a lower number
older() {
	local d
	mkdir "$tmp/old"
	for d in "$debs"/trifold{,-viewer,-doc}_*.deb; do
		rm -rf "$tmp/x"
		dpkg-deb -R "$d" "$tmp/x" &&
			sed -i "/^Version:/s/.*/Version: $old/; /^Depends:/s/^\(.*trifold (= \)[^)]*/\1$old/" \
				"$tmp/x/DEBIAN/control" &&
			dpkg-deb --root-owner-group -Znone -b "$tmp/x" "$tmp/old" || return 1
	done
	(cd "$tmp/old" && dpkg-scanpackages . >Packages)
}

base() {
	mmdebstrap --mode=root --variant=minbase --include=systemd \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
		"$suite" "$tmp/base.tgz" "deb $from $suite main"
}

piu() {	# option or package...
	mkdir -p "$tmp/roots"
	rm -f "$tmp/piuparts"
	unshare --pid --fork --kill-child --mount-proc piuparts -d "$suite" -b "$tmp/base.tgz" \
		-m "$from main" --no-check-valid-until -t "$tmp/roots" --no-eatmydata \
		--pedantic-purge-test -l "$tmp/piuparts" \
		"$@" >/dev/null 2>&1
	set -- $?
	sed -nE 's/^[0-9ms.]+ INFO: (PASS: .*)/# \1/p' "$tmp/piuparts"
	[ "$1" = 0 ] || sed -n '/ ERROR: /,$p' "$tmp/piuparts" | head -n 25
	return "$1"
}

# dpkg says so in piuparts' log
upgrades() {
	piu --fail-on-broken-symlinks --extra-repo "deb [trusted=yes] file:$tmp/old ./" --bindmount "$tmp/old" $all &&
		grep -E "^ *Unpacking trifold .*over \($old\)" "$tmp/piuparts"
}

# without piuparts' own list of files to pass over: what stays is named one by one
only_users() {
	! piu --no-upgrade-test --no-ignores $all || return 1	# these, at least
	sed -n '/ERROR: FAIL/,/^$/s/^  \([^[:space:]]*\).*/\1/p' "$tmp/piuparts" | sort >"$tmp/left"
	cat "$tmp/left"
	diff - "$tmp/left" <<-END
		/etc/group
		/etc/group-
		/etc/gshadow
		/etc/gshadow-
		/etc/passwd
		/etc/passwd-
		/etc/shadow
		/etc/shadow-
		/var/cache/ldconfig/aux-cache
		/var/lib/dpkg/status-old
		/var/log/apt/eipp.log.xz
		/var/log/apt/history.log
		/var/log/apt/term.log
		/var/log/dpkg.log
	END
}

check "the packages build" build || exit 1
all=$(echo "$debs"/trifold{,-viewer,-doc}_*.deb)
check "the same with a lower number" older || exit 1
check "a root of $suite" base || exit 1
check "install, purge; upgrade from version $old, purge" upgrades
check "install, remove, install, purge" piu --no-upgrade-test --install-remove-install $all
# (piuparts wants what several depend on from the archive, and each other, too)
check "install, purge, install, purge" piu --no-upgrade-test --install-purge-install "$debs"/trifold_*.deb
check "with nothing passed over: users and logs alone are left" only_users
exit $failed
