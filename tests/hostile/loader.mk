# SPDX-License-Identifier: Apache-2.0
# The real loaderd, with a hub that lies.
HOSTILE += loader_offences
hostile_loader_offences_SRCS := tests/hostile/lying_hub.c ipc/conn.c ipc/message.c ipc/rules.c \
	ipc/sealed.c
$(O)/hostile/loader_offences: | $(O)/bin/trifold-loaderd
