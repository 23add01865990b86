// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/ask.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#define ASK_SIGNALS	(1u << SIGHUP | 1u << SIGINT | 1u << SIGQUIT |	\
			 1u << SIGKILL | 1u << SIGTERM)

const char *ask_option(char *const *argv, const char *name)
{
	size_t len = strlen(name);
	const char *ret = NULL;

	for (; *argv && strcmp(*argv, "--"); argv++) {
		if (strncmp(*argv, name, len))
			continue;
		if ((*argv)[len] == '=') {
			ret = *argv + len + 1;
		} else if (!(*argv)[len] && argv[1]) {
			argv++;
			ret = *argv;
		}
	}
	return ret;
}

static bool ask_matches(const char *word, const char *listed)
{
	size_t len = strlen(listed);

	if (!strchr("=_.", listed[len - 1]))
		return !strcmp(word, listed);
	return !strncmp(word, listed, len) && strchr(word, '=');
}

bool ask_allows(enum program id, const char *word)
{
	for (const char *const *w = program_table[id].words; *w; w++) {
		if (ask_matches(word, *w))
			return true;
	}
	return false;
}

/* What root would write to is trifold.FORMAT here; a path comes from the user's own words
 * only (programs.c). */
static bool ask_words_allowed(const struct ask *m, size_t len)
{
	const char *word = m->words, *end = (const char *)m + len;

	if (word < end && end[-1])
		return false;
	for (; word < end; word += strlen(word) + 1) {
		if (!ask_allows(m->program, word) ||
		    (!strncmp(word, "--output=", 9) && strchr(word, '/')))
			return false;
	}
	return true;
}

bool ask_check(const struct ask *m, size_t len, int n_fds)
{
	if (len < ASK_BYTES(0) || m->program >= PROGRAM_FRONT)
		return false;
	if (m->kind == ASK_START)
		return n_fds <= program_table[m->program].fds && ask_words_allowed(m, len);
	if (len > ASK_BYTES(0))
		return false;
	if (m->kind == ASK_OPEN)
		return n_fds == 1;
	if (m->kind == ASK_SIGNAL)
		return n_fds == 0 && m->signal > 0 && m->signal < 32 &&
		       ASK_SIGNALS >> m->signal & 1;
	return m->kind == ASK_HUB && n_fds == 0;
}

/* --- the socket ------------------------------------------------------------- */

union ask_control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(ASK_FDS_MAX * sizeof(int))];
};

int ask_send(int socket, const void *m, size_t len, const int *fds, int n,
	     int flags)
{
	size_t bytes = (size_t)n * sizeof(int);
	union ask_control control = {
		.align = { CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS },
	};
	struct iovec iov = { (void *)m, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		memcpy(CMSG_DATA(&control.align), fds, bytes);
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(bytes);
	}
	return sendmsg(socket, &mh, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int ask_recv(int socket, void *m, size_t size, int *fds, int *n, int flags)
{
	union ask_control control;
	struct iovec iov = { m, size };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t len;

	*n = 0;
	len = recvmsg(socket, &mh, flags | MSG_CMSG_CLOEXEC);
	if (len < 0 && errno == EAGAIN)
		return 0;
	if (len <= 0)
		return -EPIPE;
	/* descriptors: the sockets ask for nothing else */
	c = CMSG_FIRSTHDR(&mh);
	if (c) {
		*n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)*n * sizeof(int));
	}
	return mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EPROTO : (int)len;
}
