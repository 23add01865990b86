// SPDX-License-Identifier: Apache-2.0
#include "cli/names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/regular_file.h"
#include "cli/parser.h"
#include "cli/split_files.h"
#include "common/log.h"

#define NAMES_WORDS	5

/* The package of split DWARF beside the debug file or the file, or who opens its .dwo
 * files.  False: said. */
static bool names_split(const struct options *o, char word[32])
{
	int fd = o->debug ? split_files_package(o->debug) : -1;

	if (fd < 0)
		fd = split_files_package(o->file);
	if (fd >= 0) {
		snprintf(word, 32, "--package-file=%d", fd);
		return true;
	}
	fd = split_files_serve(o->debug ? o->debug : o->file);
	snprintf(word, 32, "--dwo-files=%d", fd);
	return fd >= 0;
}

int names_run(const struct options *given)
{
	char show[] = "--show-names", mangled[] = "--mangled";
	char debug[32], from[32], split[32], *words[NAMES_WORDS];
	struct options o = *given;
	uint32_t n = 0;
	int fd;

	if (!o.file) {
		log_err("names needs a FILE; see `trifold names --help`");
		return EXIT_USAGE;
	}
	words[n++] = show;
	if (o.mangled)
		words[n++] = mangled;
	if (o.at.n == 1 && !strcmp(o.at.v[0], "-")) {
		o.at.n = 0;
		fd = fcntl(STDIN_FILENO, F_DUPFD, STDERR_FILENO + 1);
		if (fd < 0) {
			log_err("standard input: %m");
			return 1;
		}
		snprintf(from, sizeof(from), "--addresses=%d", fd);
		words[n++] = from;
	}
	if (parser_take(o.file))
		return 1;
	if (o.debug) {
		fd = regular_file_open(o.debug, 0);
		if (fd < 0)
			return 1;
		snprintf(debug, sizeof(debug), "--debug-file=%d", fd);
		words[n++] = debug;
	}
	if (!names_split(&o, split))
		return 1;
	words[n++] = split;
	return parser_become(&o, words, n);
}
