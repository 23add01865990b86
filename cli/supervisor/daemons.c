// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/daemons.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/config.h"
#include "cli/supervisor/child.h"
#include "common/log.h"
#include "ipc/counters.h"
#include "profile/formats/formats.h"

#ifndef LIBEXEC			/* packaging/install.mk says */
#define LIBEXEC	"/usr/libexec/trifold"
#endif

const char *const daemon_names[DAEMON__COUNT] = {
	"trifold-symbolizerd", "trifold-exporterd", "trifold-loaderd",
	"trifold-viewer",
};

/* --- where -------------------------------------------------------------------- */

static bool has_all(const char *dir)
{
	/* without the viewer there is no live page, that is all */
	for (int i = 0; i < DAEMON_VIEWER; i++) {
		char path[PATH_MAX + 32];

		snprintf(path, sizeof(path), "%s/%s", dir, daemon_names[i]);
		if (access(path, X_OK) < 0)
			return false;
	}
	return true;
}

static int own_dir(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int daemons_find(const char *libexec, char dir[PATH_MAX])
{
	if (libexec) {
		snprintf(dir, PATH_MAX, "%s", libexec);
		if (has_all(dir))
			return 0;
		log_err("the daemons are not all in %s", libexec);
		return -ENOENT;
	}
	if (!own_dir(dir) && has_all(dir))
		return 0;
	snprintf(dir, PATH_MAX, "%s", LIBEXEC);
	if (has_all(dir))
		return 0;
	log_err("the daemons are neither beside this program nor in %s: "
		"install trifold, or build all of it", LIBEXEC);
	return -ENOENT;
}

bool daemons_network(const struct options *o)
{
	/* as endpoint_named() of exporterd */
	for (char more[] = "TRIFOLD_EXPORTER_2_ENDPOINT"; more[17] <= '8';
	     more[17]++) {
		const char *s = getenv(more);

		if (s && *s)
			return true;
	}
	return o->config && (*o->config->value[KEY_ENDPOINT].text ||
			     o->config->n_more);
}

bool daemons_export(const struct options *o)
{
	const char *metrics = getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");

	return daemons_network(o) || (metrics && *metrics);
}

_Static_assert(NUMBERS_MAX == FILTER_MAX, "as many --pid as loaderd takes");

/* --- how ------------------------------------------------------------------------- */

#define ARGS_MAX	(24 + 2 * NUMBERS_MAX)

struct args {
	char *argv[ARGS_MAX + 1];
	char text[1024];	/* of numbers */
	size_t used;
	int n;
};

static void arg(struct args *a, const char *s)
{
	if (a->n < ARGS_MAX)
		a->argv[a->n++] = (char *)s;
}

static void arg_num(struct args *a, const char *name, uint64_t v)
{
	size_t left = sizeof(a->text) - a->used;
	int n;

	arg(a, name);
	n = snprintf(a->text + a->used, left, "%" PRIu64, v);
	if (n > 0 && (size_t)n < left) {
		arg(a, a->text + a->used);
		a->used += (size_t)n + 1;
	}
}

static void hub_args(const struct launch *l, struct args *a)
{
	arg_num(a, "--loader-uid", l->ids.uid[ID_LOADER]);
	arg_num(a, "--exporter-uid", l->ids.uid[ID_EXPORTER]);
	if (l->page.on)
		arg_num(a, "--viewer-uid", l->ids.uid[ID_VIEWER]);
	arg_num(a, "--interval", l->opt->interval);
}

static void exporter_args(const struct launch *l, struct args *a, int feed)
{
	arg(a, "--hub");
	arg(a, EXPORT_SOCKET);
	arg_num(a, "--hub-uid", l->ids.uid[ID_HUB]);
	if (!l->network)
		arg(a, "--no-network");
	if (l->opt->endpoint) {
		arg(a, "--endpoint");
		arg(a, l->opt->endpoint);
	}
	if (feed >= 0)
		arg_num(a, "--recorder-fd", CHILD_FD_FIRST);
}

static void loader_args(const struct launch *l, struct args *a)
{
	arg_num(a, "--opener-uid", l->ids.uid[ID_OPENER]);
	arg(a, "--hub");
	arg(a, LOADER_SOCKET);
	arg_num(a, "--hub-uid", l->ids.uid[ID_HUB]);
	arg_num(a, "--frequency", l->opt->frequency);
	for (uint32_t i = 0; i < l->target->pids.n; i++)
		arg_num(a, "--filter-pid", l->target->pids.v[i]);
	if (l->target->kind == TARGET_CGROUP)
		arg_num(a, "--filter-cgroup", l->target->cgroup);
	if (l->target->kind == TARGET_COMMAND)
		arg_num(a, "--filter-below", (uint64_t)l->launcher);
	if (!l->opt->config)
		return;
	arg_num(a, "--table-budget", l->opt->table_budget);
	arg_num(a, "--idle", l->opt->table_idle);
}

static void viewer_args(const struct launch *l, struct args *a,
			struct child_spec *spec)
{
	for (int i = 0; i < l->page.sockets.n; i++) {
		arg_num(a, "--listen-fd", CHILD_FD_FIRST + (uint64_t)i);
		spec->fds[spec->n_fds++] = l->page.sockets.fd[i];
	}
	arg(a, "--hub");
	arg(a, STATUS_SOCKET);
	arg_num(a, "--hub-uid", l->ids.uid[ID_HUB]);
	if (!l->opt->config)
		return;
	if (l->opt->page_otlp)
		arg(a, "--otlp");
	arg_num(a, "--memory", l->opt->page_memory);
	arg_num(a, "--keep", l->opt->page_keep);
}

static pid_t supervisor_daemons_start(const struct launch *l, enum daemon_id id,
				      struct child_spec *spec)
{
	static char notify[] = "NOTIFY_SOCKET=" NOTIFY_SOCKET;
	static char fds[] = "LISTEN_FDS=3";
	static char names[] = "LISTEN_FDNAMES=loader:export:status";
	/* not the journal, but somebody who reads priorities too */
	static char journal[] = "JOURNAL_STREAM=0:0";
	char pid[CHILD_LISTEN_PID] = "LISTEN_PID=0";
	char *extra[6 + CONFIG_ENV_MAX] = { notify, journal };
	char *env[CHILD_ENV_MAX];
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", l->programs, daemon_names[id]);
	spec->path = path;
	spec->env = env;
	spec->log_fd = l->log_fd;
	spec->service = true;
	if (id == DAEMON_HUB) {
		spec->fds[0] = l->dir.loader;
		spec->fds[1] = l->dir.export;
		spec->fds[2] = l->dir.status;
		spec->n_fds = 3;
		spec->listen_pid = extra[2] = pid;
		extra[3] = fds;
		extra[4] = names;
	}
	if (id == DAEMON_EXPORTER && l->opt->config)
		memcpy(extra + 2, l->opt->config->env,
		       CONFIG_ENV_MAX * sizeof(*extra));
	if (id == DAEMON_VIEWER)
		extra[2] = (char *)l->page.viewer_env;
	if (child_env(env, id == DAEMON_EXPORTER, extra))
		return -E2BIG;
	return child_start(spec);
}

pid_t daemon_start(const struct launch *l, enum daemon_id id, int feed)
{
	static const enum identity ids[DAEMON__COUNT] = {
		ID_HUB, ID_EXPORTER, ID_LOADER, ID_VIEWER,
	};
	struct args a = { .n = 0 };
	struct child_spec spec = { .argv = a.argv };

	arg(&a, daemon_names[id]);
	arg_num(&a, "--uid", l->ids.uid[ids[id]]);
	arg_num(&a, "--gid", l->ids.gid[ids[id]]);
	if (l->opt->verbose)
		arg(&a, "--debug");
	if (id == DAEMON_HUB)
		hub_args(l, &a);
	else if (id == DAEMON_LOADER)
		loader_args(l, &a);
	else if (id == DAEMON_VIEWER)
		viewer_args(l, &a, &spec);
	else
		exporter_args(l, &a, feed);
	if (id == DAEMON_EXPORTER && feed >= 0) {
		spec.fds[0] = feed;
		spec.n_fds = 1;
	}
	return supervisor_daemons_start(l, id, &spec);
}

static void join(char *const *words, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (; *words && len + 1 < size; words++) {
		snprintf(out + len, size - len, "%s%s", len ? " " : "", *words);
		len = strlen(out);
	}
}

pid_t recorder_start(const struct launch *l, int control)
{
	static char notify[] = "NOTIFY_SOCKET=" NOTIFY_SOCKET;
	char *env[CHILD_ENV_MAX], *extra[] = { notify, NULL }, command[320];
	struct args a = { .n = 0 };
	struct child_spec spec = {
		.path = "/proc/self/exe", .argv = a.argv, .env = env,
		.fds = { control }, .n_fds = 1, .log_fd = l->log_fd,
		.service = true,
	};
	uid_t uid;
	gid_t gid;

	if (l->dir.notify < 0)		/* that is another one's */
		extra[0] = NULL;
	arg(&a, "trifold");
	arg(&a, "recorder");
	arg_num(&a, "--control-fd", CHILD_FD_FIRST);
	arg_num(&a, "--seal-uid", l->ids.uid[ID_RECORDER]);
	arg_num(&a, "--frequency", l->opt->frequency);
	if (identity_sudo(getenv("SUDO_UID"), getenv("SUDO_GID"), &uid, &gid)) {
		arg_num(&a, "--owner-uid", uid);
		arg_num(&a, "--owner-gid", gid);
	}
	arg(&a, "--format");
	arg(&a, format_at(l->opt->format)->name);
	arg(&a, "--output");
	arg(&a, l->opt->output);
	join(l->opt->rest, command, sizeof(command));
	if (!*command)
		snprintf(command, sizeof(command), "%s", l->target->what);
	if (*command) {
		arg(&a, "--command");
		arg(&a, command);
	}
	if (child_env(env, false, extra))
		return -E2BIG;
	return child_start(&spec);
}
