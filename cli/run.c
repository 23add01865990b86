// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/config.h"
#include "cli/record/attach.h"
#include "cli/record/target.h"
#include "cli/status/processes.h"
#include "cli/status/report.h"
#include "cli/status/report_json.h"
#include "cli/status/running.h"
#include "cli/supervisor/daemons.h"
#include "cli/supervisor/supervise.h"
#include "common/log.h"
#include "profile/formats/formats.h"

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
	char endings[160];

	if (!o->format && o->output)
		o->format = format_of(o->output);
	if (o->format || !o->output)
		return true;
	log_err("no format has the ending of \"%s\": use %s%s; see `trifold %s --help`",
		o->output, format_endings(endings, sizeof(endings)),
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
	struct options o = *given;
	struct target target;
	struct status running;
	char err[400], output[40];
	int r;

	if (target_check(&o, err, sizeof(err))) {
		log_err("%s; see `trifold record --help`", err);
		return EXIT_USAGE;
	}
	if (!o.output && o.format) {
		snprintf(output, sizeof(output), "trifold%s",
			 format_at(o.format)->endings[0]);
		o.output = output;
	}
	if (!o.output)
		o.output = RECORD_OUTPUT;
	if (!settle_format(&o, "record"))
		return EXIT_USAGE;
	if (!is_root("load BPF programs", "record"))
		return 1;
	if (target_find(&o, &target))
		return 1;
	r = attach_find(&running);
	if (r == 0)
		r = supervise(&o, &target, NULL, false);
	else
		r = r < 0 ? 1 : attach(&o, &target, &running);
	target_release(&target);
	return r;
}

int run_status(const struct options *o)
{
	struct processes processes;
	struct status st;
	pid_t top;
	int r;

	if (!is_root("ask a running trifold", "status"))
		return 1;
	r = running_status(&st, false, &top);
	if (running_nobody(r)) {
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
	r = processes_find(top, &processes);
	if (r)
		log_warn("cannot look at the processes: %s", strerror(-r));
	r = 0;
	if (o->json)
		r = report_json(&st, &processes, stdout);
	else
		report_table(&st, &processes, stdout);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	processes_free(&processes);
	return r != 0;
}
