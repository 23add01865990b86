# SPDX-License-Identifier: Apache-2.0
# The walk's calls of runtimes (bpf/walk.bpf.h), for whatever has the sampler in it.
RUNTIMES_GEN := $(O)/bpf/runtimes.gen.h
$(RUNTIMES_GEN): bpf/runtimes.def bpf/runtimes.sh
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)sh bpf/runtimes.sh $< >$@
SAMPLERS := symbolizerd/snapshot/walk_x86.c symbolizerd/snapshot/walk_arm64.c \
	$(shell grep -lE '"(bpf/[a-z0-9_/]*[.]bpf[.][ch]|tests/unit/sampler_machine[.]h)"' $(wildcard tests/unit/*.c tests/runtimes/*/unit/*.c))
$(foreach d,$(O) $(O)/san $(O)/fuzzer,$(SAMPLERS:%.c=$(d)/%.o)): $(RUNTIMES_GEN)
$(patsubst %.c,$(O)/%.o,$(wildcard bpf/*.bpf.c tests/live/*.bpf.c)): $(RUNTIMES_GEN)
