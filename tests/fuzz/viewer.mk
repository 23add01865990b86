# SPDX-License-Identifier: Apache-2.0
FUZZ += otlp_decode
fuzz_otlp_decode_SRCS := viewer/server/decode.c viewer/server/decode_frames.c viewer/server/names.c \
	viewer/server/body.c common/buffer.c viewer/server/otlp_in.pb-c.c ipc/batch.c ipc/batch_build.c \
	ipc/short_name.c ipc/short_method.c profile/profile.c common/hash_table.c
fuzz_otlp_decode_LIBS := -lprotobuf-c -lz -lzstd -lxxhash

# VIEWER_STORE: tests/unit/viewer.mk
FUZZ += viewer_params viewer_http
fuzz_viewer_params_SRCS = $(VIEWER_STORE)
fuzz_viewer_params_LIBS = $(VIEWER_STORE_LIBS)
fuzz_viewer_http_SRCS = $(VIEWER_STORE) viewer/server/http.c viewer/server/guard.c viewer/server/body.c \
	viewer/live.o.c common/page_key.c common/listen.c
fuzz_viewer_http_LIBS = -lmicrohttpd -lzstd $(VIEWER_STORE_LIBS)

$(O)/fuzzer/viewer/live.o.o: $(O)/viewer/live.o.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@

$(O)/fuzzer/viewer/server/otlp_in.pb-c.o: $(O)/viewer/server/otlp_in.pb-c.c
	@mkdir -p $(@D)
	$(call say,CCFUZZ)
	$(Q)$(CLANG) $(STD) $(CPPFLAGS) -O1 -g $(SAN) -fsanitize=fuzzer-no-link \
		-c $< -o $@
