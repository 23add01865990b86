#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages for arm64, made on amd64: built by a cross compiler in a fresh
# root, and then tried in a booted arm64 system, as test_booted.sh does.  TAP.
#
#   tests/install/long_arm64.sh
#
# SUITE, TRIFOLD_MIRROR: as in test_booted.sh.  KERNEL: a name in tests/vm/matrix.
# DEBS: a directory with the packages for arm64; else they are built.
#
# Nothing of arm64 runs out here: the system's packages are unpacked by this machine's
# tools, and configured by dpkg as the guest's first program.
cd "$(dirname "$0")/../.." || exit 1
KERNEL=${KERNEL:-arm64-6.1}
# shellcheck source=tests/install/booted.sh
. tests/install/booted.sh || exit 1

for p in qemu-system-aarch64:qemu-system-arm debootstrap:debootstrap \
	aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu; do
	command -v "${p%:*}" >/dev/null || fail "needs ${p%:*}: install the package ${p#*:}"
done
from=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')}
[ -n "$from" ] || fail "a source of Debian's packages: set TRIFOLD_MIRROR"

# in a root: the packages for amd64, whose trifold writes the manual pages, and then
# those for arm64
cat >"$tmp/make" <<-'END'
	#!/bin/sh -eu
	cp -R "$2" "$1/source"
	cp -R "$1/source/packaging/deb/debian" "$1/source/debian"
	export DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS=nocheck
	apt="apt-get -y -q --no-install-recommends"
	chroot "$1" $apt -Pnocheck build-dep /source
	rm -r "$1/source/debian"
	chroot "$1" /source/packaging/deb/make_deb.sh /amd64
	chroot "$1" sh -c "$apt install /amd64/trifold_*_amd64.deb"
	cp -R "$1/source/packaging/deb/debian" "$1/source/debian"
	chroot "$1" $apt -aarm64 -Pcross,nocheck build-dep /source
	rm -r "$1/source/debian"
	DEB_BUILD_PROFILES="cross nocheck" \
		chroot "$1" /source/packaging/deb/make_deb.sh /arm64 -aarm64
	cp "$1"/arm64/*.deb "$3/"
END
chmod +x "$tmp/make"

build() {
	mkdir "$tmp/source" "$debs" && git archive HEAD | tar -x -C "$tmp/source" &&
		mmdebstrap --mode=root --variant=buildd --format=null --architectures=amd64,arm64 \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
			--include=debhelper,crossbuild-essential-arm64 \
			--customize-hook="$tmp/make \"\$1\" $tmp/source $debs" \
			"$suite" /dev/null "deb $from $suite main"
}

# each program is one of arm64
for_arm64() {
	local d f n=0
	for d in "$debs"/trifold{,-viewer}_*_arm64.deb; do
		rm -rf "$tmp/x"
		dpkg-deb -x "$d" "$tmp/x" || return 1
		for f in "$tmp"/x/usr/bin/* "$tmp"/x/usr/libexec/trifold/*; do
			[ -e "$f" ] || continue
			readelf -h "$f" | grep -q 'Machine: *AArch64' || { echo "$f"; return 1; }
			n=$((n + 1))
		done
	done
	[ "$n" = 7 ]
}

# dpkg's state of a package whose files are there already
unpacked() {	# root, package's file
	local root=$1 deb=$2 info=$1/var/lib/dpkg/info name f state=unpacked
	rm -rf "$tmp/c"
	dpkg-deb --fsys-tarfile "$deb" >"$tmp/data" &&
		tar -x --keep-directory-symlink -C "$root" -f "$tmp/data" &&
		dpkg-deb -e "$deb" "$tmp/c" || return 1
	name=$(dpkg-deb -f "$deb" Package)
	# what Python's do is to compile its library: minutes of an emulated CPU
	[[ $name != *python3* ]] || state=installed
	[ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || name=$name:arm64
	tar -t -f "$tmp/data" | sed 's|^\.||; s|\(.\)/$|\1|; s|^/$|/.|' >"$info/$name.list"
	# (the files in /etc are just there: there is nobody to ask about them)
	for f in "$tmp"/c/*; do
		[[ $f == */control || $f == */conffiles ]] || cp "$f" "$info/$name.${f##*/}" || return 1
	done
	{
		sed "/^Package:/a Status: install ok $state" "$tmp/c/control"
		echo
	} >>"$root/var/lib/dpkg/status"
}

