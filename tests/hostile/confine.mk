# SPDX-License-Identifier: Apache-2.0
HOSTILE += confine_loaderd
hostile_confine_loaderd_SRCS := loaderd/confine.c common/sandbox.c common/log.c
hostile_confine_loaderd_LIBS := -lseccomp -lcap-ng
HOSTILE += opener
hostile_opener_SRCS := loaderd/opener.c loaderd/confine.c common/sandbox.c common/log.c \
	ipc/conn.c ipc/conn_more.c ipc/message.c ipc/rules_loader.c
hostile_opener_LIBS := -lseccomp -lcap-ng

# for the guests of tests/vm
.PHONY: hostile-confine
hostile-confine: $(O)/hostile/confine_loaderd $(O)/hostile/confine_symbolizerd
HOSTILE += confine_front
hostile_confine_front_SRCS := cli/front/confine.c common/sandbox.c common/log.c
hostile_confine_front_LIBS := -lseccomp -lcap-ng
