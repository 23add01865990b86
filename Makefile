# SPDX-License-Identifier: Apache-2.0
#
# make              build everything into build/bin/
# make deps         install what the build needs (apt or dnf; root)
# make run          build, profile this machine, write a flame graph (root)
#                     DURATION=10  for ten seconds; OUT=file; FREQUENCY=HZ (99)
# make install      into PREFIX (/usr), DESTDIR before it; make deb, make rpm: docs/PACKAGING.md
# make test         install what the tests need and run all of them (root)
# make test-vm      a live test on ten other kernels, in qemu (root)
# make check        unit tests only, with ASan and UBSan (no root)
# make fuzz         each fuzz target for FUZZ_SECONDS (20)
# make bench        measure the table of docs/BENCHMARKS.md (root)
# make tcb          the privileged code and its limits (tests/tcb.limit)
# Packagers may set every variable with ?=; SYSROOT with a CC that crosses.

CC           ?= cc
CLANG        ?= clang
BPFTOOL      ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PROTOC_C     ?= protoc-c
CFLAGS       ?= -O2 -g
FUZZ_SECONDS ?= 20

O    := build
# sections: what a program does not use is not linked
STD  := -std=gnu11 -D_GNU_SOURCE -ffunction-sections -fdata-sections
WARN := -Wall -Wextra -Wshadow -Wvla -Wundef -Wpointer-arith -Wwrite-strings \
	-Wstrict-prototypes -Wmissing-prototypes
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LDHARD := -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed,--gc-sections
SAN    := -fsanitize=address,undefined -fno-sanitize-recover=all
CPPFLAGS += -I. -I$(O)
MACHINE  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH     := $(subst x86_64,x86,$(subst aarch64,arm64,$(MACHINE)))

# WERROR=1 in CI and for developers; never for packagers.
ifeq ($(WERROR),1)
WARN += -Werror
endif
ifeq ($(V),1)
Q   :=
say :=
else
Q   := @
say  = @printf '  %-6s %s\n' '$(1)' '$(patsubst $(O)/%,%,$@)';
endif

# --- what is made of what

PROGRAMS := trifold trifold-supervisor trifold-start trifold-loaderd trifold-symbolizerd \
	trifold-exporterd trifold-viewer
IPC      := ipc/message.c ipc/rules.c ipc/conn.c ipc/sealed.c
COMMON   := common/log.c common/service.c common/number.c common/sandbox.c common/send_fds.c common/evloop.c common/cost.c
OTLP     := $(addprefix profile/formats/,otlp.c dictionary.c) profile/profile.c profile/texts.c common/protobuf.c common/buffer.c
# what only the unprivileged ones need
MORE     := common/signals.c ipc/counters.c

trifold-supervisor_SRCS := $(wildcard cli/supervisor/*.c)
trifold-start_SRCS := cli/start/main.c cli/supervisor/ask.c cli/supervisor/program_table.c
trifold-loaderd_SRCS := $(wildcard loaderd/*.c) $(IPC) $(COMMON)
trifold-loaderd_LIBS := -lbpf -lseccomp -lcap-ng
trifold-symbolizerd_SRCS := $(wildcard symbolizerd/*.c symbolizerd/*/*.c symbolizerd/*/*/*.c) \
	$(IPC) ipc/batch.c ipc/batch_build.c ipc/short_name.c ipc/short_method.c common/hash_table.c \
	ipc/fdpass.c common/wire.c common/container.c common/buffer.c common/read_all.c $(COMMON) $(MORE)
