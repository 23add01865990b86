#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What long_autopkgtest.sh does inside the booted system: autopkgtest with the source
# package and the packages in /booted/debs, and what it says of each test, as TAP on
# standard output.  JOURNAL_STREAM is that of the unit, as for any command of a service.
export LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive
tests="commands units export"
cd /booted || exit 1

say() {	# condition's status, name, file with details
	[ "$1" = 0 ] || tail -n 40 "$3" | sed 's/^/# /'
	echo "$([ "$1" = 0 ] || echo 'not ')ok - $2"
}

# newer ones want to be told that this system is there for nothing else
run_tests() {
	useradd -m tester
	autopkgtest --no-built-binaries --user=tester --output-dir /booted/out \
		--ignore-restrictions=isolation-machine debs/*.deb debs/*.dsc -- null
}

result() {	# test
	awk -v name="$1" '$1 == name { said = $2 } END { print said ? said : "did not run" }' out/summary ||
		echo "did not run"
}

# a testbed of `null` keeps what was installed
nothing_of_theirs() {
	local left
	left=$(systemctl is-active trifold.target; pgrep -a 'trifold|chain'; ls /etc/trifold)
	echo "$left"
	[ "$left" = $'inactive\ntrifold.conf' ]
}

echo "# Linux $(uname -r), $(systemctl --version | head -n 1), autopkgtest $(
	dpkg-query -W -f '${Version}' autopkgtest)"
run_tests >log 2>&1
status=$?
for t in $tests; do
	r=$(result "$t")
	grep -h -e 'samples have the whole chain' -e '^taken ' "out/$t-stdout" | sed "s/^/# $t: /"
	cat "out/$t-stdout" "out/$t-stderr" >said 2>/dev/null
	[ "$r" = PASS ]
	say $? "autopkgtest $t: $r" said
done
awk '$2 ~ /^[A-Z]+$/ { print $1 }' out/summary | sort >ran
echo "status $status" >>log
[ $status = 0 ] && diff <(tr ' ' '\n' <<<"$tests" | sort) ran
say $? "autopkgtest ran these and no others, with status 0" log
nothing_of_theirs >said 2>&1
say $? "nothing of theirs runs on, and no configuration is left" said
echo "# steps: done"
