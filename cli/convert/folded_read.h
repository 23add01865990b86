/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_read - folded stacks of one or two recordings, merged into one tree
 *
 * Reads what profile/formats/folded.h writes and what Brendan Gregg's
 * stackcollapse scripts write (github.com/brendangregg/FlameGraph): a line is a
 * stack, outermost frame first, frames separated by ';', then blanks and a whole
 * number of samples.  A line may end in "\r\n"; empty lines mean nothing; a stack
 * may be repeated; UTF-8's mark may be before the first.  Frames are bytes of any kind but control characters.  One
 * that ends in " (file.c:12)", which "_[i]" or "_[k]" may follow, has a line.
 */
#ifndef CLI_CONVERT_FOLDED_READ_H
#define CLI_CONVERT_FOLDED_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/hash_table.h"
#include "common/vector.h"

#define FOLDED_SIDES		2

/* Limits of a file; above them it is refused. */
#define FOLDED_BYTES_MAX	(256u << 20)
#define FOLDED_LINE_MAX		(1u << 20)	/* bytes */
#define FOLDED_DEPTH_MAX	4096		/* frames of a stack */
#define FOLDED_NODES_MAX	(4u << 20)	/* of the tree */
#define FOLDED_SAMPLES_MAX	INT64_MAX	/* in all: of a side, so that both fit */

struct folded_name {
	size_t at;			/* in folded.text */
	uint32_t len;
};

/* A frame below its callers.  Node 0 is the root and no frame. */
struct folded_node {
	uint32_t name;
	uint32_t parent;		/* a smaller index than its own */
	uint32_t child, sibling;	/* the first and the next, or INDEX_NONE */
	uint64_t self[FOLDED_SIDES];	/* samples that end here */
};

struct folded_tree {
	struct folded_name *names;	/* distinct; names_set.n of them */
	struct folded_node *nodes;	/* nodes_set.n, and the root */
	uint64_t samples[FOLDED_SIDES];
	bool functions;			/* names are taken without their lines:
					 * the caller's to set */
	bool lines[FOLDED_SIDES];	/* some names have a line */
	struct buffer text, without;	/* without: a name without its line */
	struct hash_table names_set, nodes_set;
	uint32_t names_cap, nodes_cap;
	uint64_t seed;			/* against names chosen to collide */
};

struct folded_mistake {
	uint32_t line;			/* from 1 */
	const char *what;
};

/* 0 or -ENOMEM; folded_fini() after both, and after every failure below. */
int folded_init(struct folded_tree *t);
void folded_fini(struct folded_tree *t);

/*
 * Add the stacks in len bytes to one side (below FOLDED_SIDES).  Returns 0;
 * 1 when *m says where and why the bytes are no folded stacks; or -ENOMEM.
 */
int folded_read(struct folded_tree *t, unsigned int side, const char *bytes,
		size_t len, struct folded_mistake *m);

/* The order of two names, as strcmp() has it: bytes compared. */
int folded_compare_names(const struct folded_tree *t, uint32_t name, uint32_t other);

/* Put children in the order of their names, bytes compared.  0 or -ENOMEM. */
int folded_sort(struct folded_tree *t);

/*
 * The next node in preorder, or 0 after the last; begin with 0. *depth is
 * updated: 0 at the root, 1 at outermost frames.
 */
uint32_t folded_next(const struct folded_tree *t, uint32_t node,
		     uint32_t *depth);

/* Append a name as UTF-8 without control characters (C0, DEL and C1). */
void folded_name(const struct folded_tree *t, uint32_t name, struct buffer *out);

/* Append "stack a b" lines, in the order of names; of a tree that folded_sort()
 * ordered.  0 or -ENOMEM. */
int folded_encode_pairs(const struct folded_tree *t, struct buffer *out);

#endif /* CLI_CONVERT_FOLDED_READ_H */
