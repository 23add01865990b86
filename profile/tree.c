// SPDX-License-Identifier: Apache-2.0
#include "profile/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "profile/profile.h"

#define NONE	INDEX_NONE

struct node {
	uint32_t label;
	uint32_t parent;
	uint32_t child;		/* the first, or NONE */
	uint32_t sibling;	/* the next, or NONE */
	uint32_t marks;
	uint64_t self, base;
};

struct builder {
	const struct batch *b;
	struct tree_how how;
	uint64_t seed;		/* names are chosen by profiled processes */
	struct buffer text;
	struct tree_label *labels;
	struct node *nodes;	/* 0 is the root, which is in no set */
	uint32_t labels_cap, nodes_cap;
	struct hash_table label_set, node_set;
	uint32_t *frame_label;	/* label of a batch's frame + 1, or 0 */
	uint32_t *names;
	uint32_t *process_label;	/* label of a resource + 1, or 0 */
	uint32_t *rank;		/* place of a label in their order */
	struct tree_row *rows;
	uint32_t levels;
	uint32_t *places;	/* for each sample, its node, later its row */
	struct line_sums self, calls;	/* by node */
	struct tree_lines self_lines, call_lines;
	/* of the sample that is being added */
	uint64_t n;		/* its events */
	uint32_t line;		/* of its frame that was added last */
};

static uint64_t tree_label_hash(const struct builder *t, const struct tree_label *l)
{
	uint64_t h = XXH3_64bits_withSeed(t->text.data + l->name, l->name_len,
					  t->seed + l->kind);

	return XXH3_64bits_withSeed(t->text.data + l->module, l->module_len, h);
}

static bool tree_same_label(const struct builder *t, const struct tree_label *a,
			    const struct tree_label *b)
{
	const uint8_t *text = t->text.data;

	return a->kind == b->kind && a->name_len == b->name_len &&
	       a->module_len == b->module_len &&
	       !memcmp(text + a->name, text + b->name, a->name_len) &&
	       !memcmp(text + a->module, text + b->module, a->module_len);
}

/* Intern the label whose texts are the last of t->text; NONE: no memory. */
static uint32_t tree_add_label(struct builder *t, size_t name, size_t module,
			       uint32_t kind)
{
	struct tree_label l = { .name = name, .module = module, .kind = kind };
	struct hash_table *set = &t->label_set;
	uint32_t n = set->n;
	uint64_t hash;

	if (t->text.failed || t->text.len - name > UINT32_MAX)
		return NONE;
	l.name_len = (uint32_t)(module - name);
	l.module_len = (uint32_t)(t->text.len - module);
	hash = tree_label_hash(t, &l);
	for (struct hash_slot *s = hash_find(set, hash); s;
	     s = hash_next(set, s)) {
		if (tree_same_label(t, &l, &t->labels[hash_index(s)])) {
			t->text.len = name;
			return hash_index(s);
		}
	}
	if (!array_reserve(&t->labels, &t->labels_cap, n + 1) ||
	    !hash_add(set, hash, n))
		return NONE;
	t->labels[n] = l;
	return n;
}

/* Functions with the same short name share a label, which has the whole name of the
 * first one. */
static void tree_full_name(struct builder *t, uint32_t label, uint32_t frame)
{
	const struct batch_frame *f = &t->b->frames[frame];
	struct tree_label *l = &t->labels[label];
	const char *s;
	size_t len;

	if (l->full_len || frame_kind_class(f->kind) == FRAMES_MARK)
		return;
	s = batch_str(t->b, t->b->functions[f->function].full_name, &len);
	l->full = t->text.len;
	buffer_add(&t->text, s, len);
	if (!t->text.failed)
		l->full_len = (uint32_t)len;
}

/* The source of a label's first function. */
static void tree_source(struct builder *t, uint32_t label, uint32_t frame)
{
	const struct batch_frame *f = &t->b->frames[frame];
	const struct batch_function *fn = &t->b->functions[f->function];
	struct tree_label *l = &t->labels[label];

	if (l->file || frame_kind_class(f->kind) == FRAMES_MARK)
		return;
	l->file = fn->file;
	l->line = fn->start_line;
	if (!l->line)
		l->line = f->line;
}

