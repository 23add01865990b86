#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exporterd, the real program: its queue, its end, the hub and the recorder.
# usage: as test_exporter.sh
exec "$(dirname "$0")/test_exporter.sh" --file exporter_hub_cases.py "$@"
