/* SPDX-License-Identifier: Apache-2.0 */
/* start - `trifold run` and `trifold record` become the supervisor */
#ifndef CLI_FRONT_START_H
#define CLI_FRONT_START_H

/* Execute trifold-supervisor, beside this program or where `make install` puts
 * it, with these arguments (argv[1] and on).  Returns 1, after a line in the
 * log, if that cannot be done. */
int start_supervisor(int argc, char *const *argv);

#endif /* CLI_FRONT_START_H */
