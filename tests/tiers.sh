# SPDX-License-Identifier: Apache-2.0
# The tiers of tests/run.sh, in their order: functions that call `prepare`, `tap`, `beside`
# and `behind`, all NAME COMMAND...  What a tier has started may still run when the next one
# begins.  Root is needed from `hostile` on.
ALL_TIERS="build unit fuzz packages hostile parts live booted vm alone"

# Of tests/vm/matrix, what is in `make test`: the oldest, the newest, another machine.  The
# booted packages have 6.1.  `make test-vm` has all.
VM_KERNELS="5.10 newest arm64-6.12"

# Tests of tests/live that load no BPF and start no trifold: parts alone.
# Those that take longest are first.
PARTS="test_page.sh test_names_agree.py test_exporter.sh test_page_mock.py test_exporter_metrics.sh
test_exporter_hub.sh test_pprof.sh test_exporter_endpoints.sh test_exporter_spool.sh
test_exporter_debuginfod.sh test_viewer_alone.py test_page_functions.py test_page_damage.py
test_table.py test_cfi_agree.sh test_names_shown.py test_page_lines.py test_split_names.py
test_chance.py"

# Of the hostile ones, those that take longest: first, so that none is left over alone.
# They wait nearly all of their time.  Each loader_* has a loop that is busy.
LONG_HOSTILES="loader_offences loader_mutants hub_workers hub_life hub_exporters
hub_share hub_subscribe hub_debug"

# Of one version of a runtime each; tier_long runs them for all (tests/live/versions.py).
VERSIONS="test_python.py test_python_agree.py test_python_versions.py test_hotspot.py test_hotspot_agree.py"

# Last, for what they wait for is made behind: the collector.
LAST="test_exporter_tls.sh test_k8s_collector.py test_otlp.py"

# make prints no TAP: one test for each target
built() {
	local said
	if said=$(make -j"$(nproc)" WERROR=1 "$@" 2>&1); then
		echo "ok - builds"
	else
		echo "$said" | tail -n 30 | sed 's/^/# /'
		echo "not ok - builds"
	fi
}

# For its warnings, which come before clang makes anything fast, and none of it is run: so it
# is not optimised and has no debug information.  The BPF object is that of the build before, by the same clang.
clang_builds() {
	mkdir -p "$O-clang/bpf"
	cp -p "$O"/bpf/sampler.{bpf.o,bpf.d,skel.h} "$O-clang/bpf/"
	built O="$O-clang" CC=clang CFLAGS=-O0 all
}

debs() {
	tests/install/debs.sh && echo "ok - they build"
}

collector() {
	local tmp status
	tmp=$(mktemp -d)
	TMPDIR=$tmp tests/live/collector/run.sh "${COLLECTOR_CACHE:-$O/collector}"
	status=$?
	case $status in
	0)	echo "ok - builds" ;;
	77)	echo "ok - builds # SKIP no go or no network" ;;
	*)	echo "not ok - builds" ;;
	esac
	if rmdir "$tmp"; then
		echo "ok - leaves no temporary directory"
	else
		echo "not ok - leaves no temporary directory"
	fi
}
export -f collector debs
export O

has_tier() {	# name
	case " ${TIERS:-$ALL_TIERS} " in *" $1 "*) return 0 ;; esac
	return 1
}

# What needs a CPU for minutes, and no clock of this machine's: guests count instructions.
# They have what others leave, and are collected before the tests that want the machine alone.
start_behind() {
	export VM_TIMEOUT=${VM_TIMEOUT:-5000}	# of this machine's clock; of CPU time they have less
	! has_tier live || behind "collector" bash -c collector
	# ten minutes of one CPU: it would be left over alone
	! has_tier booted || NICE=4 behind "tests/install/test_booted.sh" tests/install/test_booted.sh
	# shellcheck disable=SC2086	# words
	! has_tier vm || behind "other kernels" tests/vm/run.sh ${VM:-$VM_KERNELS}
}

tier_build() {
	tap "gcc, warnings are errors" built O=$O all live-tools benches
	beside "clang, warnings are errors" clang_builds
	beside "lint" tests/lint.sh
	beside "privileged code" tests/tcb_check.sh $O
	for t in tests/install/test_*.py tests/install/test_units.sh tests/install/test_apparmor.sh tests/install/test_build_depends.sh; do
		beside "$t" "$t"
	done
	together
	# links the programs anew, which the others run
	tap "tests/install/test_install.sh" tests/install/test_install.sh
	rm -rf "$O-clang"
	# not behind: others wait for them
	! has_tier packages && ! has_tier booted || prepare "Debian's packages" debs
	start_behind
}

tier_unit() {
	local t
	prepared "unit tests build" units || return 0
	for t in $(make -s O=$O list-units); do
		beside "unit/$t" "$O/unit/$t"
	done
}

tier_fuzz() {
	local t
	prepared "fuzz targets build" fuzzers || return 0
	for t in $(make -s O=$O list-fuzzers); do
		beside "fuzz/$t" tests/fuzz/run.sh "$O" "$t" "${FUZZ_SECONDS:-3}"
	done
}

