/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual - `trifold manual FILE`: a manual page, its lists filled in
 *
 * An internal command: with it packaging/install.mk makes pages from the files
 * in docs/man/ that end in ".in".  Copies FILE to standard output, except for
 * these lines:
 *
 *	@COMMANDS@	a subsection for each command: how it is used, what it
 *			does, its options, the text below them
 *	@KEYS@		the configuration's sections and keys
 *			(cli/config/keys.h)
 *
 * so a page has every option and key that the tables have.  mdoc(7).
 */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "cli/config/options.h"

/* The subcommand, for a page about these commands: 0; 1 when FILE cannot be read
 * or standard output not be written; EXIT_USAGE. */
int manual_run(const struct options *o, const struct command *commands,
	       size_t n);

#endif /* CLI_MANUAL_H */
