/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_values - a configuration in memory: each key's value and its source
 */
#ifndef CLI_CONFIG_VALUES_H
#define CLI_CONFIG_VALUES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/config/keys.h"

#define CONFIG_MORE_MAX		7	/* sections [export "name"] */
#define CONFIG_ENV_MAX		72	/* variables for exporterd */

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

#endif /* CLI_CONFIG_VALUES_H */
