/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - what the processes of the command `trifold` can do once they have
 * started
 *
 * A step that fails ends the process (common/sandbox.h).
 */
#ifndef CLI_CONFIG_CONFINE_H
#define CLI_CONFIG_CONFINE_H

#include "common/sandbox.h"

extern const struct confinement confinement_front_reading, confinement_front,
	confinement_recorder, confinement_reader, confinement_display;

/*
 * The front, while it reads arguments and configuration.  It runs as an ordinary
 * user who can read every file and list every directory (the configuration may be
 * readable for root only) and bind the page's port where that is below 1024.
 */
void confine_front_reading(uid_t uid);

/*
 * The front, once its plan is made.  It can use the descriptors that it has,
 * receive others, make pairs of Unix sockets, and ask for the terminal's size.  It
 * has no capability, and cannot open a file, reach a network, run a program or
 * signal another process.
 */
void confine_front(void);

/*
 * The recorder's writer.  It can use the descriptors that it has and receive
 * others.  It cannot open, connect, fork, exec or signal, and is neither root nor
 * traceable.  seal: its uid and gid if it was started as root.
 */
void confine_recorder(uid_t seal);

/* The reader of `trifold convert` and `diff`, likewise.  All descriptors but keep[0..n-1] are
 * closed. */
void confine_reader(uid_t seal, const int *keep, int n);

/*
 * The display of `trifold top`: the same, and it can set the terminal's modes and
 * ask for its size.  It gets no signal when its parent dies, so that it can restore
 * the terminal.
 */
void confine_display(uid_t seal);

#endif /* CLI_CONFIG_CONFINE_H */
