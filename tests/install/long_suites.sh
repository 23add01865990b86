#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages, built in a fresh root of other releases than this machine's,
# where that release's lintian has nothing to say, and then tried in a booted system of
# it: SUITES, by default the present stable one and unstable.  TAP.  Needs root;
# TRIFOLD_MIRROR as in test_booted.sh.
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/trifold-suites.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
# shellcheck disable=SC2016	# the format is apt's
from=${TRIFOLD_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	grep -m 1 -E '/debian/?$')}
[ -n "$from" ] || { echo "not ok - a source of Debian's packages: set TRIFOLD_MIRROR"; exit 1; }
failed=0

# in a root: build the packages in /out of /source, with what they say they need
cat >"$tmp/make" <<-'END'
	#!/bin/sh -eu
	cp -R "$2" "$1/source"
	cp -R "$1/source/packaging/deb/debian" "$1/source/debian"
	chroot "$1" apt-get -y -q --no-install-recommends build-dep /source
	rm -r "$1/source/debian"
	DEB_BUILD_OPTIONS=nocheck chroot "$1" /source/packaging/deb/make_deb.sh /out
	cp "$1"/out/*.deb "$3/"
	chroot "$1" apt-get -y -q --no-install-recommends install lintian
	chroot "$1" sh -c '/source/tests/install/lintian.sh /out/trifold_*.changes' >"$3/lintian" 2>&1 ||
		echo "not silent" >>"$3/lintian"
END
chmod +x "$tmp/make"

# the packages of the last commit, into $tmp/SUITE
build() {	# suite
	rm -rf "$tmp/source" && mkdir -p "$tmp/$1" "$tmp/source" &&
		git archive HEAD | tar -x -C "$tmp/source" &&
		mmdebstrap --mode=root --variant=buildd --format=null \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
			--include=debhelper \
			--customize-hook="$tmp/make \"\$1\" $tmp/source $tmp/$1" \
			"$1" /dev/null "deb $from $1 main"
}

for suite in ${SUITES:-trixie sid}; do
	if ! build "$suite" >"$tmp/log" 2>&1; then
		tail -n 30 "$tmp/log" | sed 's/^/# /'
		echo "not ok - $suite: the packages build"
		failed=1
		continue
	fi
	echo "ok - $suite: the packages build"
	if [ -s "$tmp/$suite/lintian" ]; then
		sed 's/^/# /' "$tmp/$suite/lintian"
		echo "not ok - $suite: its lintian has nothing to say"
		failed=1
	else
		echo "ok - $suite: its lintian has nothing to say"
	fi
	DEBS=$tmp/$suite SUITE=$suite tests/install/test_booted.sh </dev/null >"$tmp/log" 2>&1 || failed=1
	sed -E "s/^((not )?ok - )/\1$suite: /" "$tmp/log"
done
exit $failed
