// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "ipc/sealed.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/symbols/jit_names.h"
#include "symbolizerd/symbols/line_codes.h"
#include "symbolizerd/unwind/build.h"
#include "symbolizerd/worker/debug_file.h"
#include "symbolizerd/worker/lines_job.h"

static int worker_seal(const char *name, void *data, size_t len)
{
	struct iovec part = { data, len };
	int fd = sealed_make(name, &part, 1);

	free(data);
	return fd;
}

/* A table is useful also without names: if they are too many or corrupt, the index
 * has no entries. */
static int worker_symbols(const struct elf_file *f, struct msg_job_done *done)
{
	struct symbols_hdr *none;
	void *data;
	size_t len;
	int r = symbols_build(f, runtimes_symbols, &data, &len);

	if (!r)
		return worker_seal("symbols", data, len);
	if (r == JOB_TOO_LARGE)
		done->too_large = 1;
	none = calloc(1, sizeof(*none));
	if (!none)
		return -ENOMEM;
	none->magic = SYMBOLS_MAGIC;
	return worker_seal("symbols", none, sizeof(*none));
}

/* done->part, as sealed memory: *fd.  JOB_OK or a verdict. */
static int worker_make(const struct elf_file *f, struct msg_job_done *done, int *fd)
{
	void *data;
	size_t len;
	int r;

	if (done->part == JOB_SYMBOLS) {
		*fd = worker_symbols(f, done);
	} else {
		r = unwind_build(f, runtimes_rows, &data, &len);
		if (r)
			return r;
		*fd = worker_seal("table", data, len);
	}
	return *fd < 0 ? JOB_NO_MEMORY : JOB_OK;
}

/* Make the parts that are wanted, and send each.  JOB_OK or a verdict. */
static int worker_parts(struct conn *c, const struct msg *m,
			const struct elf_file *f, struct msg_job_done *done)
{
	static const enum job_part all[] = { JOB_TABLE, JOB_SYMBOLS };
	const struct msg_job *job = (const void *)m->buf;
	int r = JOB_OK, fd;

	for (size_t i = 0; !r && i < 2; i++) {
		if (!(job->parts & all[i]))
			continue;
		done->part = all[i];
		r = worker_make(f, done, &fd);
		if (r)
			break;
		if (conn_send(c, MSG_JOB_DONE, m->hdr.id, done, sizeof(*done),
			      NULL, 0, &fd, 1))
			_exit(1);	/* the hub has gone */
		close(fd);
	}
	return r;
}

/* Is this, which is no ELF file, memory for code: a memfd, or a file that was removed? */
static bool worker_is_code(const struct elf_file *f)
{
	struct stat st;

	return memcmp(f->ehdr.e_ident, ELFMAG, SELFMAG) && !fstat(f->fd, &st) &&
	       !st.st_nlink;
}

/* All that is wanted of a file; each answer has its build ID and runtime. */
static int worker_file(struct conn *c, const struct msg *m)
{
	const struct msg_job *job = (const void *)m->buf;
	struct msg_job_done done = { .exe = job->exe };
	struct runtime_found found;
	struct debug_file debug;
	struct elf_file f;
	int r = elf_file_open(&f, m->fds[0]);

	if (r == JOB_NOT_ELF && worker_is_code(&f))
		r = JOB_CODE;
	if (!r && file_id(f.fd, f.size, done.file_id))
		r = JOB_CORRUPT;
	if (!r) {
		done.build_id_len = file_build_id(&f, done.build_id,
						   BUILD_ID_MAX);
		runtimes_find(&f, &found);
		f.found = &found;
		done.runtime = found.runtime;
		done.unknown = found.unknown;
		memcpy(done.runtime_id, found.id, sizeof(done.runtime_id));
		debug_file_find(&debug, &f, c, job->parts, &done);
		if (!runtimes_have_lines(found.runtime))
			lines_job_may_be(&f, &done);
		r = worker_parts(c, m, &f, &done);
		debug_file_close(&debug, &f);
	}
	elf_file_close(&f);
	return r;
}

