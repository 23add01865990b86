/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - what the front tells the supervisor, and what it is told
 *
 * The front (cli/front) has read arguments and configuration, and is confined.
 * The supervisor is root, and believes it as little as possible: a plan holds
 * values of options and variables that are listed in plan.c, and nothing else.
 * Programs, users, paths of sockets, the recorded command and the paths that
 * --output and --libexec name are the supervisor's own knowledge.
 *
 * Between the two is one SOCK_SEQPACKET socket.  A message out of turn, or one
 * that is malformed, ends the front and with it the recording.
 */
#ifndef CLI_SUPERVISOR_PLAN_H
#define CLI_SUPERVISOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that the supervisor starts. */
enum program {
	PROGRAM_HUB,		/* daemons, in the order of their start */
	PROGRAM_EXPORTER,
	PROGRAM_LOADER,
	PROGRAM_VIEWER,		/* only with PLAN_PAGE */
	PROGRAM_RECORDER,	/* only with PLAN_RECORD */
	PROGRAM_FRONT,
	PROGRAM_READER,		/* a front that reads the configuration again */
	PROGRAM_LAUNCHER,	/* only with PLAN_COMMAND */
	PROGRAM__COUNT
};
#define PROGRAM_DAEMONS	4	/* so many of them are daemons */
#define PROGRAM_PLANNED	5	/* ... can have words in a plan */

/* What a front sends, first word of each message.  FRONT_BEGIN and FRONT_END
 * are that word alone. */
enum front_kind {
	FRONT_PLAN = 1,		/* once; and after each TOLD_RELOAD */
	FRONT_BEGIN,		/* loaderd samples: after a TOLD_HUB, at most
				 * once for each */
	FRONT_END,		/* all that was to be recorded has ended; once */
};

enum plan_flag {
	PLAN_PAGE = 1,		/* there is a live page: sockets come along */
	PLAN_RECORD = 2,	/* there is a recorder */
	PLAN_COMMAND = 4,	/* the words behind the first "--" are run */
	PLAN_BELOW = 8,		/* ... and only they are sampled */
	PLAN_VERBOSE = 16,
	PLAN_RELOAD = 32,	/* SIGHUP reads the configuration again */
	PLAN__FLAGS = 63,
};

#define PLAN_BYTES_MAX		(96 * 1024)
#define PLAN_WORDS_MAX		256	/* of all programs */
#define PLAN_DURATION_MAX_MS	(366ULL * 86400 * 1000)

/*
 * A plan: this, then words, each a digit (enum program), then "--name",
 * "--name=value" or "NAME=value" (a variable), then '\0'.
 */
struct plan {
	uint32_t kind;			/* FRONT_PLAN */
	uint32_t bytes;			/* with the words */
	uint32_t flags;			/* enum plan_flag */
	uint32_t replace;		/* 1 << enum program: a new one of these
					 * daemons; 0 in the first plan */
	uint64_t duration_ms;		/* 0: open */
	char words[];
};

/* What a front is told; a descriptor comes along where it says so. */
enum told_kind {
	TOLD_HUB = 1,		/* fd: connected to the hub's status socket */
	TOLD_RECORDER,		/* fd: the recorder's control socket */
	TOLD_FEED,		/* fd: for the recorder, from a new exporterd */
	TOLD_RELOAD,		/* fd: the reader's */
	TOLD_RUNNING,		/* at .start_ns */
	TOLD_ENDING,
	TOLD_WRITE,		/* the recorder shall: .start_ns to .end_ns */
	TOLD_DONE,		/* say the last word and end */
};
struct told {
	uint32_t kind;
	uint32_t hub_uid;	/* TOLD_HUB: who must say hello */
	uint32_t ready;		/* TOLD_HUB: all are ready, is loaderd there? */
	uint32_t failed;	/* TOLD_DONE */
	uint64_t start_ns;	/* CLOCK_REALTIME */
	uint64_t end_ns;
};

/* Is it a plan?  len: of the message.  argv: as the user gave it, whose
 * --output it may name.  0 or -EPROTO. */
int plan_check(const struct plan *p, size_t len, char *const *argv);

/* May a plan have this word for this program? */
bool plan_allows(enum program id, const char *text);

/* The next word of one program behind `word` (NULL: the first one), without its
 * digit, or NULL.  Of a plan that was checked. */
const char *plan_next(const struct plan *p, enum program id, const char *word);

/* The value of an option, "--name VALUE" or "--name=VALUE", the last one before
 * any "--"; or NULL. */
const char *plan_option(char *const *argv, const char *name);

#endif /* CLI_SUPERVISOR_PLAN_H */
