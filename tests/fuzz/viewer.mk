# SPDX-License-Identifier: Apache-2.0
FUZZ += otlp_decode
fuzz_otlp_decode_SRCS := viewer/server/decode.c viewer/server/decode_frames.c viewer/server/names.c \
	viewer/server/body.c common/buffer.c viewer/server/otlp_in.pb-c.c ipc/batch.c ipc/batch_build.c \
	common/hash_table.c
fuzz_otlp_decode_LIBS := -lprotobuf-c -lz -lzstd -lxxhash

$(O)/fuzzer/viewer/server/otlp_in.pb-c.o: $(O)/viewer/server/otlp_in.pb-c.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@
