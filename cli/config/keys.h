/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys - the table of the configuration's keys
 *
 * Checking a file, `trifold check-config --defaults` (packaging/trifold.conf is
 * its output), docs/CONFIG.md (a test compares) and docs/man/trifold.conf.5
 * (likewise) follow from it.
 */
#ifndef CLI_CONFIG_KEYS_H
#define CLI_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_PATH_DEFAULT	"/etc/trifold/trifold.conf"
#define CONFIG_TABLES_MIB	256	/* as in loaderd/main.c */
#define CONFIG_IDLE_S		600	/* likewise */

enum config_id {
	KEY_FREQUENCY, KEY_INTERVAL, KEY_INCLUDE_SELF, KEY_SHOW_LOOPS, KEY_BUDGET,
	KEY_IDLE, KEY_CPU_SHARE, KEY_LINES_SHARE,
	/* of each receiver, as config_key_of_more() has it: */
	KEY_ENDPOINT, KEY_HEADERS, KEY_TIMEOUT, KEY_COMPRESSION, KEY_CA,
	KEY_CLIENT_CERT, KEY_CLIENT_KEY, KEY_HEADERS_FILE, KEY_EXPORT_NAMES,
	KEY_EXPORT_GUESSES, KEY_EXPORT_PLACEHOLDERS,
	KEY_SPOOL, KEY_SPOOL_SIZE,
	KEY_DEBUGINFOD_URLS, KEY_DEBUGINFOD_SIZE, KEY_DEBUGINFOD_TIMEOUT,
	KEY_DEBUGINFOD_CACHE, KEY_DEBUGINFOD_CACHE_SIZE,
	KEY_SERVICE_NAME, KEY_ATTRIBUTES, KEY_RESOURCE_PRESET, KEY_RESOURCE_PER,
	KEY_RESOURCE_ONLY, KEY_METRICS, KEY_METRICS_MS,
	KEY_PAGE, KEY_LISTEN, KEY_MEMORY, KEY_KEEP, KEY_OTLP,
	KEY_VERBOSE,
	KEY__COUNT
};

enum config_kind {
	KIND_NUMBER,		/* min..max */
	KIND_YES,		/* yes or no */
	KIND_TEXT,
	KIND_CHOICE,		/* one of .choices */
	KIND_URL,		/* http:// or https:// */
	KIND_URLS,		/* several, with blanks between; or "environment" */
	KIND_PAIRS,		/* k=v,k=v as in OTEL_RESOURCE_ATTRIBUTES */
	KIND_HEADERS,		/* likewise, names of HTTP headers */
	KIND_FILE,		/* full path of a file, which root can read now */
	KIND_DIRECTORY,		/* full path of a directory */
	KIND_LISTEN,		/* common/listen.h */
};

/* Which process uses it: a reload restarts that one. */
enum config_owner {
	OBEYS_EXPORTER,		/* restarted; nothing is lost */
	OBEYS_LOADER,		/* likewise; sampling pauses meanwhile */
	OBEYS_NEXT_START,
};

struct config_key {
	const char *section, *name;
	enum config_kind kind;
	uint32_t min, max;
	const char *choices;	/* "a b c" */
	const char *def;	/* "": none */
	const char *flag;	/* of `trifold run`, or NULL */
	const char *flag_value;	/* what the flag means if it takes none */
	/* environment variable, or NULL. If .otlp, what follows
	 * OTEL_EXPORTER_OTLP_PROFILES_ and OTEL_EXPORTER_OTLP_; if .numbered,
	 * what follows TRIFOLD_EXPORTER_. */
	const char *variable;
	bool otlp, numbered;
	bool secret;		/* of the value, or a part of it */
	enum config_owner owner;
	const char *help;	/* lines of a comment, without "# " */
};

extern const struct config_key config_keys[KEY__COUNT];

/* By section and name (any section: NULL), or KEY__COUNT. */
enum config_id config_key_find(const char *section, const char *name);

/* The known name closest to an unknown one, or NULL; section NULL: of
 * sections. */
const char *config_key_like(const char *section, const char *name);
bool config_section_known(const char *section);

/* What is wrong with a value (not empty), or NULL. */
const char *config_key_check(const struct config_key *k, const char *value,
			     char *buf, size_t size);

/* Has one of these URLs, or proxies (which may lack the scheme), with blanks or commas
 * between, "user:password@" before its host? */
bool config_key_has_user(const char *text);

/* The value itself is not for a message: it is a secret, or may hold one. */
bool config_key_hides(const struct config_key *k, const char *value);

/* Write the variable's name into the buffer: the one for profiles, or the generic
 * one; "": none. */
const char *config_key_variable(const struct config_key *k, bool profiles,
				char out[64]);

/* The file with every default. */
void config_keys_example(FILE *to);

#endif /* CLI_CONFIG_KEYS_H */
