/* SPDX-License-Identifier: Apache-2.0 */
/* command_path - the file that a command's name means */
#ifndef CLI_RECORD_COMMAND_PATH_H
#define CLI_RECORD_COMMAND_PATH_H

#include <limits.h>

/* Where execvp(3) would find it: a name without "/" by $PATH, an empty part of
 * which is the current directory.  0 and the path; -EACCES: the file exists, but
 * may not be executed; -ENOENT; -ENAMETOOLONG. */
int command_path(const char *name, char path[PATH_MAX]);

#endif /* CLI_RECORD_COMMAND_PATH_H */
