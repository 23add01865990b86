#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The privileged code stays below its limits, its list holds what it should,
# and the check fails when it has to.
made_up=$(mktemp)
trap 'rm -f "$made_up"' EXIT
if out=$(make -s tcb O="$1" 2>&1); then
	echo "ok - the privileged code is within its limits"
else
	echo "$out" | tail -n 1 | sed 's/^/# /'
	echo "not ok - the privileged code is within its limits"
fi
echo "$out" | sed 's/^/# /'
if echo "$out" | grep -q 'loaderd/main\.c' && echo "$out" | grep -q 'ipc/conn\.c' &&
   echo "$out" | grep -q 'bpf/record\.h' &&
   ! echo "$out" | grep -qE ' (symbolizerd|exporterd|viewer)/'; then
	echo "ok - the list of privileged code has its own files and no other's"
else
	echo "not ok - the list of privileged code has its own files and no other's"
fi
# one line less than there is
echo "$out" | awk '/ in all \(limit/ { print $3, $1 - 1 }' >"$made_up"
if [ -s "$made_up" ] && ! TCB_LIMIT="$made_up" make -s tcb O="$1" >/dev/null 2>&1; then
	echo "ok - one line more than the limit is an error"
else
	echo "not ok - one line more than the limit is an error"
fi
