# SPDX-License-Identifier: Apache-2.0
# What the viewer is made of; its pages are in page.mk.

VIEWER_FORMATS := cli/text.c cli/json.c cli/profile.c cli/tree.c cli/remap.c cli/index_set.c cli/folded.c \
	cli/pprof.c cli/firefox.c cli/speedscope.c cli/timeline.c cli/html.c \
	exporterd/otlp.c exporterd/dictionary.c exporterd/protobuf.c \
	ipc/batch.c ipc/batch_build.c
trifold-viewer_SRCS := $(wildcard viewer/*.c) $(VIEWER_FORMATS) $(COMMON) \
	common/sandbox_root.c
trifold-viewer_GEN  := viewer/otlp_in.pb-c.c viewer/live.o.c cli/page.o.c
trifold-viewer_LIBS := -lmicrohttpd -lprotobuf-c -lz -lzstd -lxxhash -lseccomp -lcap-ng

$(foreach d,$(O) $(O)/san $(O)/fuzzer,$(d)/viewer/decode.o \
	$(d)/viewer/decode_frames.o): $(O)/viewer/otlp_in.pb-c.h
