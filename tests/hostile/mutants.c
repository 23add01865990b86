// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/mutants.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/rules.h"

#define FLOOD		40	/* more than a receiver has room for */
#define SEALS		(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW)

static void mutant_must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("# mutants: %s: %s\n", what, strerror(errno));
	exit(1);
}

const char *mutation_name(enum mutation how)
{
	static const char *const names[MUTATIONS] = {
		"as it should be", "version before", "version behind",
		"payload too short", "payload too long", "larger than any",
		"header says more", "header says less", "header says 4 GiB",
		"header cut off", "descriptor missing", "descriptor too many",
		"descriptors without end", "memory not sealed",
		"memory can grow", "memory can shrink", "memory cut",
		"memory too long", "memory empty", "pipe for memory",
		"socket for memory", "file for memory",
		"directory for memory", "device for memory",
	};

	return names[how];
}

/* --- descriptors ------------------------------------------------------------ */

static int mutant_opened(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	mutant_must(fd >= 0, path);
	return fd;
}

/* Confined processes cannot open one. */
static int mutant_any(void)
{
	int fd = memfd_create("any", MFD_CLOEXEC);

	mutant_must(fd >= 0, "memfd");
	return fd;
}

static int mutant_memory(const struct mutant *m, size_t len, int seals)
{
	int fd = memfd_create("mutant", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t n = len < m->mem_len ? len : m->mem_len;

	mutant_must(fd >= 0 && write(fd, m->mem, n) == (ssize_t)n &&
		    (len == n || write(fd, "", 1) == 1) &&
		    fcntl(fd, F_ADD_SEALS, seals) == 0, "memory");
	return fd;
}

/* An end of something that is no memory. */
static int mutant_end(enum mutation how)
{
	int fd[2];

	if (how == MUT_MEM_PIPE)
		mutant_must(pipe2(fd, O_CLOEXEC) == 0, "pipe");
	else
		mutant_must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC,
				       0, fd) == 0, "socket");
	close(fd[1]);
	return fd[0];
}

static int mutant_mem(const struct mutant *m, enum mutation how)
{
	int seals = m->written ? SEALS & ~F_SEAL_WRITE : SEALS;

	switch (how) {
	case MUT_MEM_UNSEALED:
		return mutant_memory(m, m->mem_len, F_SEAL_SEAL);
	case MUT_MEM_GROWS:
		return mutant_memory(m, m->mem_len, seals & ~F_SEAL_GROW);
	case MUT_MEM_SHRINKS:
		return mutant_memory(m, m->mem_len, seals & ~F_SEAL_SHRINK);
	case MUT_MEM_CUT:
		return mutant_memory(m, m->mem_len - 1, seals);
	case MUT_MEM_MORE:
		return mutant_memory(m, m->mem_len + 1, seals);
	case MUT_MEM_EMPTY:
		return mutant_memory(m, 0, seals);
	case MUT_MEM_PIPE:
	case MUT_MEM_SOCKET:
		return mutant_end(how);
	case MUT_MEM_FILE:
		return mutant_opened("/proc/self/exe");
	case MUT_MEM_DIR:
		return mutant_opened("/");
	case MUT_MEM_DEVICE:
		return mutant_opened("/dev/zero");
	default:
		return mutant_memory(m, m->mem_len, seals);
	}
}

static bool mutant_lent(const struct mutant *m, unsigned int i)
{
	return i < MSG_FDS_MAX && m->fds[i];
}

/* --- a datagram ---------------------------------------------------------------- */

