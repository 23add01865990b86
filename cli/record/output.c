// SPDX-License-Identifier: Apache-2.0
#include "cli/record/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/record/command_path.h"
#include "cli/record/target.h"
#include "common/log.h"
#include "profile/formats/formats.h"
#include "profile/outfile.h"

bool output_settle_format(struct options *o, const char *command)
{
	char endings[160];

	if (!o->format && o->output)
		o->format = format_of(o->output);
	if (o->format || !o->output)
		return true;
	if (outfile_is_standard(o->output) && strcmp(command, "record")) {
		log_err("--output %s: `trifold %s` writes to a file, whose name ends in %s",
			o->output, command, format_endings(endings, sizeof(endings)));
		return false;
	}
	if (outfile_is_standard(o->output)) {
		log_err("--output %s needs --format: one of %s", o->output,
			format_names(endings, sizeof(endings)));
		return false;
	}
	log_err("no format has the ending of \"%s\": use %s%s; see `trifold %s --help`",
		o->output, format_endings(endings, sizeof(endings)),
		strcmp(command, "record") ? "" : ", or --format", command);
	return false;
}

/* 0, or after a message OUTPUT_NO_COMMAND: a recording would be empty. */
static int output_check_command(const char *name)
{
	char path[PATH_MAX], q[256];
	int r = command_path(name, path);

	if (!r)
		return 0;
	log_err("%s: %s: nothing is recorded",
		log_quote(name, strlen(name), q, sizeof(q)),
		r == -ENOENT ? "no such command" : strerror(-r));
	if (r == -EACCES)
		return OUTPUT_NO_RIGHT;
	return OUTPUT_NO_COMMAND;
}

int output_check(struct options *o)
{
	static char output[40];
	char err[400];
	int r;

	if (target_check(o, err, sizeof(err))) {
		log_err("%s; see `trifold record --help`", err);
		return EXIT_USAGE;
	}
	if (o->rest[0] && o->output && outfile_is_standard(o->output)) {
		log_err("--output %s: the command writes there too: name a file", o->output);
		return EXIT_USAGE;
	}
	if (o->rest[0])
		r = output_check_command(o->rest[0]);
	else
		r = 0;
	if (r)
		return r;
	if (!o->output && o->format) {
		snprintf(output, sizeof(output), "trifold%s",
			 format_at(o->format)->endings[0]);
		o->output = output;
	}
	if (!o->output)
		o->output = RECORD_OUTPUT;
	if (output_settle_format(o, "record"))
		return 0;
	return EXIT_USAGE;
}
