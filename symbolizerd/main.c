// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd - turns records into batches, without access to anything else
 *
 * Workers, each for one file, parse what profiled processes wrote.  It makes no
 * connection: it is started with three listening sockets (loader, export,
 * status), and reads only from descriptors that were passed to it.
 * worker/confine.h says what it can do once it runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cost.h"
#include "common/log.h"
#include "common/number.h"
#include "common/sandbox.h"
#include "common/service.h"
#include "symbolizerd/worker/confine.h"
#include "symbolizerd/worker/priority.h"
#include "symbolizerd/hub/hub.h"
#include "symbolizerd/hub/run.h"
#include "symbolizerd/show_main.h"
#include "symbolizerd/snapshot_main.h"
#include "symbolizerd/worker/zygote.h"

#define INTERVAL_DEFAULT_S	5u
#define INTERVAL_MAX_S		3600u

struct symbolizerd_options {
	uid_t uid;
	gid_t gid;
	struct hub_config hub;
	struct show_request shown;
	bool debug, show, snapshot;
};

enum { OPT_UID = 1, OPT_GID, OPT_LOADER, OPT_EXPORTER, OPT_VIEWER,
       OPT_INTERVAL, OPT_SHARE, OPT_LINES, OPT_ALWAYS_ON, OPT_OWN, OPT_DEBUGINFOD, OPT_INCLUDE_SELF, OPT_SHOW_LOOPS,
       OPT_READERS, OPT_DEBUG, OPT_SHOW, OPT_NAMES, OPT_MANGLED,
       OPT_DEBUG_FILE, OPT_PACKAGE_FILE, OPT_DWO_FILES, OPT_ADDRESSES, OPT_SNAPSHOT };

static bool symbolizerd_set_option(struct symbolizerd_options *o, int opt,
				   uint64_t v)
{
	switch (opt) {
	case OPT_UID:
		o->uid = (uid_t)v;
		return true;
	case OPT_GID:
		o->gid = (gid_t)v;
		return true;
	case OPT_LOADER:
		o->hub.loader_uid = (uid_t)v;
		return true;
	case OPT_EXPORTER:
		o->hub.exporter_uid = (uid_t)v;
		return true;
	case OPT_VIEWER:
		o->hub.viewer_uid = (uid_t)v;
		return true;
	case OPT_INTERVAL:
		o->hub.interval_ns = v * NSEC_PER_SEC;
		return v > 0 && v <= INTERVAL_MAX_S;
	case OPT_SHARE:
		o->hub.cpu_share = (uint32_t)v;
		return v > 0 && v <= 100;
	case OPT_LINES:
		o->hub.lines_share = (uint32_t)v;
		return v <= 100;
	case OPT_OWN:
		if (o->hub.n_own == OWN_GIVEN)
			return false;
		o->hub.own[o->hub.n_own++] = (pid_t)v;
		return v > 0 && v <= INT32_MAX;
	case OPT_DEBUG_FILE:
		o->shown.debug = (int)v;
		return v > STDERR_FILENO && v <= INT32_MAX;
	case OPT_PACKAGE_FILE:
		o->shown.package = (int)v;
		return v > STDERR_FILENO && v <= INT32_MAX;
	case OPT_DWO_FILES:
		o->shown.dwo = (int)v;
		return v > STDERR_FILENO && v <= INT32_MAX;
	case OPT_ADDRESSES:
		o->shown.addresses = (int)v;
		return v > STDERR_FILENO && v <= INT32_MAX;
	default:
		return false;
	}
}

/* An option without a value.  False: it has one. */
static bool symbolizerd_set_flag(struct symbolizerd_options *o, int opt)
{
	switch (opt) {
	case OPT_DEBUG:
		return o->debug = true;
	case OPT_SHOW:
		return o->show = true;
	case OPT_NAMES:
		return o->show = o->shown.names = true;
	case OPT_MANGLED:
		return o->shown.mangled = true;
	case OPT_SNAPSHOT:
		return o->snapshot = true;
	case OPT_DEBUGINFOD:
		return o->hub.debuginfod = true;
	case OPT_INCLUDE_SELF:
		return o->hub.include_self = true;
	case OPT_SHOW_LOOPS:
		return o->hub.show_loops = true;
	case OPT_ALWAYS_ON:
		return o->hub.always_on = true;
	case OPT_READERS:
		return o->hub.readers = true;
	default:
		return false;
	}
}

