/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options - the command line: one table of commands, one of options each
 *
 * Long options only, "--name value" or "--name=value"; "--" ends them.  An
 * error is one line and a hint, and exit status EXIT_USAGE.
 */
#ifndef CLI_CONFIG_OPTIONS_H
#define CLI_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/number.h"

#define EXIT_USAGE	2

#define FREQUENCY_DEFAULT	19	/* Hz, of long runs; prime, so not in
					 * step with timers */
#define FREQUENCY_RECORD	99	/* of a recording: a few seconds must
					 * show something */
#define FREQUENCY_COMMAND	992	/* ... of a command: it may end soon; can be
					 * halved five times (profile/collect.h) */
#define FREQUENCY_MAX		1000
#define INTERVAL_DEFAULT	5	/* s */
#define INTERVAL_MAX		300
#define DURATION_MAX_S		(366 * 86400)

#define OPTIONS_GIVEN_MAX	32

struct config;
struct front;

struct given {
	const char *name, *text;	/* of an option; text "": it takes none */
};

struct words {
	char *const *v;
	uint32_t n;
};

/* The options of all commands. */
struct options {
	const char *output;
	const char *endpoint;
	const char *libexec;
	const char *listen;		/* of the live page; NULL: default */
	bool no_page;
	uint32_t page_memory, page_keep;	/* MiB, s */
	bool page_otlp;			/* it takes OTLP profiles */
	uint64_t duration_ms;		/* 0: none given */
	uint32_t format;		/* of profile/formats/formats.h */
	uint32_t frequency;		/* Hz */
	uint32_t interval;		/* s */
	bool verbose;
	bool json;
	bool help;
	char **rest;			/* NULL-terminated: a command */
	const char *file;		/* NULL: none given */
	const char *files[2];		/* likewise */
	uint32_t limit;			/* 0: none given */
	bool by_total;
	uint32_t names;			/* enum function_names of profile/names.h */
	bool lines, inlined;		/* of folded stacks */
	bool no_placeholders;		/* for code without a name */
	uint32_t by;			/* of diff: 0 functions, 1 lines */
	struct words at;
	bool mangled;			/* names as files have them */
	const char *debug;		/* a debug file; NULL: none given */
	/* of snapshot */
	bool yes;			/* do not ask */
	const char *root;		/* where a core's files are; NULL: / */
	/* of top */
	bool once;
	const char *view;		/* NULL: none given */
	/* of record, see target.h */
	struct number_list pids;
	const char *name, *cgroup, *container, *unit;
	bool all;
	bool part;			/* of a recorder: not the whole system */
	bool include_self;		/* trifold's own samples, too */
	bool show_loops;		/* interpreters' loops beside their functions */
	uint32_t own;			/* a pid of trifold's own; 0: none */
	/* of the configuration, see config.h */
	const char *config_file;	/* NULL: none named */
	const struct config *config;	/* NULL: not of this command */
	uint32_t table_budget, table_idle;	/* MiB, s; 0: loaderd's own */
	uint32_t cpu_share, lines_share;	/* percent of one CPU */
	bool defaults, effective;
	struct given given[OPTIONS_GIVEN_MAX];
	uint32_t n_given;
	const struct front *front;	/* NULL: this process is none */
	/* of the recorder, see recorder.h */
	uint32_t batch_fd, control_fd, seal_uid;
	const char *command;
};

enum option_kind {
	OPTION_FLAG,		/* bool */
	OPTION_TEXT,		/* const char *, not empty */
	OPTION_NUMBER,		/* uint32_t, min..max */
	OPTION_SECONDS,		/* uint64_t, milliseconds; "1.5" */
	OPTION_FORMAT,		/* uint32_t: a format's number */
	OPTION_NUMBERS,		/* struct number_list: another each time */
	OPTION_WORDS,		/* struct words: all up to the next option */
	OPTION_CHOICE,		/* uint32_t: which of .value, "a|b|c", from 0 */
};

struct option_def {
	const char *name;	/* without "--" */
	const char *value;	/* the value's name in --help */
	const char *help;	/* NULL: not shown */
	enum option_kind kind;
	uint32_t min, max;
	size_t at;		/* offsetof in struct options */
};

/* What a command takes beside options. */
enum option_rest {
	REST_NONE,
	REST_COMMAND,		/* words after "--" */
	REST_FILE,		/* one word */
	REST_FILES,		/* two words */
	REST_FILE_WORDS,	/* one word, and any number into .at */
};

struct command {
	const char *name;
	const char *usage;	/* after the name */
	const char *summary;	/* NULL: an internal command, not shown */
	const char *details;	/* more for --help, or NULL */
	const struct option_def *options;
	size_t n_options;
	enum option_rest rest;
	int (*run)(const struct options *o);	/* returns the exit status */
};

void options_defaults(struct options *o);

/*
 * Parse argv[1..] (argv[0] is the command's name) into *o.  Returns 0, or
 * -EINVAL with one line (no newline) in err.
 */
int options_parse(const struct command *c, int argc, char **argv,
		  struct options *o, char *err, size_t size);

/* The last text given for an option, "" if it takes none; NULL: the option was
 * not given. */
static inline const char *options_given(const struct options *o,
					const char *name)
{
	for (uint32_t i = 0; i < o->n_given; i++) {
		if (!strcmp(o->given[i].name, name))
			return o->given[i].text;
	}
	return NULL;
}

void options_help(const struct command *c);	/* to standard output */

#endif /* CLI_CONFIG_OPTIONS_H */
