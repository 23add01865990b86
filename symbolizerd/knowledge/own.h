/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own - which processes are trifold's own, whose samples are counted and left out
 *
 * A process is known by its number and by when it began, never by its name or
 * its file: any user can run a copy of trifold.  The numbers come from sources that no
 * other process controls: getpid(), the kernel for daemons that have connected
 * (SO_PEERCRED), the zygote and loaderd for their children, the opener for itself, and
 * the command line for processes that run as long as this hub.
 *
 * A number is noted while its process lives, so a process with this number that
 * began later is another one: the number was used again.
 *
 * A daemon that is started again is known once it has connected: what it does
 * before may be in a batch that was made by then.
 *
 * Samples have numbers of the initial PID namespace.  In another one ours mean
 * nothing there, and nothing is left out.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_OWN_H
#define SYMBOLIZERD_KNOWLEDGE_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OWN_GIVEN	8	/* on the command line */
#define OWN_WORKERS	1024	/* the last ones; a power of two */

enum own_role {
	OWN_HUB,
	OWN_ZYGOTE,
	OWN_LOADER,
	OWN_RESPAWNER,
	OWN_OPENER,
	OWN_EXPORTER,
	OWN_VIEWER,
	OWN_FIRST_GIVEN,
	OWN__ROLES = OWN_FIRST_GIVEN + OWN_GIVEN
};

struct own_pid {
	uint32_t pid;			/* 0: none */
	uint64_t from_ns, until_ns;	/* began between, CLOCK_BOOTTIME */
};

struct own {
	bool shown;		/* leave nothing out */
	struct own_pid role[OWN__ROLES], former[OWN__ROLES];
	struct own_pid worker[OWN_WORKERS];	/* at pid % OWN_WORKERS */
};

/* Is this process in the initial PID namespace?  false where /proc does not
 * tell: to be called before confinement. */
bool own_numbers_count(void);

/* This process lives and has this role.  Of the one that had it before there may
 * be samples still.  pid 0 or less: nothing is known. */
void own_note(struct own *o, enum own_role role, pid_t pid);

/* The process that connected to this socket; none if it is no socket. */
void own_note_peer(struct own *o, enum own_role role, int fd);

/* A worker lives that was asked for at from_ns (CLOCK_BOOTTIME). */
void own_note_worker(struct own *o, pid_t pid, uint64_t from_ns);

/* Is the process with this number, which began at start_ns, to be left out? */
bool own_has(const struct own *o, uint32_t tgid, uint64_t start_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_OWN_H */
