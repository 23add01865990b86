/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_main - print a file's unwind table or names (trifold-symbolizerd
 * --show-table, --show-names)
 *
 * `trifold table` and `trifold names` open the file and start this with it as
 * standard input.  It is parsed by the code and under the confinement of a worker.
 */
#ifndef SYMBOLIZERD_SHOW_MAIN_H
#define SYMBOLIZERD_SHOW_MAIN_H

#include <stdbool.h>
#include <sys/types.h>

struct show_request {
	uid_t uid;		/* become these; (uid_t)-1: stay */
	gid_t gid;
	bool names;		/* not the table */
	bool mangled;		/* of names: as the file has them */
	int debug;		/* of names: descriptor of a debug file; 0: none */
	int package;		/* of names: descriptor of a .dwp file; 0: none */
	int dwo;		/* of names: socket for .dwo files; 0: none */
	int addresses;		/* of names: addresses, one a line; 0: none */
	char *const *words;	/* n addresses; 0: all that there is */
	int n;
};

/* Returns the exit status. */
int show_main(const struct show_request *req);

#endif /* SYMBOLIZERD_SHOW_MAIN_H */
