# SPDX-License-Identifier: Apache-2.0
# The tiers of tests/run.sh, in their order: functions that call `tap NAME
# COMMAND...`.  Root is needed from `hostile` on.
ALL_TIERS="build unit fuzz hostile live loads vm"

# of tests/vm/matrix, what is in `make test`; the rest costs two more minutes
VM_KERNELS="5.10 6.1 6.12 newest arm64-5.10 arm64-6.12"

# make prints no TAP: one test for each target
built() {
	if make -j"$(nproc)" WERROR=1 "$@"; then
		echo "ok - builds"
	else
		echo "not ok - builds"
	fi
}

tier_build() {
	tap "gcc, warnings are errors" built O=$O all
	tap "clang, warnings are errors" built O=$O-clang CC=clang all
	rm -rf "$O-clang"
	tap "lint" tests/lint.sh
	tap "privileged code" tests/tcb_check.sh $O
	for t in tests/install/test_*; do
		tap "$t" "$t"
	done
}

tier_unit() {
	tap "unit tests build" built O=$O units
	for t in $(make -s O=$O list-units); do
		tap "unit/$t" "$O/unit/$t"
	done
}

tier_fuzz() {
	tap "fuzz targets build" built O=$O fuzzers
	for t in $(make -s O=$O list-fuzzers); do
		tap "fuzz/$t" tests/fuzz/run.sh "$O" "$t" "${FUZZ_SECONDS:-10}"
	done
}

tier_hostile() {
	tap "hostile programs build" built O=$O hostiles
	for t in $(make -s O=$O list-hostiles); do
		tap "hostile/$t" "$O/hostile/$t"
	done
}

tier_live() {
	for t in tests/live/test_*.sh tests/live/test_*.py; do
		[ -e "$t" ] && tap "$t" "$t"
	done
}

tier_loads() {
	for t in tests/live/load_*.py; do
		[ -e "$t" ] && tap "$t" "$t"
	done
}

tier_vm() {
	# shellcheck disable=SC2086	# words
	tap "other kernels" tests/vm/run.sh ${VM:-$VM_KERNELS}
}
