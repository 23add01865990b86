#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages in a booted Debian: installed by apt, started by systemd,
# killed, rebooted, purged.  booted_steps.sh is what happens inside; TAP.
#
#   tests/install/test_booted.sh
#
# SUITE: of the guest; by default this machine's.  TRIFOLD_MIRROR: where its
# packages come from.  DEBS: a directory with trifold's packages; else they are
# built of the last commit.  KERNEL: a name in tests/vm/matrix.
# Needs root, to make the guest's root, and no /dev/kvm.
#
# The guest is emulated, not a container: the sampler speaks of processes by the
# numbers of the initial PID namespace, and systemd as PID 1 needs one of its own.
# It has Debian's own kernel, too.  Its clock counts instructions and skips what
# nobody uses, so it does not depend on how busy this machine is.
cd "$(dirname "$0")/../.." || exit 1
here=$PWD/tests/install
vm=$PWD/${O:-build}/vm
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")}
kernel=${KERNEL:-}
[ -n "$kernel" ] || case $suite in
bookworm)	kernel=6.1 ;;
trixie)		kernel=6.12 ;;
*)		kernel=newest ;;
esac
export LC_ALL=C.UTF-8
started=$SECONDS

fail() {	# name, file with details
	[ -z "${2:-}" ] || tail -n "${3:-30}" "$2" | tr -d '\r' | sed 's/^/# /'
	echo "not ok - $1"
	exit 1
}

for p in qemu-system-x86_64:qemu-system-x86 mmdebstrap:mmdebstrap mke2fs:e2fsprogs gcc:gcc; do
	command -v "${p%:*}" >/dev/null || PATH=$PATH:/usr/sbin
	command -v "${p%:*}" >/dev/null || fail "needs ${p%:*}: install the package ${p#*:}"
done
if [ "$(uname -m)" != x86_64 ]; then
	echo "ok - a booted system # SKIP not an x86-64 machine"
	exit 0
fi
[ "$(id -u)" = 0 ] || fail "needs root"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/trifold-booted.XXXXXX") || exit 1
guest=
trap '[ -z "$guest" ] || kill $guest; wait; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# mirror REGEX: the first of this machine's sources that matches
mirror() {
	# shellcheck disable=SC2016	# the format is apt's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | grep -m 1 -E "$1"
}

# names of the packages that ours depend on, but for ours
depends() {
	local d
	for d in "$debs"/trifold{,-viewer}_*.deb; do
		dpkg-deb -f "$d" Depends
	done | tr ',' '\n' | sed 's/^ *//; s/[ |(].*//' | grep -v '^trifold\|^$' | sort -u
}

# one version later, as far as a package's number says
newer() {
	local d to=$1
	for d in "$debs"/trifold{,-viewer,-doc}_*.deb; do
		rm -rf "$tmp/x"
		dpkg-deb -R "$d" "$tmp/x" &&
			sed -i "/^Version:/s/\$/+next/; /^Depends:/s/(= \([^)]*\))/(= \1+next)/" \
				"$tmp/x/DEBIAN/control" &&
			dpkg-deb --root-owner-group -Znone -b "$tmp/x" "$to" || return 1
	done
}

fill() {	# the guest's /booted
	mkdir -p "$1/new" "$1/next" &&
		cp "$debs"/trifold{,-viewer,-doc}_*.deb "$1/new/" &&
		newer "$1/next" &&
		gcc -O2 -fomit-frame-pointer tests/live/chain.c -o "$1/chain" &&
		cp "$here/booted_steps.sh" tests/live/receiver.py "$1/"
}

root() {
	local from=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')} unit
	[ -n "$from" ] || { echo "no source of Debian's packages: set TRIFOLD_MIRROR"; return 1; }
	fill "$tmp/booted" && mmdebstrap --mode=root --variant=minbase \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
		--include="systemd-sysv,procps,python3,bpftool,$(depends | paste -sd,)" \
		"$suite" "$tmp/root" "deb $from $suite main" || return 1
	mv "$tmp/booted" "$tmp/root/booted"
	unit=$tmp/root/etc/systemd/system
	mkdir -p "$unit/multi-user.target.wants"
	cp "$here/booted_steps.service" "$unit/"
	ln -s ../booted_steps.service "$unit/multi-user.target.wants/"
	ln -s /dev/null "$unit/getty.target"
	echo trifold-guest >"$tmp/root/etc/hostname"
	mke2fs -q -F -t ext4 -d "$tmp/root" "$tmp/image" 1500M && rm -rf "$tmp/root"
}

# a guest that hangs ends by the time that it has had of a CPU
boot() {
	ulimit -t "${VM_CPU_SECONDS:-400}"
	exec timeout -k 5 "${VM_TIMEOUT:-1800}" qemu-system-x86_64 -machine q35 \
		-cpu max -accel tcg,thread=single -icount shift=2,sleep=off \
		-m 1024 -smp 1 -nographic -nodefaults \
		-serial "file:$tmp/console" -serial "file:$tmp/tap" \
		-drive "file=$tmp/image,format=raw,if=none,id=d0,cache=unsafe" \
		-device nvme,drive=d0,serial=x -kernel "$vm/$kernel/vmlinuz" \
		-append "console=ttyS0 panic=-1 quiet root=/dev/nvme0n1 rw systemd.show_status=0" \
		</dev/null >"$tmp/qemu" 2>&1 9>&-
}

debs=${DEBS:-$tmp/debs}
if [ -z "${DEBS:-}" ]; then
	mkdir "$debs"
	DEB_BUILD_OPTIONS=nocheck packaging/deb/make_deb.sh "$debs" </dev/null >"$tmp/log" 2>&1 ||
		fail "the packages build" "$tmp/log"
fi
mkdir -p "$vm"
exec 9>"$vm/lock"
flock 9
tests/vm/kernels.sh "$vm" "$kernel" >"$tmp/log" 2>&1
if [ ! -s "$vm/$kernel/vmlinuz" ]; then
	echo "ok - a booted system # SKIP no kernel: $(paste -sd, "$vm/$kernel/why")"
	exit 0
fi
flock -u 9
root >"$tmp/log" 2>&1 || fail "a root of $suite" "$tmp/log"
echo "# $suite, linux $(cat "$vm/$kernel/release"), ready after $((SECONDS - started)) s"
started=$SECONDS
touch "$tmp/tap" "$tmp/console"
boot &
guest=$!
wait $guest
guest=
tr -d '\r' <"$tmp/tap"
echo "# in the guest: $((SECONDS - started)) s"
if [ -n "${KEEP:-}" ]; then
	cp "$tmp/tap" "$tmp/console" "$tmp/qemu" "$KEEP"
fi
if ! grep -q '^# steps: done' "$tmp/tap"; then
	tail -n 5 "$tmp/qemu" | sed 's/^/# qemu: /'
	fail "the steps end" "$tmp/console" 40
fi
! grep -q '^not ok' "$tmp/tap"
