// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/regular_file.h"
#include "cli/config/sudo_caller.h"
#include "cli/snapshot/mapped.h"
#include "cli/snapshot/reader.h"
#include "cli/snapshot/stopped.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/number.h"
#include "common/read_all.h"
#include "ipc/snapshot_fds.h"

#define TABLES_MS	60000	/* the process runs meanwhile */
#define STANDS_MS	5000	/* it stands still */
#define NOTHING		3	/* exit status: the person said no */

/* --- what goes wrong ------------------------------------------------------------------- */

/* The number after "KEY:" in /proc/PID/status; or -1. */
static long snapshot_status(pid_t pid, const char *key)
{
	char path[48], line[256];
	size_t n = strlen(key);
	long v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, n) && line[n] == ':')
			v = strtol(line + n + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return v;
}

static int snapshot_ptrace_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int v = 0;

	if (f && fscanf(f, "%d", &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

static void snapshot_forbidden(pid_t pid)
{
	long tracer = snapshot_status(pid, "TracerPid");
	int scope = snapshot_ptrace_scope();

	if (tracer > 0)
		log_err("process %d is being traced by process %ld (a debugger?): end "
			"that first", pid, tracer);
	else if (scope == 3)
		log_err("process %d: kernel.yama.ptrace_scope is 3: processes cannot "
			"be inspected until the next boot", pid);
	else if (geteuid() && snapshot_status(pid, "Uid") != (long)getuid())
		log_err("process %d belongs to another user: use sudo", pid);
	else if (geteuid() && scope)
		log_err("process %d: kernel.yama.ptrace_scope is %d, so a user may not "
			"look into own processes: use sudo", pid, scope);
	else if (geteuid())
		log_err("process %d may not be looked into (it has privileges that you "
			"do not have): use sudo", pid);
	else
		log_err("process %d: the kernel does not let even root look into it (a "
			"kernel thread? a container without CAP_SYS_PTRACE?)", pid);
}

/* -1 */
static int snapshot_refuse(pid_t pid, int r)
{
	if (r == -EPERM || r == -EACCES)
		snapshot_forbidden(pid);
	else if (r == -ESRCH || r == -ENOENT)
		log_err("there is no process %d (any more)", pid);
	else if (r == -ENOEXEC)
		log_err("process %d is a 32-bit one: trifold does not walk these", pid);
	else if (r == -EBUSY)
		log_err("a thread of process %d did not stop within %u s: it waits in the "
			"kernel (vfork? a file system that does not answer?).  Try again "
			"later", pid, (unsigned int)(STOPPED_NS / NSEC_PER_SEC));
	else
		log_err("process %d: %s", pid, strerror(-r));
	return -1;
}

/* --- the process ----------------------------------------------------------------------- */

static int snapshot_memory(pid_t pid)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return snapshot_refuse(pid, -errno);
	return fd;
}

/* Stop it and say what it has; it stands still afterwards.  0, or -1, said. */
static int snapshot_stop(struct stopped *s, struct mapped *m, struct buffer *text)
{
	int r = stopped_begin(s, m->pid);

	if (r)
		return snapshot_refuse(m->pid, r);
	text->len = 0;
	r = mapped_describe(m, text);
	if (!r)
		r = stopped_describe(s, text);
	buffer_str(text, "end\n");
	if (!r && text->failed)
		r = -ENOMEM;
	if (!r)
		return 0;
	stopped_end(s);
	return snapshot_refuse(m->pid, r);
}

/*
 * Twice: at first for a moment, so that the tables are made that its stacks need while
 * it runs; then again, until its memory was read.
 */
static int snapshot_take(struct reader *reader, struct mapped *m)
{
	struct buffer text = { 0 };
	struct stopped s;
	uint64_t begin;
	int r = snapshot_stop(&s, m, &text);

	if (!r) {
		stopped_end(&s);
		r = reader_walk(reader, &text, TABLES_MS);
	}
	begin = now_ns();
	if (!r)
		r = snapshot_stop(&s, m, &text);
	if (!r) {
		r = reader_walk(reader, &text, STANDS_MS);
		stopped_end(&s);
		begin = now_ns() - begin;
	}
	if (!r)
		printf("Process %d stood still for %llu ms and runs on.\n", m->pid,
		       (unsigned long long)(begin / NSEC_PER_MSEC));
	free(text.data);
	return r;
}

/* --- the file --------------------------------------------------------------------------- */

static bool snapshot_agreed(const struct options *o, const char *path)
{
	char answer[16];

	if (o->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		log_err("cannot ask for confirmation, since standard input is no terminal: "
			"use --yes");
		return false;
	}
	printf("Write this to %s? [y/N] ", path);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

/* The user who called sudo opens the file, as that of a recording: what that user may
 * not write is not written. */
static int snapshot_write(const char *path, int result)
{
	struct buffer all = { 0 };
	int fd, r = 0;

	if (sudo_caller_become())
		return 1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		log_err("%s: %m", path);
		return 1;
	}
	if (lseek(result, 0, SEEK_SET) < 0)
		r = -errno;
	if (!r)
		r = read_all(result, SNAPSHOT_BYTES_MAX, &all);
	if (!r && all.len > SNAPSHOT_BYTES_MAX)
		r = -E2BIG;
	if (!r)
		r = write_all(fd, all.data, all.len);
	if (close(fd) < 0 && !r)
		r = -errno;
	if (r) {
		unlink(path);
		log_err("%s: %s", path, strerror(-r));
	} else {
		printf("Wrote %s, %zu bytes.\n", path, all.len);
	}
	free(all.data);
	return r != 0;
}

/* The summary is text of the reader, which has parsed foreign data: quote it. */
static void snapshot_show(const struct buffer *summary)
{
	printf("The snapshot holds, of this process:\n  ");
	for (size_t i = 0; i < summary->len; i++) {
		uint8_t c = summary->data[i];

		if (c != '\n' && (c < 0x20 || c >= 0x7f))
			c = '?';
		putchar(c);
		if (c == '\n' && i + 1 < summary->len)
			printf("  ");
	}
	printf("Names of functions and of source files are in it, and whatever else lay "
	       "on the\nstacks: strings of the program may be among that.  It is text, "
	       "compressed:\n`gzip -dc FILE | less` shows all of it.\n");
}

/* Show and write what the reader has made.  Returns the exit status. */
static int snapshot_finish(const struct options *o, struct reader *reader,
			   const char *path)
{
	struct buffer summary = { 0 };
	int status = 1;

	if (!reader_finish(reader, READER_SUMMARY_MAX, &summary)) {
		snapshot_show(&summary);
		status = NOTHING;
		if (snapshot_agreed(o, path))
			status = snapshot_write(path, reader->result);
	}
	free(summary.data);
	return status;
}

static int snapshot_of(const struct options *o, pid_t pid, const char *path)
{
	struct reader reader = { .pid = -1, .to = -1, .from = -1, .result = -1 };
	struct mapped m;
	int memory = snapshot_memory(pid), r;

	if (memory < 0)
		return 1;
	r = mapped_open(&m, pid);
	if (r)
		r = snapshot_refuse(pid, r);
	else
		r = reader_start(&reader, o->libexec, memory, &m, NULL);
	if (!r)
		r = snapshot_take(&reader, &m);
	if (r)
		r = 1;
	else
		r = snapshot_finish(o, &reader, path);
	reader_end(&reader);
	mapped_close(&m);
	close(memory);
	return r;
}

/* --- a core file ------------------------------------------------------------------------ */

/* Which files does it name?  The reader says, and then is another one's. */
static int snapshot_core_paths(const struct options *o, int core, struct mapped *m)
{
	struct reader reader;
	struct mapped none = { 0 };
	struct buffer paths = { 0 };
	int r = reader_start(&reader, o->libexec, core, &none, SNAPSHOT_CORE_FILES);

	if (!r)
		r = reader_finish(&reader, READER_PATHS_MAX, &paths);
	reader_end(&reader);
	buffer_add(&paths, "", 1);
	if (!r && (paths.failed ||
		   mapped_open_paths(m, (char *)paths.data, paths.len - 1, o->root))) {
		log_err("out of memory");
		r = -1;
	}
	free(paths.data);
	return r;
}

static int snapshot_of_core(const struct options *o, const char *path)
{
	struct reader reader = { .pid = -1, .to = -1, .from = -1, .result = -1 };
	struct mapped m = { 0 };
	int core = regular_file_open(o->file, O_CLOEXEC), r;

	if (core < 0)
		return 1;
	r = snapshot_core_paths(o, core, &m);
	if (!r)
		r = reader_start(&reader, o->libexec, core, &m, SNAPSHOT_CORE);
	if (r)
		r = 1;
	else
		r = snapshot_finish(o, &reader, path);
	reader_end(&reader);
	mapped_close(&m);
	close(core);
	return r;
}

int snapshot_run(const struct options *o)
{
	char name[64];
	const char *path = name;
	struct stat st;
	uint64_t pid = 0;

	if (!o->file) {
		log_err("snapshot needs the PID of a process, or a core file; see "
			"`trifold snapshot --help`");
		return EXIT_USAGE;
	}
	if (!number_parse(o->file, 1, INT32_MAX, &pid) && access(o->file, F_OK) < 0) {
		log_err("%s is neither the PID of a process nor a file", o->file);
		return EXIT_USAGE;
	}
	if (pid)
		snprintf(name, sizeof(name), "trifold-snapshot-%llu.gz",
			 (unsigned long long)pid);
	else
		snprintf(name, sizeof(name), "trifold-snapshot-core.gz");
	if (o->output)
		path = o->output;
	if (!lstat(path, &st)) {
		log_err("%s exists: name another file by --output", path);
		return 1;
	}
	if (pid)
		return snapshot_of(o, (pid_t)pid, path);
	return snapshot_of_core(o, path);
}
