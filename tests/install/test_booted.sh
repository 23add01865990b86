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
. tests/install/booted.sh

fill() {	# the guest's /booted
	mkdir -p "$1/new" "$1/next" &&
		cp "$debs"/trifold{,-viewer,-doc}_*.deb "$1/new/" &&
		newer "$1/next" &&
		gcc -O2 -fomit-frame-pointer tests/live/chain.c -o "$1/chain" &&
		gcc -O2 tests/install/apparmor_standin.c -o "$1/standin" &&
		cp "$here/booted_steps.sh" "$here/booted_apparmor.sh" tests/live/receiver.py "$1/"
}

ready
root 1500 apparmor, booted_steps >"$tmp/log" 2>&1 || fail "a root of $suite" "$tmp/log"
echo "# $suite, linux $(cat "$vm/$kernel/release"), ready after $((SECONDS - started)) s"
run
