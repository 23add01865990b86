/* SPDX-License-Identifier: Apache-2.0 */
/* regular_file - open a file named on the command line, for a parser in another
 * process */
#ifndef CLI_CONFIG_REGULAR_FILE_H
#define CLI_CONFIG_REGULAR_FILE_H

/* Open a regular file for reading, nothing else (a device would have effects, a FIFO
 * would wait); its descriptor is inherited, unless flags (of open(2)) have O_CLOEXEC.
 * -1: said in the log. */
int regular_file_open(const char *path, int flags);

#endif /* CLI_CONFIG_REGULAR_FILE_H */
