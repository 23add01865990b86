// SPDX-License-Identifier: Apache-2.0
/*
 * trifold - the command
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/config/options.h"
#include "cli/front/front.h"
#include "cli/front/start.h"
#include "cli/record/launcher.h"
#include "cli/status/running.h"
#include "cli/supervisor/runtime_dir.h"
#include "common/log.h"
#include "profile/formats/otlp.h"

static int main_usage(FILE *to)
{
	fprintf(to, "trifold - a profiler for whole Linux systems\n\nUsage: "
		"trifold COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < commands_n; i++) {
		if (commands[i].summary)
			fprintf(to, "  %-13s %s\n", commands[i].name,
				commands[i].summary);
	}
	fprintf(to, "\n`trifold COMMAND --help` shows its options.  --version shows "
		"the version.\n");
	if (to == stdout)
		return 0;
	return EXIT_USAGE;
}

/* The command whose options and help apply: beside a running trifold, `record` is
 * `attach`. */
static const struct command *main_visible_command(const struct command *c)
{
	if (strcmp(c->name, "attach"))
		return c;
	return commands_find("record");
}

static int main_refuse_unknown(const char *name)
{
	const char *like = commands_like(name);
	char q[256];

	log_quote(name, strlen(name), q, sizeof(q));
	if (like)
		log_err("unknown command \"%s\": did you mean `trifold %s`?", q,
			like);
	else
		log_err("unknown command \"%s\"; see `trifold --help`", q);
	return EXIT_USAGE;
}

/* Beside a running trifold there is nothing to supervise. */
static bool main_trifold_runs(void)
{
	int fd = runtime_dir_connect();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool main_asks_help(char *const *args)
{
	while (*args && strcmp(*args, "--help") && strcmp(*args, "-h"))
		args++;
	return *args;
}

int main(int argc, char **argv)
{
	const char *name = "";
	const struct command *c;
	struct options o;
	struct front front;
	char err[256];
	bool begun;

	if (argc > 1)
		name = argv[1];
	log_init("trifold", false);
	program_invocation_short_name = (char *)"trifold";	/* for warn(3) */
	if (!strcmp(name, "launch") && argc > 2)
		launcher_main(argv + 2);
	if (!strcmp(name, "record") && main_trifold_runs())
		name = argv[1] = (char *)"attach";
	if (geteuid() == 0 && !strcmp(name, "run") &&
	    !main_asks_help(argv + 2) &&
	    running_units_forbid())
		return 1;
	if (geteuid() == 0 && (!strcmp(name, "run") || !strcmp(name, "record")))
		return start_supervisor(argc, argv);
	begun = front_begin(argc, argv, &front);
	if (begun) {		/* the command follows "front" and a uid */
		argc -= 2;
		argv += 2;
		name = argv[1];
	}
	c = commands_find(name);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    !strcmp(name, "help"))
		return main_usage(stdout);
	if (!strcmp(name, "--version") || !strcmp(name, "version")) {
		printf("trifold %s\n", TRIFOLD_VERSION);
		return 0;
	}
	if (!*name)
		return main_usage(stderr);
	if (!c)
		return main_refuse_unknown(name);
	options_defaults(&o);
	if (begun)
		o.front = &front;
	if (options_parse(main_visible_command(c), argc - 1, argv + 1, &o, err,
			  sizeof(err))) {
		log_err("%s", err);
		return EXIT_USAGE;
	}
	if (o.help && main_visible_command(c)->summary) {
		options_help(main_visible_command(c));
		return 0;
	}
	return c->run(&o);
}