# the guest's disk
root() {
	local root=$tmp/root unit=$tmp/root/etc/systemd/system d
	debootstrap --foreign --arch=arm64 --variant=minbase \
		--include="systemd-sysv,procps,python3,bpftool,apparmor,$(depends | paste -sd,)" \
		"$suite" "$root" "$from" || return 1
	# in a container, debootstrap makes it a link to itself
	[ ! -L "$root/proc" ] || { rm "$root/proc" && mkdir "$root/proc"; } || return 1
	rm -rf "$root/debootstrap"
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" &&
		echo 1 >"$root/var/lib/dpkg/info/format" && : >"$root/var/lib/dpkg/status" || return 1
	for d in "$root"/var/cache/apt/archives/*.deb; do
		unpacked "$root" "$d" || return 1
	done
	rm "$root"/var/cache/apt/archives/*.deb
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd" &&
		cp "$root/usr/share/base-passwd/group.master" "$root/etc/group" || return 1
	mkdir -p "$root/booted/new" "$root/booted/next" "$unit/multi-user.target.wants" &&
		cp "$debs"/trifold{,-viewer,-doc}_*.deb "$root/booted/new/" &&
		newer "$root/booted/next" &&
		aarch64-linux-gnu-gcc -O2 -fomit-frame-pointer tests/live/chain.c -o "$root/booted/chain" &&
		aarch64-linux-gnu-gcc -O2 tests/install/apparmor_standin.c -o "$root/booted/standin" &&
		cp "$here/booted_steps.sh" "$here/booted_apparmor.sh" tests/live/receiver.py "$root/booted/" || return 1
	sed 's/ttyS1/ttyS0/' "$here/booted_steps.service" >"$unit/booted_steps.service"
	ln -s ../booted_steps.service "$unit/multi-user.target.wants/"
	ln -s /dev/null "$unit/getty.target"
	echo trifold-guest >"$root/etc/hostname"
	cat >"$root/booted/first" <<-'END'
		#!/bin/sh
		# before there is anything else: configure what was only unpacked
		export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
		if [ ! -e /booted/configured ]; then
			mount -t proc proc /proc
			mount -t sysfs sysfs /sys
			dpkg --configure -a || {
				dpkg --audit
				sync
				echo o >/proc/sysrq-trigger
			}
			touch /booted/configured
			umount /sys /proc
		fi
		exec /sbin/init
	END
	chmod +x "$root/booted/first"
	mke2fs -q -F -t ext4 -d "$root" "$tmp/image" 2000M && rm -rf "$root"
}

boot() {
	ulimit -t "${VM_CPU_SECONDS:-1500}"
	exec timeout -k 5 "${VM_TIMEOUT:-5400}" qemu-system-aarch64 -machine virt,gic-version=3 \
		-cpu max,pauth-impdef=on -accel tcg,thread=single -icount shift=2,sleep=off \
		-m 1024 -smp 1 -nographic -nodefaults \
		-serial "file:$tmp/console" -chardev "file,id=tap,path=$tmp/tap" \
		-device pci-serial,chardev=tap \
		-drive "file=$tmp/image,format=raw,if=none,id=d0,cache=unsafe" \
		-device nvme,drive=d0,serial=x -kernel "$vm/$kernel/vmlinuz" \
		-append "console=ttyAMA0 panic=-1 quiet root=/dev/nvme0n1 rw $disk_waits systemd.show_status=0 init=/booted/first" \
		</dev/null >"$tmp/qemu" 2>&1 9>&-
}

arm64=${DEBS:-}
DEBS=${DEBS:-$tmp/arm64}	# ready() is not to build any
ready
if [ -z "$arm64" ]; then
	build >"$tmp/log" 2>&1 || fail "the packages are cross-built" "$tmp/log"
	echo "ok - the packages are cross-built"
fi
for_arm64 >"$tmp/log" 2>&1 || fail "their programs are for arm64" "$tmp/log"
echo "ok - their programs are for arm64"
root >"$tmp/log" 2>&1 || fail "a root of $suite" "$tmp/log"
echo "# $suite, arm64, linux $(cat "$vm/$kernel/release"), ready after $((SECONDS - started)) s"
run
