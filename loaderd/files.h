/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - which files are known, under which number, with which table
 *
 * A need (from BPF, or from the list at start) names a mapping and the file
 * identity that the kernel saw there.  Unless that identity is known already:
 * have the opener open it, let the kernel confirm that the descriptor is that
 * very file, give it a number, pass it to symbolizerd, and install the table
 * that comes back.  One open is under way at a time.
 *
 * Forgetting: the table that was used least recently goes when the byte budget
 * asks for it, and a file that no process maps and no sample has used goes
 * after a while.  Each alone: first its key, then, after a grace period, its
 * space; last its number, which is given again only when every record that
 * may carry it has gone on to symbolizerd.
 */
#ifndef LOADERD_FILES_H
#define LOADERD_FILES_H

#include <stdint.h>

#include "bpf/table.h"
#include "ipc/counters_loader.h"
#include "loaderd/opener.h"
#include "loaderd/tables.h"

#define REQUESTS_MAX	1024	/* waiting; the rest is asked for again */
#define JOBS_MAX	24	/* files with symbolizerd, unanswered */

struct exe {			/* by number */
	struct file_key key;
	struct table_ref table;
	uint32_t used_s;	/* last use as last seen; if free: since when */
	uint32_t next;		/* if free: the one freed next; 0: none */
	uint32_t need;		/* bytes of room that its table waits for */
	bool used;		/* number is given */
	bool sent;		/* with symbolizerd, unanswered */
	bool mapped;		/* by some process, when last looked */
	uint32_t tgid;		/* who ran it when it was opened */
};

struct request_queue {
	struct request_file need[REQUESTS_MAX];
	uint32_t head, n;
};

struct retired {		/* a table that BPF may still see */
	struct table_ref table;
	uint64_t since_ns;
	struct retired *next;
};

struct files_ops {
	/* Pass a file on; path of len bytes.  0, or -errno: not now. */
	int (*send)(void *ctx, uint32_t exe, const struct file_key *key,
		    const char *path, size_t len, int fd);
	/* Say that a number is void.  0, or -EAGAIN: not now. */
	int (*dropped)(void *ctx, uint32_t exe);
	/* files_mapped() for each executable mapping of every process. */
	void (*list)(void *ctx);
	/* Identity of the file mapped at addr in this process; 0 or -errno. */
	int (*identify)(void *ctx, const void *addr, struct file_key *ret);
};

struct files {
	int map_fd;		/* map `files`; borrowed */
	struct tables *tables;
	struct opener *opener;
	struct loader_stats *stats;
	const struct files_ops *ops;
	void *ctx;
	bool connected;		/* symbolizerd is there */
	struct exe *exes;
	uint32_t n, cap;	/* numbers given are below n */
	uint32_t free_first, free_last;	/* numbers to give again; 0: none */
	uint32_t idle_s;	/* without use until a file is forgotten */
	uint32_t tick_s;	/* when files_tick() was called last */
	uint32_t uses_s;	/* when exes[].used_s was read last */
	uint32_t listed_s;	/* when mappings were listed last */
	uint32_t sweep;		/* number to be looked at next; 0: done */
	uint32_t jobs;		/* exes with .sent */
	struct request_queue asked, listed;	/* requests of samples go first */
	bool list_more;		/* the list did not fit its queue */
	uint64_t list_exes;	/* stats->exes by then */
	bool opening;
	struct request_file open;	/* what the opener is at */
	uint64_t open_id, open_since_ns;
	struct retired *retired;
	uint64_t retired_elements;
	uint32_t waiting;	/* exes with .need */
};

/* idle_s: seconds without use until an unmapped file is forgotten, and until
 * its number is given again; 1 or more. */
int files_init(struct files *f, int map_fd, struct tables *tables,
	       struct opener *opener, struct loader_stats *stats,
	       uint32_t idle_s, const struct files_ops *ops, void *ctx);

/* A need came in; listed: from the list at start, less urgent. */
void files_request(struct files *f, const struct request_file *need, bool listed);

/* Give the vDSO its number and pass on its image, a memfd.  0 or -errno. */
int files_add_vdso(struct files *f, int fd);

/* Something can be read from the opener.  Takes over the descriptor. */
void files_opened(struct files *f, struct msg *m);

/* symbolizerd answered for a number; fd borrowed, -1: there is no table. */
void files_table(struct files *f, uint32_t exe, int fd);

/* symbolizerd is there (anew), or gone: known files will be asked for again,
 * with the tables that they have. */
void files_connected(struct files *f, bool connected);

/* A process that ran this executable, or 0. */
uint32_t files_tgid(const struct files *f, uint32_t exe);

/* The list of mappings was longer than its queue, which is empty now, and the
 * last one was of use: list them again.  True once each time. */
bool files_list_again(struct files *f);

/* Nothing is waiting, being opened, or with symbolizerd. */
bool files_idle(const struct files *f);

/* A process maps this file: during ops->list() only. */
void files_mapped(struct files *f, const struct file_key *key);

/* Deadlines, grace periods and forgetting; each second, just after all that was
 * in the BPF ring has been forwarded. */
void files_tick(struct files *f, uint64_t now);

#endif /* LOADERD_FILES_H */
