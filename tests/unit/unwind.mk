# SPDX-License-Identifier: Apache-2.0
UNWIND := $(patsubst %,symbolizerd/%,elf_file.c unwind/build.c unwind/cfi.c \
	unwind/cfi_rule.c unwind/table.c) common/wire.c

# compares unwind tables with what libdw says
cfi_agree_OBJS := $(patsubst %.c,$(O)/%.o,tests/live/cfi_agree.c \
	tests/live/cfi_frame.c $(UNWIND))
$(O)/bin/cfi_agree: $(cfi_agree_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -ldw -lelf -lxxhash -o $@
