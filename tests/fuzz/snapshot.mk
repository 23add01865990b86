# SPDX-License-Identifier: Apache-2.0
FUZZ += snapshot
fuzz_snapshot_SRCS := $(SNAPSHOT)
fuzz_snapshot_LIBS := -lz -lxxhash
