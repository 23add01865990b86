# SPDX-License-Identifier: Apache-2.0
#
# A loaderd can use what another one left in the store only if both have the same layouts.
# Their checksum is the name of one of the descriptors.
LAYOUTS := bpf/count.h bpf/file.h bpf/frame.h bpf/record.h bpf/request.h bpf/runtime.h bpf/runtimes.def bpf/slab.h bpf/stop.h bpf/table.h ipc/message_loader.h
STORE_LAYOUT = $(firstword $(shell cat $(LAYOUTS) | cksum))
LAYOUT_OBJS := $(foreach d,$(O) $(O)/san,$(d)/loaderd/bpf.o $(d)/loaderd/main.o)
$(LAYOUT_OBJS): $(LAYOUTS)
$(LAYOUT_OBJS): CPPFLAGS += -DSTORE_LAYOUT='"$(STORE_LAYOUT)"'
