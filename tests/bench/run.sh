#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The figures of docs/BENCHMARKS.md.  usage: run.sh [bench.py's arguments]
exec python3 "$(dirname "$0")/bench.py" "$@"
