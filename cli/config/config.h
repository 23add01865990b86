/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - the configuration in effect, and the source of each value
 *
 * An option of the command line wins over OTEL_EXPORTER_OTLP_PROFILES_*, that
 * over OTEL_EXPORTER_OTLP_*, that over the file, that over the default; an
 * empty variable, or an empty value, is none.
 *
 * The files (places.h) are read as root, so when root reads them, only root may
 * be able to write them or add to their directories.  A later file overrides an
 * earlier one, key by key.  All mistakes are reported, not only the first.
 */
#ifndef CLI_CONFIG_CONFIG_H
#define CLI_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/config/options.h"
#include "cli/config/values.h"

#define CONFIG_MISTAKES_MAX	100	/* reported */

/* Reports a mistake; line 0: of the whole file. */
typedef void config_say(const char *path, uint32_t line, bool warning,
			const char *text);

/*
 * Read path alone; NULL: the files in the default places.  Then apply the
 * environment and the options of o (may be NULL).  Returns 0; -EINVAL if there
 * were mistakes, all reported; -ENOMEM. config_fini() in any case.
 */
int config_load(struct config *c, const char *path, const struct options *o,
		config_say *say);

/* The same with these two directories as the places. */
int config_load_below(struct config *c, const char *vendor, const char *admin,
		      const struct options *o, config_say *say);

/*
 * Parse a file of this text, without variables and options; path is borrowed.
 * Takes over text (of malloc, len + 1 bytes).  Returns 0 or -EINVAL;
 * config_fini().
 */
int config_parse(struct config *c, const char *path, char *text, size_t len,
		 config_say *say);
void config_fini(struct config *c);

/* Copy what `trifold run` uses into *o, all of it or one key; texts are borrowed
 * from c. */
void config_apply(const struct config *c, struct options *o);
void config_apply_key(const struct config *c, enum config_id id,
		      struct options *o);

uint32_t config_number(const struct config *c, enum config_id id);

/* A value to show: secrets are hidden. v: all of c or of one of its
 * receivers. */
const char *config_shown(const struct config_value *v, enum config_id id,
			 char *out, size_t size);

/* The path of one of its files; the default one if it has none. */
const char *config_path(const struct config *c, uint32_t file);

/* "/etc/trifold/trifold.conf:7", "OTEL_SERVICE_NAME", "--endpoint", "default" */
const char *config_origin(const struct config *c,
			  const struct config_value *v, enum config_id id,
			  char *out, size_t size);

/* For the log: "trifold: FILE:LINE: text". */
config_say config_log;

#endif /* CLI_CONFIG_CONFIG_H */
