// SPDX-License-Identifier: Apache-2.0
#include "profile/remap.h"

#include <errno.h>
#include <stdlib.h>

#define NO_FRAME	0xffffffffu	/* in .stacks: no frame is kept */

static uint32_t *remap_zeros(const struct remap *r, enum batch_table t)
{
	return calloc(batch_n(r->from, t) + 1, sizeof(uint32_t));
}

int remap_init(struct remap *r)
{
	r->strings = remap_zeros(r, BATCH_STRINGS);
	r->exes = remap_zeros(r, BATCH_EXES);
	r->functions = remap_zeros(r, BATCH_FUNCTIONS);
	r->frames = remap_zeros(r, BATCH_FRAMES);
	r->stacks = remap_zeros(r, BATCH_STACKS);
	r->attrs = remap_zeros(r, BATCH_ATTRS);
	r->resources = remap_zeros(r, BATCH_RESOURCES);
	if (!r->strings || !r->exes || !r->functions || !r->frames || !r->stacks ||
	    !r->attrs || !r->resources)
		return -ENOMEM;
	return 0;
}

void remap_fini(struct remap *r)
{
	free(r->strings);
	free(r->exes);
	free(r->functions);
	free(r->frames);
	free(r->stacks);
	free(r->attrs);
	free(r->resources);
}

static uint32_t remap_string(struct remap *r, uint32_t i)
{
	size_t len;
	const char *s;

	if (i == 0)
		return 0;
	if (r->strings[i])
		return r->strings[i] - 1;
	s = batch_str(r->from, i, &len);
	r->strings[i] = batch_string(r->to, s, len) + 1;
	return r->strings[i] - 1;
}

static uint32_t remap_exe(struct remap *r, uint32_t i)
{
	struct batch_exe v = r->from->exes[i];

	if (i == 0)
		return 0;
	if (r->exes[i])
		return r->exes[i] - 1;
	v.path = remap_string(r, v.path);
	v.build_id = remap_string(r, v.build_id);
	v.runtime_id = remap_string(r, v.runtime_id);
	r->exes[i] = batch_exe(r->to, &v) + 1;
	return r->exes[i] - 1;
}

static uint32_t remap_function(struct remap *r, uint32_t i)
{
	struct batch_function v = r->from->functions[i];

	if (i == 0)
		return 0;
	if (r->functions[i])
		return r->functions[i] - 1;
	v.name = remap_string(r, v.name);
	v.full_name = remap_string(r, v.full_name);
	v.system_name = remap_string(r, v.system_name);
	v.file = remap_string(r, v.file);
	r->functions[i] = batch_function(r->to, &v) + 1;
	return r->functions[i] - 1;
}

/* The frames that a call is inlined into are copied first. */
static uint32_t remap_frame(struct remap *r, uint32_t i)
{
	uint32_t in[BATCH_INLINED_MAX + 1], n = batch_inlined(r->from, i, in);

	while (n-- > 0) {
		struct batch_frame v = r->from->frames[in[n]];

		if (r->frames[in[n]])
			continue;
		v.exe = remap_exe(r, v.exe);
		v.function = remap_function(r, v.function);
		if (v.inlined)
			v.into = r->frames[v.into] - 1;
		if (r->coarse &&
		    (v.function || frame_kind_class(v.kind) == FRAMES_MEMORY)) {
			v.address = 0;
			v.line = 0;
		}
		r->frames[in[n]] = batch_frame(r->to, &v) + 1;
	}
	return r->frames[i] - 1;
}

uint32_t remap_stack(struct remap *r, uint32_t i)
{
	const struct batch_stack *s = &r->from->stacks[i];
	const uint32_t *from = r->from->stack_frames + s->first;
	uint32_t *v, n = 0;

	if (r->stacks[i] == NO_FRAME)
		return REMAP_NONE;
	if (r->stacks[i])
		return r->stacks[i] - 1;
	v = malloc(s->n * sizeof(*v));
	if (!v) {
		batch_stack(r->to, NULL, 0);	/* the builder fails */
		return 0;
	}
	for (uint32_t k = 0; k < s->n && !(r->leaf && n); k++) {
		if (r->kinds >> r->from->frames[from[k]].kind & 1)
			v[n++] = remap_frame(r, from[k]);
	}
	r->stacks[i] = NO_FRAME;
	if (n)
		r->stacks[i] = batch_stack(r->to, v, n) + 1;
	free(v);
	if (!n)
		return REMAP_NONE;
	return r->stacks[i] - 1;
}

uint32_t remap_attr(struct remap *r, uint32_t i)
{
	struct batch_attr v = r->from->attrs[i];

	if (!r->attrs[i]) {
		v.thread_name = remap_string(r, v.thread_name);
		r->attrs[i] = batch_attr(r->to, &v) + 1;
	}
	return r->attrs[i] - 1;
}

static uint32_t remap_do_resource(struct remap *r, uint32_t i, bool named)
{
	struct batch_resource v = r->from->resources[i];

	if (r->resources[i])
		return r->resources[i] - 1;
	v.exe_path = remap_string(r, v.exe_path);
	v.exe_name = remap_string(r, v.exe_name);
	v.container_id = remap_string(r, v.container_id);
	v.unit = remap_string(r, v.unit);
	v.comm = remap_string(r, v.comm);
	if (named && v.comm)
		v.exe_name = v.comm;
	r->resources[i] = batch_resource(r->to, &v) + 1;
	return r->resources[i] - 1;
}

uint32_t remap_resource(struct remap *r, uint32_t i)
{
	return remap_do_resource(r, i, false);
}

uint32_t remap_named(struct remap *r, uint32_t i)
{
	return remap_do_resource(r, i, true);
}
