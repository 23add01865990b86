# SPDX-License-Identifier: Apache-2.0
UNIT += otlp otlp_resource otlp_bytes otlp_answer otlp_body request sender queue exporter_config \
	exporter_resource backoff spool_file spool fanout
SPOOL_FILE := exporterd/spool_file.c ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_spool_file_SRCS := $(SPOOL_FILE)
unit_spool_file_LIBS := -lxxhash
unit_spool_SRCS := $(SPOOL_FILE) exporterd/spool.c exporterd/own_dir.c common/read_all.c common/buffer.c ipc/sealed.c common/log.c
unit_spool_LIBS := -lxxhash
UNIT += debug_cache
DEBUG_CACHE := exporterd/debug_cache.c exporterd/own_dir.c common/read_all.c common/buffer.c
unit_debug_cache_SRCS := $(DEBUG_CACHE) common/log.c
unit_otlp_SRCS := $(OTLP) profile/formats/otlp.pb-c.c ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_otlp_LIBS := -lprotobuf-c -lxxhash -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
unit_otlp_resource_SRCS := $(unit_otlp_SRCS)
unit_otlp_resource_LIBS := -lprotobuf-c -lxxhash
unit_otlp_bytes_SRCS := $(unit_otlp_SRCS) exporterd/body.c
unit_otlp_bytes_LIBS := -lprotobuf-c -lxxhash -lz -lzstd
unit_otlp_answer_SRCS := exporterd/answer.c exporterd/backoff.c \
	profile/formats/otlp.pb-c.c common/log.c
unit_otlp_answer_LIBS := -lprotobuf-c -lcurl
unit_otlp_body_SRCS := exporterd/body.c
unit_otlp_body_LIBS := -lz -lzstd -Wl,--wrap=malloc,--wrap=calloc
REQUEST := exporterd/request.c exporterd/queue.c exporterd/body.c \
	ipc/sealed.c  $(OTLP) profile/formats/otlp.pb-c.c ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_request_SRCS := $(REQUEST)
unit_request_LIBS := -lprotobuf-c -lxxhash -lz -lzstd \
	-Wl,--wrap=malloc,--wrap=calloc
unit_sender_SRCS := $(REQUEST) exporterd/sender.c exporterd/answer.c \
	exporterd/backoff.c common/log.c
unit_sender_LIBS := -lprotobuf-c -lxxhash -lz -lzstd -lcurl \
	-Wl,--wrap=clock_gettime
UNIT += fleet
unit_fleet_SRCS := $(unit_sender_SRCS)
unit_fleet_LIBS := $(unit_sender_LIBS) -Wl,--wrap=getrandom
unit_fanout_SRCS := $(unit_sender_SRCS) exporterd/fanout.c exporterd/spool.c exporterd/own_dir.c common/read_all.c common/buffer.c exporterd/spool_file.c
unit_fanout_LIBS := $(unit_sender_LIBS)
unit_queue_SRCS := exporterd/queue.c exporterd/body.c \
	ipc/sealed.c  ipc/batch.c
unit_queue_LIBS := -lz -lzstd
unit_exporter_config_SRCS := common/number.c common/read_all.c common/buffer.c exporterd/config.c exporterd/endpoint.c \
	exporterd/resource.c common/pairs.c exporterd/body.c common/log.c
unit_exporter_config_LIBS := -lcurl -lz -lzstd
unit_exporter_resource_SRCS := exporterd/resource.c common/pairs.c \
	common/log.c
UNIT += debuginfod
unit_debuginfod_SRCS := common/number.c exporterd/debuginfod.c exporterd/backoff.c exporterd/endpoint.c common/pairs.c $(DEBUG_CACHE) common/log.c exporterd/body.c
unit_debuginfod_LIBS := -lcurl -lz -lzstd -Wl,--wrap=clock_gettime
unit_backoff_SRCS := exporterd/backoff.c
unit_backoff_LIBS := -lcurl

$(O)/san/tests/unit/test_otlp.o $(O)/san/tests/unit/test_otlp_bytes.o $(O)/san/tests/unit/test_otlp_answer.o \
$(O)/san/tests/unit/test_request.o $(O)/san/tests/unit/test_sender.o $(O)/san/tests/unit/test_fleet.o $(O)/san/tests/unit/test_fanout.o \
$(O)/san/exporterd/answer.o $(O)/fuzzer/exporterd/answer.o: \
	$(O)/profile/formats/otlp.pb-c.h

# for tests/live/test_exporter.sh
make_batch_OBJS := $(patsubst %.c,$(O)/%.o,tests/live/make_batch.c \
	ipc/batch.c ipc/batch_build.c common/hash_table.c)
$(O)/live/make_batch: $(make_batch_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -lxxhash -o $@

UNIT += metrics metrics_config
unit_metrics_SRCS := exporterd/metrics.c common/protobuf.c common/buffer.c common/pairs.c \
	exporterd/metrics.pb-c.c profile/formats/otlp.pb-c.c ipc/batch.c \
	ipc/counter_table.c ipc/counters.c
unit_metrics_LIBS := -lprotobuf-c -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
unit_metrics_config_SRCS := $(unit_exporter_config_SRCS)
unit_metrics_config_LIBS := -lcurl -lz -lzstd
$(O)/exporterd/metrics.pb-c.c: $(O)/profile/formats/otlp.pb-c.h
$(O)/san/tests/unit/test_metrics.o: $(O)/exporterd/metrics.pb-c.h
