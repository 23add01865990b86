/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_values - a configuration in memory: each key's value and its source
 */
#ifndef CLI_CONFIG_VALUES_H
#define CLI_CONFIG_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/config/keys.h"

#define CONFIG_MORE_MAX		7	/* sections [export "name"] */
#define CONFIG_FILES_MAX	32	/* at most */
#define CONFIG_ENV_MAX		112	/* variables for exporterd */

enum config_source { FROM_DEFAULT, FROM_FILE, FROM_VARIABLE, FROM_FLAG };

struct config_value {
	const char *text;		/* not NULL; "": none */
	enum config_source source;
	uint32_t file;			/* the last one that has the key */
	uint32_t line;			/* in that file; 0: no file has the
					 * key */
	char variable[64];
	bool wrong;			/* the value there is wrong, and not
					 * used */
};

/* Can a section [export "name"] have this key? */
static inline bool config_key_of_more(enum config_id id)
{
	return id >= KEY_ENDPOINT && id <= KEY_EXPORT_PLACEHOLDERS;
}

/* [export "name"]: an additional receiver, with the keys of [export]. */
struct config_more {
	const char *name;
	uint32_t file, line;		/* of its last section */
	unsigned int number;		/* the N of its variables
					 * TRIFOLD_EXPORTER_<N>_* */
	struct config_value value[KEY__COUNT];
};

struct config {
	const char *file[CONFIG_FILES_MAX];	/* paths, as they were read */
	unsigned int n_files;
	unsigned int mistakes;
	struct config_value value[KEY__COUNT];
	struct config_more more[CONFIG_MORE_MAX];
	unsigned int n_more;
	char *env[CONFIG_ENV_MAX + 1];	/* "NAME=value", NULL-terminated */
	char *own[2 * CONFIG_FILES_MAX];	/* allocated: texts, cut into values, and paths */
};

#endif /* CLI_CONFIG_VALUES_H */
