/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - the names of an executable's functions, compact and searchable
 *
 * Built by a worker from .symtab and .dynsym, handed to the main process as a
 * sealed memfd, validated there in one pass, then only searched.  Addresses
 * are file offsets, as in unwind tables and in records.
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_H
#define SYMBOLIZERD_SYMBOLS_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_MAGIC	0x73744674u	/* "tFts", little endian */

struct symbols_hdr {
	uint32_t magic;
	uint32_t n;		/* entries behind this header */
	uint32_t name_bytes;	/* behind the entries */
	uint32_t pad;
};

struct symbol {
	uint64_t start;		/* file offset; entries ascend strictly */
	uint32_t size;		/* bytes; start + size <= next start */
	uint32_t name;		/* offset into the names; NUL-terminated */
};

struct symbol_index {
	const struct symbol *symbols;
	const char *names;
	uint32_t n;
};

/* Validate len bytes (aligned to 8).  0, or -EPROTO and *ret untouched. */
int symbols_open(const void *data, size_t len, struct symbol_index *ret);

/* Name of the function that holds this file offset, or NULL; an address
 * beyond a symbol's size is not that symbol. */
const char *symbols_find(const struct symbol_index *idx, uint64_t off);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_H */
