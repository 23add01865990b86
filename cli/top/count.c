// SPDX-License-Identifier: Apache-2.0
#include "cli/top/count.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "profile/profile.h"

#define NONE	INDEX_NONE
#define COUNT_SLOTS	1024	/* at first */
#define START_NS	(NSEC_PER_SEC / 2)

struct top_counter {
	struct top_table *t;
	const struct top_query *q;
	uint64_t seed;
	struct hash_table set;	/* rows by their id */
	uint64_t stamp;		/* number of the stack */
	uint64_t start_ns;	/* of the time that the table covers */
	/* of the present batch */
	const struct batch *b;
	uint32_t *names;	/* strings of resources */
	uint32_t *rows;		/* of frames */
	uint64_t *weights;	/* samples of stacks */
};

static struct top_str count_str(const struct batch *b, uint32_t i)
{
	struct top_str s;

	s.s = batch_str(b, i, &s.len);
	return s;
}

static bool count_same_str(struct top_str a, struct top_str b)
{
	return a.len == b.len && !memcmp(a.s, b.s, a.len);
}

/* --- rows ----------------------------------------------------------------- */

/* Start times are computed from the wall clock, which is adjusted: batches differ
 * a little about when a process started. */
static bool count_same_start(uint64_t a, uint64_t b)
{
	return a - b < START_NS || b - a < START_NS;
}

/* The identity of a row; a process may change its name. */
static uint64_t top_count_id_of(const struct top_counter *c,
				const struct top_row *r)
{
	uint64_t v[] = { r->pid, r->tid, r->kind, r->role, 0, 0 }, h;

	if (!r->pid)
		v[4] = r->name.len;
	if (c->q->view == TOP_LINES)
		v[5] = r->line;
	h = XXH3_64bits_withSeed(v, sizeof(v), c->seed);
	if (r->pid)
		return h;
	h = XXH3_64bits_withSeed(r->name.s, r->name.len, h);
	return XXH3_64bits_withSeed(r->file.s, r->file.len, h);
}

static bool count_same_row(const struct top_counter *c, const struct top_row *a,
			   const struct top_row *b)
{
	return a->id == b->id &&
	       (c->q->view != TOP_LINES || a->line == b->line) && a->pid == b->pid && a->tid == b->tid &&
	       count_same_start(a->start_ns,
				b->start_ns) && a->kind == b->kind &&
	       a->role == b->role &&
	       (a->pid || (count_same_str(a->name, b->name) &&
			   count_same_str(a->file, b->file)));
}

/* The number of the row with the same identity, added if need be; or NONE. */
static uint32_t count_row_of(struct top_counter *c, struct top_row *r)
{
	struct top_table *t = c->t;

	r->id = top_count_id_of(c, r);
	for (struct hash_slot *s = hash_find(&c->set, r->id); s;
	     s = hash_next(&c->set, s)) {
		struct top_row *old = &t->rows[hash_index(s)];

		if (!count_same_row(c, old, r))
			continue;
		old->marks &= r->marks;
		if (r->name.len)
			old->name = r->name;	/* the latest */
		return hash_index(s);
	}
	if (t->n >= TOP_ROWS_MAX ||
	    !array_reserve(&t->rows, &t->room, t->n + 1ul) ||
	    !hash_add(&c->set, r->id, t->n)) {
		t->cut = true;
		return NONE;
	}
	t->rows[t->n] = *r;
	return t->n++;
}

static void top_count_add(struct top_counter *c, uint32_t row, uint64_t self,
			  uint64_t total)
{
	struct top_row *r;

	if (row == NONE)
		return;
	r = &c->t->rows[row];
	r->self += self;
	/* once per stack, even with recursion */
	if (r->stamp == c->stamp)
		return;
	r->stamp = c->stamp;
	r->total += total;
	r->cpu_s += (double)total / c->b->hdr->frequency;
}

/* --- functions ------------------------------------------------------------------ */

static struct top_row top_count_function(const struct batch *b, uint32_t frame,
					 uint32_t role)
{
	const struct batch_frame *f = &b->frames[frame];
	const struct batch_function *fn = &b->functions[f->function];
	uint32_t line = f->line;

	if (fn->start_line)
		line = fn->start_line;
	return (struct top_row){
		.name = count_str(b, fn->name),
		.file = count_str(b, b->exes[f->exe].path),
		.source = count_str(b, fn->file),
		.line = line,
		.kind = f->kind, .role = role,
		.marks = profile_frame_marks(f),
	};
}

static uint32_t count_function_row(struct top_counter *c, uint32_t frame)
{
	if (c->rows[frame] == NONE) {
		struct top_row r = top_count_function(c->b, frame, 0);

		if (c->q->view == TOP_LINES)
			r.line = c->b->frames[frame].line;
		c->rows[frame] = count_row_of(c, &r);
	}
	return c->rows[frame];
}

static uint32_t count_neighbour(struct top_counter *c, uint32_t frame,
				enum top_role role)
{
	struct top_row r = top_count_function(c->b, frame, role);

	return count_row_of(c, &r);
}

static bool count_is_focus(const struct top_counter *c, uint32_t frame)
{
	const struct batch_frame *f = &c->b->frames[frame];

	return f->kind == c->q->kind &&
	       count_same_str(count_str(c->b,
					c->b->functions[f->function].name),
			      c->q->name) &&
	       count_same_str(count_str(c->b, c->b->exes[f->exe].path),
			      c->q->file);
}

