#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Seeds of fuzz_dwarf_places: one small program with DWARF as compilers write it.
# usage: dwarf_places.sh DIRECTORY
set -eu
source=$(dirname "$0")/dwarf_places.c

seed() {	# directory, name, compiler and options
	to=$1/$2
	shift 2
	"$@" -g -nostdlib -static -ffreestanding "$source" -o "$to"
}

seed "$1" gcc4 gcc -O2 -gdwarf-4
seed "$1" gcc5 gcc -O2 -gdwarf-5
seed "$1" gcctypes gcc -O2 -gdwarf-4 -fdebug-types-section
seed "$1" gccz gcc -O2 -gdwarf-5 -gz
seed "$1" clang4 clang -O2 -gdwarf-4
seed "$1" clang5 clang -O2 -gdwarf-5
