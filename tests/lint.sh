#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a script can check: licences, sizes, includes, names, plain C.
cd "$(dirname "$0")/.." || exit 1
check() {	# name, offending lines
	if [ -z "$2" ]; then
		echo "ok - $1"
	else
		echo "$2" | sed 's/^/# /'
		echo "not ok - $1"
	fi
}
src=$(git ls-files 2>/dev/null | grep -E '\.(c|h|py|sh|mk|proto)$|Makefile$')
[ -n "$src" ] || src=$(find . -path ./build -prune -o -type f -name '*.[ch]' -print | sed 's,^\./,,')
check "every file says its licence in its first two lines" \
	"$(for f in $src; do head -n 2 "$f" | grep -q SPDX-License-Identifier || echo "$f"; done)"
check "no source file is over 800 lines" \
	"$(wc -l $src | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 }')"
check "the Makefile is under 150 lines" \
	"$(awk 'END { if (NR >= 150) print NR }' Makefile)"
check "README.md is at most 80 lines" \
	"$(awk 'END { if (NR > 80) print NR }' README.md)"
check "loaderd, ipc and common reach for no parser and no other daemon" \
	"$(grep -nE '#include[[:space:]]+["<](symbolizerd|exporterd|viewer|cli)/|libelf|gelf\.h|curl/' \
		$(echo "$src" | grep -E '^(loaderd|ipc|common)/'))"
check "nothing unfinished is marked in the sources" \
	"$(grep -nwE 'TODO|FIXME|XXX' $(echo "$src" | grep -E '\.[ch]$'))"
tests/lint_arrows.py
tests/lint_names.py
tests/lint_languages.py
tests/lint_plain.py
