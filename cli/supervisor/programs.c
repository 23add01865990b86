// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/supervisor/child.h"
#include "cli/supervisor/say.h"

#ifndef LIBEXEC			/* packaging/install.mk says */
#define LIBEXEC	"/usr/libexec/trifold"
#endif

#define ARGS_MAX	(PLAN_WORDS_MAX + 32)

const char *const program_names[PROGRAM__COUNT] = {
	"trifold-symbolizerd", "trifold-exporterd", "trifold-loaderd",
	"trifold-viewer", "the recorder", "the front", "the reader",
	"the command",
};

/* --- where ------------------------------------------------------------------ */

static int has_all(const char *dir)
{
	char path[PATH_MAX + 32];
	int r = 1;

	/* without the viewer there is no live page, that is all */
	for (int i = 0; i < PROGRAM_VIEWER && r; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, program_names[i]);
		r = access(path, X_OK) == 0;
	}
	return r;
}

int programs_find(const char *libexec, char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	dir[n > 0 ? n : 0] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	if (!libexec && slash && has_all(dir))
		return 0;
	snprintf(dir, PATH_MAX, "%s", libexec ? libexec : LIBEXEC);
	if (has_all(dir))
		return 0;
	if (libexec)
		say("the daemons are not all in %s", libexec);
	else
		say("the daemons are neither beside this program nor in %s: "
		    "install trifold, or build all of it", LIBEXEC);
	return -ENOENT;
}

/* --- how -------------------------------------------------------------------- */

struct args {
	char *argv[ARGS_MAX + 1], *env[ARGS_MAX + 1];
	int n, n_env;
	char text[24][12];		/* of numbers */
	int n_text;
	char words[PLAN_BYTES_MAX];	/* options and values, apart */
	size_t used;
};

static void arg(struct args *a, const char *s)
{
	if (a->n < ARGS_MAX)
		a->argv[a->n++] = (char *)s;
}

static void arg_num(struct args *a, const char *name, unsigned int v)
{
	if (a->n_text == 24)
		return;
	snprintf(a->text[a->n_text], sizeof(a->text[0]), "%u", v);
	arg(a, name);
	arg(a, a->text[a->n_text++]);
}

/* What the plan says: "--name=value" becomes two arguments. */
static void arg_plan(struct args *a, const struct plan *p, enum program id)
{
	for (const char *w = plan_next(p, id, NULL); w;
	     w = plan_next(p, id, w)) {
		char *copy = a->words + a->used, *value;

		if (strncmp(w, "--", 2)) {
			a->env[a->n_env++] = (char *)w;
			continue;
		}
		a->used += strlen(w) + 1;
		strcpy(copy, w);
		value = strchr(copy, '=');
		arg(a, copy);
		if (value) {
			*value = '\0';
			arg(a, value + 1);
		}
	}
}

static void hub_args(const struct launch *l, struct args *a,
		     struct child_spec *spec)
{
	static char pid[CHILD_LISTEN_PID] = "LISTEN_PID=0";

	arg_num(a, "--loader-uid", l->ids.uid[ID_LOADER]);
	arg_num(a, "--exporter-uid", l->ids.uid[ID_EXPORTER]);
	if (l->plan->flags & PLAN_PAGE)
		arg_num(a, "--viewer-uid", l->ids.uid[ID_VIEWER]);
	spec->fds[0] = l->runtime.loader;
	spec->fds[1] = l->runtime.export;
	spec->fds[2] = l->runtime.status;
	spec->n_fds = 3;
	a->env[a->n_env++] = spec->listen_pid = pid;
	a->env[a->n_env++] = (char *)"LISTEN_FDS=3";
	a->env[a->n_env++] = (char *)"LISTEN_FDNAMES=loader:export:status";
}

