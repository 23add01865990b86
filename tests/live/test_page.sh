#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The flame graph page in a real browser: made-up profiles, with names that
# try to become markup, up to 100,000 distinct stacks.  Skips without
# Chromium or Python.  Usage: test_page.sh [BUILD-DIRECTORY]
set -eu

cd "$(dirname "$0")/../.."
O=${1:-build}
chromium=$(command -v chromium || command -v chromium-browser ||
	command -v google-chrome || true)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ -z "$chromium" ] || ! command -v python3 >/dev/null; then
	echo "ok - page in a browser # SKIP needs chromium and python3"
	exit 0
fi
make -s O="$O" "$O/live/test_page"

for n in 50 2000 100000; do
	samples=$("$O/live/test_page" "$dir/$n.html" $n)
	if python3 tests/live/page_driver.py "$chromium" "$dir/$n.html" "$samples"; then
		echo "ok - page with $n stacks"
	else
		echo "not ok - page with $n stacks"
		exit 1
	fi
done

# no script but ours runs, even one that stands in the page as plain markup
sed 's|</body>|<script>document.title = "evil";</script></body>|' \
	"$dir/50.html" >"$dir/evil.html"
dom() {
	"$chromium" --headless=new --no-sandbox --disable-gpu \
		--user-data-dir="$dir/profile" --dump-dom "file://$1" 2>/dev/null
}
if dom "$dir/evil.html" | grep -q '<title>evil'; then
	echo "not ok - a foreign script does not run"
	exit 1
fi
echo "ok - a foreign script does not run"

"$O/live/test_page" "$dir/0.html" 0 >"$dir/null"
says='<p id="empty">No samples: the target used no CPU. Only running code is sampled.</p>'
if ! dom "$dir/0.html" | grep -qF "$says" || dom "$dir/50.html" | grep -qF "$says"; then
	echo "not ok - a page without samples says so"
	exit 1
fi
echo "ok - a page without samples says so"
