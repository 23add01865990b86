#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Build Debian's packages of the last commit (or of the files, where there is no
# .git): source package, packages, .changes, .buildinfo and the build's log go
# into DIRECTORY.
#
#   packaging/deb/make_deb.sh [DIRECTORY [OPTION OF dpkg-buildpackage...]]
#
# DEB_VERSION: of the packages; else what `trifold --version` says.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=${1:-build/deb}
shift $(($# > 0))
version=$(sed -n 's/^#define TRIFOLD_VERSION[[:space:]]*"\(.*\)"$/\1/p' \
	profile/formats/otlp.h)
version=${DEB_VERSION:-$version}
maintainer=$(sed -n 's/^Maintainer: //p' packaging/deb/debian/control)

if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
	echo "make deb: install the packages dpkg-dev and debhelper" >&2
	exit 1
fi

umask 022
mkdir -p "$out"
out=$(cd "$out" && pwd)
tree=$out/trifold-$version
rm -rf "$tree" "$out"/trifold{,-viewer,-doc,-dbgsym,-viewer-dbgsym}_*
mkdir "$tree"

if [ -e .git ]; then
	[ -z "$(git status --porcelain --untracked-files=no)" ] ||
		echo "make deb: changes that are not committed are not in it" >&2
	git archive HEAD | tar -x -C "$tree"
	date=$(git log -1 --format=%ct)
else
	tar -c --exclude=./build --exclude=./debian . | tar -x -C "$tree"
	date=$(stat -c %Y profile/formats/otlp.h)
fi
# compiled programs are no source: seeds of one fuzz target, not of the build
rm -rf "$tree/tests/fuzz/corpus/elf_file"
cp -R "$tree/packaging/deb/debian" "$tree/debian"

# the date of all that is built, too
cat >"$tree/debian/changelog" <<END
trifold ($version) unstable; urgency=medium

  * Release $version of trifold.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$date")
END

cd "$tree"
log=$out/trifold_${version}_$(dpkg-architecture -qDEB_HOST_ARCH).build
dpkg-buildpackage -us -uc --jobs-try=auto "$@" 2>&1 | tee "$log"
