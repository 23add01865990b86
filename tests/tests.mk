# SPDX-License-Identifier: Apache-2.0
#
# Unit tests: the same sources, built with sanitizers.  A test NAME is
# tests/unit/test_NAME.c; unit_NAME_SRCS lists the sources it needs, and
# unit_NAME_LIBS the libraries.  Fuzz targets likewise: tests/fuzz/fuzz_NAME.c,
# fuzz_NAME_SRCS, fuzz_NAME_LIBS, corpus in tests/fuzz/corpus/NAME/.  Hostile
# programs are built as the daemons are: tests/hostile/NAME.c, hostile_NAME_SRCS,
# hostile_NAME_LIBS; `make sanitized` builds them and the daemons with sanitizers.
# Tests of languages: tests/runtimes/runtimes.mk.

UNIT :=
FUZZ :=
HOSTILE :=
# a worker's table into the maps of a sampler, for programs that have one
INSTALL_TABLE := tests/live/install_table.c loaderd/elements.c loaderd/store.c common/service.c common/send_fds.c \
	ipc/sealed.c \
	$(addprefix symbolizerd/tables/,tables.c rules.c slabs.c worker_table.c owners.c)
# what the hub reads of texts in records, by all languages
READING := symbolizerd/knowledge/frame_text.c symbolizerd/symbols/utf8.c symbolizerd/runtimes/reading.c \
	$(wildcard symbolizerd/runtimes/*/reading*.c) ipc/short_method.c
include $(wildcard tests/unit/*.mk tests/fuzz/*.mk tests/hostile/*.mk) tests/runtimes/runtimes.mk
# test_source FOLDER, FILE: without .c; of a language in its own folder
test_source = $(patsubst %.c,%,$(firstword $(wildcard tests/$(1)/$(2).c tests/runtimes/*/$(1)/$(2).c)))

# What sanitizers print needs lines, not variables, which are a fifth of the time.  Tests run
# briefly, and many hold the whole sampler: there -Og takes less than half the time of -O1.  For
# a debugger: make SANOPT="-O0 -g".
SANOPT = $(if $(filter $(O)/san/tests/%,$@),-Og,-O1) -g1
$(O)/san/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCSAN)
	$(Q)$(CC) $(STD) $(WARN) $(CPPFLAGS) $(SANOPT) $(SAN) -MMD -MP -c $< -o $@

$(O)/san/%.o: $(O)/%.c
	@mkdir -p $(@D)
	$(call say,CCSAN)
	$(Q)$(CC) $(STD) $(CPPFLAGS) $(SANOPT) $(SAN) -c $< -o $@

define unit_rule
$(O)/unit/$(1): $(O)/san/tests/unit/main.o $(O)/san/$(call test_source,unit,test_$(1)).o \
		$$(unit_$(1)_SRCS:%.c=$(O)/san/%.o)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(SAN) -Wl,--gc-sections $$^ $$(unit_$(1)_LIBS) -o $$@
endef
$(foreach t,$(UNIT),$(eval $(call unit_rule,$(t))))

bench_unwind_SRCS := tests/bench/unwind_load.c loaderd/bpf.c loaderd/variant.c loaderd/sampling.c $(INSTALL_TABLE) $(UNWIND) \
	common/log.c
bench_unwind_LIBS := -lbpf -lelf -lnettle -liberty -lxxhash
bench_costly_SRCS := $(filter-out %unwind_load.c,$(bench_unwind_SRCS))
bench_costly_LIBS := $(bench_unwind_LIBS)
bench_execs_SRCS := loaderd/bpf.c loaderd/variant.c loaderd/store.c common/service.c common/send_fds.c
bench_execs_LIBS := -lbpf
$(O)/tests/bench/execs.o: $(O)/bpf/sampler.skel.h
bench_tables_SRCS := $(UNWIND)
bench_tables_LIBS := -lelf -lnettle -liberty -lxxhash
bench_files_SRCS := $(HUB_PEER)
bench_files_LIBS := -lseccomp -lcap-ng
bench_jit_SRCS := $(addprefix symbolizerd/knowledge/,jit.c jit_early.c user_share.c visits.c owner_cache.c) symbolizerd/tables/owners.c common/hash_table.c $(JIT_FILES)
bench_jit_LIBS := -lxxhash
bench_otlp_SRCS := $(OTLP) exporterd/body.c ipc/batch.c ipc/batch_build.c common/hash_table.c common/wire.c
bench_otlp_LIBS := -lz -lzstd -lxxhash
bench_symbols_SRCS := $(sort $(UNWIND) $(SYMBOLS))
bench_symbols_LIBS := -lelf -lnettle -liberty -lxxhash
bench_guess_LIBS := -ldw -lelf
define bench_rule
$(O)/bench/$(1): $(O)/tests/bench/$(1).o $$(bench_$(1)_SRCS:%.c=$(O)/%.o)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDHARD) $$^ $$(bench_$(1)_LIBS) -o $$@
endef
BENCHES := unwind execs costly tables symbols files jit otlp guess
$(foreach t,$(BENCHES),$(eval $(call bench_rule,$(t))))
benches: $(BENCHES:%=$(O)/bench/%)

