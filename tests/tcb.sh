#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The privileged code: every source and header of ours that a program is made
# of, as the compiler saw them, with their lines.  Fails when there are more
# lines of code than tests/tcb.limit (or $TCB_LIMIT) allows.
# usage: tcb.sh PROGRAM DEPENDENCIES.d...
set -eu
cd "$(dirname "$0")/.."
program=$1
shift
limit=$(awk -v p="$program" '$1 == p { print $2 }' "${TCB_LIMIT:-tests/tcb.limit}")
if [ -z "$limit" ]; then
	echo "$program: no limit is written for it" >&2
	exit 1
fi
files=$(cat "$@" | tr ' \\' '\n\n' | sed 's/:$//; s,^\./,,' |
	grep -E '^[a-z].*\.[ch]$' | grep -v '^build/' | sort -u)
# code: neither blank nor only comment
code() {
	awk '{ line = $0
	       while (1) {
		       if (inside) {
			       i = index(line, "*/"); if (!i) { line = ""; break }
			       line = substr(line, i + 2); inside = 0
		       }
		       i = index(line, "/*"); if (!i) break
		       rest = substr(line, i + 2); j = index(rest, "*/")
		       if (j) { line = substr(line, 1, i - 1) substr(rest, j + 2) }
		       else { line = substr(line, 1, i - 1); inside = 1; break }
	       }
	       if (line !~ /^[ \t]*(\/\/.*)?$/) n++ } END { print n + 0 }' "$1"
}
total=0; raw=0
printf '%6s %6s  %s\n' code lines file
for f in $files; do
	c=$(code "$f"); l=$(wc -l <"$f")
	total=$((total + c)); raw=$((raw + l))
	printf '%6d %6d  %s\n' "$c" "$l" "$f"
done
printf '%6d %6d  %s in all (limit: %d lines of code)\n' "$total" "$raw" "$program" "$limit"
if [ "$total" -gt "$limit" ]; then
	echo "$program: $total lines of privileged code, $limit are allowed" >&2
	exit 1
fi
