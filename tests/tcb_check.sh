#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The list of privileged code can be made, and holds what it should.
out=$(tests/tcb.sh "$1") || { echo "not ok - tcb.sh runs"; exit 1; }
echo "$out" | sed 's/^/# /'
if echo "$out" | grep -q 'loaderd/main\.c' && echo "$out" | grep -q 'ipc/conn\.c' &&
   ! echo "$out" | grep -qE ' (symbolizerd|exporterd|cli)/'; then
	echo "ok - $(echo "$out" | tail -n 1 | sed 's/^ *//')"
else
	echo "not ok - the list of privileged code is wrong"
fi
