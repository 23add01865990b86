#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One fuzz target for some seconds, from its corpus; seeds that a compiler makes are
# made by tests/fuzz/seeds/NAME.sh.
# usage: run.sh BUILDDIR NAME SECONDS
set -eu
mkdir -p "$1/corpus/$2"
seeds=tests/fuzz/corpus/$2
[ -d "$seeds" ] || seeds=$(ls -d tests/runtimes/*/fuzz/corpus/"$2" 2>/dev/null || true)
[ ! -x "tests/fuzz/seeds/$2.sh" ] || "tests/fuzz/seeds/$2.sh" "$1/corpus/$2"
if "$1/fuzz/$2" -max_total_time="$3" -rss_limit_mb=2048 -timeout=20 \
	-artifact_prefix="$1/fuzz/" "$1/corpus/$2" $seeds >"$1/fuzz/$2.log" 2>&1
then
	echo "ok - fuzz $2: $(grep -o 'Done [0-9]* runs' "$1/fuzz/$2.log" | tail -n 1)"
else
	tail -n 30 "$1/fuzz/$2.log" | sed 's/^/# /'
	echo "not ok - fuzz $2"
fi
