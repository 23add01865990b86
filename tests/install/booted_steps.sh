#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What test_booted.sh does inside the booted system: functions `phase_N`, one for
# each time that it comes up, of steps `check NAME COMMAND...`.  TAP on standard
# output.  /booted holds this file, packages (new/, next/), chain and receiver.py.
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root
state=/var/lib/booted
daemons="loaderd symbolizerd exporterd"
users="trifold-config trifold-loaderd trifold-symbolizerd trifold-exporterd trifold-viewer"
mkdir -p $state
said=/run/booted.said
# shellcheck source=tests/install/booted_apparmor.sh
[ ! -e /booted/booted_apparmor.sh ] || . /booted/booted_apparmor.sh

check() {	# name, command...
	local name=$1
	shift
	if "$@" >$said 2>&1; then
		grep '^# ' $said
		echo "ok - $name"
		return 0
	fi
	tail -n 25 $said | sed 's/^/# /'
	echo "not ok - $name"
	return 1
}

# until a command succeeds; its last words are shown if it does not
within() {	# seconds, command...
	local end=$((SECONDS + $1))
	shift
	until "$@" >/run/booted.within 2>&1; do
		if [ $SECONDS -ge $end ]; then
			cat /run/booted.within
			return 1
		fi
		sleep 0.3
	done
	cat /run/booted.within
}

install() {	# directory below /booted
	apt-get -y -q --no-install-recommends install /booted/"$1"/*.deb
}

# --- what is there

has_users() {
	local u
	for u in $users; do
		getent passwd "$u" | grep ':/usr/sbin/nologin$' || return 1
	done
	getent group trifold
}

dirs_are_private() {
	local d
	for d in lib cache; do
		[ "$(stat -c '%a %U %G' /var/$d/trifold-exporterd)" = \
			"700 trifold-exporterd trifold-exporterd" ] || return 1
	done
}

nothing_runs() {
	local d
	! pgrep -a trifold || return 1
	for d in $daemons; do
		! systemctl is-active "trifold-$d" || return 1
	done
}

not_enabled() {
	! systemctl is-enabled trifold.target && nothing_runs
}

paranoid() {
	cat /proc/sys/kernel/perf_event_paranoid
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]
}

# sampler and its like; systemd has its own programs, on cgroups and for file systems
no_bpf() {
	! bpftool prog show | grep -E '^[0-9]+: (perf_event|syscall|tracing|raw_tracepoint|lsm)' |
		grep -v ' name restrict_filesy'
}

no_socket() {
	! ls -d /run/trifold/*.sock
}

let_go() {
	nothing_runs && no_bpf && no_socket
}

# what a package had; users stay, as Debian has it
purged() {
	! find / -xdev \( -path /booted -o -path /var/log -o -path /var/cache -o -path /proc \
		-o -path /sys \) -prune -o -name '*trifold*' -print | grep . || return 1
	! find /run /etc/systemd -name '*trifold*' ! -path '/run/systemd/transient/*' | grep . &&
		! systemctl list-units --all --plain --no-legend 'trifold*' | grep . &&
		! systemctl list-unit-files --no-legend 'trifold*' | grep .
}

# --- profiles

# FILE: of the samples of chain, nearly all have main and its ten functions in a row,
# below _start.  Tables take their time on an emulated CPU, and the first samples wait
# for none: these say so.
has_chain() {
	awk -v want="main$(printf ';chain_%d' 1 2 3 4 5 6 7 8 9 10)" '
		!/^chain;/ { next }
		/stack ends: (file_unknown|no_table)/ { early += $NF; next }
		{ all += $NF; chain = index($0, want) }
		chain && index($0, ";_start;") { whole += $NF; next }
		{ print $0 }
		END { print "# " whole + 0 " of " all + 0 " samples have the whole chain; " early + 0 \
				" came before a table"
			exit !(whole >= 40 && whole >= 0.85 * all) }' "$1"
}

recorded() {	# option...
	rm -f /run/out.folded
	trifold record --frequency 199 --output /run/out.folded "$@" && has_chain /run/out.folded
}

beside() {
	rm -f /run/out.folded
	trifold record --duration 6 --output /run/out.folded && has_chain /run/out.folded
}

doctor() {
	local status
	trifold doctor
	status=$?
	trifold doctor --json | tr '}' '\n' |
		sed -n 's/.*"name": *"\([^"]*\)".*"state": *"less".*/# less: \1/p'
	[ $status -le 1 ]
}

# key: a number of the account
sum() {
	trifold status --json | tr ',{' '\n' | sed -n "s/^ *\"$1\": *\([0-9]*\).*/\1/p" | head -n 1
}

