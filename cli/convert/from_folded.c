// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/from_folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_END	"_[k]"
#define STOP_BEGIN	"[stack ends: "

struct from_folded {
	const struct folded_tree *t;
	struct batch_builder *b;
	struct buffer text;		/* of a name */
	uint32_t path[FOLDED_DEPTH_MAX + 1];	/* nodes, by their depth */
	uint32_t frames[FOLDED_DEPTH_MAX];
	uint64_t *times;		/* n_times of 0 */
	uint64_t n_times;
	uint64_t each, seen;		/* samples of the text that are one; those up to here */
};

static const char *from_folded_name(struct from_folded *f, uint32_t depth,
				    size_t *len)
{
	f->text.len = 0;
	folded_name(f->t, f->t->nodes[f->path[depth]].name, &f->text);
	*len = f->text.len;
	return (const char *)f->text.data;
}

static uint32_t from_folded_frame(struct from_folded *f, uint32_t depth)
{
	struct batch_frame frame = { .kind = BATCH_FRAME_NATIVE };
	struct batch_function fn = { 0 };
	size_t len, end = strlen(KERNEL_END);
	const char *name = from_folded_name(f, depth, &len);

	if (len > end && !memcmp(name + len - end, KERNEL_END, end)) {
		frame.kind = BATCH_FRAME_KERNEL;
		len -= end;
	}
	if (len)
		fn.name = batch_string(f->b, name, len);
	else
		fn.name = batch_string(f->b, "[no name]", strlen("[no name]"));
	frame.function = batch_function(f->b, &fn);
	return batch_frame(f->b, &frame);
}

/* Why the stack is incomplete, if its second line says so; else STOP_COMPLETE. */
static uint32_t from_folded_stop(struct from_folded *f, uint32_t depth)
{
	size_t len, begin = strlen(STOP_BEGIN);
	const char *name;

	if (depth < 2)
		return STOP_COMPLETE;
	name = from_folded_name(f, 2, &len);
	if (len <= begin + 1 || memcmp(name, STOP_BEGIN, begin) ||
	    name[len - 1] != ']')
		return STOP_COMPLETE;
	return batch_early_end_of(name + begin, len - begin - 1);
}

/* The stack that ends at this depth, of so many samples. */
static void from_folded_put(struct from_folded *f, uint32_t depth, uint64_t count)
{
	const struct batch_attr attr = { 0 };
	struct batch_resource r = { 0 };
	uint32_t stop = from_folded_stop(f, depth), n = 0, above = 1, stack, sample;
	size_t len;
	const char *name = from_folded_name(f, 1, &len);

	r.comm = r.exe_name = batch_string(f->b, name, len);
	if (stop != STOP_COMPLETE)
		above = 2;	/* the process, and why the stack is incomplete */
	while (depth > above)
		f->frames[n++] = from_folded_frame(f, depth--);
	if (!n)		/* only the process is known */
		f->frames[n++] = batch_frame(f->b, &(struct batch_frame){
			.kind = BATCH_FRAME_CUT });
	stack = batch_stack(f->b, f->frames, n);
	sample = batch_sample(f->b, stack, batch_attr(f->b, &attr),
			      batch_resource(f->b, &r), stop);
	if (sample != UINT32_MAX)
		batch_sample_times(f->b, sample, f->times, (uint32_t)count);
}

/* How many of the batch are the next `count` of the text: their sum stays right. */
static uint64_t from_folded_scaled(struct from_folded *f, uint64_t count)
{
	uint64_t before = f->seen / f->each;

	f->seen += count;
	return f->seen / f->each - before;
}

static int from_folded_build(struct from_folded *f, uint32_t frequency, void **ret,
			     size_t *len)
{
	uint32_t i = 0, depth = 0;
	uint64_t n;
	int r;

	f->seen = f->each / 2;		/* rounds */
	f->n_times = f->t->samples[0] / f->each + 1;
	f->b = batch_builder_new(frequency);
	f->times = calloc(f->n_times, sizeof(*f->times));
	if (!f->b || !f->times) {
		batch_builder_free(f->b);
		free(f->times);
		return -ENOMEM;
	}
	while ((i = folded_next(f->t, i, &depth))) {
		f->path[depth] = i;
		n = from_folded_scaled(f, f->t->nodes[i].self[0]);
		if (n)
			from_folded_put(f, depth, n);
	}
	if (f->text.failed)
		r = -ENOMEM;
	else
		r = batch_builder_finish(f->b, 0, 1, ret, len);
	batch_builder_free(f->b);
	f->b = NULL;
	free(f->times);
	f->times = NULL;
	return r;
}

int from_folded(const char *bytes, size_t len, uint32_t frequency,
		struct folded_mistake *m, void **ret, size_t *ret_len, uint64_t *each)
{
	struct from_folded *f = calloc(1, sizeof(*f));
	struct folded_tree t;
	int r = -ENOMEM;

	if (f)
		r = folded_init(&t);
	if (!f)
		return r;
	if (!r)
		r = folded_read(&t, 0, bytes, len, m);
	f->t = &t;
	f->each = (t.samples[0] - 1) / FROM_FOLDED_SAMPLES_MAX + 1;
	if (!r)
		r = from_folded_build(f, frequency, ret, ret_len);
	/* the stacks need room too */
	while (r == -E2BIG && f->each < t.samples[0] && f->each <= UINT64_MAX / 4) {
		f->each *= 2;
		r = from_folded_build(f, frequency, ret, ret_len);
	}
	*each = f->each;
	free(f->text.data);
	free(f);
	folded_fini(&t);
	return r;
}
