/* SPDX-License-Identifier: Apache-2.0 */
/* say - the supervisor's lines for the operator, and its clock's unit */
#ifndef CLI_SUPERVISOR_SAY_H
#define CLI_SUPERVISOR_SAY_H

/* "trifold: TEXT", one line, at most 1 KiB, to standard error at first.  Never
 * waits on a pipe that was opened non-blocking: then the line is lost. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Where lines go from now on (borrowed). */
void say_to(int fd);

#endif /* CLI_SUPERVISOR_SAY_H */
