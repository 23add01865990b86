// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/daemons.h"
#include "cli/report.h"
#include "cli/report_json.h"
#include "cli/supervise.h"
#include "cli/target.h"
#include "cli/watch.h"
#include "common/clock.h"
#include "common/log.h"

#define STATUS_WAIT_NS	(5 * NSEC_PER_SEC)

static bool is_root(const char *what, const char *command)
{
	if (geteuid() == 0)
		return true;
	log_err("needs root to %s: run `sudo trifold %s ...`", what, command);
	return false;
}

/* Settle the format by --format or by the file's ending. */
static bool settle_format(struct options *o, const char *command)
{
	if (!o->format && o->output)
		o->format = profile_format_of(o->output);
	if (o->format || !o->output)
		return true;
	log_err("no format has the ending of \"%s\": use .html, .folded, .txt, "
		".pb.gz, .otlp, .speedscope.json or .firefox.json%s; see `trifold %s --help`", o->output,
		strcmp(command, "record") ? "" : ", or --format", command);
	return false;
}

int run_run(const struct options *given)
{
	struct target everything = { .kind = TARGET_ALL, .ended = -1 };
	struct options o = *given;
	struct config c;
	int r;

	if (!is_root("load BPF programs", "run"))
		return 1;
	r = config_load(&c, o.config_file, given, config_log);
	if (r) {
		config_fini(&c);
		return r == -EINVAL ? EXIT_USAGE : 1;
	}
	config_apply(&c, &o);
	if (!o.output && !daemons_network(&o))
		o.output = RUN_OUTPUT;
	r = settle_format(&o, "run") ? supervise(&o, &everything, &c, true) :
		EXIT_USAGE;
	config_fini(&c);
	return r;
}

int run_record(const struct options *given)
{
	static const char *const outputs[] = {
		[FORMAT_NONE] = RECORD_OUTPUT, [FORMAT_HTML] = RECORD_OUTPUT,
		[FORMAT_FOLDED] = "trifold.folded",
		[FORMAT_PPROF] = "trifold.pb.gz",
		[FORMAT_OTLP] = "trifold.otlp",
		[FORMAT_SPEEDSCOPE] = "trifold.speedscope.json",
		[FORMAT_FIREFOX] = "trifold.firefox.json",
	};
	struct options o = *given;
	struct target target;
	char err[400];
	int r;

	if (target_check(&o, err, sizeof(err))) {
		log_err("%s; see `trifold record --help`", err);
		return EXIT_USAGE;
	}
	if (!o.output)
		o.output = outputs[o.format];
	if (!settle_format(&o, "record"))
		return EXIT_USAGE;
	if (!is_root("load BPF programs", "record"))
		return 1;
	if (target_find(&o, &target))
		return 1;
	r = supervise(&o, &target, NULL, false);
	target_release(&target);
	return r;
}

/* Wait for the first status.  0 or -errno. */
static int first_status(struct watch *w)
{
	uint64_t end = now_ns() + STATUS_WAIT_NS;
	int r = watch_connect(w, now_ns());

	while (!r && !w->known) {
		struct pollfd p = { .fd = w->conn.fd, .events = POLLIN };
		uint64_t now = now_ns();

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) < 0 &&
		    errno != EINTR)
			return -errno;
		if (p.revents)
			r = watch_read(w, now);
	}
	return w->known ? 0 : r;
}

int run_status(const struct options *o)
{
	struct watch w;
	uid_t hub_uid;
	int r;

	if (!is_root("ask a running trifold", "status"))
		return 1;
	r = runtime_dir_hub_uid(&hub_uid);
	if (!r) {
		watch_init(&w, hub_uid);
		r = first_status(&w);
		watch_fini(&w);
	}
	if (r == -ENOENT || r == -ECONNREFUSED) {
		log_err("no trifold is running here (nobody listens on %s): "
			"start one by `sudo trifold run`", STATUS_SOCKET);
		return 1;
	}
	if (r == -ETIMEDOUT) {
		log_err("symbolizerd does not answer: is it starting?");
		return 1;
	}
	if (r) {
		log_err("symbolizerd gives no status: %s", strerror(-r));
		return 1;
	}
	if (o->json) {
		r = report_json(&w.status, stdout);
		if (r)
			log_err("cannot write: %s", strerror(-r));
		return r != 0;
	}
	printf("trifold status\n");
	report_table(&w.status, stdout);
	return 0;
}
