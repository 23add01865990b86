# SPDX-License-Identifier: Apache-2.0
FUZZ += folded_read
fuzz_folded_read_SRCS := cli/convert/folded_read.c common/number.c common/hash_table.c common/buffer.c \
	profile/profile.c profile/tree.c profile/tree_lines.c profile/formats/folded.c ipc/batch.c
fuzz_folded_read_LIBS := -lxxhash

FUZZ += target
fuzz_target_SRCS := cli/record/target.c $(CONTAINER_NAME) cli/record/named.c common/number.c common/container.c common/log.c

FUZZ += container_json
fuzz_container_json_SRCS := cli/record/container_json.c

FUZZ += top
fuzz_top_SRCS := $(CLI_TOP)
fuzz_top_LIBS := $(CLI_FORMATS_LIBS)

$(O)/fuzzer/profile/formats/page.o.o: $(O)/profile/formats/page.o.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@

FUZZ += from_folded
fuzz_from_folded_SRCS := cli/convert/from_folded.c cli/convert/folded_read.c common/number.c common/hash_table.c \
	common/buffer.c profile/profile.c profile/tree.c profile/tree_lines.c profile/formats/folded.c ipc/batch.c ipc/batch_build.c
fuzz_from_folded_LIBS := -lxxhash
