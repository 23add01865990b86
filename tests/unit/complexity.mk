# SPDX-License-Identifier: Apache-2.0
# UNWIND, SYMBOLS: unwind.mk
UNIT += complexity
unit_complexity_SRCS = $(sort $(UNWIND) $(SYMBOLS)) common/buffer.c
unit_complexity_LIBS := -lelf -lnettle -liberty -lxxhash

# VIEWER_STORE: viewer.mk
UNIT += complexity_viewer
unit_complexity_viewer_SRCS = $(VIEWER_STORE) cli/convert/folded_read.c
unit_complexity_viewer_LIBS = $(VIEWER_STORE_LIBS)
$(O)/san/tests/unit/test_complexity_viewer.o: $(O)/viewer/server/otlp_in.pb-c.h
