// SPDX-License-Identifier: Apache-2.0
#include "cli/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct copy {
	const struct batch *from;
	struct batch_builder *to;
	uint32_t *frames, *stacks;	/* new number + 1; 0: none yet */
	uint32_t *words;		/* frames of a stack */
	uint64_t *times;
};

/* --- what is wanted ------------------------------------------------------------ */

static bool has_pid(const struct cut *c, const struct batch_resource *r)
{
	for (uint32_t i = 0; i < c->pids.n; i++) {
		if (c->pids.v[i] == r->pid)
			return r->start_ns <= c->start_ns;
	}
	return c->pids.n == 0;
}

static bool in_container(const struct cut *c, const struct batch *b,
			 const struct batch_resource *r)
{
	size_t len, n = strlen(c->container);
	const char *id = batch_str(b, r->container_id, &len);

	return len >= n && memcmp(id, c->container, n) == 0;
}

static bool in_time(const struct cut *c, uint64_t t)
{
	return t >= c->start_ns && t < c->end_ns;
}

bool cut_takes_all(const struct cut *c, const struct batch *b)
{
	return !c->pids.n && !*c->container &&
	       b->hdr->start_ns >= c->start_ns && b->hdr->end_ns <= c->end_ns;
}

/* --- copying --------------------------------------------------------------------- */

static uint32_t copy_string(struct copy *c, uint32_t i)
{
	size_t len;
	const char *s = batch_str(c->from, i, &len);

	return i ? batch_string(c->to, s, len) : 0;
}

static uint32_t copy_exe(struct copy *c, uint32_t i)
{
	struct batch_exe v = c->from->exes[i];

	v.path = copy_string(c, v.path);
	v.build_id = copy_string(c, v.build_id);
	v.go_build_id = copy_string(c, v.go_build_id);
	return i ? batch_exe(c->to, &v) : 0;
}

static uint32_t copy_function(struct copy *c, uint32_t i)
{
	struct batch_function v = c->from->functions[i];

	v.name = copy_string(c, v.name);
	v.file = copy_string(c, v.file);
	return i ? batch_function(c->to, &v) : 0;
}

/* Frames that calls are inlined into come first, as a batch has them. */
static uint32_t copy_frame(struct copy *c, uint32_t frame)
{
	uint32_t chain[BATCH_INLINED_MAX + 1];
	uint32_t n = batch_inlined(c->from, frame, chain);

	while (n-- > 0) {
		struct batch_frame v = c->from->frames[chain[n]];

		if (c->frames[chain[n]])
			continue;
		v.exe = copy_exe(c, v.exe);
		v.function = copy_function(c, v.function);
		v.into = v.inlined ? c->frames[v.into] - 1 : 0;
		c->frames[chain[n]] = batch_frame(c->to, &v) + 1;
	}
	return c->frames[frame] - 1;
}

static uint32_t copy_stack(struct copy *c, uint32_t i)
{
	const struct batch_stack *v = &c->from->stacks[i];

	if (c->stacks[i])
		return c->stacks[i] - 1;
	for (uint32_t k = 0; k < v->n; k++)
		c->words[k] = copy_frame(c, c->from->stack_frames[v->first + k]);
	c->stacks[i] = batch_stack(c->to, c->words, v->n) + 1;
	return c->stacks[i] - 1;
}

static uint32_t copy_attr(struct copy *c, uint32_t i)
{
	struct batch_attr v = c->from->attrs[i];

	v.thread_name = copy_string(c, v.thread_name);
	return i ? batch_attr(c->to, &v) : 0;
}

static uint32_t copy_resource(struct copy *c, uint32_t i)
{
	struct batch_resource v = c->from->resources[i];

	v.exe_path = copy_string(c, v.exe_path);
	v.exe_name = copy_string(c, v.exe_name);
	v.container_id = copy_string(c, v.container_id);
	v.comm = copy_string(c, v.comm);
	return i ? batch_resource(c->to, &v) : 0;
}

static void copy_sample(struct copy *c, const struct cut *cut,
			const struct batch_sample *s)
{
	uint32_t n = 0, to;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t t = c->from->times[s->first + i];

		if (in_time(cut, t))
			c->times[n++] = t;
	}
	if (!n)
		return;
	to = batch_sample(c->to, copy_stack(c, s->stack), copy_attr(c, s->attr),
			  copy_resource(c, s->resource), s->stop);
	if (to != UINT32_MAX)
		batch_sample_times(c->to, to, c->times, n);
}

/* --- a batch ---------------------------------------------------------------------- */

static bool begin(struct copy *c, const struct batch *b)
{
	*c = (struct copy){
		.from = b, .to = batch_builder_new(b->hdr->frequency),
		.frames = calloc(batch_n(b, BATCH_FRAMES) + 1ul,
				 sizeof(uint32_t)),
		.stacks = calloc(batch_n(b, BATCH_STACKS) + 1ul,
				 sizeof(uint32_t)),
		.words = calloc(batch_n(b, BATCH_STACK_FRAMES) + 1ul,
				sizeof(uint32_t)),
		.times = calloc(batch_n(b, BATCH_TIMES) + 1ul,
				sizeof(uint64_t)),
	};
	return c->to && c->frames && c->stacks && c->words && c->times;
}

static void end(struct copy *c)
{
	batch_builder_free(c->to);
	free(c->frames);
	free(c->stacks);
	free(c->words);
	free(c->times);
}

int cut_batch(const struct cut *cut, const struct batch *b, void **ret,
	      size_t *len, uint64_t *events)
{
	uint64_t from = b->hdr->start_ns, until = b->hdr->end_ns;
	struct copy c;
	int r = begin(&c, b) ? 0 : -ENOMEM;

	*ret = NULL;
	*events = 0;
	for (uint32_t i = 0; !r && i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		const struct batch_resource *of = &b->resources[s->resource];

		if (has_pid(cut, of) && in_container(cut, b, of))
			copy_sample(&c, cut, s);
	}
	if (!r)
		*events = batch_events(c.to);
	if (*events)
		r = batch_builder_finish(c.to,
					 from > cut->start_ns ? from : cut->start_ns,
					 until < cut->end_ns ? until : cut->end_ns,
					 ret, len);
	end(&c);
	return r;
}
