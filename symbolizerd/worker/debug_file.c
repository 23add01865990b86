// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/debug_file.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/conn_more.h"
#include "symbolizerd/elf/debugdata.h"
#include "symbolizerd/elf/file_id.h"

#define DEBUG_WAIT_MS	1000	/* for a debug file that may not exist */

/* Ask for it, and wait up to DEBUG_WAIT_MS.  A descriptor and who brought it, or -1. */
static int debug_file_ask(struct conn *c, const struct msg_job_done *done, uint64_t *source)
{
	struct msg_wanted wanted = { .build_id_len = done->build_id_len };
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	struct msg m;
	int fd;

	memcpy(wanted.build_id, done->build_id, done->build_id_len);
	if (conn_send(c, MSG_DEBUG_WANTED, 0, &wanted, sizeof(wanted), NULL, 0,
		      NULL, 0) ||
	    poll(&p, 1, DEBUG_WAIT_MS) != 1 || conn_recv(c, &m))
		return -1;
	*source = m.hdr.id;
	fd = m.hdr.type == MSG_WANTED_FILE ? msg_take_fd(&m, 0) : -1;
	msg_close_fds(&m);
	return fd;
}

static bool debug_file_trusted(int exe, int debug)
{
	struct stat e, d;

	return !fstat(exe, &e) && !fstat(debug, &d) &&
	       (d.st_uid == 0 || d.st_uid == e.st_uid) &&
	       (d.st_mode & S_IROTH);
}

/* Open it in *ret if it belongs to f, by its build ID. */
static bool debug_file_open(const struct elf_file *f, const struct msg_job_done *done,
			    int fd, struct elf_file *ret)
{
	uint8_t id[BUILD_ID_MAX];

	if (!elf_file_open(ret, fd) &&
	    ret->ehdr.e_machine == f->ehdr.e_machine &&
	    file_build_id(ret, id, sizeof(id)) == done->build_id_len &&
	    !memcmp(id, done->build_id, done->build_id_len))
		return true;
	elf_file_close(ret);
	return false;
}

/* The separate one, or none. */
static void debug_file_separate(struct debug_file *d, struct elf_file *f, struct conn *c,
				struct msg_job_done *done)
{
	uint64_t source = DEBUG_LOCAL;

	d->fd = debug_file_ask(c, done, &source);
	if (d->fd < 0 || (source != DEBUG_SERVER && !debug_file_trusted(f->fd, d->fd)) ||
	    !debug_file_open(f, done, d->fd, &d->elf))
		return;
	f->debug = &d->elf;
	done->debug = JOB_DEBUG_FILE;
}

void debug_file_find(struct debug_file *d, struct elf_file *f, struct conn *c,
		     uint32_t parts, struct msg_job_done *done)
{
	bool ask = done->build_id_len >= 2;

	*d = (struct debug_file){ .fd = -1 };
	done->debug = JOB_DEBUG_OWN;
	if (elf_file_find(f, ".symtab"))
		return;
	if (ask) {
		done->debug = JOB_DEBUG_MISSING;
		debug_file_separate(d, f, c, done);
	}
	if (f->debug || !elf_file_find(f, ".gnu_debugdata"))
		return;
	if (ask)
		done->debug = JOB_DEBUG_INSIDE;
	if (parts & JOB_SYMBOLS && !debugdata_open(f, &d->elf))
		f->debug = &d->elf;
}

void debug_file_close(struct debug_file *d, struct elf_file *f)
{
	if (f->debug)
		elf_file_close(&d->elf);
	f->debug = NULL;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
