/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - which files are known, under which number, with which table
 *
 * A need (from BPF, or from the list at start) names a mapping and the file
 * identity that the kernel saw there.  Unless that identity is known already:
 * have the opener open it, let the kernel confirm that the descriptor is that
 * very file, give it a number, pass it to symbolizerd, and install the table
 * that comes back.  One open is under way at a time.
 */
#ifndef LOADERD_FILES_H
#define LOADERD_FILES_H

#include <stdint.h>

#include "bpf/table.h"
#include "ipc/counters.h"
#include "loaderd/opener.h"
#include "loaderd/tables.h"

#define NEEDS_MAX	1024	/* waiting; more are asked again anyway */
#define JOBS_MAX	24	/* files with symbolizerd, unanswered */

struct exe {			/* by number */
	struct file_key key;
	struct table_ref table;
	bool used;		/* number is given */
	bool sent;		/* with symbolizerd, unanswered */
	uint32_t tgid;		/* who ran it when it was opened */
};

struct need_queue {
	struct need_file need[NEEDS_MAX];
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
	void (*dropped)(void *ctx, uint32_t exe);
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
	uint32_t jobs;		/* exes with .sent */
	struct need_queue asked, listed;	/* samples' needs go first */
	bool opening;
	struct need_file open;	/* what the opener is at */
	uint64_t open_id, open_since_ns;
	struct retired *retired;
};

int files_init(struct files *f, int map_fd, struct tables *tables,
	       struct opener *opener, struct loader_stats *stats,
	       const struct files_ops *ops, void *ctx);

/* A need came in; listed: from the list at start, less urgent. */
void files_need(struct files *f, const struct need_file *need, bool listed);

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

/* Nothing is waiting, being opened, or with symbolizerd. */
bool files_idle(const struct files *f);

/* Deadlines and grace periods; each second. */
void files_tick(struct files *f, uint64_t now);

#endif /* LOADERD_FILES_H */
