#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What tests/fresh/run.sh runs in the fresh root: the commands of README.md,
# typed by the user dev, and what they leave.  TARGETS: which ones.
set -u

clone=/home/dev/trifold
page=$clone/flame.html
log=/fresh.log
export LANG=C.UTF-8

# check NAME COMMAND...: the command is true
check() {
	local name=$1
	shift
	if "$@" >$log 2>&1; then
		echo "ok - $name"
		return 0
	fi
	echo "not ok - $name"
	tail -n "${LINES_SHOWN:-60}" $log | sed 's/^/# /'
	return 1
}

# what people type in the clone
as_dev() {
	runuser -u dev -- env -C $clone HOME=/home/dev "$@"
}

# as_dev, with a process beside it that is seen by its name
with_load() {
	local rc pid

	cp /bin/bash /tmp/fresh_load
	/tmp/fresh_load -c 'while :; do :; done' &
	pid=$!
	as_dev "$@"
	rc=$?
	kill $pid
	wait $pid 2>/dev/null
	rm -f /tmp/fresh_load
	return $rc
}

# --- what is left: each prints it, and is false if that is anything

no_process() {
	local p

	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe") in
		"$clone"/*) ps -o pid=,ppid=,args= -p "${p#/proc/}" ;;
		esac
	done 2>/dev/null | grep . && return 1
	# and of dev's no process at all, under whatever name
	! ps -o pid=,ppid=,args= -U dev
}

# bpftool names the processes of its PID namespace alone, so that what runs
# outside does not count; what no process holds is there only by a pin.
# maps.debug and progs.debug are the kernel's own.
no_bpf() {
	local kind

	if [ "$OWN_PIDS" = 1 ]; then
		for kind in prog map link; do
			bpftool -j $kind show | tr '{' '\n' |
				grep '"pid":' && return 1
		done
	fi
	find /sys/fs/bpf -mindepth 1 -not -name '*.debug' | grep . && return 1
	return 0
}

no_runtime_dir() {
	! ls -lA /run/trifold /var/lib/trifold /dev/shm/trifold*
}

# Debian's temporary directories, without what systemd keeps there
no_temporary_file() {
	find /tmp /var/tmp /dev/shm -mindepth 1 -not -path '*/systemd-private-*' \
		-not -path '/tmp/.*-unix' | awk '{ print; n++ } END { exit n > 0 }'
}

# git_clean [FILE]: but for FILE
git_clean() {
	local got

	got=$(as_dev git status --porcelain --untracked-files=all)
	echo "$got"
	[ "$got" = "${1:+?? $1}" ]
}

nothing_left() {
	check "$1 leaves no process" no_process
	check "$1 leaves no BPF program, map or link" no_bpf
	check "$1 leaves no runtime directory" no_runtime_dir
	check "$1 leaves no temporary file" no_temporary_file
}

# --- the page

# nothing that a browser would go and get
self_contained() {
	! grep -noiE '<link[^>]*>|<(script|img|iframe)[^>]* src=.{40}|url\([^)]*\)|@import.{40}|(fetch|importScripts|XMLHttpRequest|WebSocket)\(.{40}' $page
}

samples() {
	grep -o '"samples":[0-9]*' $page | head -n 1 | cut -d: -f2
}

enough_samples() {
	echo "samples: $(samples), fewer than 250 in ten seconds at 99 Hz"
	[ "$(samples)" -ge 250 ]
}

account_agrees() {
	grep -oE '"account":\{[^}]*\}' $page
	grep -q '"account":{[^}]*"difference":0,' $page
}

owner_is_dev() {
	stat -c %U $page
	[ "$(stat -c %U $page)" = dev ]
}

# --- targets

target_run() {
	check "sudo make run DURATION=10 OUT=flame.html" \
		with_load sudo make run DURATION=10 OUT=flame.html || return
	sed -n '/^installing:/,$p' $log | tail -n 25 | sed 's/^/# /'
	check "there is a page" [ -s $page ] || return
	check "it is the user's" owner_is_dev
	check "it is self-contained" self_contained
	check "it has samples" enough_samples
	check "it names the busy process" grep -q fresh_load $page
	check "its account agrees" account_agrees
	nothing_left "make run"
	check "git status names the page alone" git_clean flame.html
	as_dev touch common/log.c
	check "the user may build on" as_dev make
	rm -f $page
}

# README.md's `trifold record`, of a command built here without frame pointers
target_record() {
	cat >/tmp/spin.c <<-END
		#include <time.h>
		static volatile unsigned long n;
		#define FN __attribute__((noinline, noipa))
		FN void spin_leaf(void) { for (int i = 0; i < 100000; i++) n++; }
		FN void spin_middle(void) { spin_leaf(); n++; }
		FN void spin_outer(void) { spin_middle(); n++; }
		int main(void)
		{
			time_t end = time(NULL) + 5;
			while (time(NULL) < end)
				spin_outer();
		}
	END
	gcc -O2 -fomit-frame-pointer /tmp/spin.c -o /tmp/spin
	check "sudo trifold record -- COMMAND" as_dev sudo build/bin/trifold \
		record --frequency 97 --output spin.folded -- /tmp/spin
	sed 's/^/# /' $log
	check "its stacks are whole and named" grep -E \
		'^spin;(.*;)?main;spin_outer;spin_middle;spin_leaf [0-9]+$' \
		$clone/spin.folded ||
		grep '^spin;' $clone/spin.folded | head -n 20 | sed 's/^/# /'
	rm -f /tmp/spin /tmp/spin.c $clone/spin.folded
	nothing_left "trifold record"
	check "git status is clean" git_clean
}

target_build() {
	local cc

	check "sudo make deps" as_dev sudo make deps || return
	for cc in gcc clang; do
		check "$cc, warnings are errors: $($cc --version | head -n 1)" \
			as_dev make -j2 O=/tmp/build CC=$cc WERROR=1
		rm -rf /tmp/build
	done
}

target_check() {
	local t

	check "deps of the tests" as_dev sudo tests/deps.sh build test
	check "unit tests build" as_dev make -j2 O=/tmp/build WERROR=1 units
	for t in $(as_dev make -s O=/tmp/build list-units); do
		check "unit/$t" as_dev "/tmp/build/unit/$t"
	done
	check "fuzz targets build" as_dev make -j2 O=/tmp/build fuzzers
	check "hostile programs build" \
		as_dev make -j2 O=/tmp/build WERROR=1 hostiles
	rm -rf /tmp/build
}

target_test() {
	LINES_SHOWN=400 check "sudo make test" as_dev sudo make test
	grep -E '^(== |  |not ok|[0-9]+ passed)|# SKIP' $log | sed 's/^/# /'
	nothing_left "make test"
	check "git status is clean" git_clean
}

: >$log
# in the first PID namespace of the machine? (PROC_PID_INIT_INO of the kernel)
OWN_PIDS=1
[ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ] || OWN_PIDS=0
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
mountpoint -q /sys/kernel/tracing ||
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
for target in $TARGETS; do
	start=$SECONDS
	"target_$target"
	echo "# $target took $((SECONDS - start)) s"
done
echo "# inside: all done"
