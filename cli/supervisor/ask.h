/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask - what the front may ask the supervisor for, what it is told, and how
 * both go over the socket
 *
 * The front (cli/front) has read arguments and configuration, and is confined.
 * The supervisor is root, and trusts it as little as possible: the front may
 * have it start one of each program, with options and variables that are listed
 * in program_table.c, and signal these children.  Programs, users, paths of sockets, the
 * recorded command and the paths of --output and --libexec the supervisor takes
 * from its own code and arguments.
 *
 * Between the two is one SOCK_SEQPACKET socket.  A message that is malformed or
 * out of turn ends the front, and with it all others.
 */
#ifndef CLI_SUPERVISOR_ASK_H
#define CLI_SUPERVISOR_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/supervisor/program_table.h"

enum ask_kind {
	ASK_OPEN = 1,		/* make the runtime directory: the first message, and
				 * once, with the descriptor that all log to */
	ASK_START,		/* start .program with .words; descriptors become 3
				 * and following */
	ASK_SIGNAL,		/* send .signal to .program, if it runs */
	ASK_HUB,		/* connect to the hub's status socket */
};

#define LAUNCHER_KILL	SIGUSR1	/* to the launcher: send SIGKILL to the command */

#define ASK_WORDS_MAX	(96 * 1024)	/* bytes */
#define ASK_FDS_MAX	2	/* with one message */

/* From the front, which sends ASK_BYTES(length of words).  Words, for ASK_START alone:
 * strings with their '\0', each "--name", "--name=value" or "NAME=value" (a variable). */
struct ask {
	uint32_t kind;
	uint32_t program;
	int32_t signal;
	char words[ASK_WORDS_MAX];
};
#define ASK_BYTES(n)	(offsetof(struct ask, words) + (n))

enum tell_kind {
	TELL_REPLY = 1,		/* to each message but ASK_SIGNAL */
	TELL_DIED,		/* .program has ended, .value: its waitpid(2) status */
	TELL_SIGNAL,		/* .value came to the supervisor */
};

/* To the front.  The .value of a reply is -errno, or: to ASK_START a pid; to ASK_OPEN 0,
 * with the socket that takes READY=1; to ASK_HUB the uid of the hub, with the connection. */
struct tell {
	uint32_t kind;
	uint32_t program;
	int32_t value;
	uint32_t by_kernel;	/* TELL_SIGNAL: it came from the terminal */
};

/* Is a message of len bytes and n_fds descriptors well-formed, and everything in it
 * allowed? */
bool ask_check(const struct ask *m, size_t len, int n_fds);

/* May this program have this word? */
bool ask_allows(enum program id, const char *word);

/* The value of an option, "--name VALUE" or "--name=VALUE", the last one before
 * any "--"; or NULL. */
const char *ask_option(char *const *argv, const char *name);

/* Send a message (either kind) with n descriptors (borrowed), at most
 * ASK_FDS_MAX.  flags: of sendmsg(2).  0 or -errno. */
int ask_send(int socket, const void *m, size_t len, const int *fds, int n,
	     int flags);

/* Take the next message into m; its descriptors, at most ASK_FDS_MAX, are the
 * caller's.  flags: of recvmsg(2).  Returns its length; 0: there is none;
 * -EPIPE: the other end is closed; -EPROTO: the message is too long. */
int ask_recv(int socket, void *m, size_t size, int *fds, int *n, int flags);

#endif /* CLI_SUPERVISOR_ASK_H */
