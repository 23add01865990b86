# SPDX-License-Identifier: Apache-2.0
FUZZ += otlp_decode
fuzz_otlp_decode_SRCS := viewer/decode.c viewer/decode_frames.c viewer/names.c \
	viewer/body.c viewer/otlp_in.pb-c.c ipc/batch.c ipc/batch_build.c
fuzz_otlp_decode_LIBS := -lprotobuf-c -lz -lzstd -lxxhash

$(O)/fuzzer/viewer/otlp_in.pb-c.o: $(O)/viewer/otlp_in.pb-c.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@
