#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The autopkgtests of Debian's packages (packaging/deb/debian/tests), by autopkgtest
# itself, in a booted Debian that is there for nothing else.  autopkgtest_steps.sh is
# what happens inside; TAP.
#
#   tests/install/long_autopkgtest.sh
#
# The environment is that of test_booted.sh; in DEBS is the source package, too.
#
# The guest has no network, so its root has what the tests depend on.  autopkgtest's
# own way to a virtual machine wants KVM: here it runs inside, and its testbed is the
# system that it runs on (`null`).
cd "$(dirname "$0")/../.." || exit 1
. tests/install/booted.sh

# what debian/tests/control wants beside our packages, and autopkgtest for itself
tests_depend() {
	{
		sed -n 's/^Depends: //p' packaging/deb/debian/tests/control | tr ',' '\n'
		printf '%s\n' autopkgtest dpkg-dev
	} | tr -d ' ' | grep -v '^trifold' | sort -u | paste -sd,
}

fill() {	# the guest's /booted
	mkdir -p "$1/debs" &&
		cp "$debs"/trifold{,-viewer}_*.deb "$debs"/trifold_*.{dsc,tar.xz} "$1/debs/" &&
		cp "$here/autopkgtest_steps.sh" "$1/"
}

ready
root 2000 "$(tests_depend)," autopkgtest_steps >"$tmp/log" 2>&1 || fail "a root of $suite" "$tmp/log"
echo "# $suite, linux $(cat "$vm/$kernel/release"), ready after $((SECONDS - started)) s"
run