/* Count a frame of a stack; `before` is its callee (NONE: it is the leaf). */
static void top_count_add_frame(struct top_counter *c, uint32_t frame,
				uint32_t before, uint64_t n)
{
	uint64_t self = 0;

	if (before == NONE)
		self = n;
	if (c->q->view != TOP_AROUND) {
		top_count_add(c, count_function_row(c, frame), self, n);
		return;
	}
	if (before != NONE && count_is_focus(c, before))
		top_count_add(c, count_neighbour(c, frame, TOP_CALLER), 0, n);
	if (!count_is_focus(c, frame))
		return;
	top_count_add(c, count_neighbour(c, frame, TOP_ITSELF), self, n);
	if (before != NONE)
		top_count_add(c, count_neighbour(c, before, TOP_CALLEE), 0, n);
}

static void top_count_add_stack(struct top_counter *c,
				const struct batch_stack *stack, uint64_t n)
{
	uint32_t in[BATCH_INLINED_MAX + 1], before = NONE;

	c->stamp++;
	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t frame = c->b->stack_frames[stack->first + i];
		uint32_t k = batch_inlined(c->b, frame, in);

		for (uint32_t j = 0; j < k; j++) {
			top_count_add_frame(c, in[j], before, n);
			before = in[j];
		}
	}
}

static void count_add_stacks(struct top_counter *c)
{
	for (uint32_t i = 0; i < batch_n(c->b, BATCH_STACKS); i++) {
		if (c->weights[i])
			top_count_add_stack(c, &c->b->stacks[i], c->weights[i]);
	}
}

/* --- processes, threads, containers ---------------------------------------------- */

static void count_add_owner(struct top_counter *c, const struct batch_sample *s)
{
	const struct batch_resource *res = &c->b->resources[s->resource];
	const struct batch_attr *a = &c->b->attrs[s->attr];
	struct top_str process = count_str(c->b, c->names[s->resource]);
	struct top_row r = {
		.pid = res->pid, .start_ns = res->start_ns,
		.container = count_str(c->b, res->container_id),
	};

	switch (c->q->view) {
	case TOP_CONTAINERS:
		r = (struct top_row){ .name = r.container, .file = { "", 0 } };
		break;
	case TOP_THREADS:
		r.tid = a->tid;
		r.name = count_str(c->b, a->thread_name);
		r.file = process;
		break;
	default:
		r.name = process;
		r.file = count_str(c->b, res->exe_path);
		break;
	}
	c->stamp++;
	top_count_add(c, count_row_of(c, &r), s->n, s->n);
}

/* --- batches ------------------------------------------------------------------------ */

static bool top_count_wanted(const struct top_counter *c,
			     const struct batch_sample *s)
{
	const struct batch_resource *r = &c->b->resources[s->resource];

	if (c->q->of_process &&
	    (r->pid != c->q->pid ||
	     !count_same_start(r->start_ns, c->q->start_ns)))
		return false;
	return !c->q->of_container ||
	       count_same_str(count_str(c->b, r->container_id),
			      c->q->container);
}

/* How many events of a sample are not older than the time that the table covers:
 * those whose names were missing come with a later batch. */
static uint32_t top_count_in_time(const struct top_counter *c,
				  const struct batch_sample *s)
{
	const uint64_t *times = c->b->times + s->first;
	uint32_t n = 0;

	if (c->b->hdr->start_ns >= c->start_ns)
		return s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		if (times[i] >= c->start_ns)
			n++;
	}
	return n;
}

static void count_samples(struct top_counter *c, bool functions)
{
	uint64_t n = 0, in_time = 0;

	for (uint32_t i = 0; i < batch_n(c->b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &c->b->samples[i];

		if (!top_count_wanted(c, s))
			continue;
		n += s->n;
		in_time += top_count_in_time(c, s);
		if (functions)
			c->weights[s->stack] += s->n;
		else
			count_add_owner(c, s);
	}
	if (functions)
		count_add_stacks(c);
	c->t->events += n;
	c->t->cpu_s += (double)n / c->b->hdr->frequency;
	c->t->busy_s += (double)in_time / c->b->hdr->frequency;
}

/* What the present batch needs; false: no memory. */
static bool count_make_room(struct top_counter *c, bool functions)
{
	size_t frames = (size_t)batch_n(c->b, BATCH_FRAMES) + 1;

	if (!functions) {
		c->names = profile_process_names(c->b);
		return c->names;
	}
	c->rows = malloc(frames * sizeof(*c->rows));
	c->weights = calloc((size_t)batch_n(c->b, BATCH_STACKS) + 1, sizeof(*c->weights));
	if (!c->rows || !c->weights)
		return false;
	memset(c->rows, 0xff, frames * sizeof(*c->rows));
	return true;
}

static void count_batch(struct top_counter *c, const struct batch *b)
{
	bool functions = top_of_functions(c->q->view);

	c->b = b;
	if (count_make_room(c, functions))
		count_samples(c, functions);
	else
		c->t->cut = true;
	free(c->names);
	free(c->rows);
	free(c->weights);
	c->names = c->rows = NULL;
	c->weights = NULL;
}

void top_count(struct top_table *t, const struct top_slice *v, size_t n,
	       const struct top_query *q, uint64_t seed)
{
	struct top_counter c = {
		.t = t, .q = q, .seed = seed,
		.start_ns = v[0].end_ns - v[0].span_ns,
	};

	while (c.set.cap < COUNT_SLOTS && hash_grow(&c.set))
		;
	for (size_t i = 0; i < n; i++)
		count_batch(&c, &v[i].b);
	hash_free(&c.set);
}
