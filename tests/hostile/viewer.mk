# SPDX-License-Identifier: Apache-2.0
HOSTILE += confine_viewer
hostile_confine_viewer_SRCS := viewer/server/confine.c common/listen.c common/number.c \
	common/sandbox.c common/log.c ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c
hostile_confine_viewer_LIBS := -lseccomp -lcap-ng
