# SPDX-License-Identifier: Apache-2.0
VIEWER_STORE := $(VIEWER_FORMATS) profile/formats/page.o.c viewer/server/decode.c \
	viewer/server/decode_frames.c viewer/server/names.c viewer/server/otlp_in.pb-c.c \
	viewer/server/segment.c viewer/server/store.c \
	viewer/server/select.c viewer/server/facets.c viewer/server/lanes.c viewer/server/params.c common/number.c viewer/server/api.c \
	viewer/server/take.c viewer/server/feed.c $(VIEWER_HUB) common/log.c common/send_fds.c
VIEWER_STORE_LIBS := -lprotobuf-c -lz -lxxhash

UNIT += viewer_decode viewer_guard viewer_store viewer_take
unit_viewer_take_SRCS := $(VIEWER_STORE)
unit_viewer_take_LIBS := $(VIEWER_STORE_LIBS)
unit_viewer_decode_SRCS := $(VIEWER_STORE)
unit_viewer_decode_LIBS := $(VIEWER_STORE_LIBS)
unit_viewer_store_SRCS := $(VIEWER_STORE)
unit_viewer_store_LIBS := $(VIEWER_STORE_LIBS)
UNIT += viewer_facets
unit_viewer_facets_SRCS := $(VIEWER_STORE)
unit_viewer_facets_LIBS := $(VIEWER_STORE_LIBS) -Wl,--wrap=realloc
unit_viewer_guard_SRCS := viewer/server/guard.c common/page_key.c viewer/server/body.c common/buffer.c common/listen.c \
	viewer/server/params.c common/number.c
unit_viewer_guard_LIBS := -lz -lzstd
UNIT += viewer_config
unit_viewer_config_SRCS := viewer/server/config.c common/page_key.c common/listen.c common/number.c common/log.c
