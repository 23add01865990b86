// SPDX-License-Identifier: Apache-2.0
#include "cli/record/recorder_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/fdpass.h"
#include "profile/formats/formats.h"

int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd)
{
	return fdpass_send(r->control, m, sizeof(*m), fd);
}

static void recorder_link_join(char *const *words, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (; *words && len + 1 < size; words++) {
		snprintf(out + len, size - len, "%s%s", len ? " " : "", *words);
		len = strlen(out);
	}
}

void recorder_link_plan(struct plan_words *w, const struct options *o,
			const char *what)
{
	char command[320];

	recorder_link_join(o->rest, command, sizeof(command));
	plan_words_add(w, PROGRAM_RECORDER, "--frequency=%u", o->frequency);
	plan_words_add(w, PROGRAM_RECORDER, "--format=%s",
		       format_at(o->format)->name);
	plan_words_add(w, PROGRAM_RECORDER, "--output=%s", o->output);
	if (*command || *what)
		plan_words_add(w, PROGRAM_RECORDER, "--command=%s",
			       *command ? command : what);
}

int recorder_link_start(struct recorder_link *r, const struct launch *l)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = program_start(l, PROGRAM_RECORDER, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return pid;
	}
	r->pid = pid;
	r->control = fds[0];
	return 0;
}