agrees() {
	trifold status || return 1
	[ "$(sum taken)" -gt "${1:-0}" ] && [ "$(sum difference)" = 0 ]
}

receive() {
	mkdir -p /run/receiver
	python3 /booted/receiver.py --dir /run/receiver --port 4318 &
	receiver=$!
	within 20 [ -e /run/receiver/port ]
}

received() {
	local f
	rm -f /run/all.folded
	for f in /run/receiver/*.body; do
		cp "$f" /run/one.otlp &&
			trifold convert /run/one.otlp /run/one.folded && cat /run/one.folded >>/run/all.folded
	done
	[ -s /run/all.folded ] && has_chain /run/all.folded
}

# --- units

active() {
	local d
	for d in $daemons; do
		systemctl is-active --quiet "trifold-$d" || {
			systemctl status --no-pager -n 15 "trifold-$d"
			return 1
		}
	done
}

never_root() {
	local d u
	for d in $daemons; do
		u=$(ps -o user:32= -p "$(systemctl show -P MainPID "trifold-$d")")
		[ "$u" = "trifold-$d" ] || { echo "$d: $u"; return 1; }
	done
	! pgrep -u root -a 'trifold-'
}

status_text() {
	local d t
	for d in $daemons; do
		t=$(systemctl show -P StatusText "trifold-$d")
		echo "# $d: $t"
		[ -n "$t" ] || return 1
	done
	systemctl show -P StatusText trifold-symbolizerd | grep 'taken [1-9].*; loaderd, exporterd, ' &&
		systemctl show -P StatusText trifold-exporterd | grep 'last answer: 200.*4318/'
}

no_complaints() {	# a pattern that is none
	! journalctl -b -p warning --no-pager -o short-monotonic -u 'trifold*' | grep -v -e '^-- ' ${1:+-e "$1"}
}

is_new() {	# daemon, the PID before
	local pid
	pid=$(systemctl show -P MainPID "trifold-$1")
	[ "$pid" != 0 ] && [ "$pid" != "$2" ] && systemctl is-active --quiet "trifold-$1"
}

comes_back() {	# daemon
	local pid taken
	pid=$(systemctl show -P MainPID "trifold-$1")
	[ "${pid:-0}" -gt 1 ] && kill -KILL "$pid" && within 20 is_new "$1" "$pid" && within 20 active &&
		taken=$(sum taken) && within 20 agrees "${taken:-0}"
}

# What is taken while loaderd is dead, for a second at least, arrives.
goes_on() {
	local pid lost
	pid=$(systemctl show -P MainPID trifold-loaderd)
	lost=$(sum lost)
	echo "# $(systemctl show -P NFileDescriptorStore trifold-loaderd) descriptors are kept"
	kill -KILL "$pid" && within 20 is_new loaderd "$pid" && within 20 active && within 20 agrees "$(sum taken)" || return 1
	sleep 3		# until it has taken over
	echo "# lost: $(($(sum lost) - lost))"
	[ "$(($(sum lost) - lost))" -le 50 ] && agrees
}

group_reads() {
	useradd -M -G trifold member && useradd -M stranger || return 1
	runuser -u member -- trifold status || return 1
	! runuser -u stranger -- trifold status
}

upgraded() {
	local pid
	pid=$(systemctl show -P MainPID trifold-loaderd)
	load
	within 20 agrees "$(sum taken)"
	echo "# taken before: $(sum taken), lost $(sum lost)"
	install next && [ "$(dpkg-query -W -f '${Version}' trifold | grep -c '+next$')" = 1 ] &&
		within 10 is_new loaderd "$pid" && within 10 active && within 20 agrees 100
	set -- $?
	echo "# after: $(sum taken), lost $(sum lost):"
	trifold status --json | tr -d '\n' | grep -o '"lost_by": *{[^}]*}' | grep -o '"[a-z_]*": *[1-9][0-9]*' | sed "s/^/# /"
	kill "$chain"
	return "$1"
}

# --- the configuration, while they run

# An emulated CPU is so slow that samples alone take the share of two percent.
configured() {	# frequency, more of [export]
	printf '[export]\nendpoint = http://127.0.0.1:4318\n%b[sampling]\nfrequency = %s\n' "${2:-}" "$1" \
		>/etc/trifold/trifold.conf.d/test.conf
	printf '[limits]\ncpu_share = 100\n' >>/etc/trifold/trifold.conf.d/test.conf
}

at_frequency() {
	pgrep -af "trifold-loaderd .*--frequency=$1( |\$)" && agrees 0
}

reloaded() {
	local hub
	hub=$(systemctl show -P MainPID trifold-symbolizerd)
	configured 49 && systemctl reload trifold-config && within 20 at_frequency 49 &&
		[ "$(systemctl show -P MainPID trifold-symbolizerd)" = "$hub" ]
}

# systemd 257 lets exporterd begin anew all the same, with what it had; 252 does not
mistaken() {
	local loaderd hub
	loaderd=$(systemctl show -P MainPID trifold-loaderd)
	hub=$(systemctl show -P MainPID trifold-symbolizerd)
	configured often
	! systemctl reload trifold-config || return 1
	journalctl -b --no-pager -u trifold-config | grep 'test.conf:4: ' && at_frequency 49 &&
		[ "$(systemctl show -P MainPID trifold-loaderd)" = "$loaderd" ] &&
		[ "$(systemctl show -P MainPID trifold-symbolizerd)" = "$hub" ] && within 20 active
}

# a secret that exporterd alone gets
credential() {
	local unit=/etc/systemd/system/trifold-exporterd.service.d
	mkdir -p $unit
	echo 'authorization=Bearer%20of-the-test' >/booted/secret
	chmod 600 /booted/secret
	printf '[Service]\nLoadCredential=headers:/booted/secret\n' >$unit/test.conf
	configured 97 'headers_file = /run/credentials/trifold-exporterd.service/headers\n'
	systemctl daemon-reload && systemctl restart trifold-config trifold-exporterd &&
		within 20 grep -q '"Bearer of-the-test"' /run/receiver/requests.jsonl &&
		! grep -rl 'of-the-test' /run/trifold-config /proc/[0-9]*/environ /proc/[0-9]*/cmdline
}

