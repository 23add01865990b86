#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run all tests, quick tiers first, and close with one line of sums.  Every
# test prints TAP; a skip says why.  TIERS="unit live" runs only those.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tiers.sh

O=build
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Count what a command says in TAP; a command that fails without a "not ok", or
# that says nothing at all, is one failure.
tap() {
	local name=$1 began=$SECONDS rc n_ok n_bad n_skip
	shift
	"$@" >"$log" 2>&1
	rc=$?
	n_skip=$(grep -c '^ok .*# SKIP' "$log")
	n_ok=$(($(grep -c '^ok ' "$log") - n_skip))
	n_bad=$(grep -c '^not ok ' "$log")
	if [ "$n_bad" = 0 ] && { [ $rc != 0 ] || [ $((n_ok + n_skip)) = 0 ]; }; then
		n_bad=1
		echo "not ok - $name ended with status $rc"
		tail -n 40 "$log" | sed 's/^/    /'
	fi
	[ "${VERBOSE:-0}" = 1 ] && cat "$log"
	if [ "${VERBOSE:-0}" != 1 ]; then
		grep -E '^(not ok|ok .*# SKIP)' "$log"
		[ "$n_bad" = 0 ] || grep -E '^#' "$log" | tail -n 60
	fi
	echo "  $name: $n_ok passed, $n_bad failed, $n_skip skipped, $((SECONDS - began)) s"
	passed=$((passed + n_ok)) failed=$((failed + n_bad))
	skipped=$((skipped + n_skip))
}

for tier in ${TIERS:-$ALL_TIERS}; do
	start=$SECONDS
	echo "== $tier"
	"tier_$tier"
	echo "== $tier took $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
