# SPDX-License-Identifier: Apache-2.0
FUZZ += batch message
fuzz_batch_SRCS := ipc/batch.c ipc/batch_build.c common/hash_table.c
fuzz_batch_LIBS := -lxxhash
fuzz_message_SRCS := ipc/message.c ipc/rules.c ipc/conn.c common/send_fds.c
