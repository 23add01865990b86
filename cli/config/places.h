/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_places - which files the configuration is made of
 *
 * As the UAPI group's "Configuration Files Specification" has it, without /run:
 * trifold.conf of the administrator, or else the vendor's; then *.conf of both
 * directories trifold.conf.d, by name.  A file of the administrator's takes the place
 * of the vendor's of the same name; a link to /dev/null does, and is not read.
 */
#ifndef CLI_CONFIG_PLACES_H
#define CLI_CONFIG_PLACES_H

#include "cli/config/values.h"

#define CONFIG_DIR_VENDOR	"/usr/lib/trifold"
#define CONFIG_DIR_ADMIN	"/etc/trifold"

/* All paths are allocated with malloc(). */
struct config_places {
	char *file[CONFIG_FILES_MAX];	/* in the order in which they are read */
	unsigned int n;
	char *dir[4];			/* those that exist and were read */
	unsigned int n_dirs;
	char *failed;			/* what could not be read */
};

/* Find them below these two directories, either of which may be missing.  0, or
 * -errno (-E2BIG: more than CONFIG_FILES_MAX); config_places_free() in any
 * case. */
int config_places_find(const char *vendor, const char *admin,
		       struct config_places *ret);
void config_places_free(struct config_places *p);

#endif /* CLI_CONFIG_PLACES_H */
