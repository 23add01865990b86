/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_hub - a hub in a child of this program, whose workers are the program's
 *
 * The program has its own worker_run() (symbolizerd/worker/worker.h); hub, zygote
 * and confinement are the real ones.  One hub a test.
 */
#ifndef TESTS_HOSTILE_OWN_HUB_H
#define TESTS_HOSTILE_OWN_HUB_H

#include "symbolizerd/hub/run.h"
#include "tests/hostile/hub_peer.h"

#define OWN_MARK	0x1000	/* file offset of the symbol in own_symbols() */
#define HUB_CPU_SHARE	5			/* percent, of one CPU */
#define OWN_DEADLINE_NS	(5 * NSEC_PER_SEC)	/* of a worker */

extern struct place own_place;
extern struct hub own_hub;		/* in the child */

/* In a worker: connect to the hub at fd, and take the job.  False: there is none. */
bool own_job(struct conn *c, int fd, struct msg_job *job);
/* And the file. */
bool own_job_file(struct conn *c, int fd, struct msg_job *job, int *file);

/* Ask for the debug file of done's build ID: its first byte; 0: there is none. */
char own_ask_debug(struct conn *c, const struct msg_job_done *done);

/* What a good worker answers: sealed memory, the caller's. */
int own_table(void);
int own_symbols(void);
int own_symbols_called(const char name[7]);	/* of six letters */

/* Start the hub, and connect; adjust (may be NULL) is called in it before it
 * runs.  A loaderd has said hello then. */
void own_begin(struct conn *status, struct fake_loader *l,
	       void (*adjust)(struct hub *hub));
/* An orderly end: as hub_end(). */
void own_end(struct conn *status, struct fake_loader *l, struct status *last);

/* loaderd meets the file of this id, with these n bytes, of this user. */
void own_send_file(struct fake_loader *l, uint32_t id, const void *bytes,
		   size_t n, uid_t uid);
/* A sample has met the file, before the next message of loaderd. */
void own_sample_file(struct fake_loader *l, uint32_t id);
/* It gets a table: its number.  It gets none. */
uint32_t own_expect_table(struct fake_loader *l, uint32_t id);
void own_expect_none(struct fake_loader *l, uint32_t id);

#endif /* TESTS_HOSTILE_OWN_HUB_H */
