#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Puts a page together of viewer/page/, on standard output:
#
#	page.sh static	the page of a recording; its data replace @DATA@
#	page.sh live	the page that the server of `trifold run` gives out
#
# In page.html a line @STYLE@ becomes the style, @SCRIPT@ the script, @POLICY@
# the Content-Security-Policy with the hashes of both; lines from @LIVE@ or
# @STATIC@ to @END@ are for that page only.  A browser hashes what lies between
# <script> and </script>, byte by byte (Content Security Policy Level 3,
# section 6.7.3).
set -eu
# [A-Z] and the order of bytes are not the language's
export LC_ALL=C

kind=$1
dir=$(dirname "$0")/page
top=$(dirname "$0")/..
defs="$top/ipc/frame_kinds.def $top/bpf/runtimes.def"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

scripts="util.js tree.js lines.js merge.js state.js shape.js colour.js graph.js pointer.js menu.js search.js table.js facets.js timeline.js lanes.js touch.js page.js"
case $kind in
static)	scripts="$scripts times.js static.js" connect= ;;
live)	scripts="$scripts compare.js live_lanes.js live.js" connect="connect-src 'self'; " ;;
*)	echo "usage: page.sh static|live" >&2
	exit 2 ;;
esac

# The rows of both tables, by number.
rows()
{
	# shellcheck disable=SC2086 # two files
	sed -n -e 's/^\(BATCH\|RUNTIME\)_KIND(\([0-9]\)/\2/p' $defs | sort -n
}

# KINDS of the page: rows of the table, those that are no kind of code without a
# filter
kinds()
{
	row='[0-9]*, [A-Z0-9_]*, \([A-Z]*\), [A-Z]*, "\([^"]*\)", "[^"]*", "\([^"]*\)", \([0-9]*\), \([0-9]*\),.*'

	echo '/* ipc/frame_kinds.def and bpf/runtimes.def, by number */'
	echo 'const KINDS = ['
	rows | sed -n -e "s/^$row/	{ class: \"\1\", filter: \"\2\", name: \"\3\", hue: \4, sat: \5 },/p" |
		sed -e '/class: "\(PROCESS\|MARK\)"/s/filter: "[^"]*"/filter: ""/' \
			-e 's/class: "[A-Z]*", //'
	echo '];'
}

kinds >"$tmp/kinds"
n=$(grep -c 'filter:' "$tmp/kinds")
if [ "$(rows | sed 's/,.*//')" != "$(seq 0 $((n - 1)))" ]; then
	echo "page.sh: a row of frame_kinds.def or runtimes.def is not in its form" >&2
	exit 1
fi
{
	printf '\n"use strict";\n(() => {\n'
	cat "$tmp/kinds"
	for f in $scripts; do
		cat "$dir/$f"
	done
	printf '})();\n'
} >"$tmp/script"
{
	echo
	cat "$dir/style.css" "$dir/functions.css" "$dir/time.css"
} >"$tmp/style"
if grep -lE '</|<!--|@DATA@' "$tmp/script" "$tmp/style"; then
	echo "page.sh: markup in a script or style" >&2
	exit 1
fi >&2

# SHA-256 in base64, with coreutils alone; basenc is younger than some hosts
hash_of() {
	for byte in $(sha256sum "$1" | cut -c 1-64 | sed 's/../0x& /g'); do
		printf '%b' "\\0$(printf '%03o' "$byte")"
	done | base64
}

policy="default-src 'none'; script-src 'sha256-$(hash_of "$tmp/script")'; "
policy="${policy}style-src 'sha256-$(hash_of "$tmp/style")'; $connect"
policy="${policy}base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

on=1
while IFS= read -r line; do
	case $line in
	@LIVE@)		[ "$kind" = live ] || on= ;;
	@STATIC@)	[ "$kind" = static ] || on= ;;
	@END@)		on=1 ;;
	*)		[ -n "$on" ] || continue ;;
	esac
	case $line in
	@LIVE@ | @STATIC@ | @END@) ;;
	@POLICY@)
		printf '<meta http-equiv="Content-Security-Policy" content="%s">\n' "$policy" ;;
	@STYLE@)
		printf '<style>'
		cat "$tmp/style"
		printf '</style>\n' ;;
	@SCRIPT@)
		printf '<script>'
		cat "$tmp/script"
		printf '</script>\n' ;;
	*)	printf '%s\n' "$line" ;;
	esac
done <"$dir/page.html"
