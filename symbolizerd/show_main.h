/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_main - print a file's unwind table (trifold-symbolizerd --show-table)
 *
 * `trifold table` opens the file and starts this with it as standard input.
 * It is parsed by the code and under the confinement of a worker.
 */
#ifndef SYMBOLIZERD_SHOW_MAIN_H
#define SYMBOLIZERD_SHOW_MAIN_H

#include <sys/types.h>

/* words: n addresses, of which all are asked for if n is 0.  Become uid and gid
 * ((uid_t)-1: stay).  Returns the exit status. */
int show_main(uid_t uid, gid_t gid, char *const *words, int n);

#endif /* SYMBOLIZERD_SHOW_MAIN_H */
