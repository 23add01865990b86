// SPDX-License-Identifier: Apache-2.0
#include "cli/front/front.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/config/config.h"
#include "cli/config/env.h"
#include "cli/config/transfer.h"
#include "cli/config/confine.h"
#include "cli/record/output.h"
#include "common/log.h"

#define FRONT_PLAN_S	60	/* to read configuration and arguments */

/* For a file that is a pipe, or a file system that hangs. */
static void front_late(int sig)
{
	static const char text[] =
		"trifold: the arguments and the configuration are not read "
		"after 60 s\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

bool front_begin(int argc, char **argv, struct front *ret)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP,
				       SIGPIPE };
	bool front = argc > 3 && !strcmp(argv[1], "front");
	bool reader = argc > 3 && !strcmp(argv[1], "reader");

	if (!front && !reader)
		return false;
	ret->reader = reader;
	show_note_terminal(&ret->terminal);
	/* the supervisor says when to end; the terminal sends signals to both */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, argv[0]);
	signal(SIGALRM, front_late);
	alarm(FRONT_PLAN_S);
	confine_front_reading((uid_t)strtoul(argv[2], NULL, 10));
	return true;
}

/* Give the configuration to the front. */
static int front_read_again(const struct config *c)
{
	int r = config_send(c, SHOW_SUPERVISOR_FD);

	if (r)
		log_err("the configuration cannot be passed on: %s",
			strerror(-r));
	return r != 0;
}

int front_run(const struct options *given)
{
	struct target everything = { .kind = TARGET_ALL, .ended = -1 };
	struct options o = *given;
	static struct config c;
	int r = config_load(&c, o.config_file, given, config_log);

	if (r) {
		config_fini(&c);
		if (r == -EINVAL)
			return EXIT_USAGE;
		return 1;
	}
	config_apply(&c, &o);
	if (o.front->reader)
		r = front_read_again(&c);
	else {
		if (!o.output && !config_env_network(&c))
			o.output = RUN_OUTPUT;
		if (output_settle_format(&o, "run"))
			r = show(&o, &everything, &c, true, &o.front->terminal);
		else
			r = EXIT_USAGE;
	}
	config_fini(&c);
	return r;
}

int front_record(const struct options *given)
{
	struct options o = *given;
	struct target target;
	int r = output_check(&o);

	if (r)
		return r;
	if (target_find(&o, &target))
		return 1;
	if (!options_given(&o, "frequency"))
		o.frequency = target.kind == TARGET_COMMAND ?
			FREQUENCY_COMMAND : FREQUENCY_RECORD;
	r = show(&o, &target, NULL, false, &o.front->terminal);
	target_release(&target);
	return r;
}

int front_daemons(const struct options *given)
{
	struct target everything = { .kind = TARGET_ALL, .ended = -1 };
	struct options o = *given;

	if (!o.front)
		return 1;
	/* until it is asked to end, without a line about Ctrl-C */
	o.duration_ms = DURATION_MAX_S * 1000ULL;
	return show(&o, &everything, NULL, false, &o.front->terminal);
}