static bool symbolizerd_parse(int argc, char **argv, struct symbolizerd_options *o)
{
	static const struct option opts[] = {
		{ "uid", required_argument, NULL, OPT_UID },
		{ "gid", required_argument, NULL, OPT_GID },
		{ "loader-uid", required_argument, NULL, OPT_LOADER },
		{ "exporter-uid", required_argument, NULL, OPT_EXPORTER },
		{ "viewer-uid", required_argument, NULL, OPT_VIEWER },
		{ "interval", required_argument, NULL, OPT_INTERVAL },
		{ "cpu-share", required_argument, NULL, OPT_SHARE },
		{ "lines-share", required_argument, NULL, OPT_LINES },
		{ "always-on", no_argument, NULL, OPT_ALWAYS_ON },
		{ "own", required_argument, NULL, OPT_OWN },
		{ "debuginfod", no_argument, NULL, OPT_DEBUGINFOD },
		{ "include-self", no_argument, NULL, OPT_INCLUDE_SELF },
		{ "show-loops", no_argument, NULL, OPT_SHOW_LOOPS },
		{ "readers", no_argument, NULL, OPT_READERS },
		{ "debug", no_argument, NULL, OPT_DEBUG },
		{ "show-table", no_argument, NULL, OPT_SHOW },
		{ "show-names", no_argument, NULL, OPT_NAMES },
		{ "mangled", no_argument, NULL, OPT_MANGLED },
		{ "debug-file", required_argument, NULL, OPT_DEBUG_FILE },
		{ "package-file", required_argument, NULL, OPT_PACKAGE_FILE },
		{ "dwo-files", required_argument, NULL, OPT_DWO_FILES },
		{ "addresses", required_argument, NULL, OPT_ADDRESSES },
		{ "snapshot", no_argument, NULL, OPT_SNAPSHOT },
		{ 0 },
	};
	uint64_t v;
	int opt;

	while ((opt = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		if (symbolizerd_set_flag(o, opt))
			continue;
		if (opt == '?' ||
		    !number_parse(optarg, 0, UINT32_MAX - 1, &v) ||
		    !symbolizerd_set_option(o, opt, v))
			return false;
	}
	return optind == argc || o->show || o->snapshot;
}

static void symbolizerd_usage(void)
{
	fputs("usage: trifold-symbolizerd [--uid N --gid N] [--loader-uid N]\n"
	      "         [--exporter-uid N] [--viewer-uid N] [--interval SECONDS]\n"
	      "         [--cpu-share PERCENT] [--lines-share PERCENT] [--always-on]\n"
	      "         [--own PID]... [--debuginfod] [--include-self] [--show-loops]\n"
	      "         [--readers] [--debug]\n"
	      "       trifold-symbolizerd --show-table [--uid N --gid N] [ADDRESS...]\n"
	      "       trifold-symbolizerd --show-names [--uid N --gid N] [--mangled]\n"
	      "         [--debug-file FD] [--package-file FD] [--dwo-files FD]\n"
	      "         [--addresses FD] [ADDRESS...]\n"
	      "       trifold-symbolizerd --snapshot [--uid N --gid N] FILES\n"
	      "Is started by systemd or `trifold run`, with listening sockets\n"
	      "loader, export and status as LISTEN_FDS(3).\n", stderr);
}

static int symbolizerd_take_sockets(struct hub_sockets *s)
{
	s->loader = service_listen_fd("loader");
	s->exporter = service_listen_fd("export");
	s->status = service_listen_fd("status");
	s->totals = service_fd(HUB_TOTALS);
	if (s->loader >= 0 && s->exporter >= 0 && s->status >= 0)
		return 0;
	log_err("missing socket: loader, export or status");
	return -ENOENT;
}

/* One thread, few large blocks: keep the heap small, and give memory back
 * early. */
static void symbolizerd_tune_malloc(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	mallopt(M_TRIM_THRESHOLD, 64 << 10);
	mallopt(M_TOP_PAD, 16 << 10);
}

/* Nothing is inherited but the sockets and somewhere to log. */
static int symbolizerd_close_others(const struct hub_sockets *s)
{
	const int keep[] = {
		STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO,
		s->loader, s->exporter, s->status, s->totals,
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	sandbox_close_fds(keep, sizeof(keep) / sizeof(keep[0]));
	return 0;
}

/* Before the namespaces, in which there is no /proc. */
static int symbolizerd_raise(void)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int group = priority_raise(proc);

	if (group >= 0)
		close(group);
	return proc;
}

static int symbolizerd_prepare(struct hub *hub, struct symbolizerd_options *o)
{
	struct zygote_ends zygote;
	struct hub_sockets sockets;
	int proc;
	int r = symbolizerd_take_sockets(&sockets);

	if (r == 0)
		r = symbolizerd_close_others(&sockets);
	if (r < 0)
		return r;
	r = service_init();
	if (r < 0)
		log_warn("notification socket: %s", strerror(-r));
	service_scrub_env();
	o->hub.statm = cost_open();
	if (!own_numbers_count()) {
		log_debug("not the initial PID namespace: samples of trifold "
			  "itself cannot be told apart");
		o->hub.include_self = true;
	}
	proc = symbolizerd_raise();
	confine_namespaces();
	r = zygote_start(o->uid, o->gid, proc, &zygote);
	if (proc >= 0)
		close(proc);
	return r < 0 ? r : hub_init(hub, &o->hub, &sockets, &zygote);
}

int main(int argc, char **argv)
{
	struct symbolizerd_options o = {
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.hub = {
			.loader_uid = getuid(),
			.exporter_uid = getuid(),
			.viewer_uid = getuid(),
			.interval_ns = INTERVAL_DEFAULT_S * NSEC_PER_SEC,
			.cpu_share = CPU_SHARE_DEFAULT,
			.cpus = (uint32_t)get_nprocs(),
			.lines_share = LINES_PERCENT,
			.job_deadline_ns = JOB_DEADLINE_NS,
		},
	};
	struct hub hub;
	int r;

	if (!symbolizerd_parse(argc, argv, &o)) {
		symbolizerd_usage();
		return 2;
	}
	log_init(o.show || o.snapshot ? "trifold" : "symbolizerd", o.debug);
	if (o.show) {
		o.shown.uid = o.uid;
		o.shown.gid = o.gid;
		o.shown.words = argv + optind;
		o.shown.n = argc - optind;
		return show_main(&o.shown);
	}
	if (o.snapshot)
		return snapshot_main(o.uid, o.gid, argv + optind, argc - optind);
	signal(SIGPIPE, SIG_IGN);
	symbolizerd_tune_malloc();
	r = symbolizerd_prepare(&hub, &o);
	if (r < 0) {
		log_err("cannot start: %s", strerror(-r));
		return 1;
	}
	confine_hub(o.uid, o.gid);
	service_ready();
	r = hub_run(&hub);
	if (r < 0)
		log_err("ends: %s", strerror(-r));
	hub_fini(&hub);
	return r < 0;
}
