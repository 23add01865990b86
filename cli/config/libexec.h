/* SPDX-License-Identifier: Apache-2.0 */
/* libexec - where the daemons are */
#ifndef CLI_CONFIG_LIBEXEC_H
#define CLI_CONFIG_LIBEXEC_H

#include <limits.h>

#ifndef LIBEXEC			/* set by packaging/install.mk */
#define LIBEXEC	"/usr/libexec/trifold"
#endif

/* Find the daemons in `given`; NULL: beside this program, or where `make
 * install` puts them.  0, or -ENOENT after a line in the log. */
int libexec_find(const char *given, char dir[PATH_MAX]);

#endif /* CLI_CONFIG_LIBEXEC_H */
