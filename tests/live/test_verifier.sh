#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What this kernel's verifier has to follow of each BPF program, for each kind of
# filter, is within its budget (tests/live/verifier.c).
cd "$(dirname "$0")/../.."
O=${1:-build}
make -s O="$O" "$O/live/verifier" && exec "$O/live/verifier" all