# Build what a tier runs; false, and nothing else fails for it, if that fails.
prepared() {	# name, targets
	local before=$failed
	prepare "$1" built O=$O "${@:2}"
	[ "$failed" = "$before" ]
}

# Words, those of LONG_HOSTILES first.
long_first() {
	printf '%s\n' $LONG_HOSTILES "$@" | awk -v all=" $* " 'index(all, " " $1 " ") && !seen[$1]++'
}

hostiles_as_they_are() {
	local t
	for t in $(long_first $(make -s O=$O list-hostiles)); do
		case $t in
		confine_*)	;;
		*)		beside "hostile/$t" "$O/hostile/$t" ;;
		esac
	done
}

tier_hostile() {
	local t JOBS=$((JOBS > 1 ? 2 * JOBS : 1))	# they wait for clocks
	prepared "hostile programs build" hostiles sanitized || return 0
	hostiles_as_they_are
	for t in $(long_first $(make -s O=$O list-sanitized)); do
		beside "sanitized/$t" tests/hostile/sanitized.sh "$O/sanitized/hostile/$t"
	done
	for t in $(make -s O=$O list-hostiles); do
		case $t in
		confine_*)	tap "hostile/$t" "$O/hostile/$t" ;;	# one user
		esac
	done
}

tier_packages() {
	local t
	for t in tests/install/test_rpm.sh tests/install/test_deb.sh tests/install/test_selinux.sh; do
		beside "$t" "$t"
	done
}

tier_parts() {
	for t in $PARTS; do
		beside "tests/live/$t" tests/beside.py "tests/live/$t"
	done
}

# Live tests run two at a time (LIVE_JOBS), each as the only owner of what it starts.  These
# measure the whole machine, or keep it busy: they run alone, when no guest is left.
ALONE="test_adversary.py test_clock.py test_filters.py test_first.py test_kernel_names.py
test_new_files.py test_own.py test_perf_map.py test_scale.py test_share.py test_shortage.py test_top.py"

# Live tests of languages, of this beginning.
runtime_tests() {	# test_
	ls tests/runtimes/*/live/"$1"*.sh tests/runtimes/*/live/"$1"*.py 2>/dev/null
}

tier_live() {
	local t JOBS=${LIVE_JOBS:-$((JOBS > 1 ? 2 : 1))}
	for t in tests/live/test_*.sh tests/live/test_*.py $(runtime_tests test_); do
		case " "$(echo $PARTS $LAST $ALONE)" " in
		*" ${t##*/} "*)	;;
		*)		beside "$t" tests/beside.py "$t" ;;
		esac
	done
	# it waits for containers most of its time
	beside "tests/install/test_oci.sh" tests/beside.py tests/install/test_oci.sh
	collect "collector"
	for t in $LAST; do
		beside "tests/live/$t" tests/beside.py "tests/live/$t"
	done
}

# Guests that were started behind; or, without a build tier, from here.
tier_vm() {
	# shellcheck disable=SC2086	# words
	collect "other kernels" || tap "other kernels" tests/vm/run.sh ${VM:-$VM_KERNELS}
}

tier_booted() {
	collect "tests/install/test_booted.sh" ||
		tap "tests/install/test_booted.sh" tests/install/test_booted.sh
}

tier_alone() {
	local t
	for t in $ALONE; do
		tap "tests/live/$t" "tests/live/$t"
	done
	for t in tests/live/load_*.py; do
		tap "$t" "$t"
	done
}

# not in ALL_TIERS: what finds most faults soonest (docs/HACKING.md)
tier_quick() {
	local t JOBS=$((JOBS > 1 ? 2 * JOBS : 1))
	prepared "gcc, warnings are errors" all live-tools || return 0
	prepared "tests build" units fuzzers hostiles || return 0
	beside "lint" tests/lint.sh
	beside "privileged code" tests/tcb_check.sh $O
	# first: they wait for clocks, while the others do not
	hostiles_as_they_are
	tier_unit
	FUZZ_SECONDS=1 tier_fuzz
	together
	JOBS=$((JOBS > 1 ? 2 : 1))
	for t in test_situations.py test_account.py test_verifier.sh; do
		beside "tests/live/$t" tests/beside.py "tests/live/$t"
	done
	tap "tests/live/test_filters.py" tests/beside.py tests/live/test_filters.py
}

# not in ALL_TIERS: what takes longer, before a release
tier_long() {
	for t in tests/live/long_*.py $(runtime_tests long_) tests/install/long_*.sh; do
		tap "$t" "$t"
	done
	for t in tests/install/test_rpm.sh tests/install/test_deb.sh; do
		tap "$t --long" "$t" --long
	done
	for t in $(printf 'tests/live/%s ' $VERSIONS) $(grep -l '^import versions' tests/runtimes/*/live/test_*.py); do
		tap "$t, all versions" env ALL_VERSIONS=1 "$t"
	done
	tap "each attack in a recording of its own" env ADVERSARY=. tests/live/test_adversary.py
}
