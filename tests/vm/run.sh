#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The same live test on other kernels, in qemu: boot each kernel of
# tests/vm/matrix with the built programs in an initramfs, profile programs
# whose stacks are known there, judge the stacks here.  TAP.
#
#   tests/vm/run.sh [NAME...]	names as in the matrix; all by default
#   PREPARE=1 tests/vm/run.sh ...	fetches and builds what they need, boots none
#
# Kernels, images and consoles are kept in build/vm/.  Programs for arm64 are
# made from a root of arm64's development packages, likewise kept there.
# Needs root for those packages, and no /dev/kvm: the guests are emulated.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
vm=$PWD/$O/vm
here=tests/vm
names=${*:-$(grep -v '^#' $here/matrix | cut -d' ' -f1)}
failed=0

skip() {	# name, why
	echo "ok - $1 # SKIP $2"
}

field() {	# name, number
	awk -v n="$1" -v f="$2" '$1 == n { print $f }' $here/matrix
}

# The packages that the build needs, of the suite that this machine runs: its
# cross compiler and these fit together.
arm64_programs() {
	local root=$vm/arm64-root suite from cc packages
	local more=python3-minimal,default-jdk-headless
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016	# the format is apt's
	from=${TRIFOLD_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
		'Created-By: Packages' | grep -m 1 -E '/debian/?$')}
	packages=$(sed -n '/^apt_build=/,/"$/p' tests/deps.sh |
		tr '" ' '\n\n' | grep -E -- '-dev$' | paste -sd,)
	if [ "$(cat "$root/done" 2>/dev/null)" != "$suite $packages $more" ]; then
		rm -rf "$root"
		mmdebstrap --variant=extract --architectures=arm64 \
			--include="$packages,busybox-static,$more" "$suite" "$root" \
			"deb $from $suite main" >"$vm/arm64.log" 2>&1 || return 1
		echo "$suite $packages $more" >"$root/done"
	fi
	cc="aarch64-linux-gnu-gcc --sysroot=$root"
	make -s -j"$(nproc)" O="$O/vm/arm64" SYSROOT="$root" CC="$cc" all \
		hostile-confine "$O/vm/arm64/live/verifier" \
		>"$vm/arm64.log" 2>&1 &&
		$here/image.sh "$vm/arm64.cpio" "$O/vm/arm64" \
			"$root/bin/busybox" "$root" $cc >>"$vm/arm64.log" 2>&1
}

amd64_programs() {
	make -s O="$O" all hostile-confine "$O/live/verifier" >"$vm/amd64.log" 2>&1 &&
		$here/image.sh "$vm/amd64.cpio" "$O" "$(command -v busybox)" "" \
			"${CC:-gcc}" >>"$vm/amd64.log" 2>&1
}

# The kernel's module under three names: loaded one after the other, two of three lie at
# the same place.  Signatures would be wrong, so they have none.
initrd() {	# name, architecture
	local dir=$vm/$1 to
	for to in alpha bravo gamma; do
		LC_ALL=C sed "s/raid6_/${to}_/g
			s/~Module signature appended~/~No longer signed, it was.~/" \
			"$dir/raid6_pq.ko" >"$dir/${to}_pq.ko"
	done
	cp "$vm/$2.cpio" "$dir/initrd"
	(cd "$dir" && printf '%s_pq.ko\n' alpha bravo gamma | cpio -o -H newc --quiet) >>"$dir/initrd"
}

# What the emulator would spend on nothing that is tested: memory that is cleared twice,
# and counted for each cgroup in the kernel; five levels of page tables.
cheap="init_on_alloc=0 cgroup.memory=nokmem,nosocket"

boot() {	# name, architecture
	local options console qemu
	initrd "$1" "$2"
	options=$(sed -n "s/^$1 .*|//p" $here/matrix)
	case $2 in
	amd64)	qemu="qemu-system-x86_64 -machine q35 -cpu max,la57=off"
		console=ttyS0 ;;
	arm64)	qemu="qemu-system-aarch64 -machine virt,gic-version=3
			-cpu max,pauth-impdef=on"
		console=ttyAMA0 ;;
	esac
	# The guest's clock counts instructions, 4 ns each: how busy this
	# machine is changes nothing in there.  One that hangs ends by the time
	# that it has had of a CPU.
	ulimit -t "${VM_CPU_SECONDS:-180}"
	# shellcheck disable=SC2086	# words
	exec timeout -k 5 "${VM_TIMEOUT:-1800}" $qemu -accel tcg,thread=single \
		-icount shift=2,sleep=off -m 1024 -smp "$(field "$1" 3)" \
		-nographic -no-reboot -nodefaults -serial stdio \
		-kernel "$vm/$1/vmlinuz" -initrd "$vm/$1/initrd" \
		-append "console=$console panic=-1 quiet $cheap $options" \
		</dev/null >"$vm/$1/console" 2>&1 8>&- 9>&-
}

# why a guest of this architecture cannot be made here, if so
missing() {
	local t tools
	case $1 in
	amd64)	[ "$(uname -m)" = x86_64 ] || echo "not an x86-64 machine"
		tools="qemu-system-x86_64 busybox cpio" ;;
	arm64)	tools="qemu-system-aarch64 aarch64-linux-gnu-gcc mmdebstrap cpio" ;;
	esac
	for t in $tools; do
		command -v "$t" >/dev/null || echo "needs $t"
	done
}

mkdir -p "$vm"
exec 8>"$vm/run.lock" 9>"$vm/lock"
flock 8		# one run of this script
flock 9		# and tests/install/booted.sh: one that fetches kernels
$here/kernels.sh "$vm" $names
flock -u 9
ready= guests=
for arch in amd64 arm64; do
	why=$(missing $arch | head -n 1)
	prepared=
	for name in $names; do
		[ "$(field "$name" 2)" = $arch ] || continue
		if [ -n "$why" ]; then
			skip "$name" "$why"
		elif [ ! -s "$vm/$name/raid6_pq.ko" ]; then
			skip "$name" "no kernel: $(paste -sd, "$vm/$name/why")"
		elif [ -n "$prepared" ] || ${arch}_programs; then
			prepared=1
			ready+=" $name"
		else
			tail -n 20 "$vm/$arch.log" | sed 's/^/# /'
			echo "not ok - $name: programs for $arch"
			failed=1
			break
		fi
	done
done
if [ -n "${PREPARE:-}" ]; then
	echo "ok - ready to boot:$ready"
	exit $failed
fi
# two at a time: each guest runs in one thread
trap '[ -z "$guests" ] || kill $guests' EXIT
trap 'exit 1' INT TERM
set -- $ready
while [ $# -gt 0 ]; do
	for name in $1 ${2:-}; do
		boot "$name" "$(field "$name" 2)" &
		guests+=" $!"
	done
	wait $guests
	guests=
	for name in $1 ${2:-}; do
		rm -f "$vm/$name/initrd"
		$here/check.py "$name" "$vm/$name/console" || failed=1
	done
	shift $(($# > 1 ? 2 : 1))
done
exit $failed