/* Code of a file. */
static int worker_lines(struct conn *c, const struct msg *m, int *verdict)
{
	static struct line_codes_build codes;	/* large; a worker has one job */
	const struct msg_job *job = (const void *)m->buf;
	const uint64_t *words = (const void *)(m->buf + sizeof(*job));
	struct iovec parts[LINE_CODES_PARTS];
	int fd;

	line_codes_begin(&codes, job->n_frames);
	*verdict = JOB_CORRUPT;
	if (job->n_frames <= (m->hdr.len - sizeof(*job)) / sizeof(uint64_t))
		*verdict = lines_job(c, m->fds[0], words, job->n_frames, &codes);
	if (*verdict)
		return 0;
	line_codes_end(&codes, parts);
	fd = sealed_make("lines", parts, LINE_CODES_PARTS);
	if (fd < 0) {
		*verdict = JOB_NO_MEMORY;
		return 0;
	}
	return conn_send(c, MSG_NAMES, m->hdr.id, NULL, 0, NULL, 0, &fd, 1);
}

/* Names of a process's frames. */
static int worker_names(struct conn *c, const struct msg *m, int *verdict)
{
	static struct frame_names_build names;	/* large; a worker has one job */
	const struct msg_job *job = (const void *)m->buf;
	const uint64_t *words = (const void *)(m->buf + sizeof(*job));
	size_t n = (m->hdr.len - sizeof(*job)) / sizeof(uint64_t);
	struct process_memory mem = {
		m->fds[0], PROCESS_MEMORY_READS, PROCESS_MEMORY_BYTES,
	};
	struct iovec parts[3];
	int fd;

	frame_names_begin(&names, job->n_frames);
	if (job->n_frames > n)
		*verdict = JOB_CORRUPT;
	else if (job->runtime != RUNTIME_NONE)
		*verdict = runtimes_names(job->runtime, &mem, words, n, &names);
	else if (jit_names(m->fds[0], words, n, &names))
		*verdict = JOB_CORRUPT;
	else
		*verdict = JOB_OK;
	if (*verdict)
		return 0;
	frame_names_end(&names, parts);
	fd = sealed_make("names", parts, 3);
	if (fd < 0) {
		*verdict = JOB_NO_MEMORY;
		return 0;
	}
	return conn_send(c, MSG_NAMES, m->hdr.id, NULL, 0, NULL, 0, &fd, 1);
}

static int worker_answer(struct conn *c, const struct msg *m)
{
	const struct msg_job *job = (const void *)m->buf;
	struct msg_job_failed failed = { .exe = job->exe };
	int verdict, r = 0;

	if (job->kind == JOB_LINES)
		r = worker_lines(c, m, &verdict);
	else if (job->kind != JOB_FILE)
		r = worker_names(c, m, &verdict);
	else
		verdict = worker_file(c, m);
	if (!verdict)
		return r;
	failed.verdict = (uint32_t)verdict;
	return conn_send(c, MSG_JOB_FAILED, m->hdr.id, &failed, sizeof(failed),
			 NULL, 0, NULL, 0);
}

/* What is no job: an answer to a former worker of this slot, which has ended without it, is
 * dropped; else an offence. */
static int worker_drop(struct msg *m)
{
	msg_close_fds(m);
	if (m->hdr.type == MSG_WANTED_FILE || m->hdr.type == MSG_WANTED_NONE)
		return MSG_OK;
	return MSG_BAD_TYPE;
}

int worker_run(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct conn c;
	struct msg m;
	int r = 0;

	conn_init(&c, fd, PEER_HUB, CONN_READY);
	while (!r) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return 1;
		r = conn_recv(&c, &m);
		if (!r && m.hdr.type == MSG_JOB)
			return worker_answer(&c, &m) ? 1 : 0;
		if (!r)
			r = worker_drop(&m);
		if (r == -EAGAIN)
			r = 0;
	}
	return 1;
}
