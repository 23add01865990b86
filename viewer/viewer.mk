# SPDX-License-Identifier: Apache-2.0
# What the viewer is made of, and the pages that are compiled in.

VIEWER_FORMATS := cli/text.c cli/json.c cli/profile.c cli/tree.c cli/folded.c \
	cli/pprof.c cli/firefox.c cli/speedscope.c cli/timeline.c cli/html.c \
	exporterd/otlp.c exporterd/dictionary.c exporterd/protobuf.c \
	ipc/batch.c ipc/batch_build.c
trifold-viewer_SRCS := $(wildcard viewer/*.c) $(VIEWER_FORMATS) $(COMMON) \
	common/sandbox_root.c
trifold-viewer_GEN  := viewer/otlp_in.pb-c.c viewer/live.o.c cli/page.o.c
trifold-viewer_LIBS := -lmicrohttpd -lprotobuf-c -lz -lxxhash -lseccomp -lcap-ng

# $(1): the name of the array in C
embed = (printf 'extern const unsigned char $(1)[];\nextern const unsigned long $(1)_len;\nconst unsigned char $(1)[] = {\n'; \
	od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'; \
	printf '};\nconst unsigned long $(1)_len = sizeof($(1));\n')

$(O)/cli/page.o.c: viewer/flame.html
	@mkdir -p $(@D)
	$(call say,PAGE)
	$(Q)$(call embed,page_html) < $< > $@

$(O)/viewer/live.o.c: $(firstword $(wildcard viewer/live.html) viewer/flame.html)
	@mkdir -p $(@D)
	$(call say,PAGE)
	$(Q)sed 's/@DATA@/{"live":true}/' $< | $(call embed,live_html) > $@

$(foreach d,$(O) $(O)/san $(O)/fuzzer,$(d)/viewer/decode.o \
	$(d)/viewer/decode_frames.o): $(O)/viewer/otlp_in.pb-c.h
