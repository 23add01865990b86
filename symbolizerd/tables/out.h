/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out - what the policy for tables hands to the rest of the hub
 *
 * Messages to loaderd (ipc/message.h), which must arrive in this order and
 * together with no others that loaderd counts as handled, and word of numbers
 * that end.  id is that of the MSG_EXE answered by this, or 0.
 */
#ifndef SYMBOLIZERD_TABLES_OUT_H
#define SYMBOLIZERD_TABLES_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"

/* Elements to be written. */
#define TABLE_RUN_NEW	0xffffffffu
struct table_run {
	uint32_t pos, n;	/* where: as a table_span */
	uint32_t from;		/* TABLE_RUN_NEW: they come with the runs; else position, in
				 * a slab, of the first one to copy */
	uint32_t pad;
};
#define INSTALL_RUNS_MAX	16384
#define INSTALL_BYTES_MAX	(64u << 20)

struct tables_out {
	/* fd is the callee's: sealed memory of INSTALL_BYTES_MAX at most, n_runs struct
	 * table_run, then the elements of all runs with TABLE_RUN_NEW, in their order.
	 * When they are written the key gets its entry. */
	void (*install)(void *ctx, uint64_t id, const struct file_key *key,
			const struct file_entry *entry, uint32_t n_runs,
			int fd);
	void (*entry)(void *ctx, uint64_t id, const struct file_key *key,
		      const struct file_entry *entry);
	void (*slab_drop)(void *ctx, uint32_t slab);
	void (*drop)(void *ctx, uint64_t id, const struct file_key *key);
	void (*list)(void *ctx);

	/* Those that follow are not messages.
	 *
	 * There may be room now for the vDSO's table, which had
	 * to wait.  loaderd has no file of it to ask with: files_exe() is to
	 * follow. */
	void (*vdso)(void *ctx);
	/* From now on the number stands for this key, as a former
	 * hub said.  True if nothing more is to be learnt of the file. */
	bool (*adopted)(void *ctx, uint32_t number, const struct file_key *key);
	/* The number means nothing any more; it is given again later. */
	void (*dropped)(void *ctx, uint32_t number);
};

#endif /* SYMBOLIZERD_TABLES_OUT_H */
