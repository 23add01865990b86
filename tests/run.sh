#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run all tests, quick tiers first, and close with one line of sums.  Every
# test prints TAP; a skip says why.  TIERS="unit live" runs only those; VERBOSE=1
# shows all that they say; JOBS=1 runs one at a time.  With CI=true a skip that
# is not in tests/skips is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1

O=build
JOBS=${JOBS:-$((2 * $(nproc)))}	# many tests wait for clocks
passed=0 failed=0 skipped=0
n_started=0
declare -A running=() behind=()	# number of a test: its name
declare -A behind_pid=()
work=$(mktemp -d)

# All that is below a process, the leaves last.
kill_below() {	# process
	local p
	for p in $(ps -o pid= --ppid "$1"); do
		kill_below "$p"
		kill "$p" 2>/dev/null
	done
}

trap 'kill_below $$; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
. tests/tiers.sh

# Run a test and keep what it says, how it ended, how long it took, and the CPU time that it
# and its children used (tenths of a second).
keep() {	# number, command
	local n=$1 began=$SECONDS
	shift
	(
		"$@" >"$work/$n" 2>&1 </dev/null
		rc=$?
		times >"$work/$n.times"		# not in a pipe, where it is another shell
		cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", 600 * ($1 + $3) + 10 * ($2 + $4) }' "$work/$n.times")
		echo "$rc $((SECONDS - began)) $cpu" >"$work/$n.new"
	)
	mv "$work/$n.new" "$work/$n.end"
}

# Skips that no line of tests/skips allows: "NAME: description", then why.
surprising() {	# name, log
	grep -E '^ok .*# SKIP' "$2" | sed -E "s|^ok [0-9 ]*- |$1: |" |
		grep -v -E -f <(sed -E '/^#/d; s/[[:space:]]*#.*//; /^$/d' tests/skips)
}

# Each failure with what was said next to it, before or after.
failures() {	# log
	awk '
	/^ok /		{ n = 0; after = 0 }
	/^not ok /	{ print; for (i = n > 20 ? n - 20 : 0; i < n; i++) print said[i]; n = 0; after = 20 }
	/^#/		{ if (after-- > 0) print; else said[n++] = $0 }' "$1"
}

# Count what a test said in TAP; one that failed without a "not ok", or that
# says nothing at all, is one failure.
report() {	# number, name
	local log=$work/$1 name=$2 rc seconds cpu n_ok n_bad n_skip
	read -r rc seconds cpu <"$log.end"
	if [ "${CI:-}" = true ]; then
		surprising "$name" "$log" | sed 's/^/not ok - skipped in CI: /' >"$log.ci"
		cat "$log.ci" >>"$log"
	fi
	n_skip=$(grep -c '^ok .*# SKIP' "$log")
	n_ok=$(($(grep -c '^ok ' "$log") - n_skip))
	n_bad=$(grep -c '^not ok ' "$log")
	if [ "$n_bad" = 0 ] && { [ "$rc" != 0 ] || [ $((n_ok + n_skip)) = 0 ]; }; then
		n_bad=1
		{ tail -n 20 "$log" | sed "s/^/# /" && echo "not ok - ended with status $rc"; } >"$log.last"
		cat "$log.last" >>"$log"
	fi
	if [ "${VERBOSE:-0}" = 1 ]; then
		cat "$log"
	else
		grep -E '^ok .*# SKIP' "$log"
		failures "$log"
	fi
	failures "$log" | sed "s|^not ok|& $name|" >>"$work/failures"
	echo "  $name: $n_ok passed, $n_bad failed, $n_skip skipped, $seconds s"
	echo "$seconds $((cpu / 10)).$((cpu % 10)) $name" >>"$O/test-times"
	passed=$((passed + n_ok)) failed=$((failed + n_bad))
	skipped=$((skipped + n_skip))
}

report_ended() {
	local n
	for n in "${!running[@]}"; do
		if [ -e "$work/$n.end" ]; then
			report "$n" "${running[$n]}"
			unset "running[$n]"
		fi
	done
}

# All that were started by `beside` have ended.
together() {
	while [ ${#running[@]} -gt 0 ]; do
		report_ended
		[ ${#running[@]} = 0 ] || sleep 0.1
	done
}

# A test that may run beside others, at most JOBS at once.
beside() {	# name, command
	while [ ${#running[@]} -ge "$JOBS" ]; do
		sleep 0.1
		report_ended
	done
	n_started=$((n_started + 1))
	running[$n_started]=$1
	shift
	keep "$n_started" "$@" &
}

# A test whose result the next ones need; others go on beside it.
prepare() {	# name, command
	n_started=$((n_started + 1))
	keep "$n_started" "${@:2}"
	report "$n_started" "$1"
}

# A test that runs alone.
tap() {	# name, command
	together
	prepare "$@"
}

# A test that has what all others leave of the CPUs, or with NICE=number some more, until
# `collect` asks.  Where sessions share the CPUs (autogroup), its own gets as little.
behind() {	# name, command
	local less="chrt --idle 0" nice=${NICE:-19}
	[ -z "${NICE:-}" ] || less="nice -n $NICE"
	n_started=$((n_started + 1))
	behind[$n_started]=$1
	shift
	# shellcheck disable=SC2086,SC2016	# words; of the shell inside
	keep "$n_started" setsid --wait $less bash -c \
		'echo "$1" 2>/dev/null >/proc/self/autogroup; shift; exec "$@"' bash "$nice" "$@" &
	behind_pid[$n_started]=$!
}

# Wait for what was started behind, by its name; false if nothing was.
collect() {	# name
	local n
	for n in "${!behind[@]}"; do
		[ "${behind[$n]}" = "$1" ] || continue
		while [ ! -e "$work/$n.end" ] && kill -0 "${behind_pid[$n]}" 2>/dev/null; do
			sleep 0.2
		done
		if [ ! -e "$work/$n.end" ]; then
			echo "# killed from outside" >>"$work/$n"
			echo "137 0 0" >"$work/$n.end"
		fi
		report "$n" "$1"
		unset "behind[$n]"
		return 0
	done
	return 1
}

# What took longest, what the whole would take on one core, and the first failure; the sums
# are the last line.
sums() {
	awk -v wall=$SECONDS '{ cpu += $2 } END {
		printf "all took %d s, and %d s of CPU time: so long on one core\n", wall, cpu }' "$O/test-times"
	echo "the longest, some beside others (seconds, of CPU time, name); all are in $O/test-times:"
	sort -rn "$O/test-times" | head -n 10 | sed 's/^/  /'
	if [ -s "$work/failures" ]; then
		echo "== what failed"
		cat "$work/failures"
		echo "first failure: $(grep -m 1 '^not ok' "$work/failures" | sed 's/^not ok //')"
	fi
	echo "$passed passed, $failed failed, $skipped skipped"
}

# What all CPUs did until now, in ticks: time that something ran, and all time.
cpu_ticks() {
	awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

run_tier() {	# name
	local start=$SECONDS ran all ran_before all_before
	read -r ran_before all_before < <(cpu_ticks)
	echo "== $1"
	"tier_$1"
	read -r ran all < <(cpu_ticks)
	echo "== $1 took $((SECONDS - start)) s, with the CPUs $((100 * (ran - ran_before) / (all - all_before + 1))) % busy"
}

mkdir -p "$O"
: >"$O/test-times"
for tier in ${TIERS:-$ALL_TIERS}; do
	run_tier "$tier"
done
together
sums
[ "$failed" = 0 ]
