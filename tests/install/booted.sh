#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What tests share that boot Debian's packages in an emulated guest; they source it
# at the top of the repository.  test_booted.sh says what the environment has: SUITE,
# TRIFOLD_MIRROR, DEBS, KERNEL.
here=$PWD/tests/install
vm=$PWD/${O:-build}/vm
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")}
kernel=${KERNEL:-}
# Without work the guest's clock goes to its next timer at once, so that a busy host takes long for a write
# by that clock: the disk's driver is not to give up (30 s by default).
disk_waits="nvme_core.io_timeout=4000000 nvme_core.admin_timeout=4000000"
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

# The guest's disk, of so many MiB, with packages beside those that ours depend on.
# What `fill DIRECTORY` makes is /booted; the unit NAME.service runs the steps.
# What `seal ROOT` does, if there is one, is done last.
root() {	# MiB, packages, NAME
	local from=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')} unit
	[ -n "$from" ] || { echo "no source of Debian's packages: set TRIFOLD_MIRROR"; return 1; }
	fill "$tmp/booted" && mmdebstrap --mode=root --variant=minbase \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
		--include="systemd-sysv,procps,python3,bpftool,$2$(depends | paste -sd,)" \
		"$suite" "$tmp/root" "deb $from $suite main" || return 1
	mv "$tmp/booted" "$tmp/root/booted"
	unit=$tmp/root/etc/systemd/system
	mkdir -p "$unit/multi-user.target.wants"
	cp "$here/$3.service" "$unit/"
	ln -s "../$3.service" "$unit/multi-user.target.wants/"
	ln -s /dev/null "$unit/getty.target"
	echo trifold-guest >"$tmp/root/etc/hostname"
	! command -v seal >/dev/null || seal "$tmp/root" || return 1
	mke2fs -q -F -t ext4 -d "$tmp/root" "$tmp/image" "$1M" && rm -rf "$tmp/root"
}

# a guest that hangs ends by the time that it has had of a CPU
# Without what the emulator would spend on nothing that is tested: five levels of page tables, memory that is
# cleared when it is taken.
boot() {	# words for the kernel
	ulimit -t "${VM_CPU_SECONDS:-800}"
	exec timeout -k 5 "${VM_TIMEOUT:-1800}" qemu-system-x86_64 -machine q35 \
		-cpu max,la57=off -accel tcg,thread=single -icount shift=2,sleep=off \
		-m 1024 -smp 1 -nographic -nodefaults \
		-serial "file:$tmp/console" -serial "file:$tmp/tap" \
		-drive "file=$tmp/image,format=raw,if=none,id=d0,cache=unsafe" \
		-device nvme,drive=d0,serial=x -kernel "$vm/$kernel/vmlinuz" \
		-append "console=ttyS0 panic=-1 quiet root=/dev/nvme0n1 rw init_on_alloc=0 $disk_waits systemd.show_status=0 ${1:-}" \
		</dev/null >"$tmp/qemu" 2>&1 9>&-
}

# trifold's packages are in $debs, the kernel in $vm/$kernel
ready() {
	debs=$(tests/install/debs.sh 2>"$tmp/log") || fail "the packages build" "$tmp/log"
	mkdir -p "$vm"
	exec 9>"$vm/lock"
	flock 9
	tests/vm/kernels.sh "$vm" "$kernel" >"$tmp/log" 2>&1
	if [ ! -s "$vm/$kernel/vmlinuz" ]; then
		echo "ok - a booted system # SKIP no kernel: $(paste -sd, "$vm/$kernel/why")"
		exit 0
	fi
	flock -u 9
}

# boots the disk; its steps say how it went, in TAP
run() {	# words for the kernel
	started=$SECONDS
	touch "$tmp/tap" "$tmp/console"
	boot "$@" &
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
}
