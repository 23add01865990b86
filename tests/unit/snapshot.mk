# SPDX-License-Identifier: Apache-2.0
# the sampler on the host, over recordings (tests/recordings/)
SNAPSHOT := $(filter-out %/taking.c %/core.c,$(wildcard symbolizerd/snapshot/*.c)) $(addprefix symbolizerd/knowledge/,managed.c user_share.c visits.c owner_cache.c record.c) \
	symbolizerd/symbols/frame_names.c $(READING) symbolizerd/unwind/table.c symbolizerd/tables/owners.c \
	ipc/short_method.c common/buffer.c common/read_all.c common/hash_table.c
UNIT += recordings
unit_recordings_SRCS := $(SNAPSHOT)
unit_recordings_LIBS := -lz -lxxhash
UNIT += snapshot
unit_snapshot_SRCS := $(SNAPSHOT)
unit_snapshot_LIBS := -lz -lxxhash
UNIT += core
unit_core_SRCS := symbolizerd/snapshot/core.c symbolizerd/snapshot/snapshot.c common/wire.c common/log.c
UNIT += walk_cost
unit_walk_cost_SRCS := $(filter-out %/replay.c,$(SNAPSHOT))
unit_walk_cost_LIBS := -lz -lxxhash
UNIT += sample_cost
unit_sample_cost_SRCS := $(filter-out %/replay.c,$(SNAPSHOT))
unit_sample_cost_LIBS := -lz -lxxhash
