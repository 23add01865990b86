#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# AppArmor's profiles: its parser takes them, the units name them, and they fit each
# other.  No root, no AppArmor in the kernel.  Usage: test_apparmor.sh
cd "$(dirname "$0")/../.." || exit 1
profiles=packaging/apparmor
units=packaging/systemd
failed=0

check() {	# name, command...
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		echo "ok - $name"
	else
		tail -n 20 <<<"$said" | sed 's/^/# /'
		echo "not ok - $name"
		failed=1
	fi
}

# compiled, and not loaded
compiles() {
	"$parser" --skip-kernel-load --skip-cache "$1"
}

finds_mistakes() {
	sed 's/^  network inet stream,/  network inet strem,/' $profiles/trifold-exporterd >"$tmp/wrong"
	! compiles "$tmp/wrong"
}

# a file, a profile, one name; nothing attaches by a path or is not enforced
by_name() {
	local f
	for f in "$profiles"/*; do
		[ "$(grep '^profile' "$f")" = "profile ${f##*/} flags=(attach_disconnected) {" ] &&
			grep -qx "  include if exists <local/${f##*/}>" "$f" || { echo "$f"; return 1; }
	done
}

# each program of ours that a unit starts, but loaderd: its opener needs all files
units_name_them() {
	local f p
	for f in $(grep -lE '^ExecStart=/usr/(libexec|bin)/trifold' $units/*.service); do
		case $f in
		*-loaderd*)	p= ;;
		*-config*)	p=-trifold-config ;;
		*)		p=-trifold-start ;;
		esac
		[ "$(sed -n 's/^AppArmorProfile=//p' "$f")" = "$p" ] || { echo "$f"; return 1; }
	done
}

# rules of a profile, one a line; without those of its own program
rules() {
	sed -n '/^profile/,/^}/s/^  //p' "$1" |
		grep -v -e '^#' -e "/trifold-[a-z]* mr,\$" -e '^include if exists'
}

# what the daemon may, trifold-start's profile has to let it: one is on the other
start_has() {	# daemon
	local r left=
	while read -r r; do
		grep -qxF "  $r" $profiles/trifold-start || left+=$r$'\n'
	done < <(rules $profiles/trifold-"$1" | sed -E 's/^unix .*/unix,/')
	echo "$left"
	grep -qxF "  include if exists <local/trifold-$1>" $profiles/trifold-start &&
		grep -q "/trifold-$1 mrpix -> &trifold-$1,\$" $profiles/trifold-start && [ -z "$left" ]
}

# what must never come in, whoever edits them; the files that they may write are few
narrow() {
	local written='/(dev/null|run/systemd/[a-zR./]*|run/trifold/[a-z]*\.sock|run/trifold-config/\{,\*\}|var/(lib|cache)/trifold-exporterd/\{,\*\*\}) '
	written+='|/run/systemd/userdb/|owner @\{PROC\}/@\{pid\}/autogroup '
	! grep -nE '^ *(capability|ptrace|mount|umount|pivot_root|change_profile|file|dbus|userns)|^ *(owner )?/\{?\*| [rmwk]*[pucPUC]i?x|complain|unconfined\)' "$profiles"/* |
		grep -v 'mrpix -> &trifold-' | grep . || return 1
	! grep -n 'abstractions/' "$profiles"/* |
		grep -vE 'trifold-(exporterd|start):.*<abstractions/(ssl_certs|openssl)>$' &&
		! grep -n '^  network' $profiles/trifold-{symbolizerd,config} &&
		! grep -nE '^  .* [a-z]*[walk][a-z]*,$' "$profiles"/* |
			grep -vE -e "$written" -e '^[^:]*:[0-9]*:  (network|unix|signal) '
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
parser=$(PATH=$PATH:/usr/sbin:/sbin command -v apparmor_parser)
if [ -n "$parser" ] && [ -e /etc/apparmor.d/abi/3.0 ]; then
	for f in "$profiles"/*; do
		check "apparmor_parser takes ${f##*/}" compiles "$f"
	done
	check "and finds a mistake where there is one" finds_mistakes
else
	echo "ok - apparmor_parser takes them # SKIP no apparmor_parser"
fi
check "each file is a profile that units name" by_name
check "the units name them" units_name_them
for d in symbolizerd exporterd viewer; do
	check "trifold-start's profile allows what $d's does" start_has $d
done
check "no capability, and no file of the host to write but spool and cache" narrow
exit $failed
