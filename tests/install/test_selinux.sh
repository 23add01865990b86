#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The SELinux module: it builds, and linked with Debian's policy it holds its
# neverallow rules, which checkmodule does not look at; rules that break them are
# refused.  TAP.  long_selinux.sh runs trifold with it.
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
pp=/usr/libexec/selinux/hll/pp
devel=/usr/share/selinux/devel
failed=0

check() {	# name, command...
	local name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok - $name"
	else
		tail -n 20 "$tmp/log" | sed 's/^/# /'
		echo "not ok - $name"
		failed=1
	fi
}

for f in $devel/Makefile $pp /usr/bin/secilc; do
	[ -e "$f" ] || { echo "ok - the SELinux module # SKIP no $f"; exit 0; }
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
mkdir "$tmp/base"
PATH=$PATH:/usr/sbin

builds() {
	make -s O="$tmp" selinux && $pp <"$tmp/selinux/trifold.pp" >"$tmp/trifold.cil"
}

names_package() {
	! make -s O="$tmp/none" SELINUX_DEVEL=/nowhere selinux >"$tmp/says" 2>&1 &&
		grep -q 'install selinux-policy-dev ' "$tmp/says"
}

fills_in() {
	make -s O="$tmp/other" libexecdir=/opt/x selinux &&
		grep -q '^/opt/x/trifold/trifold-start[[:space:]]' "$tmp/other/selinux/trifold.fc"
}

installs() {
	make -s install SELINUX=1 DESTDIR="$tmp/root" &&
		[ "$(cd "$tmp/root/usr/share/selinux" && find . -type f | sort | paste -sd' ')" = \
		"./devel/include/distributed/trifold.if ./packages/trifold.pp" ] &&
		cmp selinux/trifold.if "$tmp/root/usr/share/selinux/devel/include/distributed/trifold.if" &&
		make -s uninstall SELINUX=1 DESTDIR="$tmp/root" &&
		! find "$tmp/root/usr/share/selinux" -type f | grep .
}

# all modules of Debian's policy, as CIL
base() {
	(cd "$tmp" && apt-get download -q selinux-policy-default && dpkg-deb -x selinux-policy-default*.deb x) || return 1
	for f in "$tmp"/x/usr/share/selinux/default/*.pp.bz2; do
		bzcat "$f" | $pp >"$tmp/base/$(basename "$f" .pp.bz2).cil" || return 1
	done
}

links() {	# more CIL
	echo "$1" >"$tmp/more.cil"
	secilc -M true -c 33 -o "$tmp/policy" -f /dev/null "$tmp"/base/*.cil "$tmp/trifold.cil" "$tmp/more.cil"
}

refused() {	# more CIL
	! links "$1" >"$tmp/says" 2>&1 && grep -q 'neverallow check failed' "$tmp/says"
}

check "make selinux builds it" builds
check "without the policy's development files it names their package" names_package
check "labels are those of the directories that were chosen" fills_in
check "make install SELINUX=1 copies it and its interfaces, and make uninstall removes them" installs
check "no domain is permissive or unconfined" eval \
	'! grep -E "typepermissive|unconfined_domain_type trifold|\(typeattributeset unconfined" "$tmp/trifold.cil"'
[ $failed = 0 ] || exit 1
if ! base >"$tmp/log" 2>&1; then
	echo "ok - it is linked with a policy # SKIP no package selinux-policy-default: $(tail -n 1 "$tmp/log")"
	exit 0
fi
check "with Debian's policy it holds its neverallow rules" links ""
while read -r name rule; do
	check "refused: $name" refused "$rule"
done <<-'END'
	symbolizerd-opens-/etc (allow trifold_symbolizerd_t etc_t (file (open)))
	exporterd-has-a-capability (allow trifold_exporterd_t self (capability2 (bpf)))
	viewer-runs-a-shell (allow trifold_viewer_t shell_exec_t (file (execute)))
	loaderd-has-a-network (allow trifold_loaderd_t self (tcp_socket (create)))
END
exit $failed