static void mutant_datagram(int socket, const struct iovec *parts, int n,
			    const int *fds, unsigned int nfds)
{
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(FLOOD * sizeof(int))];
	} control = { .h = { CMSG_LEN(nfds * sizeof(int)), SOL_SOCKET,
			     SCM_RIGHTS } };
	struct msghdr mh = { .msg_iov = (struct iovec *)parts,
			     .msg_iovlen = (size_t)n };
	struct pollfd p = { socket, POLLOUT, 0 };
	ssize_t sent;

	if (nfds) {
		memcpy(CMSG_DATA(&control.h), fds, nfds * sizeof(int));
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
	}
	while ((sent = sendmsg(socket, &mh, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 &&
	       errno == EAGAIN)
		poll(&p, 1, 1000);
	mutant_must(sent >= 0 || errno == EPIPE || errno == ECONNRESET,
		    "sendmsg");
}

static void mutant_header(struct msg_hdr *hdr, enum mutation how)
{
	if (how == MUT_VERSION_OLD)
		hdr->version--;
	else if (how == MUT_VERSION_NEW)
		hdr->version++;
	else if (how == MUT_HEADER_MORE)
		hdr->len++;
	else if (how == MUT_HEADER_LESS)
		hdr->len--;
	else if (how == MUT_HEADER_WRAPS)
		hdr->len = UINT32_MAX;
}

/* Can it be wrong in this? */
static bool mutant_possible(const struct mutant *m, enum mutation how)
{
	const struct msg_rule *rule = msg_rule(m->type);

	if (how == MUT_SHORT)
		return rule->len_min > 0;
	if (how == MUT_HEADER_LESS)
		return m->len > 0;
	if (how == MUT_FD_LESS)
		return rule->nfds > 0;
	return how < MUT_MEM_UNSEALED || m->mem;
}

static size_t mutant_len(const struct mutant *m, enum mutation how)
{
	const struct msg_rule *rule = msg_rule(m->type);

	return how == MUT_SHORT ? rule->len_min - 1 :
	       how == MUT_LONG ? rule->len_max + 1 :
	       how == MUT_LARGEST ? MSG_LEN_MAX + 1 : m->len;
}

bool mutant_send(int socket, const struct mutant *m, enum mutation how)
{
	static uint8_t payload[MSG_LEN_MAX + 1];
	const struct msg_rule *rule = msg_rule(m->type);
	size_t len = mutant_len(m, how);
	struct msg_hdr hdr = { MSG_VERSION, (uint16_t)m->type, (uint32_t)len,
			       m->id };
	struct iovec parts[] = { { &hdr, sizeof(hdr) }, { payload, len } };
	unsigned int n = rule->nfds;
	int fds[FLOOD];

	if (!mutant_possible(m, how))
		return false;
	memset(payload, 0, sizeof(payload));
	if (m->len)
		memcpy(payload, m->payload, m->len < len ? m->len : len);
	mutant_header(&hdr, how);
	if (how == MUT_NO_PAYLOAD)
		parts[0].iov_len--;
	n = how == MUT_FD_LESS ? n - 1 : how == MUT_FD_MORE ? n + 1 :
	    how == MUT_FD_FLOOD ? FLOOD : n;
	for (unsigned int i = 0; i < n; i++)
		fds[i] = mutant_lent(m, i) ? m->fds[i] :
			 m->mem ? mutant_mem(m, how) : mutant_any();
	mutant_datagram(socket, parts, how == MUT_NO_PAYLOAD ? 1 : 2, fds, n);
	for (unsigned int i = 0; i < n; i++) {
		if (!mutant_lent(m, i))
			close(fds[i]);
	}
	return true;
}

bool mutant_send_stranger(int socket, enum peer from, enum conn_state state,
			  unsigned int type)
{
	static const uint8_t zeroes[MSG_LEN_MAX];
	const struct msg_rule *rule = msg_rule(type);
	struct mutant m = { .type = type, .id = 1, .payload = zeroes };
	struct msg_hdr hdr = { MSG_VERSION, 0, 0, 0 };
	struct iovec part = { &hdr, sizeof(hdr) };

	if (rule) {
		m.len = rule->len_min;
		return !(rule->from & from && rule->states & state) &&
		       mutant_send(socket, &m, MUT_NONE);
	}
	hdr.type = type < MSG__MAX + 2 ? (uint16_t)type : UINT16_MAX;
	mutant_datagram(socket, &part, 1, NULL, 0);
	return true;
}
