// SPDX-License-Identifier: Apache-2.0
#include "ipc/batch.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/utf8.h"

const uint8_t batch_elem_size[BATCH__TABLES] = {
	[BATCH_STRINGS] = sizeof(uint32_t),
	[BATCH_BYTES] = 1,
	[BATCH_EXES] = sizeof(struct batch_exe),
	[BATCH_FUNCTIONS] = sizeof(struct batch_function),
	[BATCH_FRAMES] = sizeof(struct batch_frame),
	[BATCH_STACKS] = sizeof(struct batch_stack),
	[BATCH_STACK_FRAMES] = sizeof(uint32_t),
	[BATCH_ATTRS] = sizeof(struct batch_attr),
	[BATCH_RESOURCES] = sizeof(struct batch_resource),
	[BATCH_SAMPLES] = sizeof(struct batch_sample),
	[BATCH_TIMES] = sizeof(uint64_t),
};

static bool batch_all_zero(const uint8_t *p, size_t len)
{
	while (len && *p == 0) {
		p++;
		len--;
	}
	return len == 0;
}

/* Each table begins right after the one before, and nothing follows the last. */
static bool batch_check_layout(const uint8_t *data, const struct batch_hdr *hdr)
{
	uint64_t end = sizeof(*hdr);

	for (int t = 0; t < BATCH__TABLES; t++) {
		uint64_t off = (end + 7) & ~7ULL;
		uint64_t n = hdr->table[t].n;

		if (hdr->table[t].off != off || off > hdr->bytes ||
		    !batch_all_zero(data + end, (size_t)(off - end)))
			return false;
		if (t == BATCH_STRINGS)
			n++;
		if (n * batch_elem_size[t] > hdr->bytes - off)
			return false;
		end = off + n * batch_elem_size[t];
	}
	return hdr->bytes - end < 8 && hdr->bytes % 8 == 0 &&
	       batch_all_zero(data + end, (size_t)(hdr->bytes - end));
}

static bool batch_check_utf8(const char *s, size_t len)
{
	while (len) {
		size_t n = utf8_char(s, len);

		if (n == 0)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

static bool batch_check_strings(const struct batch *b)
{
	uint32_t n = batch_n(b, BATCH_STRINGS);
	uint32_t bytes = batch_n(b, BATCH_BYTES);

	if (n == 0 || b->strings[0] || b->strings[1] || b->strings[n] != bytes)
		return false;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t from = b->strings[i], to = b->strings[i + 1];

		if (from > to || to > bytes || to - from > BATCH_STRING_MAX ||
		    !batch_check_utf8(b->bytes + from, to - from))
			return false;
	}
	return true;
}

static bool batch_check_exes(const struct batch *b)
{
	uint32_t strings = batch_n(b, BATCH_STRINGS);
	uint32_t n = batch_n(b, BATCH_EXES);

	if (n == 0 || !batch_all_zero((const uint8_t *)b->exes, sizeof(*b->exes)))
		return false;
	for (uint32_t i = 1; i < n; i++) {
		const struct batch_exe *e = &b->exes[i];

		if (e->path >= strings || e->build_id >= strings ||
		    e->runtime_id >= strings || e->runtime >= RUNTIME__MAX ||
		    (e->runtime_id && !runtime_info(e->runtime)->id_key[0]))
			return false;
	}
	return true;
}

static bool batch_check_functions(const struct batch *b)
{
	uint32_t strings = batch_n(b, BATCH_STRINGS);
	uint32_t n = batch_n(b, BATCH_FUNCTIONS);

	if (n == 0 ||
	    !batch_all_zero((const uint8_t *)b->functions, sizeof(*b->functions)))
		return false;
	for (uint32_t i = 1; i < n; i++) {
		const struct batch_function *f = &b->functions[i];

		if (f->name == 0 || f->name >= strings || f->file >= strings ||
		    f->full_name >= strings || f->system_name >= strings ||
		    f->unnamed > 1)
			return false;
	}
	return true;
}

static bool batch_check_frames(const struct batch *b)
{
	for (uint32_t i = 0; i < batch_n(b, BATCH_FRAMES); i++) {
		const struct batch_frame *f = &b->frames[i], *in;

		if (f->exe >= batch_n(b, BATCH_EXES) ||
		    f->function >= batch_n(b, BATCH_FUNCTIONS) ||
		    f->kind == 0 || f->kind >= BATCH_FRAME__KINDS || f->pad)
			return false;
		if (!f->inlined && f->into == 0)
			continue;
		in = &b->frames[f->into];
		if (f->inlined > BATCH_INLINED_MAX || f->into >= i ||
		    !batch_is_into(f, in))
			return false;
	}
	return true;
}

uint32_t batch_inlined(const struct batch *b, uint32_t frame,
		       uint32_t ret[BATCH_INLINED_MAX + 1])
{
	uint32_t n = 0;

	ret[0] = frame;
	while (b->frames[frame].inlined) {
		frame = b->frames[frame].into;
		n++;
		ret[n] = frame;
	}
	return n + 1;
}

static bool batch_check_stacks(const struct batch *b)
{
	uint32_t frames = batch_n(b, BATCH_FRAMES);
	uint32_t words = batch_n(b, BATCH_STACK_FRAMES);

	for (uint32_t i = 0; i < words; i++) {
		if (b->stack_frames[i] >= frames)
			return false;
	}
	for (uint32_t i = 0; i < batch_n(b, BATCH_STACKS); i++) {
		const struct batch_stack *s = &b->stacks[i];

		if (s->n == 0 || s->n > words || s->first > words - s->n)
			return false;
	}
	return true;
}

static bool batch_check_owners(const struct batch *b)
{
	uint32_t strings = batch_n(b, BATCH_STRINGS);
	uint32_t attrs = batch_n(b, BATCH_ATTRS);
	uint32_t resources = batch_n(b, BATCH_RESOURCES);

	if (attrs == 0 || resources == 0 ||
	    !batch_all_zero((const uint8_t *)b->attrs, sizeof(*b->attrs)) ||
	    !batch_all_zero((const uint8_t *)b->resources, sizeof(*b->resources)))
		return false;
	for (uint32_t i = 1; i < attrs; i++) {
		if (b->attrs[i].thread_name >= strings || b->attrs[i].pad)
			return false;
	}
	for (uint32_t i = 1; i < resources; i++) {
		const struct batch_resource *r = &b->resources[i];

		if (r->exe_path >= strings || r->exe_name >= strings ||
		    r->container_id >= strings || r->comm >= strings ||
		    r->unit >= strings || r->kernel > 1 || r->pad)
			return false;
	}
	return true;
}

static bool batch_check_samples(const struct batch *b)
{
	uint32_t times = batch_n(b, BATCH_TIMES), next = 0;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];

		if (s->stack >= batch_n(b, BATCH_STACKS) ||
		    s->attr >= batch_n(b, BATCH_ATTRS) ||
		    s->resource >= batch_n(b, BATCH_RESOURCES) ||
		    s->stop >= STOP__MAX || s->n == 0 || s->first != next ||
		    s->n > times - next)
			return false;
		next += s->n;
	}
	for (uint32_t i = 0; i < times; i++) {
		if (b->times[i] < b->hdr->start_ns ||
		    b->times[i] >= b->hdr->end_ns)
			return false;
	}
	return next == times;
}

