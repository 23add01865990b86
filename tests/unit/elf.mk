# SPDX-License-Identifier: Apache-2.0
CFI := $(wildcard symbolizerd/unwind/cfi*.c) common/wire.c
ELF_VISIT := common/hash_table.c symbolizerd/elf/eh_frame_hdr.c symbolizerd/elf/elf_file.c symbolizerd/elf/elf_symbols.c symbolizerd/elf/file_id.c common/wire.c \
	$(wildcard symbolizerd/unwind/*.c symbolizerd/symbols/*.c \
	symbolizerd/runtimes/*.c symbolizerd/runtimes/*/*.c)
ELF_VISIT_LIBS := -ldw -lelf -lxxhash -lnettle -liberty

UNIT += dwarf_places
DWARF_PLACES := $(wildcard symbolizerd/symbols/dwarf_*.c symbolizerd/symbols/split_*.c) symbolizerd/symbols/demangle.c \
	symbolizerd/elf/elf_file.c symbolizerd/elf/elf_symbols.c common/hash_table.c common/wire.c
unit_dwarf_places_SRCS := $(DWARF_PLACES)
unit_dwarf_places_LIBS := -ldw -lelf -liberty
UNIT += dwarf_code
unit_dwarf_code_SRCS := $(DWARF_PLACES)
unit_dwarf_code_LIBS := $(unit_dwarf_places_LIBS)
UNIT += split_units
unit_split_units_SRCS := $(DWARF_PLACES)
unit_split_units_LIBS := $(unit_dwarf_places_LIBS)
