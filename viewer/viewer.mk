# SPDX-License-Identifier: Apache-2.0
# What the viewer is made of; its pages are in page.mk.

VIEWER_FORMATS := common/buffer.c common/number.c common/json.c profile/profile.c profile/texts.c profile/tree.c profile/tree_lines.c profile/remap.c profile/formats/folded.c \
	profile/formats/pprof.c profile/formats/firefox.c profile/formats/speedscope.c profile/timeline.c profile/formats/html.c profile/formats/html_times.c profile/threads.c \
	profile/formats/otlp.c profile/formats/dictionary.c profile/formats/formats.c common/protobuf.c \
	ipc/batch.c ipc/batch_build.c ipc/short_name.c ipc/short_method.c common/hash_table.c
VIEWER_HUB := ipc/hub_client.c ipc/counters.c $(IPC)
trifold-viewer_SRCS := $(wildcard viewer/server/*.c) $(VIEWER_FORMATS) $(VIEWER_HUB) $(COMMON) common/listen.c common/page_key.c common/signals.c
trifold-viewer_GEN  := viewer/server/otlp_in.pb-c.c viewer/live.o.c profile/formats/page.o.c
trifold-viewer_LIBS := -lmicrohttpd -lprotobuf-c -lz -lzstd -lxxhash -lseccomp -lcap-ng

$(foreach d,$(O) $(O)/san $(O)/fuzzer,$(d)/viewer/server/decode.o \
	$(d)/viewer/server/decode_frames.o): $(O)/viewer/server/otlp_in.pb-c.h
