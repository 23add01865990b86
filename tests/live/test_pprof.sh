#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pprof's own tool reads what trifold writes: made-up profiles, then any files
# given.  Skips without Go.  Usage: test_pprof.sh [BUILD-DIR [FILE...]]
set -eu

cd "$(dirname "$0")/../.."
O=${1:-build}
[ $# -eq 0 ] || shift
go=$(command -v go || echo /usr/local/go/bin/go)
dir=$(mktemp -d)
# where Go has the tool as source it is built: once for all tests
gocache=$(cd "$O" && pwd)/gocache
trap 'rm -rf "$dir"' EXIT

if [ ! -x "$go" ]; then
	echo "ok - pprof reads the profile # SKIP needs go"
	exit 0
fi
make -s O="$O" "$O/live/test_page"

fail() {
	echo "not ok - $1"
	exit 1
}

# pprof FILE OPTION...
pprof() {
	file=$1
	shift
	HOME=$dir PPROF_TMPDIR=$dir GOCACHE=$gocache "$go" tool pprof -symbolize=none "$@" \
		"$file" 2>"$dir/err" || fail "pprof reads it: $(cat "$dir/err")"
}

samples=$("$O/live/test_page" "$dir/a.pb.gz" 500)
pprof "$dir/a.pb.gz" -raw >"$dir/raw"
pprof "$dir/a.pb.gz" -sample_index=samples -top >"$dir/top"
pprof "$dir/a.pb.gz" -sample_index=cpu -top >"$dir/cpu"
pprof "$dir/a.pb.gz" -tags >"$dir/tags"

grep -q "^Samples:" "$dir/raw" && grep -q "samples/count cpu/nanoseconds" "$dir/raw" ||
	fail "pprof knows the sample types"
grep -q "of $samples total" "$dir/top" || fail "pprof counts $samples samples"
grep -q 'parse_value_' "$dir/top" || fail "pprof names functions"
grep -q 'Type: cpu' "$dir/cpu" || fail "pprof knows CPU time"
for tag in comm pid thread thread_id stack_end; do
	grep -q "^ *$tag:" "$dir/tags" || fail "pprof knows the label $tag"
done
grep -q 'postgres' "$dir/tags" || fail "pprof knows processes"
grep -q '/usr/lib/lib<b>0.so' "$dir/raw" || fail "pprof knows mappings"
echo "ok - pprof reads a made-up profile"

"$O/live/test_page" "$dir/0.pb.gz" 0 >/dev/null
pprof "$dir/0.pb.gz" -raw >/dev/null
echo "ok - pprof reads a profile without samples"

for f in "$@"; do
	pprof "$f" -top >"$dir/top"
	grep -q 'Showing nodes' "$dir/top" || fail "pprof reads $f"
	echo "ok - pprof reads $f"
done
