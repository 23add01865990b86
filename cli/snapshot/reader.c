// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/program_table.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/read_all.h"
#include "common/wait_status.h"
#include "ipc/snapshot_fds.h"

#define NAMES_MS	60000	/* to name frames; it has 30 s of CPU time in all */

/* Of the files with a descriptor: they come first. */
static uint32_t reader_files(const struct mapped *m)
{
	uint32_t n = m->files.n;

	while (n && m->files.v[n - 1].fd < 0)
		n--;
	return n;
}

/* Put a descriptor at its place; all sources lie above the places. */
static bool reader_place(int fd, int at)
{
	return fd < 0 || dup2(fd, at) == at;
}

/* In the child: descriptors as the header says, by way of higher ones. */
static bool reader_descriptors(const int *first, const struct mapped *m, uint32_t n)
{
	int above = SNAPSHOT_FD_FILES + (int)n, fd[SNAPSHOT_FD_FILES], file;

	for (int i = 0; i < SNAPSHOT_FD_FILES; i++) {
		if (i == STDERR_FILENO)
			fd[i] = i;
		else
			fd[i] = fcntl(first[i], F_DUPFD, above);
		if (fd[i] < 0)
			return false;
	}
	/* files above their places first: none is written over before it is moved */
	for (uint32_t i = 0; i < n; i++) {
		file = m->files.v[i].fd;
		if (file >= 0)
			m->files.v[i].fd = fcntl(file, F_DUPFD, above);
	}
	for (int i = 0; i < SNAPSHOT_FD_FILES; i++) {
		if (!reader_place(fd[i], i))
			return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		close(SNAPSHOT_FD_FILES + (int)i);
		reader_place(m->files.v[i].fd, SNAPSHOT_FD_FILES + (int)i);
	}
	return true;
}

static void reader_child(const char *path, const int *first, const struct mapped *m,
			 const struct identities *ids, const char *word)
{
	static char *const env[] = { NULL };
	char snapshot[] = "--snapshot", uid[24], gid[24], files[16];
	char name[] = "trifold-symbolizerd";
	char *argv[7] = { name, snapshot };
	uint32_t n = reader_files(m);
	int words = 2;

	if (!reader_descriptors(first, m, n))
		_exit(126);
	if (ids) {
		snprintf(uid, sizeof(uid), "--uid=%u", ids->uid[ID_HUB]);
		snprintf(gid, sizeof(gid), "--gid=%u", ids->gid[ID_HUB]);
		argv[words++] = uid;
		argv[words++] = gid;
	}
	snprintf(files, sizeof(files), "%u", n);
	argv[words++] = files;
	argv[words] = (char *)word;
	execve(path, argv, env);
	_exit(127);
}

/* Each file needs two descriptors for a moment. */
static void reader_raise_limit(void)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l)) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

int reader_start(struct reader *r, const char *libexec, int memory,
		 const struct mapped *m, const char *word)
{
	char dir[PATH_MAX], path[PATH_MAX + 32];
	const struct identities *as = NULL;
	struct identities ids;
	int in[2], out[2];

	*r = (struct reader){ .pid = -1, .to = -1, .from = -1, .result = -1 };
	if (libexec_find(libexec, dir))
		return -1;
	if (!geteuid()) {
		if (identity_find(&ids))
			return -1;
		as = &ids;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, program_table[PROGRAM_HUB].name);
	reader_raise_limit();
	r->result = memfd_create("snapshot", MFD_CLOEXEC);
	if (r->result < 0 || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
		log_err("%m");
		return -1;
	}
	r->to = in[1];
	r->from = out[0];
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	r->pid = fork();
	if (!r->pid) {
		const int first[] = { in[0], out[1], STDERR_FILENO, memory, r->result };

		reader_child(path, first, m, as, word);
	}
	close(in[0]);
	close(out[1]);
	if (r->pid < 0) {
		log_err("fork: %m");
		return -1;
	}
	return 0;
}

/* Read more of its output.  1; 0: it has ended; -1: it takes too long. */
static int reader_more(struct reader *r, size_t max, struct buffer *to, uint64_t until)
{
	struct pollfd p = { .fd = r->from, .events = POLLIN };
	uint64_t now = now_ns();
	ssize_t n;

	if (now >= until || to->len > max || !buffer_room(to, 512))
		return -1;
	n = poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
	if (n < 0 && errno != EINTR)
		return -1;
	if (n <= 0)
		return 1;
	n = read(r->from, to->data + to->len, 512);
	if (n <= 0)
		return 0;
	to->len += (size_t)n;
	return 1;
}

static int reader_failed(struct reader *r, int how)
{
	int status = 0;
	char text[64];

	if (how < 0) {
		log_err("its stacks take too long to read");
	} else if (how > 0) {
		log_err("its reader said what it should not");
	} else {
		while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
			;
		r->pid = -1;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)	/* else said */
			log_err("its reader %s",
				wait_status_text(status, text, sizeof(text)));
	}
	return -1;
}

int reader_walk(struct reader *r, const struct buffer *text, int timeout_ms)
{
	uint64_t until = now_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	size_t n = sizeof(SNAPSHOT_READ) - 1;
	struct buffer said = { 0 };
	int more = 1;

	if (write_all(r->to, text->data, text->len))
		more = 0;
	while (more > 0 && said.len < n)
		more = reader_more(r, n, &said, until);
	if (said.len != n || memcmp(said.data, SNAPSHOT_READ, n))
		more = reader_failed(r, more);
	free(said.data);
	if (more < 0)
		return -1;
	return 0;
}

int reader_finish(struct reader *r, size_t max, struct buffer *said)
{
	uint64_t until = now_ns() + NAMES_MS * NSEC_PER_MSEC;
	int more = 1, status = 1;

	close(r->to);
	r->to = -1;
	while (more > 0)
		more = reader_more(r, max, said, until);
	if (more < 0)
		return reader_failed(r, more);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	r->pid = -1;
	if (status && (!WIFEXITED(status) || WEXITSTATUS(status) != 1))
		log_err("the reader of its memory failed");
	if (status)
		return -1;
	return 0;
}

void reader_end(struct reader *r)
{
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	if (r->to >= 0)
		close(r->to);
	if (r->from >= 0)
		close(r->from);
	if (r->result >= 0)
		close(r->result);
	*r = (struct reader){ .pid = -1, .to = -1, .from = -1, .result = -1 };
}
