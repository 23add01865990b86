#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What long_selinux.sh does inside the booted system, with the functions of
# booted_steps.sh.  TAP on standard output.  No rule of the policy keeps a denial
# secret here (semodule -DB).
. /booted/booted_steps.sh
audit=/var/log/audit/audit.log
unconfined=unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023
labs=/usr/libexec/standin	# a directory whose files may be run

# --- domains

# process, its domain
is_in() {
	ps -eo label:80,pid,comm,args | awk -v name="$1" -v want=":$2:" '
		$3 == name { n++; if (!index($1, want)) { bad++; print } }
		END { exit !(n && !bad) }' || { ps -eo label:80,pid,args | grep "$1"; return 1; }
}

in_their_domains() {
	is_in trifold-loaderd trifold_loaderd_t && is_in trifold-opener trifold_loaderd_t &&
		is_in trifold-symboli trifold_symbolizerd_t && is_in trifold-exporte trifold_exporterd_t
}

# It ends before anybody can look: a program beside it says where it is.
config_is_in() {
	local unit=/etc/systemd/system/trifold-config.service.d
	mkdir -p $unit
	printf '[Service]\nEnvironment=LC_ALL=C\nExecStartPost=/bin/cat /proc/self/attr/current\n' >$unit/test.conf
	systemctl daemon-reload && systemctl restart trifold-config &&
		journalctl -b -o cat --no-pager -u trifold-config | grep -a ':trifold_config_t:'
	set -- $?
	rm -r $unit
	systemctl daemon-reload
	return "$1"
}

# path, type
has_type() {
	[ "$(stat -c %C "$1")" = "system_u:object_r:$2:s0" ] || { stat -c '%n %C' "$1"; return 1; }
}

labelled() {
	local d
	for d in start loaderd symbolizerd exporterd viewer; do
		has_type "/usr/libexec/trifold/trifold-$d" "trifold_${d}_exec_t" || return 1
	done
	has_type /usr/bin/trifold bin_t && has_type /etc/trifold/trifold.conf trifold_conf_t &&
		has_type /var/lib/trifold-exporterd trifold_spool_t &&
		has_type /var/cache/trifold-exporterd trifold_cache_t &&
		has_type /run/trifold-config trifold_words_t && has_type /run/trifold-config/viewer trifold_words_t &&
		has_type /run/trifold trifold_runtime_t && has_type /run/trifold/loader.sock trifold_loader_sock_t &&
		has_type /run/trifold/export.sock trifold_export_sock_t &&
		has_type /run/trifold/status.sock trifold_status_sock_t
}

# What ours were denied, or others of ours, from a line of the log on.  That a daemon starts
# with a clean environment and no inherited signals is wanted, and kept quiet otherwise.
denied_from=1
denials() {
	tail -n +$denied_from $audit |
		grep -E '^type=(AVC|USER_AVC|SELINUX_ERR)' | grep trifold_ |
		grep -v -E 'denied  \{ (noatsecure|siginh) \} .*:trifold_start_t:.*tclass=process'
}

no_denials() {
	sleep 2		# auditd writes what it has
	denials >/run/denials
	# more than that, and it is the log that does not work
	[ "$(tail -n +$denied_from $audit | grep -c 'noatsecure.*trifold_')" -ge "${1:-0}" ] || {
		echo "the log has none of the denials that there are"
		return 1
	}
	! cat /run/denials | grep .
}

# --- what uses them

# A command as a unit of its own, started by systemd: there is no D-Bus for systemd-run.
unit() {	# NAME, property..., --, command...
	local file=/run/systemd/system/$1.service name=$1
	shift
	printf '[Service]\nType=oneshot\n' >"$file"
	while [ "$1" != -- ]; do
		echo "$1" >>"$file"
		shift
	done
	shift
	echo "ExecStart=$*" >>"$file"
	systemctl daemon-reload && systemctl start ${no_block:+--no-block} "$name"
}

member_reads() {
	useradd -M -G trifold member &&
		unit member SELinuxContext=$unconfined User=member -- /usr/bin/trifold status
	set -- $?
	journalctl -b --no-pager -o cat -u member
	return "$1"
}

