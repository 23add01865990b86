/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file - the syntax of the configuration file
 *
 *	# a comment, on a line of its own
 *	[section]
 *	[section "name"]
 *	key = value
 *
 * Blanks around each part are ignored; double quotes around a value keep its
 * blanks.  There are no includes, no expansion and no continuation lines.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include <stddef.h>
#include <stdint.h>

#define CONFIG_FILE_MAX		65536	/* bytes */
#define CONFIG_LINE_MAX		8192

struct config_file_ops {
	/* section: NULL when the line was a mistake, so that the section of
	 * what follows is unknown; name: NULL if there was none. */
	void (*section)(void *arg, uint32_t line, const char *section,
			const char *name);
	void (*key)(void *arg, uint32_t line, const char *key,
		    const char *value);
	void (*mistake)(void *arg, uint32_t line, const char *text);
};

/*
 * Read len bytes of text, which is changed (text[len] belongs to it): strings
 * given to ops lie in it and stay.  Continues after mistakes.
 */
void config_file_parse(char *text, size_t len,
		       const struct config_file_ops *ops, void *arg);

#endif /* CLI_CONFIG_FILE_H */
