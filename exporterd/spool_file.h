/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_file - the name and the bytes of a file with one batch
 *
 * The file holds the batch, not a request: a request may have to be halved, and a later
 * exporterd may have other attributes or another compression.
 *
 * The name tells which events are still to be sent, so that progress is a rename and a
 * damaged file can be counted: ID-FIRST-N.batch, id of the batch, first event
 * and number of events, 16, 8 and 8 lower-case hexadecimal digits.
 *
 * The content is struct spool_hdr and the batch (ipc/batch.h).  The hash finds damage,
 * not forgery: only exporterd can write to the directory.
 *
 * No system calls here.
 */
#ifndef EXPORTERD_SPOOL_FILE_H
#define EXPORTERD_SPOOL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

#define SPOOL_MAGIC		0x70534674u	/* "tFSp", little endian */
#define SPOOL_VERSION		1
#define SPOOL_NAME_SIZE		41		/* with the NUL */
#define SPOOL_FILE_MIN		(sizeof(struct spool_hdr) + sizeof(struct batch_hdr))
#define SPOOL_FILE_MAX		(sizeof(struct spool_hdr) + BATCH_BYTES_MAX)

struct spool_hdr {
	uint32_t magic;
	uint32_t version;
	uint64_t id;			/* of its MSG_BATCH */
	uint64_t samples;		/* events in the batch */
	uint64_t bytes;			/* of the batch */
	uint64_t hash;			/* spool_hash() */
};

/* The events of a batch that are still to be sent. */
struct spool_name {
	uint64_t id;
	uint32_t first, n;
};

void spool_name_write(const struct spool_name *name, char ret[SPOOL_NAME_SIZE]);

/* Returns 0; -EINVAL: not such a name (*ret is left alone). */
int spool_name_read(const char *s, struct spool_name *ret);

/* XXH3 of the batch, seeded with that of the header before .hash. */
uint64_t spool_hash(const struct spool_hdr *hdr, const void *batch);

/*
 * Check a file of len bytes (aligned to 8) with that name.  Returns 0, and *ret borrows
 * the bytes; -EPROTO: it is damaged, or does not match its name.
 */
int spool_file_check(const void *data, size_t len,
		     const struct spool_name *name, struct batch *ret);

#endif /* EXPORTERD_SPOOL_FILE_H */
