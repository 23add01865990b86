#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run a hostile program that is built with sanitizers; what a sanitizer says, in
# it or in a daemon that it starts, is a failure.
# usage: sanitized.sh PROGRAM
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$1" >"$log" 2>&1
rc=$?
cat "$log"
said=$(grep -E 'ERROR: AddressSanitizer|runtime error:' "$log") || exit $rc
echo "not ok - a sanitizer speaks"
sort -u <<<"$said" | sed 's/^/# /'
exit 1
