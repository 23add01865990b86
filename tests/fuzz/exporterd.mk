# SPDX-License-Identifier: Apache-2.0
FUZZ += otlp_answer os_release spool_file
fuzz_spool_file_SRCS := exporterd/spool_file.c ipc/batch.c ipc/batch_build.c common/hash_table.c
fuzz_spool_file_LIBS := -lxxhash
fuzz_os_release_SRCS := exporterd/resource.c common/pairs.c common/log.c
fuzz_otlp_answer_SRCS := exporterd/answer.c exporterd/backoff.c \
	profile/formats/otlp.pb-c.c common/log.c
fuzz_otlp_answer_LIBS := -lprotobuf-c -lcurl

$(O)/fuzzer/profile/formats/otlp.pb-c.o: $(O)/profile/formats/otlp.pb-c.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@