define hostile_rule
$(O)/hostile/$(1): $(O)/tests/hostile/$(1).o $$(hostile_$(1)_SRCS:%.c=$(O)/%.o)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDHARD) $$^ $$(hostile_$(1)_LIBS) -o $$@
endef
$(foreach t,$(HOSTILE),$(eval $(call hostile_rule,$(t))))

# Hostile programs and the programs that they start, once more with sanitizers: of the unit
# tests' objects, in $(O)/sanitized.  confine_* are about the filters as they are, and hub_share
# about CPU time.
SANITIZED := $(filter-out confine_% hub_share,$(HOSTILE))
SANITIZED_LINK = $(Q)$(CC) $(SAN) -Wl,--as-needed,--gc-sections,--wrap=setrlimit,--wrap=seccomp_load,--wrap=seccomp_export_bpf $^ $(1) -o $@
define sanitized_program
$(O)/sanitized/bin/$(1): $$($(1)_SRCS:%.c=$(O)/san/%.o) $$($(1)_GEN:%.c=$(O)/san/%.o) $(O)/san/tests/hostile/sanitized.o
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(call SANITIZED_LINK,$$($(1)_LIBS))
endef
define sanitized_hostile
$(O)/sanitized/hostile/$(1): $(O)/san/tests/hostile/$(1).o $$(hostile_$(1)_SRCS:%.c=$(O)/san/%.o) \
		$(O)/san/tests/hostile/sanitized.o
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(call SANITIZED_LINK,$$(hostile_$(1)_LIBS))
endef
$(foreach p,$(PROGRAMS),$(eval $(call sanitized_program,$(p))))
$(foreach t,$(SANITIZED),$(eval $(call sanitized_hostile,$(t))))
$(trifold-loaderd_SRCS:%.c=$(O)/san/%.o): $(O)/bpf/sampler.skel.h
$(trifold-exporterd_SRCS:%.c=$(O)/san/%.o): $(O)/profile/formats/otlp.pb-c.h

$(O)/fuzzer/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -gline-tables-only $(SAN) -fsanitize=fuzzer-no-link \
		-MMD -MP -c $< -o $@

define fuzz_rule
$(O)/fuzz/$(1): $(O)/fuzzer/$(call test_source,fuzz,fuzz_$(1)).o \
		$$(fuzz_$(1)_SRCS:%.c=$(O)/fuzzer/%.o)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CLANG) $$(SAN) -fsanitize=fuzzer -Wl,--gc-sections $$^ $$(fuzz_$(1)_LIBS) -o $$@
endef
$(foreach t,$(FUZZ),$(eval $(call fuzz_rule,$(t))))


.PHONY: benches live-tools units list-units fuzzers list-fuzzers hostiles list-hostiles \
	sanitized list-sanitized
check: $(UNIT:%=$(O)/unit/%)
	@for t in $^; do $$t || exit 1; done

# what tests/live runs beside the programs
live-tools: $(O)/live/test_page $(O)/live/make_batch $(O)/live/stops $(O)/live/calls $(O)/live/verifier \
	$(O)/bin/cfi_agree $(O)/viewer/live.html vma_churn hostile-confine

units: $(UNIT:%=$(O)/unit/%)
list-units:
	@echo $(UNIT)
fuzzers: $(FUZZ:%=$(O)/fuzz/%)
hostiles: $(HOSTILE:%=$(O)/hostile/%)
list-hostiles:
	@echo $(HOSTILE)
sanitized: $(SANITIZED:%=$(O)/sanitized/hostile/%) $(PROGRAMS:%=$(O)/sanitized/bin/%)
list-sanitized:
	@echo $(SANITIZED)
list-fuzzers:
	@echo $(FUZZ)
fuzz: fuzzers
	@for t in $(FUZZ); do tests/fuzz/run.sh $(O) $$t $(FUZZ_SECONDS) || exit 1; done

# run as root, at least at first
PRIVILEGED := $(filter trifold-loaderd trifold-supervisor trifold-start,$(PROGRAMS))
.PHONY: tcb
tcb: $(PRIVILEGED:%=$(O)/bin/%)
	@r=0; $(foreach p,$(PRIVILEGED),tests/tcb.py $(p) $(O)/$(p).map $($(p)_OBJS:.o=.d) || r=1;) exit $$r

# kernels other than this machine's (tests/vm/matrix): VM="5.10 newest" for some
.PHONY: test-vm
test-vm:
	@tests/deps.sh build test vm
	@$(MAKE) --no-print-directory all
	@tests/vm/run.sh $(VM); r=$$?; chown -R --reference=. $(O); exit $$r
