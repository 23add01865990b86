#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command as people use it, with the real daemons: exit statuses, owners of
# the output, what is left behind.  Root; has a /run of its own, so that a
# trifold that runs here is not touched.  Usage: test_cli.sh [BUILD-DIR]
set -u

cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" != 0 ]; then
	echo "ok - the command # SKIP needs root"
	exit 0
fi
if [ "${TRIFOLD_OWN_RUN:-}" != 1 ]; then
	TRIFOLD_OWN_RUN=1 exec unshare -m sh -c \
		'mount -t tmpfs none /run && exec "$@"' x "$0" "$@"
fi

T=$(realpath "${1:-build}")/bin/trifold
dir=$(mktemp -d)
chmod 755 "$dir"
cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# check NAME COMMAND...: the command is true
check() {
	local name=$1
	shift
	if "$@" >>log 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' log
		failed=1
	fi
	: >log
}

# exits STATUS COMMAND...
exits() {
	local want=$1 got
	shift
	"$@"
	got=$?
	echo "status $got, want $want: $*"
	[ $got = "$want" ]
}

# COMMAND... is true at last; how long only says when a test that fails does so
until_it() {
	for _ in $(seq 1200); do
		"$@" >>log 2>&1 && return
		sleep 0.1
	done
	echo "in vain: $*" >>log
}

has_line() {
	grep -q "$1" "$2"
}

# its daemons, but for the children of those
daemons() {
	pgrep -P $pid -f 'trifold-[a-z]* --uid'
}

gone() {
	! kill -0 "$@"
}

# no file, and no daemon whose parent is gone
nothing_left() {
	[ ! -e /run/trifold ] && ! ls | grep '\.tmp$' && ! ps -eo ppid,stat,args |
		awk '$1 == 1 && $2 !~ /Z/' | grep ' trifold-[a-z]* --uid'
}


# says TEXT COMMAND...: status 2 and this text
says() {
	local text=$1
	shift
	exits 2 "$@" 2>said && grep -F "$text" said
}

check "a word that is nearly a command" says 'did you mean `trifold record`?' "$T" recrod
check "an option that is nearly one" says 'did you mean --duration?' "$T" record --durration 1
check "an endpoint that is none" says 'needs http://HOST:PORT' "$T" run --endpoint foo
no_command() {
	exits 127 "$T" record --output none.html -- "$1" && [ ! -e none.html ]
}
check "a command that is nowhere: no profile" no_command /nonexistent
check "the same by name" no_command no-such-command
check "version, as a command" exits 0 "$T" version
check "a wrong option is status 2" exits 2 "$T" record --nope
check "no duration and no command is status 2" exits 2 "$T" record
check "an ending without a format is status 2" \
	exits 2 "$T" record --duration 1 --output x.png
check "without root it says what to do" exits 1 \
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T" run
check "status without a trifold is status 1" exits 1 "$T" status

check "record gives the command's status" \
	exits 7 "$T" record --output a.html -- sh -c 'exit 7'
check "record gives the command's signal" \
	exits 137 "$T" record --output a.html -- sh -c 'kill -9 $$'
check "a command is sampled at 992 Hz" grep -q '"frequency":992,' a.html
check "record runs for a time" exits 0 "$T" record --duration 0.3 --output t.html
check "that is sampled at 99 Hz" grep -q '"frequency":99,' t.html
check "the file is its owner's only" [ "$(stat -c %a a.html)" = 600 ]
check "nothing is left" nothing_left

burn='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'
for f in html folded pb.gz otlp; do
	check "a busy command is in .$f" \
		exits 0 "$T" record --frequency 97 --output "b.$f" -- sh -c "$burn"
done
check "folded stacks name the shell" grep -q '^\(ba\|da\)\?sh;.* [0-9]*$' b.folded
check "OTLP names the shell" grep -q sh b.otlp
check "pprof is gzip" gzip -t b.pb.gz

mkdir own closed
chown 12345:12345 own
chmod 700 closed
check "the file is the sudo caller's" env SUDO_UID=12345 SUDO_GID=12345 \
	"$T" record --duration 0.3 --output own/a.folded
