#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Seeds of fuzz_split_units: a small program with split DWARF, and its .dwo or its package.
# usage: split_units.sh DIRECTORY
set -eu
to=$1
source=$(realpath "$(dirname "$0")/dwarf_places.c")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

number() {	# 32 bits, little endian
	for shift in 0 8 16 24; do
		printf "\\$(printf %03o $(($1 >> shift & 255)))"
	done
}

seed() {	# name, program, the other file
	{ number "$(wc -c <"$2")"; cat "$2" "$3"; } >"$to/$1"
}

program() {	# name, compiler and options
	name=$1
	shift
	(cd "$work" && rm -f ./*.dwo && "$@" -gsplit-dwarf -nostdlib -static -ffreestanding \
		"$source" -o program)
	seed "$name" "$work/program" "$work"/*.dwo
	# binutils' knows DWARF 4 only
	case $name in
	*4) (cd "$work" && dwp -e program -o program.dwp) && seed "${name}p" "$work/program" "$work/program.dwp" ;;
	clang5) (cd "$work" && llvm-dwp -e program -o program.dwp) && seed "${name}p" "$work/program" "$work/program.dwp" ;;
	esac
}

program gcc4 gcc -O2 -gdwarf-4
program gcc5 gcc -O2 -gdwarf-5
program clang4 clang -O2 -gdwarf-4
program clang5 clang -O2 -gdwarf-5
