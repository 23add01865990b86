# SPDX-License-Identifier: Apache-2.0
FUZZ += folded_read
fuzz_folded_read_SRCS := cli/folded_read.c exporterd/protobuf.c ipc/batch.c
fuzz_folded_read_LIBS := -lxxhash

FUZZ += target
fuzz_target_SRCS := cli/target.c common/container.c common/log.c
