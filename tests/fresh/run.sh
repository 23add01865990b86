#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Follow README.md in a fresh Debian: make a minimal root of SUITE, clone the
# last commit of this repository into it as an ordinary user, boot it under
# systemd-nspawn and let tests/fresh/inside.sh do there what README.md says.
#
#   tests/fresh/run.sh SUITE [TARGET...]
#
# It always does `run` and `record`; further TARGETs: build (gcc and clang,
# warnings are errors), check (unit tests), test (`make test`, long).
#
# Root, systemd-container, mmdebstrap and about 3 GB below TMPDIR (/var/tmp).
# TRIFOLD_MIRROR, TRIFOLD_SECURITY_MIRROR: where Debian's packages come from;
# by default where this machine has them from.  FRESH_KEEP=1 keeps the root.
#
# The container shares the kernel, so it may use BPF, and the network, for
# packages.  Booted it has PIDs of its own, as systemd has to be the first, so
# that trifold, which goes by the PIDs of the kernel, cannot open the files of
# what it samples: all but names and whole stacks is tested there.  Those, and
# `make test`, are in the same root with the PIDs of the machine, not booted.
set -u

suite=${1:?usage: tests/fresh/run.sh SUITE [TARGET...]}
shift
# what needs the PIDs of the machine: see below
booted=run shared=record
for t; do
	case $t in
	run) ;;
	test) shared+=" $t" ;;
	*) booted+=" $t" ;;
	esac
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
here=$(cd "$(dirname "$0")/../.." && pwd)
machine=trifold-fresh-$suite

# what the installer of Debian leaves, and what it takes to have a clone here
packages=systemd,systemd-sysv,udev,libpam-systemd,dbus,sudo,procps,git,make

skip() {
	echo "ok - $suite # SKIP $1"
	exit 0
}

die() {
	echo "not ok - $suite: $1"
	[ $# -lt 2 ] || tail -n 30 "$2" | sed 's/^/# /'
	exit 1
}

# mirror REGEX: the first source of this machine that matches
mirror() {
	# shellcheck disable=SC2016	# the format is apt's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		grep -m 1 -E "$1"
}

[ "$(id -u)" = 0 ] || skip "needs root"
[ ! -e /fresh.tap ] || skip "this is such a root"
for p in mmdebstrap systemd-nspawn script git; do
	command -v $p >/dev/null || skip "needs $p"
done
main=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')}
security=${TRIFOLD_SECURITY_MIRROR:-$(mirror '/debian-security/?$')}
[ -n "$main" ] || skip "no mirror of Debian: set TRIFOLD_MIRROR"

# one at a time: two containers would share the cgroup that is left below
exec 9>/run/lock/trifold-fresh.lock
flock 9

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/trifold-fresh.XXXXXX") || exit 1
root=$dir/root
nspawn=

finish() {
	if [ -n "$nspawn" ] && kill -0 "$nspawn" 2>/dev/null; then
		kill -TERM "$nspawn"
		wait "$nspawn"
	fi
	# what --keep-unit leaves: empty ones, rmdir takes no other
	find /sys/fs/cgroup -maxdepth 3 -path '*/payload*' -type d -depth \
		-exec rmdir {} + 2>/dev/null
	[ "${FRESH_KEEP:-0}" = 1 ] && echo "# kept: $root" && return
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

make_root() {
	local from="deb [signed-by=$keyring] $main"
	local -a more=("$from $suite main" "$from $suite-updates main")

	[ -z "$security" ] ||
		more+=("deb [signed-by=$keyring] $security $suite-security main")
	mmdebstrap --variant=minbase --include=$packages \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		"$suite" "$root" "${more[@]}" >"$dir/log" 2>&1 ||
		die "makes a root" "$dir/log"
	echo "ok - a root: $(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release")"
}

fill_root() {
	chroot "$root" useradd -m -s /bin/bash dev &&
		echo 'dev ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/dev" &&
		git clone -q --no-hardlinks "$here" "$root/home/dev/trifold" \
			>"$dir/log" 2>&1 &&
		chroot "$root" chown -R dev: /home/dev/trifold ||
		die "clones" "$dir/log"
	install -m 755 "$here/tests/fresh/inside.sh" "$root/usr/local/sbin/"
	cat >"$root/etc/systemd/system/fresh.service" <<-END
		[Unit]
		Wants=network-online.target
		After=multi-user.target
		SuccessAction=poweroff
		FailureAction=poweroff
		[Service]
		Type=oneshot
		Environment="TARGETS=$booted"
		ExecStart=/usr/local/sbin/inside.sh
		StandardOutput=append:/fresh.tap
		StandardError=append:/fresh.tap
		[Install]
		WantedBy=graphical.target
	END
	systemctl -q --root="$root" enable fresh.service
	systemctl -q --root="$root" set-default graphical.target
	echo "$machine" >"$root/etc/hostname"
	printf "127.0.0.1 localhost\n127.0.1.1 %s\n" "$machine" >"$root/etc/hosts"
	: >"$root/fresh.tap"
}

# nspawn ARGUMENT...: in the background, with a terminal lent by script(1): a
# booted one wants that.
nspawn() {
	SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout "${FRESH_TIMEOUT:-3000}" \
		script -qefc "systemd-nspawn -q -D $root -M $machine \
			--register=no --keep-unit --capability=all \
			--system-call-filter='bpf perf_event_open' \
			--resolv-conf=copy-host $*" \
		"$dir/console" </dev/null >/dev/null 2>&1 &
	nspawn=$!
	tail -n +1 -f -s 0.5 --pid=$nspawn "$root/fresh.tap" | tee "$dir/tap"
	wait $nspawn
	nspawn=
	grep -q '^# inside: all done$' "$dir/tap" ||
		die "starts and ends" "$dir/console"
	! grep -q '^not ok' "$dir/tap" || failed=1
	: >"$root/fresh.tap"
}

failed=0
make_root
fill_root
nspawn --boot systemd.show_status=0
SYSTEMD_NSPAWN_SHARE_NS_PID=1 nspawn --setenv="'TARGETS=$shared'" \
	sh -c "'/usr/local/sbin/inside.sh >/fresh.tap 2>&1'"
exit $failed
