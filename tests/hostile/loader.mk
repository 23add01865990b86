# SPDX-License-Identifier: Apache-2.0
# The real loaderd, with a hub that lies.
HOSTILE += loader_offences loader_mutants loader_words
hostile_loader_offences_SRCS := tests/hostile/lying_hub.c ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c \
	ipc/sealed.c
hostile_loader_mutants_SRCS := $(hostile_loader_offences_SRCS) tests/hostile/mutants.c
hostile_loader_words_SRCS := $(hostile_loader_offences_SRCS)
$(O)/hostile/loader_offences $(O)/hostile/loader_mutants $(O)/hostile/loader_words: | \
	$(O)/bin/trifold-loaderd