int batch_open(const void *data, size_t len, struct batch *ret)
{
	const struct batch_hdr *hdr = data;
	const uint8_t *p = data;
	struct batch b;

	if ((uintptr_t)data % 8 || len < sizeof(*hdr) || len > BATCH_BYTES_MAX)
		return -EPROTO;
	if (hdr->magic != BATCH_MAGIC || hdr->version != BATCH_VERSION ||
	    hdr->bytes != len || hdr->frequency == 0 || hdr->pad ||
	    hdr->start_ns > hdr->end_ns || !batch_check_layout(data, hdr))
		return -EPROTO;
	b = (struct batch){
		.hdr = hdr,
		.strings = (const void *)(p + hdr->table[BATCH_STRINGS].off),
		.bytes = (const void *)(p + hdr->table[BATCH_BYTES].off),
		.exes = (const void *)(p + hdr->table[BATCH_EXES].off),
		.functions =
			(const void *)(p + hdr->table[BATCH_FUNCTIONS].off),
		.frames = (const void *)(p + hdr->table[BATCH_FRAMES].off),
		.stacks = (const void *)(p + hdr->table[BATCH_STACKS].off),
		.stack_frames =
			(const void *)(p + hdr->table[BATCH_STACK_FRAMES].off),
		.attrs = (const void *)(p + hdr->table[BATCH_ATTRS].off),
		.resources =
			(const void *)(p + hdr->table[BATCH_RESOURCES].off),
		.samples = (const void *)(p + hdr->table[BATCH_SAMPLES].off),
		.times = (const void *)(p + hdr->table[BATCH_TIMES].off),
	};
	if (!batch_check_strings(&b) || !batch_check_exes(&b) || !batch_check_functions(&b) ||
	    !batch_check_frames(&b) || !batch_check_stacks(&b) || !batch_check_owners(&b) || !batch_check_samples(&b))
		return -EPROTO;
	*ret = b;
	return 0;
}

const char *batch_early_end(uint32_t stop)
{
	static const char *const names[] = { STOP_NAMES };

	if (stop <= STOP_CUT || stop >= STOP_GUESSED)
		return NULL;
	return names[stop];
}

uint32_t batch_early_end_of(const char *name, size_t len)
{
	for (uint32_t i = 0; i < STOP__MAX; i++) {
		const char *s = batch_early_end(i);

		if (s && strlen(s) == len && memcmp(s, name, len) == 0)
			return i;
	}
	return STOP_COMPLETE;
}
