/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - all stacks of a batch merged from their roots
 *
 * The result is a list of rows in preorder: a row's children follow it, one
 * deeper, in the order of their names.  At depth 0 are processes, by name; then, for
 * an incomplete stack, a marker with the reason; then frames, outermost first, the
 * kernel's last.
 */
#ifndef PROFILE_TREE_H
#define PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"
#include "profile/tree_lines.h"

struct tree_label {
	size_t name, module;		/* in tree.text */
	size_t full;			/* in tree.text: its whole name */
	uint32_t name_len, module_len;
	uint32_t full_len;		/* 0: the name is the whole name */
	uint32_t file;			/* its source, a string of the batch; 0:
					 * unknown */
	uint32_t line;			/* where the function begins, or else a
					 * line of it; 0: unknown */
	uint32_t kind;			/* enum batch_frame_kind; or KIND_PROCESS */
	uint32_t pids;			/* KIND_PROCESS: how many */
	uint32_t pid;			/* one of them */
};

struct tree_row {
	uint32_t label;
	uint32_t depth;
	uint32_t marks;			/* enum profile_mark: common to all its
					 * frames */
	uint64_t self;			/* samples that end here */
	uint64_t base;			/* samples of tree_how.base that end here */
};

struct tree {
	struct tree_label *labels;	/* distinct (name, module, kind) */
	struct tree_row *rows;
	const char *text;
	uint32_t n_labels, n_rows;
	uint32_t levels;		/* the largest depth + 1 */
	uint32_t *places;		/* tree_how.places: the row of each sample */
	/* tree_how.by_line: for each row, the lines of its own code, of samples that
	 * end in it; and the lines of its caller from which it was called */
	struct tree_lines self, calls;
};

struct tree_how {
	bool reversed;			/* from the leaves: outermost frames,
					 * markers and processes come last */
	const uint32_t *base;		/* for each sample, its count in another
					 * selection; NULL: none */
	bool places;			/* fill tree.places */
	bool by_line;			/* fill tree.self and .calls; not if
					 * reversed */
	bool lines;			/* names of frames include their lines
					 * (profile_frame_line()) */
};

/* Returns 0 or -ENOMEM; tree_fini() after success. */
int tree_build(struct tree *t, const struct batch *b);
int tree_build_as(struct tree *t, const struct batch *b,
		  const struct tree_how *how);
void tree_fini(struct tree *t);

/* The line of a sample's innermost frame, as in .self of its row; 0: unknown. */
uint32_t tree_sample_line(const struct tree *t, const struct batch *b,
			  uint32_t sample);

#endif /* PROFILE_TREE_H */
