#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What tests/fresh/run.sh runs in the fresh root, as a service: the commands of
# README.md, typed by the user dev, and what they leave.  TARGETS: which ones.
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
	local exe mine

	mine=$(systemctl show -P ControlGroup fresh.service)
	for exe in /proc/[0-9]*/exe; do
		readlink "$exe"
	done 2>/dev/null | grep "^$clone/" && return 1
	for exe in $(cat "/sys/fs/cgroup$mine/cgroup.procs"); do
		# this shell, its children of this moment, nobody else
		[ "$exe" = $$ ] || [ "$(ps -o ppid= -p "$exe" | tr -d ' ')" = $$ ] ||
			ps -o pid=,ppid=,args= -p "$exe"
	done | grep -v '<defunct>' | awk -v me=$$ '
		$2 != me { print; n++ } END { exit n > 0 }'
}

# bpftool names the processes of this PID namespace alone, so that what runs
# outside does not count; what has no process needs a pin to stay.
no_bpf() {
	local kind

	for kind in prog map link; do
		bpftool -j $kind show | tr '{' '\n' | grep '"pid":' && return 1
	done
	[ -z "$(find /sys/fs/bpf -mindepth 1 2>/dev/null)" ]
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
	echo "samples: $(samples), fewer than 50 in ten seconds at 19 Hz"
	[ "$(samples)" -ge 50 ]
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
	check "the user may build on" as_dev make
	rm -f $page
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
	check "deps of the tests" as_dev sudo tests/deps.sh build test
	check "make check" as_dev make -j2 O=/tmp/build check
	check "fuzz targets build" as_dev make -j2 O=/tmp/build fuzzers
	rm -rf /tmp/build
}

target_test() {
	LINES_SHOWN=400 check "sudo make test" as_dev sudo make test
	grep -E '^(== |  |not ok|[0-9]+ passed)|# SKIP' $log | sed 's/^/# /'
	nothing_left "make test"
	check "git status is clean" git_clean
}

mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
mountpoint -q /sys/kernel/tracing ||
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
for target in $TARGETS; do
	start=$SECONDS
	"target_$target"
	echo "# $target took $((SECONDS - start)) s"
done
cp $log /fresh.last.log
echo "# inside: all done"
