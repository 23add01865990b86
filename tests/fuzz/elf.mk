# SPDX-License-Identifier: Apache-2.0
FUZZ += elf_file cfi_walk symbol_index frame_names
fuzz_elf_file_SRCS := $(sort $(ELF_VISIT) ipc/short_name.c ipc/short_method.c)
fuzz_elf_file_LIBS := $(ELF_VISIT_LIBS)
fuzz_cfi_walk_SRCS := $(CFI)
fuzz_symbol_index_SRCS := symbolizerd/symbols/index.c symbolizerd/symbols/index_keep.c symbolizerd/symbols/lines_build.c common/hash_table.c
fuzz_symbol_index_LIBS := -lxxhash
fuzz_frame_names_SRCS := symbolizerd/symbols/frame_names.c
FUZZ += line_codes
fuzz_line_codes_SRCS := symbolizerd/symbols/line_codes.c

FUZZ += debugdata
fuzz_debugdata_SRCS := $(unit_debugdata_SRCS)
fuzz_debugdata_LIBS := $(unit_debugdata_LIBS)

FUZZ += jit_files
fuzz_jit_files_SRCS := $(JIT_FILES)

FUZZ += hotspot_names
fuzz_hotspot_names_SRCS := symbolizerd/runtimes/hotspot/names.c \
	symbolizerd/runtimes/hotspot/reading_name.c $(addprefix symbolizerd/symbols/,utf8.c frame_names.c process_memory.c) ipc/short_method.c

FUZZ += demangle
fuzz_demangle_SRCS := symbolizerd/symbols/demangle.c ipc/short_name.c ipc/short_method.c
fuzz_demangle_LIBS := -liberty

FUZZ += dwarf_places
fuzz_dwarf_places_SRCS := $(DWARF_PLACES)
fuzz_dwarf_places_LIBS := -ldw -lelf -liberty
FUZZ += split_units
fuzz_split_units_SRCS := $(DWARF_PLACES)
fuzz_split_units_LIBS := -ldw -lelf -liberty
