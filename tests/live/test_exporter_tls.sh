#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exporterd, the real program, with TLS, and with a real collector.
# usage: as test_exporter.sh
exec "$(dirname "$0")/test_exporter.sh" --file exporter_tls_cases.py "$@"
