#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The sampler that each clang of this machine makes is one that the kernel loads, and it
# walks native and interpreted frames: what one compiler proves to the verifier the
# next one optimizes away.  Needs root.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

samples() {	# build directory
	local said
	said=$("$1/bin/trifold" record --frequency 199 --output "$tmp/out.folded" -- \
		python3 -S tests/live/python_chain.py 3 by_sort 2>&1)
	grep -q "none lost" <<<"$said" &&
		grep -q '<module>;main;by_sort;.*burn' "$tmp/out.folded" && return
	tail -n 20 <<<"$said" | cut -c 1-200 | sed 's/^/# /'
	return 1
}

n=0
for path in /usr/bin/clang-[0-9]*; do
	clang=${path##*/}
	[[ $clang =~ ^clang-[0-9]+$ ]] || continue
	n=$((n + 1))
	# all but loaderd, which has the sampler in it, as this machine's clang made it
	mkdir -p "$tmp/$clang/bin"
	cp build/bin/trifold* "$tmp/$clang/bin/"
	rm "$tmp/$clang/bin/trifold-loaderd"
	if ! make -s -j"$(nproc)" O="$tmp/$clang" CLANG="$clang" "$tmp/$clang/bin/trifold-loaderd" >"$tmp/log" 2>&1; then
		tail -n 20 "$tmp/log" | sed 's/^/# /'
		echo "not ok - $clang compiles the sampler"
	elif samples "$tmp/$clang"; then
		echo "ok - $clang: the kernel loads it, and it samples"
	else
		echo "not ok - $clang: the kernel loads it, and it samples"
	fi
	rm -rf "${tmp:?}/$clang"
done
[ $n -gt 1 ] || echo "ok - another clang than the default # SKIP there is only one"