page() {	# path, key
	python3 - "$@" <<-'END'
		import sys, urllib.request
		r = urllib.request.Request("http://127.0.0.1:4328" + sys.argv[1])
		if len(sys.argv) > 2:
		    r.add_header("Authorization", "Bearer " + sys.argv[2])
		print(urllib.request.urlopen(r, timeout=60).read().decode())
	END
}

shows_samples() {	# key
	page /api/v1/info "$1" | grep '"samples": *[1-9]'
}

viewed() {
	local key
	systemctl start trifold-viewer.socket && ! systemctl is-active trifold-viewer &&
		page / | grep -q '<html' && systemctl is-active trifold-viewer || return 1
	key=$(journalctl -b --no-pager -u trifold-viewer | sed -n 's/.*#key=\([^ ]*\).*/\1/p' | tail -n 1)
	[ -n "$key" ] && within 20 shows_samples "$key" && ! page /api/v1/info &&
		systemctl stop trifold-viewer.socket trifold-viewer
}

# restart, stop and start return when all have ended, or are ready; the viewer runs, too
restarted() {
	systemctl start trifold-viewer && systemctl restart trifold.target && active &&
		systemctl is-active trifold-viewer trifold-viewer.socket
}

stopped() {
	systemctl stop trifold.target && let_go && ! systemctl is-active trifold-viewer.socket
}

begun() {
	systemctl start trifold.target && active
}

# says what runs, and what to do
refused() {	# command...
	local said
	said=$("$@" 2>&1) && return 1
	echo "$said"
	grep -q "systemd's units run trifold already.*systemctl stop trifold.target" <<<"$said"
}

one_at_a_time() {
	refused trifold run --duration 1 && refused runuser -u member -- trifold run &&
		refused runuser -u stranger -- trifold run && trifold run --help >/dev/null &&
		trifold doctor | grep "systemd's units run trifold" && active && within 20 agrees 0
}

# not beside one that was started by hand
run_stays() {
	local pid status
	# the configuration names a file that the unit alone has
	: >/run/empty.conf
	trifold run --config /run/empty.conf --no-page --output /run/ran.folded >/run/ran 2>&1 &
	pid=$!
	within 20 agrees 0 && systemctl start trifold.target && agrees 0 &&
		! systemctl is-active trifold-loaderd trifold-symbolizerd trifold-exporterd &&
		journalctl -b --no-pager --grep 'Assertion failed.*trifold-(loader|status)\.socket'
	status=$?
	sed 's/^/# /' /run/ran
	kill -INT $pid
	wait $pid && [ "$status" = 0 ] && systemctl stop trifold.target && let_go
}

no_cycle() {
	! journalctl -b --no-pager --grep 'order(ing)? .*cycl'
}

# a hub that needs more memory than its unit allows
limited() {
	local pid taken
	pid=$(systemctl show -P MainPID trifold-symbolizerd)
	taken=$(sum taken)
	systemctl set-property --runtime trifold-symbolizerd.service MemoryMax=1M
	within 30 journalctl -b --no-pager --grep 'trifold-symbolizerd.service: .*oom-kill'
	set -- $?
	systemctl set-property --runtime trifold-symbolizerd.service MemoryMax=
	[ "$1" = 0 ] && within 20 is_new symbolizerd "$pid" && within 20 active && within 20 agrees "$taken"
}

