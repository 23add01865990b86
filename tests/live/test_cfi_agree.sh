#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Unwind tables of some of this machine's own files say what libdw says: where
# a table has a rule, it gives the same CFA, return address and registers; where
# it has none, libdw has none, or one that no rule can express (listed, by
# cause).  Usage: test_cfi_agree.sh [BUILD-DIR [FILE...]]
set -eu

cd "$(dirname "$0")/../.."
O=${1:-build}
[ $# -eq 0 ] || shift
log=$(mktemp)
trap 'rm -f "$log" "$log.files"' EXIT

make -s O="$O" "$O/bin/cfi_agree"

# Some 200 files, evenly from all; and the libraries that everything runs.
spread() {
	find -L /usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/libexec -type f \
		-size +16k \( -name '*.so' -o -name '*.so.*' -o -perm -1 \) \
		2>/dev/null | LC_ALL=C sort >"$log.files"
	n=$(wc -l <"$log.files")
	awk -v step=$((n / 200 + 1)) 'NR % step == 0 ||
		/\/(libc|ld-linux-[^\/]*|libcrypto|libstdc\+\+|libm)\.so\.[0-9]+$/' \
		"$log.files"
}
[ $# -gt 0 ] || set -- $(spread)

if "$O/bin/cfi_agree" -v -n 20000 "$@" >"$log" 2>&1; then
	result=ok
else
	result="not ok"
	grep -A 9 -E 'differs;|missing;|invented;|not sound' "$log" |
		head -n 40 | sed 's/^/# /'
fi
sed -n '/^$/,$s/^/# /p' "$log"
sums=$(sed -n 's/^\([0-9]* files\),.*; \([0-9]* places\)$/\1, \2/p' "$log")
echo "$result - tables agree with libdw ($sums)"

# A table that knew nothing would never be wrong.
awk '$3 == "unsupported" || /oddly/ { gaps += $1 }
	/ places$/ { places = $(NF - 1) }
	END {
		good = places && gaps / places < 0.01
		printf "%sok - rules say nearly all (not: %.3f%%)\n",
			good ? "" : "not ", places ? 100 * gaps / places : 100
	}' "$log"
