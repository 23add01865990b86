#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages of the last commit, for the tests that look at them, built once for all:
# prints their directory.  Unit tests are left out: they are a tier of their own.  The build's
# own output goes to DIRECTORY/log.
#   tests/install/debs.sh
# DEBS: a directory where they are already.
set -eu
cd "$(dirname "$0")/../.."
if [ -n "${DEBS:-}" ]; then
	echo "$DEBS"
	exit 0
fi
debs=$PWD/${O:-build}/debs
commit=$(git rev-parse HEAD 2>/dev/null || echo none)
mkdir -p "$debs"
exec 9>"$debs/lock"
flock 9
if [ "$commit" = none ] || [ "$(cat "$debs/commit" 2>/dev/null)" != "$commit" ]; then
	rm -f "$debs/commit"
	if ! DEB_BUILD_OPTIONS=nocheck packaging/deb/make_deb.sh "$debs" </dev/null >"$debs/log" 2>&1 9>&-; then
		tail -n 30 "$debs/log" >&2
		exit 1
	fi
	echo "$commit" >"$debs/commit"
fi
echo "$debs"