set_up() {
	receive && configured 97 && trifold check-config
}

# --- the steps

load() {
	/booted/chain 900 rest &
	chain=$!
}

phase_1() {
	check "it comes up" systemctl is-active basic.target
	check "the packages install" install new || return
	check "systemd-sysusers made their users" has_users
	check "systemd-tmpfiles made the exporter's directories" dirs_are_private
	check "nothing is enabled or started by that" not_enabled
	check "AppArmor enforces the profiles" profiles_enforced
	check "CAP_PERFMON may sample now" paranoid
	check "doctor finds nothing that cannot work" doctor
	check "record of a command has its functions" recorded -- /booted/chain 3
	check "and leaves no process, program or socket" let_go
	check "so does trifold run, without a profile" ran_without
	check "the configuration's step has its profile" config_confined
	mkdir -p /etc/trifold/trifold.conf.d
	check "a receiver, and its endpoint in the configuration" set_up
	load
	check "systemctl enable --now trifold.target" systemctl enable --now trifold.target
	if ! check "all three daemons are active" within 20 active; then
		journalctl -b -p warning --no-pager -o short-monotonic -u 'trifold*' |
			tail -n 12 | sed 's/^/# /'
		kill "$chain" "$receiver"
		ending
		return
	fi
	check "each as its own user, none as root" never_root
	check "those that parse or send have a profile" labelled
	check "its BPF programs are loaded" eval '! no_bpf'
	check "systemctl status has a line of each" within 10 status_text
	check "status agrees" within 20 agrees
	check "record beside it has the functions" beside
	check "also those of a program under a profile of its own" boxed_is_profiled
	check "the receiver got them" within 20 received
	check "they had no reason to warn" no_complaints
	check "a reload changes the frequency, and the account agrees" reloaded
	check "a reload with a mistake fails, and changes nothing" mistaken
	check "a credential's header gets to the receiver, and nowhere else" credential
	check "the first browser starts the viewer, and its page has samples" viewed
	check "the viewer has its profile" viewer_labelled
	check "a spool is filled" spooled /var/lib/trifold-exporterd
	check "also one that a rule in local/ names" spooled_elsewhere
	kill "$chain"
	check "a restart returns when it is done" restarted
	check "systemd found no cycle" no_cycle
	check "a member of the group reads status, and nobody else" group_reads
	check "trifold run says that the units run" one_at_a_time
	for d in symbolizerd exporterd; do
		check "$d is killed, and comes back" comes_back "$d"
	done
	check "so does loaderd, and sampling goes on while it is away" goes_on
	check "with the same profiles" labelled
	check "a hub above its memory limit ends, and another takes over" limited
	check "a stop returns when no process, BPF program or socket is left" stopped
	check "the units do not start beside trifold run" run_stays
	check "a start returns when all three daemons are active" begun
	check "AppArmor alone refuses what no daemon may do" standins
	check "which the kernel's log has" refusals_are_seen
	check "it refused nothing else" nothing_refused
	kill "$receiver"
	touch /run/booted.rebooting
	systemctl reboot --no-block 2>/dev/null	# "Failed to connect to bus", but it does
}

phase_2() {
	# not for so many seconds: while the guest waits for its disk its clock runs ahead
	systemctl is-system-running --wait >/dev/null
	check "after a reboot all three daemons are active" within 20 active
	check "with no cycle" no_cycle
	check "and have their profiles" labelled
	check "and status agrees" within 20 agrees
	# the receiver was started by hand, and ended with the system
	check "no warnings but that nobody receives" no_complaints 'cannot send to http://127\.0\.0\.1:4318/'
	check "an upgrade restarts what runs, under load" upgraded
	check "with their profiles" labelled
	systemctl start trifold.target
	check "they are active before the end" within 20 active
	ending
}

ending() {
	check "it is removed" apt-get -y -q remove trifold trifold-viewer trifold-doc
	check "nothing runs on" within 20 let_go
	check "AppArmor refused nothing since the start" nothing_refused
	# what this file made
	rm -rf /etc/trifold/trifold.conf.d /etc/systemd/system/trifold-exporterd.service.d
	check "it is purged" apt-get -y -q purge trifold trifold-viewer trifold-doc
	check "nothing is left but users" purged
	check "nor a profile in the kernel" no_profile
	echo "# steps: done"
}

# selinux_steps.sh has the functions alone
if [ "$0" = "${BASH_SOURCE[0]}" ]; then
	phase=$(($(cat $state/phase 2>/dev/null) + 1))
	echo $phase >$state/phase
	echo "# phase $phase: Linux $(uname -r), $(systemctl --version | head -n 1)"
	phase_$phase
fi
