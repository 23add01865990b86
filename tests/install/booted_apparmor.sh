# SPDX-License-Identifier: Apache-2.0
#
# The steps of booted_steps.sh that are about AppArmor.
confined="symbolizerd exporterd"

profiles_enforced() {
	local p
	grep trifold /sys/kernel/security/apparmor/profiles
	for p in config exporterd start symbolizerd viewer; do
		grep -qx "trifold-$p (enforce)" /sys/kernel/security/apparmor/profiles || return 1
	done
}

# the label of each process of a unit, once
labels() {	# daemon
	local p
	for p in $(cat "/sys/fs/cgroup$(systemctl show -P ControlGroup "trifold-$1")/cgroup.procs"); do
		cat "/proc/$p/attr/current"
	done | sort -u
}

# two profiles, one on the other; which is named first is the kernel's choice
has_label() {	# daemon
	local said
	said=$(labels "$1")
	echo "# $1: $said"
	[ "$said" = "trifold-start//&trifold-$1 (enforce)" ] ||
		[ "$said" = "trifold-$1//&trifold-start (enforce)" ]
}

labelled() {
	local d
	for d in $confined; do
		has_label "$d" || return 1
	done
	[ "$(labels loaderd)" = unconfined ]
}

viewer_labelled() {
	systemctl start trifold-viewer && has_label viewer &&
		systemctl stop trifold-viewer.socket trifold-viewer
}

# what the unit starts has the profile: it cannot read what everybody can
config_confined() {
	local unit=/run/systemd/system/trifold-config.service.d
	mkdir -p $unit
	printf '[Service]\nExecStartPost=-/bin/cat /etc/passwd\n' >$unit/test.conf
	systemctl daemon-reload && systemctl start trifold-config && systemctl stop trifold-config
	set -- $?
	rm -r $unit
	systemctl daemon-reload
	[ "$1" = 0 ] && denials | grep 'profile="trifold-config" name="/etc/passwd"'
}

# `trifold run` starts the same programs, as root; their profiles are the units' alone.
# The second process of the program is judged: by then there are tables of its files.
ran_without() {
	local p said=
	/booted/chain 60 rest &
	chain=$!
	trifold run --frequency 199 --no-page --output /run/run.folded &
	run=$!
	within 60 trifold status >/dev/null 2>&1
	sleep 8
	ln /booted/chain /booted/later
	/booted/later 60 rest &
	later=$!
	sleep 6
	for p in $(pgrep trifold-); do
		said+=$(cat "/proc/$p/attr/current" 2>/dev/null)$'\n'
	done
	kill -INT $run && wait $run
	kill $chain $later
	rm /booted/later
	sed -n 's/^later;/chain;/p' /run/run.folded >/run/later.folded
	[ "$(sort -u <<<"$said" | grep .)" = unconfined ] && has_chain /run/later.folded
}

# A program under a profile of its own, which lets nobody trace it but itself and who
# has no profile, as Docker's does: loaderd opens its files for symbolizerd.
boxed_is_profiled() {
	cat >/run/boxed.profile <<-END
		abi <abi/3.0>,
		profile boxed flags=(attach_disconnected,mediate_deleted) {
		  file, network, capability, signal,
		  ptrace (trace,read,tracedby,readby) peer=boxed,
		}
	END
	apparmor_parser -r /run/boxed.profile && cp /booted/chain /run/boxed || return 1
	aa-exec -p boxed -- /run/boxed 300 rest &
	boxed=$!
	beside
	kill $boxed
	apparmor_parser -R /run/boxed.profile
	grep '^boxed;' /run/out.folded | sed 's/^boxed;/chain;/' >/run/boxed.folded
	has_chain /run/boxed.folded
}

# a spool is made, filled and locked, at its own place and then at one of local/
spooled() {	# directory
	printf '[export]\nendpoint = http://127.0.0.1:1\nspool = %s\n' "$1" \
		>/etc/trifold/trifold.conf.d/z-spool.conf
	systemctl restart trifold-config trifold-exporterd && within 60 has_batch "$1" && return
	systemctl status --no-pager -n 15 trifold-exporterd
	return 1
}

not_spooled() {
	rm -f /etc/trifold/trifold.conf.d/z-spool.conf
	systemctl restart trifold-config trifold-exporterd && rm -rf /var/lib/trifold-exporterd/* /srv/spool/*
}

has_batch() {
	find "$1" -type f -size +0 | grep .
}

spooled_elsewhere() {
	local unit=/run/systemd/system/trifold-exporterd.service.d
	local rule=/etc/apparmor.d/local/trifold-exporterd
	command install -d -m 700 -o trifold-exporterd /srv/spool && mkdir -p $unit
	printf '[Service]\nReadWritePaths=/srv/spool\n' >$unit/spool.conf
	echo 'owner /srv/spool/{,**} rwk,' >$rule
	systemctl daemon-reload && systemctl reload apparmor && spooled /srv/spool
	set -- $?
	not_spooled || return 1
	: >$rule
	rm -r $unit
	systemctl daemon-reload && systemctl reload apparmor && rm -r /srv/spool && return "$1"
}

# daemon: the label that its process has now
label_now() {
	labels "$1" | sed 's/ (enforce)$//'
}

pid_of() {
	systemctl show -P MainPID "trifold-$1"
}

standin() {	# PID of another daemon, label, what it may
	OTHER=$1 /booted/standin "${@:2}" >/run/standin.said
	set -- $?
	grep -e '^#' -e WRONG /run/standin.said
	return "$1"
}

# each attempt works without a profile, and is refused with one
standins() {
	local hub exporter
	hub=$(pid_of symbolizerd) exporter=$(pid_of exporterd)
	standin "$hub" - &&
		standin "$exporter" "$(label_now symbolizerd)" &&
		standin "$hub" "$(label_now exporterd)" resolv tcp udp netlink &&
		standin "$hub" "trifold-start//&trifold-viewer" tcp &&
		standin "$hub" trifold-config config
}

denials() {
	journalctl -b --no-pager -o cat --grep 'apparmor="DENIED"'
}

# what AppArmor refused in this boot, but for the stand-in and config_confined()
denied_ours() {
	denials | grep trifold | grep -v -e 'comm="standin"' -e 'profile="trifold-config" .*comm="cat"'
}

nothing_refused() {
	! denied_ours
}

# the kernel's log has what was refused
refusals_are_seen() {
	denials | grep -m 1 'profile="trifold-.*comm="standin"'
}

no_profile() {
	! grep trifold /sys/kernel/security/apparmor/profiles &&
		! find /etc/apparmor.d /var/cache/apparmor -name '*trifold*' | grep .
}
