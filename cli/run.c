// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/front/front.h"
#include "cli/record/attach.h"
#include "cli/record/output.h"
#include "cli/status/processes.h"
#include "cli/status/report.h"
#include "cli/status/report_json.h"
#include "cli/status/running.h"
#include "cli/supervisor/runtime_dir.h"
#include "common/log.h"

/* A user who cannot connect to the running one could not start one either. */
static void run_say_root(const char *command)
{
	if (!running_forbidden(command))
		log_err("needs root to load BPF programs: run `sudo trifold %s ...`",
			command);
}

int run_run(const struct options *o)
{
	if (o->front)
		return front_run(o);
	if (!running_units_forbid())
		run_say_root("run");
	return 1;
}

int run_record(const struct options *given)
{
	struct options o = *given;
	int r;

	if (given->front)
		return front_record(given);
	r = output_check(&o);
	if (r)
		return r;
	run_say_root("record");
	return 1;
}

int run_attach(const struct options *given)
{
	struct options o = *given;
	struct target target;
	struct status running;
	int r = output_check(&o);

	if (r)
		return r;
	if (target_find(&o, &target))
		return 1;
	r = attach_find(&running);
	if (r == 0)
		log_err("the running trifold has just ended: try again");
	if (r <= 0)
		r = 1;
	else
		r = attach(&o, &target, &running);
	target_release(&target);
	return r;
}

int run_status(const struct options *o)
{
	struct own_processes processes;
	struct status st;
	pid_t top;
	int r;

	if (running_forbidden("status"))
		return 1;
	r = running_status(&st, false, &top);
	if (running_nobody(r)) {
		log_err("no trifold is running here (nothing listens on %s): "
			"start one by `sudo trifold run`, or systemd's units by "
			"`sudo systemctl start trifold.target`", STATUS_SOCKET);
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
		log_warn("cannot list the processes: %s", strerror(-r));
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
