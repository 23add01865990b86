#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Each header of the system that the programs are built with comes from a package
# that Debian's source package names, or from one that such a package depends on: so
# it builds where nothing else is installed.  TAP; after `make`.
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
name="headers come from the packages that Build-Depends names"
if ! command -v dpkg-query >/dev/null || ! command -v apt-cache >/dev/null; then
	echo "ok - $name # SKIP not a Debian"
	exit 0
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

sed -n '/^Build-Depends:/,/^[^ ]/p' packaging/deb/debian/control |
	sed -n 's/^ \([a-z0-9.+-]*\)[ :,].*/\1/p' | grep -v -x -e trifold -e 'dh-sequence-.*' >"$tmp/named"
# shellcheck disable=SC2046	# names
apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
	--no-replaces --no-enhances build-essential $(cat "$tmp/named") |
	grep -o '^[a-z0-9][a-z0-9.+-]*' | sort -u >"$tmp/allowed"
# shellcheck disable=SC2046	# names
if ! ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I. -I"${O:-build}" -M \
	$(git ls-files '*.c' | grep -v -e '^tests/' -e '\.bpf\.c$') >"$tmp/made" 2>"$tmp/log"; then
	sed 's/^/# /' "$tmp/log"
	echo "not ok - $name: run make first"
	exit 1
fi
grep -o '[^ ]*' "$tmp/made" | grep '^/usr/include/' | sort -u >"$tmp/headers"
xargs dpkg-query -S <"$tmp/headers" | sed 's/: .*//; s/:[a-z0-9]*//g' | tr -d ' ' | tr ',' '\n' |
	sort -u >"$tmp/from"
echo "# $(wc -l <"$tmp/headers") headers of $(wc -l <"$tmp/from") packages"
if [ "$(wc -l <"$tmp/from")" -lt 10 ]; then
	echo "not ok - $name: the headers are known"
	exit 1
fi
if missing=$(comm -23 "$tmp/from" "$tmp/allowed" | grep .); then
	echo "$missing" | while read -r p; do
		echo "# $p: $(xargs dpkg-query -S <"$tmp/headers" | sed -n "s/^${p}[:,].* //p" | paste -sd' ')"
	done
	echo "not ok - $name"
	exit 1
fi
echo "ok - $name"