# The same programs without the units: nothing of that is in a domain of ours.
by_hand() {
	local n
	systemctl stop trifold.target && within 30 nothing_runs || return 1
	no_block=1 unit by-hand SELinuxContext=$unconfined -- \
		/usr/bin/trifold record --frequency 199 --output /root/by-hand.folded -- /booted/chain 6
	within 20 pgrep trifold-loaderd && is_in trifold-loaderd unconfined_t &&
		is_in trifold-symboli unconfined_t
	n=$?
	within 40 eval '! pgrep trifold'
	journalctl -b --no-pager -o cat -u by-hand
	[ $n = 0 ] && has_chain /root/by-hand.folded
}

# files of many types, and processes that come and go
busy() {
	local d n=0
	for d in /tmp /var/tmp /opt /srv /home /root /usr/local/bin /var/lib /dev/shm /run /etc /var/log; do
		cp /booted/chain "$d/chain.$n" && nice "$d/chain.$n" 60 &
		n=$((n + 1))
	done
	while sleep 1; do
		find /etc /usr/share -name '*x' >/dev/null
	done &
	busy=$!
}

a_minute() {
	local taken
	taken=$(sum taken)
	busy
	# at the start all files are new: more than the share of an emulated CPU for them
	sleep 25
	rm -f /run/receiver/*.body
	sleep 40
	kill "$busy"
	within 20 agrees $((taken + 1500))
	set -- $?
	echo "# taken $(sum taken), delivered $(sum delivered), lost $(sum lost)"
	return "$1"
}

# by the name of a host, with TLS and a certificate; while it is away, batches wait in the spool
tls_receiver() {
	mkdir -p /run/tls
	python3 /booted/receiver.py --dir /run/tls --port 4319 --tls /booted/cert.pem /booted/key.pem &
	tls=$!
	within 20 [ -e /run/tls/port ]
}

spools() {
	mkdir -p /etc/ssl/certs && cp /booted/cert.pem /etc/ssl/certs/trifold-test.pem &&
		restorecon -R /etc/ssl || return 1
	cat >/etc/trifold/trifold.conf.d/test.conf <<-'END'
		[export]
		endpoint = https://localhost:4319
		ca = /etc/ssl/certs/trifold-test.pem
		spool = /var/lib/trifold-exporterd
		[sampling]
		frequency = 49
	END
	systemctl reload trifold-config &&
		within 60 eval 'ls /var/lib/trifold-exporterd | grep .' &&
		tls_receiver && within 120 eval 'ls /run/tls/*.body' &&
		within 300 eval '! ls /var/lib/trifold-exporterd | grep .'
}

# --- the stand-in

# Of its attempts, those that a domain may make; all others must be refused.
may() {
	case $1 in
	start)		echo "read-passwd read-words" ;;
	config)		echo "read-conf read-words make-words" ;;
	loaderd)	echo "read-passwd read-home read-conf read-words read-log read-init-environ
			hub-as-loaderd bpf perf-event" ;;
	symbolizerd)	;;
	exporterd)	echo "read-passwd read-conf make-spool make-cache socket-tcp socket-udp socket-route
			connect-4318 connect-443 hub-as-exporterd" ;;
	viewer)		echo "hub-as-reader" ;;
	# nobody at all may change the domain of a process that runs
	control)	sed -n '/ domain-now /d; s/^standin: \([^ ]*\) .*/\1/p' /run/control ;;
	esac | tr -s ' \t\n' '\n'
}

