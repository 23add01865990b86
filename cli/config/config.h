/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - the configuration that is in effect, and where each value is from
 *
 * An option of the command line wins over OTEL_EXPORTER_OTLP_PROFILES_*, that
 * over OTEL_EXPORTER_OTLP_*, that over the file, that over the default; an
 * empty variable, or an empty value, is none.
 *
 * The file is read as root, so when root reads it nobody else may be able to
 * write it.  All its mistakes are told, not the first alone.
 */
#ifndef CLI_CONFIG_CONFIG_H
#define CLI_CONFIG_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/config/keys.h"
#include "cli/config/options.h"

#define CONFIG_MORE_MAX		7	/* sections [export "name"] */
#define CONFIG_ENV_MAX		72	/* variables for exporterd */
#define CONFIG_MISTAKES_MAX	100	/* told of one file */

enum config_source { FROM_DEFAULT, FROM_FILE, FROM_VARIABLE, FROM_FLAG };

struct config_value {
	const char *text;		/* not NULL; "": none */
	enum config_source source;
	uint32_t line;			/* of the file; 0: not in it */
	char variable[64];
	bool wrong;			/* in the file; so not used */
};

/* Can sections with a name of their own have this key? */
static inline bool config_key_of_more(enum config_id id)
{
	return id >= KEY_ENDPOINT && id <= KEY_CLIENT_KEY;
}

/* How a mistake is told; line 0: the file as a whole. */
typedef void config_say(const char *path, uint32_t line, bool warning,
			const char *text);

/* [export "name"]: one more receiver, with the keys of [export]. */
struct config_more {
	const char *name;
	uint32_t line;			/* of its section */
	unsigned int number;		/* N of its TRIFOLD_EXPORTER_<N>_* */
	struct config_value value[KEY__COUNT];
};

struct config {
	char path[PATH_MAX];
	bool found;			/* there was a file */
	unsigned int mistakes;
	struct config_value value[KEY__COUNT];
	struct config_more more[CONFIG_MORE_MAX];
	unsigned int n_more;
	char *env[CONFIG_ENV_MAX + 1];	/* "NAME=value", NULL-terminated */
	char *text;			/* the file's, cut into values */
};

/*
 * Read path; NULL: the default one, which need not be there.  Then what the
 * environment and o's options say (o may be NULL).  Returns 0; -EINVAL if there
 * were mistakes, all said; -ENOMEM.  config_fini() in any case.
 */
int config_load(struct config *c, const char *path, const struct options *o,
		config_say *say);

/*
 * What a file of this text says, by itself; path is for say.  Takes over text
 * (of malloc, len + 1 bytes).  Returns 0 or -EINVAL; config_fini().
 */
int config_parse(struct config *c, const char *path, char *text, size_t len,
		 config_say *say);
void config_fini(struct config *c);

/* What `trifold run` takes from it, into *o; what o has by option stays. */
void config_apply(const struct config *c, struct options *o);

uint32_t config_number(const struct config *c, enum config_id id);

/* A value for people: no secrets.  v: all of c or of one of its receivers. */
const char *config_shown(const struct config_value *v, enum config_id id,
			 char *out, size_t size);

/* "/etc/trifold/trifold.conf:7", "OTEL_SERVICE_NAME", "--endpoint", "default" */
const char *config_origin(const struct config *c,
			  const struct config_value *v, enum config_id id,
			  char *out, size_t size);

/* For the log: "trifold: FILE:LINE: text". */
config_say config_log;

#endif /* CLI_CONFIG_CONFIG_H */
