#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The privileged code: every source and header of ours that trifold-loaderd is
# made of, as the compiler saw them, with their lines.  usage: tcb.sh BUILDDIR
set -eu
cd "$(dirname "$0")/.."
# the compiler's own list of dependencies
files=$(cat "$1"/loaderd/*.d "$1"/ipc/message.d "$1"/ipc/conn.d \
	"$1"/ipc/sealed.d "$1"/ipc/trace_ring.d \
	"$1"/common/evloop.d "$1"/common/log.d "$1"/common/service.d \
	"$1"/common/sandbox.d "$1"/common/cost.d | tr ' \\' '\n\n' | sed 's/:$//' |
	grep -E '^(loaderd|ipc|common)/.*\.[ch]$' | sort -u)
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
printf '%6d %6d  privileged code in all (goal: at most 3000 lines of code)\n' "$total" "$raw"
