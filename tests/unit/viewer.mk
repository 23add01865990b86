# SPDX-License-Identifier: Apache-2.0
VIEWER_STORE := $(VIEWER_FORMATS) cli/page.o.c viewer/decode.c \
	viewer/decode_frames.c viewer/names.c viewer/otlp_in.pb-c.c \
	viewer/segment.c viewer/store.c viewer/match.c \
	viewer/select.c viewer/facets.c viewer/params.c viewer/api.c
VIEWER_STORE_LIBS := -lprotobuf-c -lz -lxxhash

UNIT += viewer_decode viewer_guard viewer_store
unit_viewer_decode_SRCS := $(VIEWER_STORE)
unit_viewer_decode_LIBS := $(VIEWER_STORE_LIBS)
unit_viewer_store_SRCS := $(VIEWER_STORE)
unit_viewer_store_LIBS := $(VIEWER_STORE_LIBS)
unit_viewer_guard_SRCS := viewer/guard.c viewer/body.c viewer/listen.c \
	viewer/params.c
unit_viewer_guard_LIBS := -lz -lzstd
