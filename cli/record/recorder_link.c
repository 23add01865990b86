// SPDX-License-Identifier: Apache-2.0
#include "cli/record/recorder_link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox.h"
#include "ipc/fdpass.h"
#include "profile/formats/formats.h"
#include "profile/outfile.h"

int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd)
{
	return fdpass_send(r->control, m, sizeof(*m), fd);
}

bool recorder_link_piped(const struct options *o)
{
	return o->output && outfile_is_standard(o->output);
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

void recorder_link_plan(struct plan *p, const struct options *o,
			const char *what)
{
	char command[320];

	recorder_link_join(o->rest, command, sizeof(command));
	plan_add(p, PROGRAM_RECORDER, "--frequency=%u", o->frequency);
	plan_add(p, PROGRAM_RECORDER, "--format=%s",
		       format_at(o->format)->name);
	if (options_given(o, "names"))
		plan_add(p, PROGRAM_RECORDER, "--names=%s",
			 options_given(o, "names"));
	if (o->lines)
		plan_add(p, PROGRAM_RECORDER, "--lines");
	if (o->inlined)
		plan_add(p, PROGRAM_RECORDER, "--inlined");
	if (o->no_placeholders)
		plan_add(p, PROGRAM_RECORDER, "--no-placeholders");
	if (*command || *what)
		plan_add(p, PROGRAM_RECORDER, "--command=%s",
			       *command ? command : what);
	if (!o->all && (*command || *what))
		plan_add(p, PROGRAM_RECORDER, "--part");
}

/* In a child.  It needs SUDO_UID of the environment, but not NOTIFY_SOCKET. */
static _Noreturn void recorder_link_become(const struct plan *p, uid_t seal_uid,
					   int control, int log_fd)
{
	const int keep[] = { 0, 1, 2, control };
	char *argv[PLAN_WORDS_MAX + 5], seal[32], fd[32];
	int n = 0, null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	snprintf(seal, sizeof(seal), "--seal-uid=%u", seal_uid);
	snprintf(fd, sizeof(fd), "--control-fd=%d", control);
	argv[n++] = (char *)"trifold";
	argv[n++] = (char *)"recorder";
	argv[n++] = seal;
	argv[n++] = fd;
	for (const char *w = NULL; (w = plan_next(p, PROGRAM_RECORDER, w));)
		argv[n++] = (char *)w;
	argv[n] = NULL;
	unsetenv("NOTIFY_SOCKET");
	/* it keeps our standard output, which may be where it is to write */
	if (null < 0 || dup2(null, 0) < 0 || dup2(log_fd, 2) < 0 ||
	    fcntl(control, F_SETFD, 0) < 0)
		_exit(127);
	sandbox_close_fds(keep, 4);
	execv("/proc/self/exe", argv);
	log_err("the recorder cannot be run: %m");
	_exit(127);
}

int recorder_link_start(struct recorder_link *r, const struct plan *p,
			uid_t seal_uid, int log_fd)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	r->pid = fork();
	if (r->pid == 0)
		recorder_link_become(p, seal_uid, fds[1], log_fd);
	close(fds[1]);
	if (r->pid < 0) {
		r->pid = 0;
		close(fds[0]);
		return -EAGAIN;
	}
	r->control = fds[0];
	return 0;
}