static void daemon_args(const struct launch *l, enum program id, int fd,
			struct args *a, struct child_spec *spec)
{
	arg(a, program_names[id]);
	arg_num(a, "--uid", l->ids.uid[id]);	/* in the same order */
	arg_num(a, "--gid", l->ids.gid[id]);
	if (l->plan->flags & PLAN_VERBOSE)
		arg(a, "--debug");
	if (id == PROGRAM_HUB)
		hub_args(l, a, spec);
	else {
		arg(a, "--hub");
		arg(a, id == PROGRAM_LOADER ? LOADER_SOCKET :
		    id == PROGRAM_VIEWER ? STATUS_SOCKET : EXPORT_SOCKET);
		arg_num(a, "--hub-uid", l->ids.uid[ID_HUB]);
	}
	if (id == PROGRAM_EXPORTER && fd >= 0)
		arg_num(a, "--recorder-fd", CHILD_FD_FIRST);
	if (id == PROGRAM_LOADER)
		arg_num(a, "--opener-uid", l->ids.uid[ID_OPENER]);
	if (id == PROGRAM_LOADER && (l->plan->flags & PLAN_BELOW))
		arg_num(a, "--filter-below", (unsigned int)l->launcher);
	for (int i = 0; id == PROGRAM_VIEWER && i < l->n_page; i++) {
		arg_num(a, "--listen-fd", CHILD_FD_FIRST + (unsigned int)i);
		spec->fds[spec->n_fds++] = l->page[i];
	}
}

static void recorder_args(const struct launch *l, struct args *a)
{
	uid_t uid;
	gid_t gid;

	arg(a, "trifold");
	arg(a, "recorder");
	arg_num(a, "--control-fd", CHILD_FD_FIRST);
	arg_num(a, "--seal-uid", l->ids.uid[ID_RECORDER]);
	if (identity_sudo(getenv("SUDO_UID"), getenv("SUDO_GID"), &uid, &gid)) {
		arg_num(a, "--owner-uid", uid);
		arg_num(a, "--owner-gid", gid);
	}
}

pid_t program_start(const struct launch *l, enum program id, int fd)
{
	static struct args a;
	char path[PATH_MAX + 32];
	struct child_spec spec = {
		.path = path, .argv = a.argv, .env = a.env,
		.log_fd = l->log_fd, .service = true,
	};

	/* another one's notify socket is none of our business */
	a = (struct args){ .n_env = l->runtime.notify < 0 ? 2 : 3, .env = {
		(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		(char *)"LANG=C.UTF-8",
		(char *)"NOTIFY_SOCKET=" NOTIFY_SOCKET,
	} };
	if (fd >= 0)
		spec.fds[spec.n_fds++] = fd;
	if (id == PROGRAM_RECORDER) {
		snprintf(path, sizeof(path), "%s", l->argv[0]);
		recorder_args(l, &a);
	} else {
		snprintf(path, sizeof(path), "%s/%s", l->dir, program_names[id]);
		/* not the journal, but somebody who reads priorities too */
		a.env[a.n_env++] = (char *)"JOURNAL_STREAM=0:0";
		daemon_args(l, id, fd, &a, &spec);
	}
	arg_plan(&a, l->plan, id);
	return child_start(&spec);
}

pid_t program_start_front(const struct launch *l, enum program id, int socket,
			  int log_pipe)
{
	bool reader = id == PROGRAM_READER;
	struct child_spec spec = {
		.path = l->argv[0], .env = environ, .fds = { socket, log_pipe },
		.n_fds = reader ? 1 : 2, .log_fd = reader ? l->log_fd : -1,
		.service = reader,
	};
	char uid[12], **argv;
	int n = 0;
	pid_t pid;

	while (l->argv[n])
		n++;
	argv = calloc((size_t)n + 3, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	snprintf(uid, sizeof(uid), "%u", l->ids.uid[ID_FRONT]);
	argv[0] = (char *)(reader ? "trifold-reader" : "trifold-front");
	argv[1] = (char *)(reader ? "reader" : "front");
	argv[2] = uid;
	memcpy(argv + 3, l->argv + 1, (size_t)(n - 1) * sizeof(*argv));
	spec.argv = argv;
	pid = child_start(&spec);
	free(argv);
	return pid;
}
