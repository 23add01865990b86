/* SPDX-License-Identifier: Apache-2.0 */
/* worker_says - what the workers of hub_workers.c may send, good and bad */
#ifndef HOSTILE_WORKER_SAYS_H
#define HOSTILE_WORKER_SAYS_H

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "ipc/sealed.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/line_codes.h"

static inline void fail(struct conn *c, uint32_t exe, uint32_t verdict)
{
	struct msg_job_failed m = { .exe = exe, .verdict = verdict };

	conn_send(c, MSG_JOB_FAILED, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

/* Names of so many frames, the last bytes of the memory left out. */
static inline int names_memory(uint32_t n_frames, size_t less)
{
	static struct frame_names_build b;
	struct symbol_place place = { "named", "", 0, 0, NULL, 0 };
	struct iovec parts[3];

	frame_names_begin(&b, n_frames);
	for (uint32_t i = 0; i < n_frames; i++)
		frame_names_add(&b, i, &place);
	frame_names_end(&b, parts);
	parts[2].iov_len -= less;
	return sealed_make("names", parts, 3);
}

/* Code at so many places; if they are not as many as were asked for, more are left. */
static inline int lines_memory(uint32_t n, uint32_t asked, size_t less)
{
	static struct line_codes_build b;
	struct symbol_place place = { "named", "", 0, 0, NULL, 0 };
	struct iovec parts[LINE_CODES_PARTS];

	line_codes_begin(&b, asked);
	for (uint32_t i = 0; i < n; i++) {
		line_codes_add(&b, 0x1000 * i, 0x800);
		line_codes_add_segment(&b, 0, &place, 1);
	}
	if (n != asked)
		b.hdr.left = asked;
	line_codes_end(&b, parts);
	parts[LINE_CODES_PARTS - 1].iov_len -= less;
	return sealed_make("lines", parts, LINE_CODES_PARTS);
}

static inline int long_memory(void)
{
	static char bytes[LINE_CODES_BYTES_MAX + 1];
	struct iovec part = { bytes, sizeof(bytes) };

	return sealed_make("names", &part, 1);
}

/* len bytes behind the header, where none belong */
static inline void say_names(struct conn *c, int fd, size_t len)
{
	conn_send(c, MSG_NAMES, 0, "12345678", len, NULL, 0, &fd, 1);
	close(fd);
}

static inline void ask(struct conn *c, enum msg_type type, uint32_t len)
{
	struct msg_wanted m = { .build_id_len = len };

	conn_send(c, type, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

/* For dwz's alternate file, by this name there. */
static inline void ask_alternate(struct conn *c, uint32_t len, const char *name)
{
	struct msg_wanted m = { .build_id_len = len, .alternate = 1 };

	strcpy(m.paths, name);
	conn_send(c, MSG_DEBUG_WANTED, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

/* For the package of split DWARF of the executable, which has a debug file of this name. */
static inline void ask_package(struct conn *c, uint32_t len, const char *name)
{
	struct msg_wanted m = { .build_id_len = len, .alternate = DEBUG_PACKAGE };

	strcpy(m.paths, name);
	conn_send(c, MSG_DEBUG_WANTED, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

/* The type of the answer. */
static inline unsigned int answer_to(struct conn *c)
{
	struct msg m;
	int r;

	while ((r = conn_recv(c, &m)) == -EAGAIN)
		poll(NULL, 0, 1);
	if (r)
		return 0;
	msg_close_fds(&m);
	return m.hdr.type;
}

static inline int loose_memory(void)
{
	static const char zeros[4096];
	int fd = memfd_create("loose", MFD_CLOEXEC);

	(void)!write(fd, zeros, sizeof(zeros));
	return fd;
}

#endif /* HOSTILE_WORKER_SAYS_H */