trifold-symbolizerd_LIBS := -llzma -ldw -lelf -lz -lxxhash -lnettle -liberty -lseccomp -lcap-ng
trifold-exporterd_SRCS := $(wildcard exporterd/*.c) $(OTLP) common/hash_table.c common/pairs.c $(IPC) ipc/batch.c ipc/counter_table.c common/read_all.c $(COMMON) $(MORE)
trifold-exporterd_GEN  := profile/formats/otlp.pb-c.c
trifold-exporterd_LIBS := -lcurl -lprotobuf-c -lxxhash -lz -lzstd -lseccomp -lcap-ng
trifold_SRCS := $(filter-out $(addprefix cli/,$(addprefix supervisor/,main.c supervise.c programs.c) start/main.c), \
	$(wildcard cli/*.c cli/*/*.c profile/*.c profile/*/*.c)) \
	$(addprefix viewer/server/,decode.c decode_frames.c names.c) ipc/short_name.c ipc/short_method.c common/read_all.c common/page_key.c common/listen.c common/protobuf.c common/buffer.c \
	common/json.c common/pairs.c common/wait_status.c ipc/fdpass.c ipc/hub_client.c $(IPC) \
	ipc/batch.c ipc/batch_build.c common/hash_table.c ipc/counter_table.c common/container.c $(COMMON) $(MORE)
trifold_GEN  := viewer/server/otlp_in.pb-c.c profile/formats/page.o.c $(addprefix packaging/completion/,bash.o.c zsh.o.c fish.o.c)
trifold_LIBS := -lprotobuf-c -lz -lxxhash -lncursesw -lseccomp -lcap-ng

.PHONY: all deps run test check fuzz bench clean help
all: $(PROGRAMS:%=$(O)/bin/%)
include viewer/viewer.mk viewer/page.mk loaderd/layout.mk symbolizerd/symbolizerd.mk bpf/runtimes.mk

define program
$(1)_OBJS := $$($(1)_SRCS:%.c=$(O)/%.o) $$($(1)_GEN:%.c=$(O)/%.o)
$(O)/bin/$(1): $$($(1)_OBJS)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(LDHARD) -Wl,-Map=$(O)/$(1).map $$^ $$($(1)_LIBS) -o $$@
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

# --- generated sources: the BPF skeleton, the OTLP messages

$(O)/%.bpf.o: %.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(ARCH) \
		-idirafter $(SYSROOT)/usr/include/$(MACHINE)-linux-gnu \
		-Wall -Werror -Wno-gnu-variable-sized-type-not-at-end \
		-ffile-prefix-map=$(CURDIR)=. -I. -I$(O) -MMD -MP -c $< -o $@

$(O)/%.skel.h: $(O)/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*) > $@

$(O)/%.pb-c.c $(O)/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call say,PROTO)
	$(Q)$(PROTOC_C) -I. --c_out=$(O) $<

$(trifold-loaderd_OBJS): $(O)/bpf/sampler.skel.h
$(trifold-exporterd_OBJS): $(O)/profile/formats/otlp.pb-c.h

# --- C

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/%.o: $(O)/%.c
	$(call say,CC)
	$(Q)$(CC) $(STD) $(HARDEN) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# --- tests: each *.mk below tests/ lists its sources; make install
include tests/tests.mk packaging/install.mk packaging/deb/deb.mk packaging/rpm/rpm.mk packaging/oci/oci.mk selinux/selinux.mk

# --- for people
deps:
	@tests/deps.sh build
run:
	@tests/deps.sh build
	@$(MAKE) --no-print-directory all
	@chown -R --reference=. $(O)
	@$(O)/bin/trifold run $(if $(DURATION),--duration $(DURATION)) \
		--frequency $(or $(FREQUENCY),99) --output $(or $(OUT),trifold.html)
test:
	@tests/deps.sh build test vm
	@tests/run.sh; r=$$?; chown -R --reference=. $(O); exit $$r
bench: all
	@tests/bench/run.sh
help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile
clean:
	rm -rf $(O)

.DELETE_ON_ERROR .SECONDARY:
# of what was compiled: trees of packages in $(O) have files of this name that are none
DEPENDS := $(wildcard $(addprefix $(O)/,$(patsubst %/,%,$(wildcard */)) san fuzzer))
-include $(if $(DEPENDS),$(shell find $(DEPENDS) -name '*.d' -type f))
