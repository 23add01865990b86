#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: bpf/runtimes.sh bpf/runtimes.def >build/bpf/runtimes.gen.h
# The code of runtimes, for the walk: a row with RUNTIME_WALKS has bpf/NAME.bpf.h or
# bpf/NAME/NAME.bpf.h.  Only the first six columns of a row are read, which are on one line.
LC_ALL=C
rows=$(sed -n 's/^RUNTIME(\([0-9]*\), *\([A-Z0-9_]*\), *\([a-z0-9_]*\), *\([^,]*\),.*/\1 \2 \3 |\4|/p' "$1" |
	tr -s ' ' | sed 's/ *| */|/g')
if [ "$(echo "$rows" | grep -c .)" != "$(grep -c '^RUNTIME(' "$1")" ]; then
	echo "$1: the first six columns of a row are on one line, as in the others" >&2
	exit 1
fi
with() { echo "$rows" | grep -E "[|]RUNTIME_$1[|]" | sed 's/|.*//'; }
mask() {
	echo "#define RUNTIMES_$1	(0ULL$(with "$1" | while read -r n id name; do
		printf ' | 1ULL << RUNTIME_%s' "$id"; done))"
}
calls() {	# flag, its function, what it gets, by definition and by call; else
	echo "static __always_inline int runtime_$2(__u32 runtime$3)"
	echo "{"
	echo "	switch (runtime) {"
	with "$1" | while read -r n id name; do
		echo "	case RUNTIME_$id:"
		echo "		return ${name}_$2($4);"
	done
	echo "	default:"
	echo "		return $5;"
	echo "	}"
	echo "}"
	echo
}
echo "/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */"
echo "/* made by bpf/runtimes.sh of bpf/runtimes.def */"
echo "#ifndef BPF_RUNTIMES_GEN_H"
echo "#define BPF_RUNTIMES_GEN_H"
echo
for flag in WALKS MEMORY BESIDE PASSES ENDS; do
	mask $flag
done
echo
with WALKS | while read -r n id name; do
	at=bpf/$name.bpf.h
	[ -e "$at" ] || at=bpf/$name/$name.bpf.h
	echo "#include \"$at\""
done
echo
calls WALKS enter ", __u32 part, __u64 at" "part, at" ENTER_NOT
calls WALKS step "" "" STEP_DONE
calls MEMORY owns ", __u64 pc" "pc" OWNS_NOT
echo "#endif"
