#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# trifold's SELinux module in a booted, enforcing Debian: the packages' units profile
# a known program under load, and no denial has a type of ours on either side; then a
# stand-in in each domain fails at all that this domain must not do.  selinux_steps.sh
# is what happens inside; TAP.
#
#   tests/install/long_selinux.sh
#
# The environment is that of test_booted.sh.  ENFORCING=0: only reports.
cd "$(dirname "$0")/../.." || exit 1
. tests/install/booted.sh

fill() {	# the guest's /booted
	mkdir -p "$1" && cp "$debs"/trifold{,-viewer}_*.deb "$1/" &&
		gcc -O2 -fomit-frame-pointer tests/live/chain.c -o "$1/chain" &&
		gcc -O2 -std=gnu11 -D_GNU_SOURCE "$here/selinux_standin.c" -o "$1/standin" &&
		cp "$here/selinux_steps.sh" "$here/booted_steps.sh" tests/live/receiver.py "$1/" &&
		openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost \
			-addext subjectAltName=DNS:localhost -keyout "$1/key.pem" -out "$1/cert.pem" &&
		cp "$module" "$1/trifold.pp" && cat >"$1/seal" <<-'END'
			dpkg -i /booted/trifold*.deb
			echo 127.0.0.1 localhost >/etc/hosts
			semodule -n -s default -D -i /booted/trifold.pp
			echo "(allow trifold_symbolizerd_t self (capability (sys_admin)))" >/tmp/wrong.cil
			! semodule -n -s default -i /tmp/wrong.cil 2>/booted/wrong
			rm /tmp/wrong.cil
			setfiles -F /etc/selinux/default/contexts/files/file_contexts /
		END
}

# packages, module and labels; a policy that is checked against its neverallows
seal() {	# root
	printf 'SELINUX=%s\nSELINUXTYPE=default\n' enforcing >"$1/etc/selinux/config"
	sed -i 's/^ *expand-check *=.*/expand-check=1/' "$1/etc/selinux/semanage.conf"
	unshare -m --propagation private sh -e -s "$1" <<-'END'
		mount --bind /proc "$1/proc"
		exec chroot "$1" sh -e /booted/seal
	END
	local status=$?
	cp "$1/booted/wrong" "$tmp/wrong"
	return $status
}

# `! command` does not end a shell with -e
check_neverallow() {
	! grep -q 'neverallow check failed' "$tmp/wrong" && fail "a rule that is never allowed is refused" "$tmp/wrong"
	echo "ok - the policy holds its neverallow rules, and one that breaks them is refused"
}

make -s selinux O="${O:-build}" >"$tmp/log" 2>&1 || fail "the module builds" "$tmp/log"
module=${O:-build}/selinux/trifold.pp
ready
root 1700 selinux-policy-default,policycoreutils,auditd, selinux_steps >"$tmp/log" 2>&1 ||
	fail "a root of $suite" "$tmp/log"
check_neverallow
echo "# $suite, linux $(cat "$vm/$kernel/release"), ready after $((SECONDS - started)) s"
VM_CPU_SECONDS=${VM_CPU_SECONDS:-900} run "security=selinux selinux=1 enforcing=${ENFORCING:-1} audit=1 audit_backlog_limit=8192"
