/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_peer - a make-believe loaderd, exporterd and status client
 *
 * For programs that test symbolizerd from outside.  Everything here either
 * works or ends the program with a line that says what did not.
 */
#ifndef TESTS_HUB_PEER_H
#define TESTS_HUB_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/frame.h"
#include "ipc/batch.h"
#include "ipc/conn.h"
#include "bpf/table.h"
#include "ipc/message_hub.h"

#define WAIT_MS		5000	/* for anything that must happen */
#define OTHER_ID	65534	/* whom the hub becomes under root */
#define VIEWER_ID	65533	/* ... and whom it lets watch, too */

#define NEED(cond)	need((cond), __FILE__, __LINE__, #cond)
void need(bool ok, const char *file, int line, const char *what);

struct place {			/* where a hub listens */
	char dir[32];
	int fds[3];		/* loader, export, status */
	pid_t hub;
	bool readers;		/* others than root and the viewer may watch, too */
	const char *interval;	/* seconds; NULL: 1 */
	const char *lines;	/* percent of a CPU for source lines; NULL: 0 */
	bool always_on;
};
void place_make(struct place *p);
void place_remove(struct place *p);
const char *place_path(const struct place *p, const char *name);

/* Start the real program on the sockets of p: the one beside this program, or
 * $SYMBOLIZERD.  Without it the test is skipped. */
void hub_exec(struct place *p);
/* Remember a hub that was started otherwise: it is killed at exit. */
void hub_started(struct place *p, pid_t pid);
/* Wait for its end; the wait status. */
int hub_wait(struct place *p);
uid_t hub_uid(void);		/* as what it runs */

/* Both of the above, and an orderly end: SIGTERM, exit status 0, the last
 * status that a client (may be NULL) was sent. */
void hub_begin(struct place *p);
void hub_end(struct place *p, struct conn *status, struct status *last);

/* The next message of this type, others are skipped.  Its descriptors are the
 * caller's. */
void expect(struct conn *c, unsigned int type, struct msg *m);
/* The other side closes. */
void expect_closed(struct conn *c);

/* --- loaderd --------------------------------------------------------------- */

struct fake_loader {
	struct conn conn;
	int samples, hubs;	/* the ends of the samples' sockets: ours, its */
	struct loader_stats stats;
	struct cpu_counts *counts;	/* of LOADER_CPUS: the hub reads them */
	int counts_fd;			/* if counts is not NULL */
	bool kept_valid, partial;
	bool begins;		/* the files that it sends are of programs that begin */
	uint32_t idle_s;	/* 0: the default */
	struct hub_totals kept;	/* last checkpoint */
};
void loader_connect(struct fake_loader *l, const struct place *p);
void loader_hello_only(struct fake_loader *l);	/* both ways */
void loader_known(struct fake_loader *l, const struct msg_entry *v, uint32_t n);
void loader_hello(struct fake_loader *l);	/* and there are no files */
#define LOADER_CPUS	2
void loader_count(struct fake_loader *l);	/* makes counts */
void loader_drop(struct fake_loader *l);	/* close everything */
/* One datagram to the socket of samples. */
void loader_put(struct fake_loader *l, const void *data, size_t len);
void loader_sample(struct fake_loader *l, struct trace_rec rec,
		   const uint64_t *words);	/* counts it, too */
/* A sample has met the file, before the next message. */
void loader_sample_file(struct fake_loader *l, const struct file_key *key,
			uint64_t off);
struct trace_rec record(uint16_t n_kernel, uint16_t n_user);	/* some */
void two_samples(struct fake_loader *l);
void loader_ksym(struct fake_loader *l, uint32_t number, const char *name);
void loader_exe(struct fake_loader *l, uint64_t id,
		const struct file_key *key, const char *path, int fd);
/* A map for a slab, as far as the hub can see; its elements are these. */
int slab_memory(const struct slab_copy *c);
/* The hub wants a slab: give it one.  False: it is another message. */
bool loader_slab(struct conn *c, const struct msg *m);
/* Not a message: MSG_ENTRY with a table, as the functions below return it. */
#define TABLE_CAME	0x100u
/* The answer to it: its type, and its entry unless that is MSG_DROP. */
unsigned int loader_answer(struct fake_loader *l, uint64_t id,
			   struct file_entry *ret);
/* The same, by its key; that it is to take long is no answer. */
unsigned int loader_settled(struct fake_loader *l, const struct file_key *key,
			    struct file_entry *ret);
void loader_say_stats(struct fake_loader *l);	/* all received is settled */
void loader_bye(struct fake_loader *l);
void loader_keep_checkpoint(struct fake_loader *l);	/* wait for one */

/* --- exporterd ------------------------------------------------------------- */

struct fake_batch {
	uint64_t id;
	struct msg_batch msg;
	struct batch b;
	const void *map;
	size_t len;
};
void exporter_connect(struct conn *c, const struct place *p, uint64_t queued,
		      const struct export_outcomes *unreported);
void exporter_batch(struct conn *c, struct fake_batch *ret);
void exporter_done(struct conn *c, uint64_t id, uint64_t n, uint32_t outcome);
void batch_release(struct fake_batch *b);

/* --- status ----------------------------------------------------------------- */

/* Read until one satisfies ok(), for at most WAIT_MS. */
void status_connect(struct conn *c, const struct place *p);
void status_until(struct conn *c, struct status *ret,
		  bool (*ok)(const struct status *st, uint64_t arg),
		  uint64_t arg);
bool has_offences(const struct status *st, uint64_t n);
bool has_received(const struct status *st, uint64_t n);
bool has_delivered(const struct status *st, uint64_t n);
bool has_exporter_deaths(const struct status *st, uint64_t n);
bool has_jobs(const struct status *st, uint64_t n);	/* none left */
bool loader_is_down(const struct status *st, uint64_t deaths);
struct account account_now(const struct status *st);

#endif /* TESTS_HUB_PEER_H */
