#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exporterd, the real program, between a hub and receivers that are played.
# usage: test_exporter.sh [--file CASES.py] [CASE...]; O: build directory;
# OTLP_PYTHON: a python3 that has the decoder otlp_check.py asks for (without
# one: fetched, or skipped)
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
cases=exporter_cases.py
[ "${1-}" != --file ] || { cases=$2; shift 2; }
make -s O="$O" "$O/bin/trifold-exporterd" "$O/live/make_batch" >&2 || exit 1
exec python3 "tests/live/$cases" "$O" "$@"
