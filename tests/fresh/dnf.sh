#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The dnf branch of tests/deps.sh, where there is no Fedora: with a dnf and an
# rpm of this test's own in an otherwise almost empty PATH.  It shows what is
# asked of them and what follows from their answers, not that Fedora has the
# packages.
set -u
cd "$(dirname "$0")/../.." || exit 1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir "$dir/bin"
for tool in sh id sed head grep; do
	ln -s "$(command -v $tool)" "$dir/bin/"
done
: >"$dir/installed"
: >"$dir/calls"
cp tests/deps.sh "$dir/"
cat >"$dir/bin/rpm" <<-END
	#!/bin/sh
	[ "\$1 \$2" = "-q --whatprovides" ] || exit 2
	exec grep -qx -e "\$3" $dir/installed
END
cat >"$dir/bin/dnf" <<-END
	#!/bin/sh
	echo "\$*" >>$dir/calls
	[ "\$1 \$2 \$3" = "install -y -q" ] && [ ! -e $dir/broken ] || exit 1
	shift 3
	for p; do echo "\$p"; done >>$dir/installed
END
chmod 755 "$dir/bin/rpm" "$dir/bin/dnf"
failed=0

# deps KIND...: tests/deps.sh with these; its status
deps() {
	PATH=$dir/bin "${as[@]}" "$dir/bin/sh" "$dir/deps.sh" "$@" \
		>"$dir/out" 2>&1
}
as=()

check() {
	local name=$1
	shift
	if "$@"; then
		echo "ok - $name"
		return
	fi
	echo "not ok - $name"
	sed 's/^/# /' "$dir/out" "$dir/calls"
	failed=1
}

calls() {
	[ "$(wc -l <"$dir/calls")" = "$1" ]
}

has() {
	local p

	for p; do
		grep -qx -e "$p" "$dir/installed" || return 1
	done
}

fails() {
	! "$@"
}

if [ "$(id -u)" != 0 ]; then
	echo "ok - the packages of Fedora # SKIP needs root"
	exit 0
fi
as=("$(command -v setpriv)" --reuid 65534 --regid 65534 --clear-groups)
check "without root it is status 1" fails deps build
check "and names what is missing" grep -q '^missing packages: make gcc ' "$dir/out"
check "and asks dnf for nothing" calls 0
as=()
touch "$dir/broken"
check "it fails where dnf fails" fails deps build
rm "$dir/broken"
: >"$dir/calls"
check "as root it installs" deps build
check "by one call" calls 1
check "compilers and libraries" has make gcc clang bpftool libbpf-devel \
	elfutils-devel protobuf-c-compiler
check "nothing of the tests" fails has golang
check "again it succeeds" deps build
check "and asks for nothing" calls 1
check "the tests' too" deps build test
check "by one more call" calls 2
check "of what was missing alone" fails grep -q ' make ' <(tail -n 1 "$dir/calls")
check "sanitizers and languages" has libasan libubsan compiler-rt golang
check "nothing is asked for twice" \
	[ -z "$(sort "$dir/installed" | uniq -d)" ]
exit $failed
