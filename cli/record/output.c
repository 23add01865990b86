// SPDX-License-Identifier: Apache-2.0
#include "cli/record/output.h"

#include <stdio.h>
#include <string.h>

#include "cli/record/target.h"
#include "common/log.h"
#include "profile/formats/formats.h"

bool output_settle_format(struct options *o, const char *command)
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

int output_check(struct options *o)
{
	static char output[40];
	char err[400];

	if (target_check(o, err, sizeof(err))) {
		log_err("%s; see `trifold record --help`", err);
		return EXIT_USAGE;
	}
	if (!o->output && o->format) {
		snprintf(output, sizeof(output), "trifold%s",
			 format_at(o->format)->endings[0]);
		o->output = output;
	}
	if (!o->output)
		o->output = RECORD_OUTPUT;
	return output_settle_format(o, "record") ? 0 : EXIT_USAGE;
}
