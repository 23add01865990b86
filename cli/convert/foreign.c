// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/config/confine.h"
#include "cli/supervisor/identity.h"
#include "common/log.h"
#include "common/number.h"
#include "profile/formats/formats.h"

bool foreign_is_standard(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
}

/* The descriptor of ours that the path is; -1: it is none. */
static int foreign_descriptor(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t fd;

	if (foreign_is_standard(path))
		return STDIN_FILENO;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		size_t len = strlen(dirs[i]);

		if (!strncmp(path, dirs[i], len) && number_parse(path + len, 0, INT_MAX, &fd))
			return (int)fd;
	}
	return -1;
}

int foreign_open(struct foreign *f, const char *path)
{
	int r, fd = foreign_descriptor(path);

	f->format = format_at(format_of(path));
	if (foreign_is_standard(path))
		strcpy(f->name, "standard input");
	else
		log_quote(path, strlen(path), f->name, sizeof(f->name));
	if (fd >= 0)
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd >= 0)
		return 0;
	r = -errno;
	log_err("%s: %s", f->name, strerror(-r));
	return r;
}

void foreign_close(struct foreign *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* --- the child ------------------------------------------------------------------------- */

static int foreign_child(int (*work)(void *arg), void *arg, const int *keep, int n, uid_t seal,
			 pid_t parent)
{
	int all[3 + FOREIGN_KEPT_MAX] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };

	memcpy(all + 3, keep, (size_t)n * sizeof(*keep));
	confine_reader(seal, all, 3 + n);
	if (getppid() != parent)
		return 1;
	return work(arg);
}

int foreign_run(int (*work)(void *arg), void *arg, const int *keep, int n)
{
	struct identities ids = { .uid = { 0 } };
	uid_t seal = (uid_t)-1;
	pid_t self = getpid(), pid;
	int status = -1;

	if (geteuid() == 0) {
		if (identity_find(&ids))
			return -EAGAIN;
		seal = ids.uid[ID_RECORDER];
	}
	pid = fork();
	if (pid == 0)
		_exit(foreign_child(work, arg, keep, n, seal, self));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		log_err("cannot start the reader: %m");
		return -EAGAIN;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		log_err("the reader was killed by signal %d", WTERMSIG(status));
	return status;
}
