/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install_table - a worker's table into the maps of a sampler
 *
 * As trifold does it, but in one process: the hub's policy decides where it
 * goes, and loaderd's code makes the slabs.
 */
#ifndef TESTS_INSTALL_TABLE_H
#define TESTS_INSTALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "loaderd/elements.h"
#include "symbolizerd/tables/tables.h"

struct installer {
	struct table_policy policy;
	struct elements elements;
	struct slab_copy *at[SLABS_MAX];	/* mapped */
	int files_fd;
};

/* The maps `files` and `slabs`, and the first slab.  0 or -errno. */
int installer_init(struct installer *in, int files_fd, int slabs_fd,
		   int slab0_fd, uint64_t budget);

/* The file of this key gets this number and the table of len bytes (0: none).
 * 0; or -errno; or an enum msg_verdict. */
int installer_put(struct installer *in, const struct file_key *key,
		  uint32_t exe, const void *data, size_t len);

#endif /* TESTS_INSTALL_TABLE_H */
