#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# systemd's own judgement of the units: no mistake, and an exposure that is not above
# the limits of their table; each names a program, users and units that there are.
# No root.  Usage: test_units.sh
cd "$(dirname "$0")/../.." || exit 1
units=packaging/systemd
failed=0

# unit, the most exposure that it may have, times ten
limits="loaderd 15
symbolizerd 4
exporterd 12
viewer 6
config 4
started 4"

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

exposure() {
	systemd-analyze --no-pager security --offline=true --threshold="$2" \
		"$units/trifold-$1.service" | tee "$tmp/exposure"
	[ "${PIPESTATUS[0]}" = 0 ]
}

# with programs and libraries that are there, but empty
verified() {
	local said
	said=$(systemd-analyze verify --recursive-errors=no --man=no --root="$tmp/root" \
		"$tmp"/root/usr/lib/systemd/system/trifold* 2>&1 | grep -i trifold)
	echo "$said"
	[ -z "$said" ]
}

# a typing error in a unit is found
finds_mistakes() {
	sed 's/^WatchdogSec/WatchdogSecs/' $units/trifold-loaderd.service \
		>"$tmp/root/usr/lib/systemd/system/trifold-wrong.service"
	! verified
}

never_root() {
	local f
	for f in $units/*.service; do
		grep -qx "User=trifold-$(basename "$f" .service | sed 's/trifold-//; s/started/config/')" "$f" &&
			! grep -E '^Exec[A-Za-z]*=[-@:!|]*\+' "$f" || return 1
	done
}

users_are_made() {
	local u
	for u in $(sed -n 's/^\(User\|SocketUser\|SocketGroup\)=//p' $units/*); do
		grep -qE "^[ug] $u -" packaging/sysusers.conf || return 1
	done
}

# only loaderd has capabilities, and these
capabilities() {
	local f five="CAP_BPF CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_CHECKPOINT_RESTORE"
	for f in $units/*.service; do
		case $f in
		*-loaderd*)
			grep -qx "CapabilityBoundingSet=$five" "$f" &&
				grep -qx "AmbientCapabilities=$five" "$f" || return 1 ;;
		*)
			grep -qx "CapabilityBoundingSet=" "$f" && ! grep -q '^AmbientCap' "$f" || return 1 ;;
		esac
	done
}

# `systemctl stop trifold.target` waits for what has this order, and start for these
in_order() {
	local f u
	for f in $(grep -lx 'PartOf=trifold.target' $units/*); do
		grep -q '^After=trifold-running\.target' "$f" || { echo "$f"; return 1; }
	done
	for u in $(sed -n 's/^Wants=//p' $units/trifold.target); do
		[ "$u" = trifold-started.service ] ||
			grep -q "^After=.*$u" $units/trifold-started.service || { echo "$u"; return 1; }
	done
	grep -qx 'After=trifold-started.service' $units/trifold.target &&
		grep -qx 'After=trifold.target' $units/trifold-running.target
}

if ! command -v systemd-analyze >/dev/null; then
	echo "ok - units # SKIP no systemd-analyze"
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp"/root/{usr/bin,usr/libexec/trifold,usr/lib/systemd,etc,run,bin}
cp -R $units "$tmp/root/usr/lib/systemd/system"
cp -R /lib/systemd/system/*.target "$tmp/root/usr/lib/systemd/system" 2>/dev/null
for f in usr/bin/trifold usr/libexec/trifold/trifold-start bin/kill bin/true; do
	printf '#!/bin/sh\n' >"$tmp/root/$f"
	chmod 755 "$tmp/root/$f"
done
while read -r unit limit; do
	check "the exposure of trifold-$unit is at most $limit tenths" exposure "$unit" "$limit"
	tail -n 1 "$tmp/exposure" | sed 's/[^ -~]//g; s/^/# /'
done <<<"$limits"
check "a limit below that is an error" eval '! exposure loaderd 5'
check "systemd finds no mistake in them" verified
check "and finds one where there is one" finds_mistakes
check "each service has its own user, and no command is root" never_root
check "whom sysusers.d makes" users_are_made
check "stop and start of trifold.target wait for all" in_order
check "capabilities are loaderd's alone" capabilities
exit $failed