static uint32_t tree_frame_label(struct builder *t, uint32_t frame)
{
	size_t name = t->text.len, module;
	uint32_t label, kind;

	if (t->frame_label[frame])
		return t->frame_label[frame] - 1;
	kind = profile_frame_name(t->b, frame, &t->text);
	if (t->how.lines)
		profile_frame_line(t->b, frame, &t->text);
	module = t->text.len;
	profile_frame_module(t->b, frame, &t->text);
	label = tree_add_label(t, name, module, kind);
	if (label != NONE) {
		tree_full_name(t, label, frame);
		tree_source(t, label, frame);
	}
	t->frame_label[frame] = label + 1;	/* NONE becomes 0 */
	return label;
}

static uint32_t tree_marker_label(struct builder *t, const char *marker)
{
	size_t name = t->text.len;

	buffer_str(&t->text, marker);
	return tree_add_label(t, name, t->text.len, KIND_MARKER);
}

static uint32_t tree_process_label(struct builder *t, uint32_t resource)
{
	size_t name = t->text.len, len;
	const char *s;
	uint32_t label;

	if (t->process_label[resource])
		return t->process_label[resource] - 1;
	s = batch_str(t->b, t->names[resource], &len);
	if (len)
		buffer_add(&t->text, s, len);
	else
		buffer_str(&t->text, PROFILE_UNKNOWN_PROCESS);
	label = tree_add_label(t, name, t->text.len, KIND_PROCESS);
	if (label != NONE) {
		t->labels[label].pids++;
		t->labels[label].pid = t->b->resources[resource].pid;
	}
	t->process_label[resource] = label + 1;
	return label;
}

/* The line of a frame in the file of its label: functions of a label may be in several
 * files. */
static uint32_t tree_line_of(const struct batch *b, const struct tree_label *l,
			     uint32_t frame)
{
	const struct batch_frame *f = &b->frames[frame];

	if (!l->file || l->file != b->functions[f->function].file)
		return 0;
	return f->line;
}

/* The child of parent with this label, made if there is none; NONE: no memory. */
static uint32_t tree_child_of(struct builder *t, uint32_t parent,
			      uint32_t label)
{
	struct hash_table *set = &t->node_set;
	uint32_t added = set->n + 1;
	uint64_t hash;

	if (parent == NONE || label == NONE)
		return NONE;
	hash = hash_pair(t->seed, parent, label);
	for (struct hash_slot *s = hash_find(set, hash); s;
	     s = hash_next(set, s)) {
		const struct node *n = &t->nodes[hash_index(s)];

		if (n->parent == parent && n->label == label)
			return hash_index(s);
	}
	if (!array_reserve(&t->nodes, &t->nodes_cap, added + 1) ||
	    !hash_add(set, hash, added))
		return NONE;
	t->nodes[added] = (struct node){
		.label = label, .parent = parent, .child = NONE,
		.sibling = t->nodes[parent].child, .marks = PROFILE_MARKS,
	};
	t->nodes[parent].child = added;
	return added;
}

/* Count the line of the caller, the frame that was added before, for node `at`. */
static bool tree_count_line(struct builder *t, uint32_t at, uint32_t frame)
{
	if (!t->how.by_line || !t->n)
		return true;
	if (!line_sums_add(&t->calls, at, t->line, t->n))
		return false;
	t->line = tree_line_of(t->b, &t->labels[t->nodes[at].label], frame);
	return true;
}

/* Add a frame of a stack and the frames that it is inlined into. */
static uint32_t tree_add_frames(struct builder *t, uint32_t at, uint32_t frame)
{
	uint32_t in[BATCH_INLINED_MAX + 1], n = batch_inlined(t->b, frame, in);

	for (uint32_t i = 0; i < n && at != NONE; i++) {
		frame = t->how.reversed ? in[i] : in[n - 1 - i];
		at = tree_child_of(t, at, tree_frame_label(t, frame));
		if (at == NONE)
			break;
		t->nodes[at].marks &=
			profile_frame_marks(&t->b->frames[frame]);
		if (!tree_count_line(t, at, frame))
			return NONE;
	}
	return at;
}

