/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out - what the policy for tables calls in the rest of the hub
 *
 * Messages to loaderd (ipc/message.h), which must arrive in this order, and are the
 * only ones that loaderd counts as handled; and news of numbers.  id is that of
 * the MSG_EXE that is answered, or 0.
 */
#ifndef SYMBOLIZERD_TABLES_OUT_H
#define SYMBOLIZERD_TABLES_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"

/* A run of elements to be written. */
#define TABLE_RUN_NEW	0xffffffffu
struct table_run {
	uint32_t pos, n;	/* where: as a table_span */
	uint32_t from;		/* TABLE_RUN_NEW: they follow the runs; otherwise position,
				 * in a slab, of the first one to copy */
	uint32_t pad;
};
#define INSTALL_RUNS_MAX	16384
#define INSTALL_BYTES_MAX	(64u << 20)

struct tables_out {
	/* fd, which the callee owns, is sealed memory of at most INSTALL_BYTES_MAX: n_runs
	 * struct table_run, then the elements of all runs with TABLE_RUN_NEW, in their
	 * order.  After they are written the key gets its entry. */
	void (*install)(void *ctx, uint64_t id, const struct file_key *key,
			const struct file_entry *entry, uint32_t n_runs,
			int fd);
	void (*entry)(void *ctx, uint64_t id, const struct file_key *key,
		      const struct file_entry *entry);
	void (*slab_drop)(void *ctx, uint32_t slab);
	void (*drop)(void *ctx, uint64_t id, const struct file_key *key);
	void (*list)(void *ctx);

	/* The others are not messages.
	 *
	 * There may be room now for the vDSO's table, which had to wait.  loaderd
	 * has no file to ask with, so the callee calls files_exe(). */
	void (*vdso)(void *ctx);
	/* A former hub gave this number to the key.  True if everything about the
	 * file is known. */
	bool (*adopted)(void *ctx, uint32_t number, const struct file_key *key);
	/* The number is free; it will be reused later. */
	void (*dropped)(void *ctx, uint32_t number);
};

#endif /* SYMBOLIZERD_TABLES_OUT_H */
