#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The privileged code stays below its limits, the count has what the linker took
# and nothing else, and the check fails when it has to.
cd "$(dirname "$0")/.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
check() {	# name, command...
	name=$1
	shift
	if "$@"; then echo "ok - $name"; else echo "not ok - $name"; fi
}
if out=$(make -s tcb O="$1" 2>&1); then
	echo "ok - the privileged code is within its limits"
else
	echo "$out" | tail -n 1 | sed 's/^/# /'
	echo "not ok - the privileged code is within its limits"
fi
echo "$out" | sed 's/^/# /'

own_files() {
	echo "$out" | grep -q 'loaderd/main\.c' && echo "$out" | grep -q 'ipc/conn\.c' &&
	echo "$out" | grep -q 'common/clock\.h' &&
	! echo "$out" | grep -qE ' (symbolizerd|exporterd|viewer)/'
}
check "the list of privileged code has its own files and no other's" own_files

# one statement less than there is, of each program
for program in trifold-loaderd trifold-supervisor trifold-start; do
	echo "$out" | awk -v p=$program '/ in all \(limit/ { print $2, $1 - ($2 == p) }' >"$dir/limit"
	fails() {
		[ "$(wc -l <"$dir/limit")" = 3 ] &&
		! TCB_LIMIT="$dir/limit" make -s tcb O="$1" >"$dir/out" 2>&1 &&
		grep -q "^$program: .* are allowed" "$dir/out"
	}
	check "$program: one statement more than the limit is an error" fails "$1"
done

# A program of which every value is known: unused() is not linked, inlined() and everywhere()
# have no section of their own, and HIDDEN is used by main().
cat >"$dir/a.c" <<'END'
static const int table[] = { 1, 2, 3 };
#define HIDDEN(x)	((x) ? 1 : 2)
#define UNUSED(x)	((x) ? 1 : 2)
static int inlined(int a)
{
	return a + 1;
}
int everywhere(int a)
{
	return a + 1;
}
void unused(void)
{
	for (;;)
		inlined(1);
}
int main(int argc, char **argv)
{
	int n = 0, m;

	(void)argv;
BODY
	return HIDDEN(n) + table[m & 1] + inlined(n) + everywhere(n);
}
END
value() {	# statements of main() with this body
	sed "s/^BODY\$/$1/" "$dir/a.c" >"$dir/b.c"
	${CC:-cc} -O2 -ffunction-sections -fdata-sections -MMD -MF "$dir/b.d" -MT "$dir/b.o" \
		-c "$dir/b.c" -o "$dir/b.o" &&
	${CC:-cc} -Wl,--gc-sections -Wl,-Map="$dir/b.map" "$dir/b.o" -o "$dir/b" &&
	echo "b 1000" >"$dir/limit" &&
	TCB_SOURCES="$dir" TCB_LIMIT="$dir/limit" tests/tcb.py b "$dir/b.map" "$dir/b.d" |
		awk '/ in all/ { print $1 }'
}
is() {	# statements, body
	[ "$(value "$2")" = "$1" ] || { echo "# $2: $(value "$2"), not $1"; return 1; }
}
# beside BODY: n, argv, return, table, HIDDEN (2) and the returns of inlined() and
# everywhere(), of which no other file may have a call
check "only what is linked is counted" is 9 'm = 1;'
check "an if with an else is 3" is 11 'if (argc) m = 1; else m = 2;'
check "a conditional expression costs as much" is 11 'm = argc ? 1 : 2;'
check "&& costs as much as an if" is 12 'm = 1; if (argc \&\& n) m = 2;'
check "an effect in a condition costs as much as a statement" is 12 'm = 1; if (n++) m = 2;'
check "a sum of truth values costs as much as an if" is 11 'm = 1; n += argc == 2;'
check "two assignments in one are two" is 10 'm = n = 1;'
check "a comma operator costs as much as a statement" is 10 'm = 1, inlined(2);'
