#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The hashes in the page's Content-Security-Policy.
#
#	viewer/csp.sh [FILE]		write them into viewer/flame.html
#	viewer/csp.sh --check [FILE]	only say whether they are right
#
# A browser hashes what lies between <script> and </script>, byte by byte
# (Content Security Policy Level 3, section 6.7.3).
set -eu

check=
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
page=${1:-$(dirname "$0")/flame.html}

# the body of the only element TAG without attributes
hash_of() {
	perl -0777 -ne "print \$1 if m{<$1>(.*?)</$1>}s" "$page" |
		openssl dgst -sha256 -binary | base64
}

script=$(hash_of script)
style=$(hash_of style)
if [ -n "$check" ]; then
	grep -q "script-src 'sha256-$script'; style-src 'sha256-$style'" "$page" && exit 0
	echo "csp.sh: $page: the hashes are not those of its script and style" >&2
	exit 1
fi
sed -i "s|script-src '[^']*'; style-src '[^']*'|script-src 'sha256-$script'; style-src 'sha256-$style'|" "$page"