static uint32_t tree_add_stack(struct builder *t, uint32_t at, uint32_t stack)
{
	const struct batch_stack *s = &t->b->stacks[stack];
	const uint32_t *frames = t->b->stack_frames + s->first;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = t->how.reversed ? i : s->n - 1 - i;

		at = tree_add_frames(t, at, frames[k]);
	}
	return at;
}

static int tree_add_sample(struct builder *t, uint32_t i)
{
	const struct batch_sample *s = &t->b->samples[i];
	const char *marker = profile_stop_marker(s->stop);
	uint32_t at = 0;

	t->n = s->n;
	t->line = 0;
	if (t->how.reversed)
		at = tree_add_stack(t, at, s->stack);
	else
		at = tree_child_of(t, at, tree_process_label(t, s->resource));
	if (marker)
		at = tree_child_of(t, at, tree_marker_label(t, marker));
	if (t->how.reversed)
		at = tree_child_of(t, at, tree_process_label(t, s->resource));
	else
		at = tree_add_stack(t, at, s->stack);
	if (at == NONE)
		return -ENOMEM;
	if (t->how.by_line && t->n &&
	    !line_sums_add(&t->self, at, t->line, t->n))
		return -ENOMEM;
	if (t->places)
		t->places[i] = at;
	t->nodes[at].self += s->n;
	if (t->how.base)
		t->nodes[at].base += t->how.base[i];
	return 0;
}

static int tree_by_name(const void *pa, const void *pb, void *arg)
{
	const struct builder *t = arg;
	const struct tree_label *a = &t->labels[*(const uint32_t *)pa];
	const struct tree_label *b = &t->labels[*(const uint32_t *)pb];
	uint32_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
	int r = memcmp(t->text.data + a->name, t->text.data + b->name, n);

	if (!r)
		r = profile_order(a->name_len, b->name_len);
	if (!r)		/* any fixed order will do: that of appearance */
		r = profile_order(*(const uint32_t *)pa, *(const uint32_t *)pb);
	return r;
}

static int tree_rank_labels(struct builder *t)
{
	uint32_t n = t->label_set.n;
	uint32_t *order = calloc(n + 1, sizeof(*order));

	t->rank = calloc(n + 1, sizeof(*t->rank));
	if (!order || !t->rank) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), tree_by_name, t);
	for (uint32_t i = 0; i < n; i++)
		t->rank[order[i]] = i;
	free(order);
	return 0;
}

static int tree_by_rank_down(const void *pa, const void *pb, void *arg)
{
	const struct builder *t = arg;
	uint32_t a = t->rank[t->nodes[*(const uint32_t *)pa].label];
	uint32_t b = t->rank[t->nodes[*(const uint32_t *)pb].label];

	return profile_order(b, a);
}

struct visit {
	uint32_t node, depth;
};

/* Put node's children on the stack, last name first.  Returns how many. */
static uint32_t tree_push_children(struct builder *t, uint32_t node, uint32_t depth,
				   struct visit *visits, uint32_t *order)
{
	uint32_t n = 0;

	for (uint32_t c = t->nodes[node].child; c != NONE;
	     c = t->nodes[c].sibling)
		order[n++] = c;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), tree_by_rank_down, t);
	for (uint32_t i = 0; i < n; i++)
		visits[i] = (struct visit){ order[i], depth };
	return n;
}

/* Processes and markers are no frames and have none. */
static uint32_t tree_marks(const struct builder *t, uint32_t node)
{
	const struct node *n = &t->nodes[node];
	uint32_t kind = t->labels[n->label].kind;

	if (kind == KIND_PROCESS || kind == KIND_MARKER)
		return 0;
	return n->marks;
}

/* row_of: the row of each node. */
static void tree_place_samples(struct builder *t, const uint32_t *row_of)
{
	for (uint32_t i = 0; t->places && i < batch_n(t->b, BATCH_SAMPLES); i++)
		t->places[i] = row_of[t->places[i]];
}

static int tree_place_lines(struct builder *t, const uint32_t *row_of)
{
	uint32_t rows = t->node_set.n;
	int r = 0;

	if (t->how.by_line)
		r = line_sums_finish(&t->self, row_of, rows + 1, rows,
				     &t->self_lines);
	if (t->how.by_line && !r)
		r = line_sums_finish(&t->calls, row_of, rows + 1, rows,
				     &t->call_lines);
	return r;
}

