/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_table - every program that is started: for the supervisor, for
 * trifold-start, and for the command, which plans what they are told
 */
#ifndef CLI_SUPERVISOR_PROGRAM_TABLE_H
#define CLI_SUPERVISOR_PROGRAM_TABLE_H

enum program {
	PROGRAM_HUB,		/* daemons, in the order of their start */
	PROGRAM_EXPORTER,
	PROGRAM_LOADER,
	PROGRAM_VIEWER,
	PROGRAM_RECORDER,
	PROGRAM_READER,		/* a front that reads the configuration again */
	PROGRAM_LAUNCHER,	/* of the user's command; at most once */
	PROGRAM_FRONT,		/* by the supervisor alone */
	PROGRAM__COUNT
};
#define PROGRAM_DAEMONS	4	/* the first ones */

struct program_row {
	/* "trifold-NAME".  Of a daemon: its file, its user, its unit, and NAME is the
	 * file with its words (cli/unit).  Else NAME is a command of trifold. */
	const char *name;
	const char *hub;	/* the hub's socket that it connects to, or NULL */
	/* options that take the uid of another daemon, up to the first NULL */
	struct { const char *option; enum program whose; } uids[4];
	int output;		/* the descriptor that is its standard output: 2, the log; 1,
				 * ours, if the user wants the recording there */
	int fds;		/* at most so many descriptors come from a front */
	/* Words that it may be told; with = or _ or . at the end: how the word begins.
	 * None names a program, a user or a library. */
	const char *const words[21];
};

extern const struct program_row program_table[PROGRAM__COUNT];

/* The name without "trifold-". */
#define PROGRAM_NAME(id)	(program_table[id].name + sizeof("trifold-") - 1)

#endif /* CLI_SUPERVISOR_PROGRAM_TABLE_H */