# The stand-in takes the place of a program of ours, with the file's type, and root with
# every capability starts it: nothing but the policy stands in its way.
stand_in() {	# start, config, a daemon, or control
	local file=$labs/standin-$1 type=trifold_${1}_exec_t words=() how=()
	case $1 in
	start)		;;
	config)		type=bin_t
			how=(SELinuxContext=system_u:system_r:trifold_config_t:s0) ;;
	control)	type=bin_t
			how=(SELinuxContext=$unconfined) ;;
	*)		cp /usr/libexec/trifold/trifold-start $labs/ &&
			chcon -t trifold_start_exec_t $labs/trifold-start
			file=$labs/trifold-$1 words=($labs/trifold-start "$1") ;;
	esac
	[ -n "${words[0]}" ] || words=("$file")
	cp /booted/standin "$file" && printf '%64s\n' "PIDS $(for d in $daemons; do
		systemctl show -P MainPID "trifold-$d"; done | paste -sd' ')" >>"$file" && chcon -t "$type" "$file" || return 1
	unit "standin-$1" "${how[@]}" -- "${words[@]}"
	journalctl -b --no-pager -o cat -u "standin-$1" | grep '^standin: ' | grep -v ' end$' >"/run/$1"
	[ -s "/run/$1" ] && journalctl -b --no-pager -o cat -u "standin-$1" | grep -q '^standin: end$'
}

# Each attempt is made, and ends as it must.
judge() {
	local name said want bad=0
	stand_in "$1" || { journalctl -b --no-pager -u "standin-$1" | tail -n 15; return 1; }
	while read -r _ name said; do
		# trifold-start may, as loaderd's user; root would need CAP_KILL
		[ "$1 $name" != "start signal-loaderd" ] || continue
		want=no
		! may "$1" | grep -qx -e "$name" || want=ok
		case $want$said in
		okok|noEACCES|noEPERM)	;;
		*)	echo "$1: $name: $said, and not $want"
			bad=1 ;;
		esac
	done <"/run/$1"
	echo "# $1: $(grep -cvw ok "/run/$1") of $(grep -c . "/run/$1") attempts refused"
	return $bad
}

stand_ins() {
	local d
	mkdir -p $labs
	setsebool allow_execmem on	# for unconfined_t
	# the stand-in is root without CAP_DAC_OVERRIDE: owners and modes must not matter
	chmod 666 /run/trifold/*.sock
	chmod 777 /run/trifold /run/trifold-config /var/{lib,cache}/trifold-exporterd
	check "the stand-in can do all of it where no policy of ours holds" judge control
	[ "$(grep -c . /run/control)" -ge 60 ] || echo "not ok - the stand-in makes its attempts"
	for d in start config loaderd symbolizerd exporterd viewer; do
		check "the stand-in in $d's domain does what that may, and is refused all else" judge $d
	done
	chmod 755 /run/trifold /run/trifold-config
	chmod 700 /var/{lib,cache}/trifold-exporterd
	check "all three daemons are active after it" within 20 active
}

echo "# Linux $(uname -r), $(systemctl --version | head -n 1)"
check "SELinux enforces" grep -q 1 /sys/fs/selinux/enforce
load
check "a receiver, and its endpoint in the configuration" eval "mkdir -p /etc/trifold/trifold.conf.d && set_up"
check "systemctl enable --now trifold.target" systemctl enable --now trifold.target
check "all three daemons are active" within 30 active
check "each process has its domain" within 20 in_their_domains
check "the configuration is read in a domain of its own" config_is_in
check "each file has its type" labelled
check "status agrees" within 20 agrees
check "a minute of load, and the account agrees" a_minute
check "the receiver got the known program's functions" within 20 received
check "record beside it has them" beside
check "a member of the group, who is unconfined, reads status" member_reads
check "a reload changes the frequency, and the account agrees" reloaded
check "a reload with a mistake fails, and changes nothing" mistaken
check "a credential's header gets to the receiver" credential
check "the first browser starts the viewer, and its page has samples" viewed
for d in $daemons; do
	check "$d is killed, and comes back" comes_back "$d"
done
check "exporterd finds its receiver by name, trusts a certificate, and uses its spool" spools
check "nothing was denied to ours, or because of ours" no_denials 3
stand_ins
denied_from=$(($(grep -c . $audit) + 1))
check "without the units, nothing runs in their domains, and records" by_hand
check "nothing was denied to ours by then" no_denials
kill "$chain" "$receiver" "$tls"
echo "# steps: done"
