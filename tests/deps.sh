#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install what the build (and the tests) need, by package name, only what is
# missing, and say what.  usage: deps.sh build [test [vm]]
set -eu

apt_build="make gcc libc6-dev linux-libc-dev clang bpftool libbpf-dev libelf-dev libdw-dev
libcap-ng-dev libseccomp-dev libprotobuf-c-dev protobuf-c-compiler
libcurl4-openssl-dev libxxhash-dev nettle-dev zlib1g-dev libzstd-dev libncurses-dev
libmicrohttpd-dev libiberty-dev liblzma-dev"
apt_test="python3 python3-venv libpython3-dev procps psmisc golang-go redis-server
gdb g++ gdc debuginfod rustc llvm elfutils dwz perl sqlite3 xz-utils default-jdk-headless libcap2-bin iproute2 musl-tools
chromium zsh fish bash-completion mandoc groff-base zstd
git dpkg-dev debhelper dh-apparmor apparmor lintian blhc mmdebstrap debootstrap piuparts lsof faketime rpm rpmlint cpio systemd
qemu-system-x86 e2fsprogs selinux-policy-dev semodule-utils secilc openssl
podman runc conmon catatonit python3-yaml nodejs"
# of tests/vm, which has its kernels from Debian
apt_vm="qemu-system-x86 qemu-system-arm busybox-static cpio mmdebstrap
gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
dnf_build="make gcc glibc-devel kernel-headers clang bpftool libbpf-devel
elfutils-libelf-devel elfutils-devel libcap-ng-devel libseccomp-devel protobuf-c-devel
protobuf-c-compiler libcurl-devel xxhash-devel nettle-devel zlib-devel libzstd-devel
ncurses-devel libmicrohttpd-devel binutils-devel xz-devel"
dnf_test="python3 python3-devel procps-ng psmisc golang valkey sqlite xz
gdb elfutils-debuginfod gcc-c++ gcc-gdc rust llvm elfutils dwz java-latest-openjdk-devel libasan libubsan compiler-rt iproute
chromium zsh fish bash-completion mandoc groff-base zstd
git rpm-build rpmlint cpio selinux-policy-devel"

want=
if command -v apt-get >/dev/null; then
	for kind in "$@"; do
		[ "$kind" = build ] && want="$want $apt_build"
		[ "$kind" = test ] && want="$want $apt_test"
		[ "$kind" = vm ] && want="$want $apt_vm"
	done
	# libFuzzer and the sanitizers of clang come in a package of its version
	have() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
	install() {
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends "$@" >/dev/null
	}
elif command -v dnf >/dev/null; then
	for kind in "$@"; do
		[ "$kind" = build ] && want="$want $dnf_build"
		[ "$kind" = test ] && want="$want $dnf_test"
	done
	have() { rpm -q --whatprovides "$1" >/dev/null 2>&1; }
	install() { dnf install -y -q "$@"; }
else
	echo "neither apt-get nor dnf here: install by hand:" $apt_build >&2
	exit 0
fi

missing=
for p in $want; do
	have "$p" || missing="$missing $p"
done
if [ -n "$missing" ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "missing packages:$missing" >&2
		echo "install them as root: sudo make deps" >&2
		exit 1
	fi
	echo "installing:$missing"
	install $missing
fi
case " $* " in *" test "*) ;; *) exit 0 ;; esac
if command -v apt-get >/dev/null; then
	v=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
	p="libclang-rt-$v-dev"
	have "$p" || { echo "installing: $p"; install "$p"; }
	# one more clang, as new as there is, for tests/live/test_clangs.sh
	for p in clang-21 clang-20 clang-19; do
		apt-cache show "$p" >/dev/null 2>&1 || continue
		have "$p" || { echo "installing: $p"; install "$p"; }
		break
	done
fi
