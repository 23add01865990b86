# SPDX-License-Identifier: Apache-2.0
UNIT += cut record_watch
unit_cut_SRCS := profile/cut.c profile/remap.c ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_cut_LIBS := -lxxhash
unit_record_watch_SRCS := cli/record/record_watch.c profile/cut.c profile/remap.c profile/collect.c \
	ipc/hub_client.c ipc/counters.c ipc/batch.c ipc/batch_build.c common/hash_table.c ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c \
	ipc/sealed.c common/log.c
unit_record_watch_LIBS := -lxxhash
