# SPDX-License-Identifier: Apache-2.0
RUNTIMES := $(wildcard symbolizerd/runtimes/*.c symbolizerd/runtimes/*/*.c) \
	$(addprefix symbolizerd/symbols/,lines_build.c utf8.c frame_names.c process_memory.c) \
	ipc/short_method.c common/hash_table.c
UNWIND := $(patsubst %,symbolizerd/%,elf/eh_frame_hdr.c elf/elf_file.c elf/elf_symbols.c unwind/build.c unwind/cfi.c \
	unwind/cfi_program.c unwind/cfi_rule.c unwind/known.c unwind/table.c \
	elf/file_id.c) common/wire.c $(RUNTIMES)
SYMBOLS := $(sort $(filter-out symbolizerd/symbols/dwarf_% symbolizerd/symbols/split_%,$(wildcard symbolizerd/symbols/*.c)) ipc/short_name.c $(RUNTIMES))

# compares unwind tables with what libdw says
cfi_agree_OBJS := $(patsubst %.c,$(O)/%.o,tests/live/cfi_agree.c \
	tests/live/cfi_frame.c $(UNWIND))
$(O)/bin/cfi_agree: $(cfi_agree_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -ldw -lelf -lnettle -liberty -lxxhash -o $@

UNIT += cfi
unit_cfi_SRCS := $(filter-out %eh_frame_hdr.c %elf_file.c %elf_symbols.c %file_id.c %build.c %known.c $(RUNTIMES),$(UNWIND)) \
	common/hash_table.c
unit_cfi_LIBS := -lxxhash

UNIT += table
unit_table_SRCS := symbolizerd/unwind/table.c common/hash_table.c
unit_table_LIBS := -lxxhash

UNIT += plt
unit_plt_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_plt_LIBS := -lelf -lnettle -liberty -lxxhash
UNIT += symbols lines elf_file file_id
unit_lines_SRCS := symbolizerd/symbols/index.c symbolizerd/symbols/lines_build.c \
	common/hash_table.c
unit_lines_LIBS := -lxxhash
UNIT += index_keep
unit_index_keep_SRCS := $(unit_lines_SRCS) symbolizerd/symbols/index_keep.c
unit_index_keep_LIBS := -lxxhash
unit_symbols_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_symbols_LIBS := -lelf -lnettle -liberty -lxxhash
UNIT += debugdata
unit_debugdata_SRCS := symbolizerd/elf/debugdata.c $(unit_symbols_SRCS)
unit_debugdata_LIBS := -llzma $(unit_symbols_LIBS)
unit_file_id_SRCS := symbolizerd/elf/elf_file.c symbolizerd/elf/file_id.c common/wire.c \
	symbolizerd/runtimes/go/find.c symbolizerd/runtimes/go/pclntab.c
unit_file_id_LIBS := -lelf -lnettle
unit_elf_file_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_elf_file_LIBS := -lelf -lnettle -liberty -lxxhash

UNIT += demangle
unit_demangle_SRCS := symbolizerd/symbols/demangle.c
unit_demangle_LIBS := -liberty

UNIT += go python python_tail hotspot runtimes
unit_python_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_python_LIBS := -lelf -lnettle -liberty -lxxhash
unit_python_tail_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_python_tail_LIBS := -lelf -lnettle -liberty -lxxhash
unit_hotspot_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_hotspot_LIBS := -lelf -lnettle -liberty -lxxhash
UNIT += hotspot_names
unit_hotspot_names_SRCS := symbolizerd/runtimes/hotspot/names.c \
	symbolizerd/runtimes/hotspot/reading_name.c $(addprefix symbolizerd/symbols/,utf8.c frame_names.c process_memory.c) ipc/short_method.c
unit_runtimes_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_runtimes_LIBS := -lelf -lnettle -liberty -lxxhash
UNIT += runtimes_found
unit_runtimes_found_SRCS := symbolizerd/runtimes/runtimes.c symbolizerd/runtimes/runtime.c symbolizerd/elf/elf_file.c common/wire.c
unit_runtimes_found_LIBS := -lelf
unit_go_SRCS := $(sort $(UNWIND) $(SYMBOLS))
unit_go_LIBS := -lelf -lnettle -liberty -lxxhash

UNIT += worker
unit_worker_SRCS := $(sort $(UNWIND) $(SYMBOLS)) symbolizerd/worker/worker.c symbolizerd/worker/debug_file.c symbolizerd/worker/lines_job.c $(wildcard symbolizerd/symbols/dwarf_*.c symbolizerd/symbols/split_*.c) symbolizerd/elf/debugdata.c \
	ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c ipc/sealed.c
unit_worker_LIBS := -llzma -ldw -lz -lelf -lnettle -liberty -lxxhash

UNIT += lines_job
unit_lines_job_SRCS := $(filter-out symbolizerd/worker/worker.c,$(unit_worker_SRCS))
unit_lines_job_LIBS := $(unit_worker_LIBS)

# runs the sampler's unwinder on stopped threads, for tests/live/test_stops.py
stops_OBJS := $(patsubst %.c,$(O)/%.o,tests/live/stops.c symbolizerd/tables/vdso.c $(INSTALL_TABLE) $(UNWIND))
$(O)/tests/live/stops.o: $(O)/tests/live/stops.skel.h
$(O)/live/stops: $(stops_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -lbpf -lelf -lnettle -liberty -lxxhash -o $@

# how much the verifier looks at, for tests/live/test_verifier.sh and tests/vm
verifier_OBJS := $(patsubst %.c,$(O)/%.o,tests/live/verifier.c loaderd/bpf.c loaderd/variant.c loaderd/store.c common/service.c common/send_fds.c)
$(O)/live/verifier: $(verifier_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -lbpf -ldl -o $@

UNIT += utf8
unit_utf8_SRCS := symbolizerd/symbols/utf8.c