static int tree_make_rows(struct builder *t)
{
	size_t nodes = (size_t)t->node_set.n + 1;
	struct visit *visits = calloc(nodes, sizeof(*visits));
	uint32_t *order = calloc(nodes, sizeof(*order));
	uint32_t *row_of = calloc(nodes, sizeof(*row_of));
	uint32_t top, i = 0;
	int r;

	t->rows = calloc(nodes, sizeof(*t->rows));
	if (!visits || !order || !row_of || !t->rows) {
		free(visits);
		free(order);
		free(row_of);
		return -ENOMEM;
	}
	top = tree_push_children(t, 0, 0, visits, order);
	while (top) {
		struct visit it = visits[top - 1];
		const struct node *n = &t->nodes[it.node];

		top--;
		row_of[it.node] = i;
		t->rows[i] = (struct tree_row){
			.label = n->label, .depth = it.depth,
			.marks = tree_marks(t, it.node),
			.self = n->self, .base = n->base,
		};
		i++;
		if (it.depth >= t->levels)
			t->levels = it.depth + 1;
		top += tree_push_children(t, it.node, it.depth + 1, visits + top,
					  order);
	}
	tree_place_samples(t, row_of);
	r = tree_place_lines(t, row_of);
	free(visits);
	free(order);
	free(row_of);
	return r;
}

static int tree_do_build(struct builder *t)
{
	const struct batch *b = t->b;
	int r = 0;

	t->seed = hash_seed();
	t->names = profile_process_names(b);
	t->frame_label = calloc(batch_n(b, BATCH_FRAMES) + 1,
				sizeof(*t->frame_label));
	t->process_label = calloc(batch_n(b, BATCH_RESOURCES) + 1,
				  sizeof(*t->process_label));
	if (t->how.places)
		t->places = calloc((size_t)batch_n(b, BATCH_SAMPLES) + 1,
				   sizeof(*t->places));
	if (!t->names || !t->frame_label || !t->process_label ||
	    (t->how.places && !t->places) ||
	    !array_reserve(&t->nodes, &t->nodes_cap, 1))
		return -ENOMEM;
	t->nodes[0] = (struct node){ .child = NONE, .sibling = NONE };
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES) && !r; i++)
		r = tree_add_sample(t, i);
	if (!r)
		r = tree_rank_labels(t);
	if (!r)
		r = tree_make_rows(t);
	return r;
}

int tree_build(struct tree *ret, const struct batch *b)
{
	return tree_build_as(ret, b, &(struct tree_how){ 0 });
}

int tree_build_as(struct tree *ret, const struct batch *b,
		  const struct tree_how *how)
{
	struct builder t = { .b = b, .how = *how };
	uint32_t n_labels, n_rows;
	int r;

	if (how->reversed)
		t.how.by_line = false;
	r = tree_do_build(&t);
	n_labels = t.label_set.n;
	n_rows = t.node_set.n;

	free(t.names);
	free(t.frame_label);
	free(t.process_label);
	free(t.rank);
	free(t.nodes);
	hash_free(&t.label_set);
	hash_free(&t.node_set);
	line_sums_free(&t.self);
	line_sums_free(&t.calls);
	if (r) {
		free(t.labels);
		free(t.rows);
		free(t.places);
		free(t.text.data);
		tree_lines_fini(&t.self_lines);
		tree_lines_fini(&t.call_lines);
		return r;
	}
	*ret = (struct tree){
		.labels = t.labels, .rows = t.rows,
		.text = (const char *)t.text.data,
		.n_labels = n_labels, .n_rows = n_rows,
		.levels = t.levels,
		.places = t.places,
		.self = t.self_lines, .calls = t.call_lines,
	};
	return 0;
}

void tree_fini(struct tree *t)
{
	free(t->labels);
	free(t->rows);
	free(t->places);
	free((void *)t->text);
	tree_lines_fini(&t->self);
	tree_lines_fini(&t->calls);
}

uint32_t tree_sample_line(const struct tree *t, const struct batch *b,
			  uint32_t sample)
{
	const struct batch_stack *s = &b->stacks[b->samples[sample].stack];
	const struct tree_row *row = &t->rows[t->places[sample]];

	return tree_line_of(b, &t->labels[row->label],
			    b->stack_frames[s->first]);
}
