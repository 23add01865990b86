/* SPDX-License-Identifier: Apache-2.0 */
/* show_split - ask `trifold names` for a .dwo file (cli/show_file.c) */
#ifndef SYMBOLIZERD_SHOW_SPLIT_H
#define SYMBOLIZERD_SHOW_SPLIT_H

/* A descriptor, or -1.  dir may be NULL. */
int show_split_open(int socket, const char *name, const char *dir);

#endif /* SYMBOLIZERD_SHOW_SPLIT_H */