check "by uid and gid" [ "$(stat -c %u:%g own/a.folded)" = 12345:12345 ]
check "root's rights are not lent to the sudo caller" exits 1 \
	env SUDO_UID=12345 SUDO_GID=12345 \
	"$T" record --duration 0.3 --output closed/a.folded
ln -s /etc/hostname link.html
check "a link is not followed" \
	exits 1 "$T" record --duration 0.3 --output link.html
check "and is still there" [ -L link.html ]
check "a device is not replaced" \
	exits 1 "$T" record --duration 0.3 --format html --output /dev/null
check "and is still there" [ -c /dev/null ]
check "nothing is left" nothing_left

# one that runs, and what others may do to it
"$T" run --output c.html 2>err &
pid=$!
# a signal before it profiles would be a failure
until_it has_line 'until Ctrl-C' err
until_it sh -c '"$0" status >status.txt' "$T"
check "status prints the accounts" grep -q 'under way .*: agrees' status.txt
check "a second one is refused" exits 1 "$T" run --output d.html
another() {
	local now
	now=$(pgrep -P $pid -f "trifold-$1 --uid") && [ "$now" != "$2" ]
}
for d in symbolizerd exporterd loaderd viewer; do
	died=$(pgrep -P $pid -f "trifold-$d --uid")
	kill -KILL "$died"
	until_it another $d "$died"
done
check "daemons that died are running again" [ "$(daemons | wc -l)" = 4 ]
# the last line says how busy the CPUs were if it was told how often they are sampled: each second
until_it sh -c '"$0" status --json | grep "\"loaderd_up\":true"' "$T"
sleep 3
kill -INT $pid
wait $pid
check "Ctrl-C is status 0" [ $? = 0 ]
cat err >>log
check "it said which ones died" \
	[ "$(grep -c 'was killed by signal 9 .* restarting' err)" = 4 ]
cat err >>log
check "the last line says samples and CPU time" \
	grep -q '^trifold: [0-9]* samples*, .*lost.* CPU-seconds busy' err
check "the sums agree" sh -c '! grep difference err'
check "the profile is there" [ -s c.html ]
check "run samples at 19 Hz" grep -q '"frequency":19,' c.html
check "nothing is left" nothing_left

# the command says that SIGTERM came, and does not end, so there is time for the second
"$T" record --output e.html -- sh -c 'trap "echo >asked" TERM; echo >began; while :; do sleep 0.1; done' 2>err &
pid=$!
until_it [ -e began ]
kill -TERM $pid
until_it [ -e asked ]
kill -TERM $pid
wait $pid
check "ended twice is status 1" [ $? = 1 ]
cat err >>log
check "it says that the recording is given up" grep -q 'stopping now: the recording is given up' err
check "and not that nothing was lost" sh -c '! grep "none lost" err'
check "and leaves no half-written profile" [ ! -e e.html ]
check "nothing is left" nothing_left

# what a killed one leaves may not become a lock in an ordinary user's hand
"$T" run --output f.html 2>>log &
pid=$!
until_it "$T" status
left=$(daemons)
kill -KILL $pid
wait $pid 2>>log
for p in $left; do
	until_it gone "$p"
done
setpriv --reuid 65534 --regid 65534 --clear-groups \
	flock -n /run/trifold/lock sleep 20 2>>log &
holder=$!
sleep 0.3
check "an ordinary user cannot keep it from starting" \
	"$T" record --duration 0.3 --output g.folded
kill $holder 2>>log
check "nothing is left" nothing_left

# an init that does not reap, as in many containers
check "nothing outlives it where init does not reap" unshare --pid --fork --mount-proc \
	python3 -c 'import os, subprocess, sys
done = subprocess.run([sys.argv[1], "record", "--duration", "1", "--output", "h.folded"])
left = [p for p in os.listdir("/proc") if p.isdigit() and p != "1"]
for p in left:
    print(open(f"/proc/{p}/stat").read())
sys.exit(done.returncode or len(left))' "$T"
exit $failed
