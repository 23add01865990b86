#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exporterd, the real program, and debuginfod servers.  usage: as test_exporter.sh
exec "$(dirname "$0")/test_exporter.sh" --file exporter_debuginfod_cases.py "$@"
