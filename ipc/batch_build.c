// SPDX-License-Identifier: Apache-2.0
#include "ipc/batch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"
#include "common/utf8.h"
#include "common/vector.h"

/* A table that grows; strings hold one offset more than there are strings. */
struct vec {
	void *data;
	uint32_t n, cap;
};

struct built_event {
	uint64_t time_ns;
	uint32_t sample;
	uint32_t pad;
};

struct batch_builder {
	struct vec tables[BATCH__TABLES];	/* .BATCH_TIMES is not used */
	struct vec events;
	struct hash_table lookups[BATCH__TABLES];
	uint64_t seed;		/* profiled programs choose the names that are hashed */
	uint64_t bytes;		/* of all tables and times */
	uint32_t frequency;
	int error;
};

static uint32_t batch_build_fail(struct batch_builder *b, int error)
{
	if (!b->error)
		b->error = error;
	return 0;
}

/* Make room for more elements at the end; false: b->error is set. */
static bool batch_build_room(struct batch_builder *b, struct vec *v,
			     size_t elem, size_t more)
{
	if (b->error)
		return false;
	if (more > BATCH_BYTES_MAX || b->bytes + more * elem > BATCH_BYTES_MAX) {
		batch_build_fail(b, -E2BIG);
		return false;
	}
	if (!array_room(&v->data, &v->cap, (uint64_t)v->n + more, elem)) {
		batch_build_fail(b, -ENOMEM);
		return false;
	}
	b->bytes += more * elem;
	return true;
}

static bool batch_build_append(struct batch_builder *b, enum batch_table t,
		   const void *data, size_t n)
{
	struct vec *v = &b->tables[t];

	if (!batch_build_room(b, v, batch_elem_size[t], n))
		return false;
	if (n)
		memcpy((char *)v->data + v->n * batch_elem_size[t], data,
		       n * batch_elem_size[t]);
	v->n += (uint32_t)n;
	return true;
}

/* Elements of a table with n rows: the last row of BATCH_STRINGS is only an end. */
static uint32_t batch_build_elements(enum batch_table t, uint32_t n)
{
	return t == BATCH_STRINGS ? n - 1 : n;
}

static uint32_t batch_build_count(const struct batch_builder *b,
				  enum batch_table t)
{
	return batch_build_elements(t, b->tables[t].n);
}

/* --- interning ------------------------------------------------------------ */

/* What tells element i of a table from others. */
static const void *batch_build_key_of(const struct batch_builder *b,
				      enum batch_table t, uint32_t i,
				      size_t *len)
{
	const char *data = b->tables[t].data;
	const uint32_t *start = b->tables[t].data;
	const struct batch_stack *stack = b->tables[t].data;
	const char *bytes = b->tables[BATCH_BYTES].data;

	switch (t) {
	case BATCH_STRINGS:
		*len = start[i + 1] - start[i];
		/* none yet, if there is only the empty string */
		return bytes ? bytes + start[i] : "";
	case BATCH_STACKS:
		*len = stack[i].n * sizeof(uint32_t);
		return (const uint32_t *)b->tables[BATCH_STACK_FRAMES].data +
		       stack[i].first;
	default:
		*len = batch_elem_size[t];
		return data + i * batch_elem_size[t];
	}
}

static bool batch_build_add(struct batch_builder *b, enum batch_table t,
			    const void *key, size_t len)
{
	struct batch_stack stack;
	uint32_t end;

	switch (t) {
	case BATCH_STRINGS:
		end = b->tables[BATCH_BYTES].n + (uint32_t)len;
		return batch_build_append(b, BATCH_BYTES, key, len) &&
		       batch_build_append(b, t, &end, 1);
	case BATCH_STACKS:
		stack.first = b->tables[BATCH_STACK_FRAMES].n;
		stack.n = (uint32_t)(len / sizeof(uint32_t));
		return batch_build_append(b, BATCH_STACK_FRAMES, key, stack.n) &&
		       batch_build_append(b, t, &stack, 1);
	default:
		return batch_build_append(b, t, key, 1);
	}
}

static uint32_t batch_build_intern(struct batch_builder *b, enum batch_table t,
				   const void *key, size_t len)
{
	uint64_t hash = XXH3_64bits_withSeed(key, len, b->seed);
	struct hash_table *l = &b->lookups[t];
	uint32_t added;

	if (b->error)
		return 0;
	for (struct hash_slot *s = hash_find(l, hash); s; s = hash_next(l, s)) {
		size_t other_len;
		const void *other = batch_build_key_of(b, t, hash_index(s),
						       &other_len);

		if (other_len == len && (!len || !memcmp(other, key, len)))
			return hash_index(s);
	}
	if (!batch_build_add(b, t, key, len))
		return 0;
	added = batch_build_count(b, t) - 1;
	if (!hash_add(l, hash, added))
		return batch_build_fail(b, -ENOMEM);
	return added;
}

/* --- values ---------------------------------------------------------------- */

struct batch_builder *batch_builder_new(uint32_t frequency)
{
	static const struct batch_resource resource;
	static const struct batch_function function;
	static const struct batch_attr attr;
	static const struct batch_exe exe;
	const uint32_t zero = 0;
	struct batch_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->frequency = frequency;
	b->seed = hash_seed();
	batch_build_append(b, BATCH_STRINGS, &zero, 1);
	batch_build_intern(b, BATCH_STRINGS, "", 0);
	batch_build_intern(b, BATCH_EXES, &exe, sizeof(exe));
	batch_build_intern(b, BATCH_FUNCTIONS, &function, sizeof(function));
	batch_build_intern(b, BATCH_ATTRS, &attr, sizeof(attr));
	batch_build_intern(b, BATCH_RESOURCES, &resource, sizeof(resource));
	if (b->error) {
		batch_builder_free(b);
		return NULL;
	}
	return b;
}

void batch_builder_free(struct batch_builder *b)
{
	if (!b)
		return;
	for (int t = 0; t < BATCH__TABLES; t++) {
		free(b->tables[t].data);
		hash_free(&b->lookups[t]);
	}
	free(b->events.data);
	free(b);
}

static uint32_t batch_build_replace(struct batch_builder *b, const char *s,
				size_t len)
{
	char text[BATCH_STRING_MAX];
	size_t n = 0, step;

	for (size_t i = 0; i < len; i += step) {
		const char *from = s + i;
		size_t more;

		step = utf8_char(from, len - i);
		more = step;
		if (!step) {
			from = UTF8_REPLACEMENT;
			more = strlen(UTF8_REPLACEMENT);
			step = 1;
		}
		if (more > sizeof(text) - n)
			break;
		memcpy(text + n, from, more);
		n += more;
	}
	return batch_build_intern(b, BATCH_STRINGS, text, n);
}

uint32_t batch_string(struct batch_builder *b, const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = utf8_char(s + i, len - i);

		if (n == 0)
			return batch_build_replace(b, s, len);
		if (n > BATCH_STRING_MAX - i)
			break;
		i += n;
	}
	return batch_build_intern(b, BATCH_STRINGS, i ? s : "", i);
}

static bool batch_build_known(struct batch_builder *b, enum batch_table t, uint32_t i)
{
	if (i < batch_build_count(b, t))
		return true;
	batch_build_fail(b, -EINVAL);
	return false;
}

uint32_t batch_exe(struct batch_builder *b, const struct batch_exe *e)
{
	struct batch_exe v = *e;

	if (v.runtime >= RUNTIME__MAX ||
	    (v.runtime_id && !runtime_info(v.runtime)->id_key[0])) {
		batch_build_fail(b, -EINVAL);
		return 0;
	}
	if (!batch_build_known(b, BATCH_STRINGS, v.path) ||
	    !batch_build_known(b, BATCH_STRINGS, v.build_id) ||
	    !batch_build_known(b, BATCH_STRINGS, v.runtime_id))
		return 0;
	return batch_build_intern(b, BATCH_EXES, &v, sizeof(v));
}

uint32_t batch_function(struct batch_builder *b,
			const struct batch_function *f)
{
	struct batch_function v = *f;

	v.unnamed = v.unnamed != 0;
	if (v.full_name == v.name)
		v.full_name = 0;
	if (v.system_name == batch_full_name(&v))
		v.system_name = 0;
	if (v.name == 0 || !batch_build_known(b, BATCH_STRINGS, v.name) ||
	    !batch_build_known(b, BATCH_STRINGS, v.full_name) ||
	    !batch_build_known(b, BATCH_STRINGS, v.system_name) ||
	    !batch_build_known(b, BATCH_STRINGS, v.file))
		return 0;
	return batch_build_intern(b, BATCH_FUNCTIONS, &v, sizeof(v));
}

uint32_t batch_frame(struct batch_builder *b, const struct batch_frame *f)
{
	const struct batch_frame *frames = b->tables[BATCH_FRAMES].data;
	struct batch_frame v = *f;

	v.pad = 0;
	if (v.kind == 0 || v.kind >= BATCH_FRAME__KINDS ||
	    v.inlined > BATCH_INLINED_MAX || (!v.inlined && v.into))
		return batch_build_fail(b, -EINVAL);
	if (!batch_build_known(b, BATCH_EXES, v.exe) ||
	    !batch_build_known(b, BATCH_FUNCTIONS, v.function) ||
	    (v.inlined && !batch_build_known(b, BATCH_FRAMES, v.into)))
		return 0;
	if (v.inlined && !batch_is_into(&v, &frames[v.into]))
		return batch_build_fail(b, -EINVAL);
	return batch_build_intern(b, BATCH_FRAMES, &v, sizeof(v));
}

uint32_t batch_stack(struct batch_builder *b, const uint32_t *frames,
		     uint32_t n)
{
	if (n == 0)
		return batch_build_fail(b, -EINVAL);
	for (uint32_t i = 0; i < n; i++) {
		if (!batch_build_known(b, BATCH_FRAMES, frames[i]))
			return 0;
	}
	return batch_build_intern(b, BATCH_STACKS, frames, n * sizeof(*frames));
}

uint32_t batch_attr(struct batch_builder *b, const struct batch_attr *a)
{
	struct batch_attr v = *a;

	v.pad = 0;
	if (!batch_build_known(b, BATCH_STRINGS, v.thread_name))
		return 0;
	return batch_build_intern(b, BATCH_ATTRS, &v, sizeof(v));
}

uint32_t batch_resource(struct batch_builder *b,
			const struct batch_resource *r)
{
	struct batch_resource v = *r;

	v.kernel = v.kernel != 0;
	v.pad = 0;
	if (!batch_build_known(b, BATCH_STRINGS, v.exe_path) ||
	    !batch_build_known(b, BATCH_STRINGS, v.exe_name) ||
	    !batch_build_known(b, BATCH_STRINGS, v.container_id) ||
	    !batch_build_known(b, BATCH_STRINGS, v.unit) ||
	    !batch_build_known(b, BATCH_STRINGS, v.comm))
		return 0;
	return batch_build_intern(b, BATCH_RESOURCES, &v, sizeof(v));
}

/* In the builder .first and .n are 0: a sample is its stack and its owners. */
uint32_t batch_sample(struct batch_builder *b, uint32_t stack, uint32_t attr,
		      uint32_t resource, uint32_t stop)
{
	struct batch_sample v = {
		.stack = stack, .attr = attr, .resource = resource,
		.stop = stop,
	};
	uint32_t sample;

	if (!batch_build_known(b, BATCH_STACKS, stack) || !batch_build_known(b, BATCH_ATTRS, attr) ||
	    !batch_build_known(b, BATCH_RESOURCES, resource))
		return UINT32_MAX;
	if (stop >= STOP__MAX)
		batch_build_fail(b, -EINVAL);
	sample = batch_build_intern(b, BATCH_SAMPLES, &v, sizeof(v));
	return b->error ? UINT32_MAX : sample;
}

void batch_sample_times(struct batch_builder *b, uint32_t sample,
			const uint64_t *times, uint32_t n)
{
	struct built_event *e;

	if (b->error || !batch_build_known(b, BATCH_SAMPLES, sample) ||
	    !batch_build_room(b, &b->events, sizeof(*e), n))
		return;
	e = (struct built_event *)b->events.data + b->events.n;
	for (uint32_t i = 0; i < n; i++) {
		if (times[i] == UINT64_MAX)
			batch_build_fail(b, -EINVAL);
		e[i] = (struct built_event){ .time_ns = times[i],
					     .sample = sample };
	}
	b->events.n += n;
}

void batch_event(struct batch_builder *b, uint32_t stack, uint32_t attr,
		 uint32_t resource, uint32_t stop, uint64_t time_ns)
{
	uint32_t sample = batch_sample(b, stack, attr, resource, stop);

	if (sample != UINT32_MAX)
		batch_sample_times(b, sample, &time_ns, 1);
}

uint64_t batch_events(const struct batch_builder *b)
{
	return b->events.n;
}

/* --- merging --------------------------------------------------------------- */

/* New numbers of the other batch's elements, one array a table. */
struct renumber {
	uint32_t *to[BATCH__TABLES];
};

static void batch_merge_names(struct batch_builder *b, const struct batch *from,
			const struct renumber *r)
{
	uint32_t *const str = r->to[BATCH_STRINGS];

	for (uint32_t i = 0; i < batch_n(from, BATCH_STRINGS); i++) {
		size_t len;
		const char *s = batch_str(from, i, &len);

		str[i] = batch_string(b, s, len);
	}
	for (uint32_t i = 0; i < batch_n(from, BATCH_EXES); i++) {
		struct batch_exe v = from->exes[i];

		v.path = str[v.path];
		v.build_id = str[v.build_id];
		v.runtime_id = str[v.runtime_id];
		r->to[BATCH_EXES][i] = batch_exe(b, &v);
	}
	for (uint32_t i = 0; i < batch_n(from, BATCH_FUNCTIONS); i++) {
		struct batch_function v = from->functions[i];

		v.name = str[v.name];
		v.full_name = str[v.full_name];
		v.system_name = str[v.system_name];
		v.file = str[v.file];
		r->to[BATCH_FUNCTIONS][i] = batch_function(b, &v);
	}
}

static void batch_merge_owners(struct batch_builder *b, const struct batch *from,
			 const struct renumber *r)
{
	const uint32_t *str = r->to[BATCH_STRINGS];

	for (uint32_t i = 0; i < batch_n(from, BATCH_ATTRS); i++) {
		struct batch_attr v = from->attrs[i];

		v.thread_name = str[v.thread_name];
		r->to[BATCH_ATTRS][i] = batch_attr(b, &v);
	}
	for (uint32_t i = 0; i < batch_n(from, BATCH_RESOURCES); i++) {
		struct batch_resource v = from->resources[i];

		v.exe_path = str[v.exe_path];
		v.exe_name = str[v.exe_name];
		v.container_id = str[v.container_id];
		v.unit = str[v.unit];
		v.comm = str[v.comm];
		r->to[BATCH_RESOURCES][i] = batch_resource(b, &v);
	}
}

static void batch_merge_stacks(struct batch_builder *b, const struct batch *from,
			 const struct renumber *r)
{
	uint32_t *const words = r->to[BATCH_STACK_FRAMES];

	for (uint32_t i = 0; i < batch_n(from, BATCH_FRAMES); i++) {
		struct batch_frame v = from->frames[i];

		v.exe = r->to[BATCH_EXES][v.exe];
		v.function = r->to[BATCH_FUNCTIONS][v.function];
		if (v.inlined)
			v.into = r->to[BATCH_FRAMES][v.into];
		r->to[BATCH_FRAMES][i] = batch_frame(b, &v);
	}
	for (uint32_t i = 0; i < batch_n(from, BATCH_STACK_FRAMES); i++)
		words[i] = r->to[BATCH_FRAMES][from->stack_frames[i]];
	for (uint32_t i = 0; i < batch_n(from, BATCH_STACKS); i++) {
		const struct batch_stack *v = &from->stacks[i];

		r->to[BATCH_STACKS][i] = batch_stack(b, words + v->first, v->n);
	}
}

void batch_merge(struct batch_builder *b, const struct batch *from)
{
	struct renumber r = { 0 };
	bool ok = true;

	for (int t = 0; t < BATCH_SAMPLES; t++) {
		size_t n = batch_n(from, t);

		if (t == BATCH_BYTES)
			continue;
		r.to[t] = calloc(n ? n : 1, sizeof(uint32_t));
		ok = ok && r.to[t];
	}
	if (ok) {
		batch_merge_names(b, from, &r);
		batch_merge_owners(b, from, &r);
		batch_merge_stacks(b, from, &r);
	} else {
		batch_build_fail(b, -ENOMEM);
	}
	for (uint32_t i = 0; ok && i < batch_n(from, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &from->samples[i];

		uint32_t to = batch_sample(b, r.to[BATCH_STACKS][s->stack],
					   r.to[BATCH_ATTRS][s->attr],
					   r.to[BATCH_RESOURCES][s->resource],
					   s->stop);

		if (to != UINT32_MAX)
			batch_sample_times(b, to, from->times + s->first, s->n);
	}
	for (int t = 0; t < BATCH_SAMPLES; t++)
		free(r.to[t]);
}

/* --- laying out ------------------------------------------------------------- */

static uint64_t batch_build_lay_out(const struct batch_builder *b,
				    struct batch_hdr *hdr)
{
	uint64_t end = sizeof(*hdr);

	for (int t = 0; t < BATCH__TABLES; t++) {
		uint32_t n = t == BATCH_TIMES ? b->events.n : b->tables[t].n;

		end = (end + 7) & ~7ULL;
		hdr->table[t].off = (uint32_t)end;
		hdr->table[t].n = batch_build_elements(t, n);
		end += (uint64_t)n * batch_elem_size[t];
	}
	return (end + 7) & ~7ULL;
}

/* Group the events by sample. */
static void batch_build_times(const struct batch_builder *b, struct batch_hdr *hdr,
		      struct batch_sample *samples, uint64_t *times)
{
	const struct built_event *events = b->events.data;
	uint32_t first = 0;

	for (uint32_t i = 0; i < b->events.n; i++) {
		uint64_t t = events[i].time_ns;

		samples[events[i].sample].n++;
		if (t < hdr->start_ns)
			hdr->start_ns = t;
		if (t >= hdr->end_ns)
			hdr->end_ns = t + 1;
	}
	for (uint32_t i = 0; i < hdr->table[BATCH_SAMPLES].n; i++) {
		samples[i].first = first;
		first += samples[i].n;
		samples[i].n = 0;
	}
	for (uint32_t i = 0; i < b->events.n; i++) {
		struct batch_sample *s = &samples[events[i].sample];

		times[s->first + s->n] = events[i].time_ns;
		s->n++;
	}
}

int batch_builder_finish(struct batch_builder *b, uint64_t start_ns,
			 uint64_t end_ns, void **ret, size_t *len)
{
	struct batch_hdr hdr = {
		.magic = BATCH_MAGIC, .version = BATCH_VERSION,
		.start_ns = start_ns,
		.end_ns = end_ns < start_ns ? start_ns : end_ns,
		.frequency = b->frequency,
	};
	char *p;

	if (b->error)
		return b->error;
	if (b->frequency == 0)
		return -EINVAL;
	hdr.bytes = batch_build_lay_out(b, &hdr);
	if (hdr.bytes > BATCH_BYTES_MAX)
		return -E2BIG;
	p = calloc(1, hdr.bytes);
	if (!p)
		return -ENOMEM;
	for (int t = 0; t < BATCH_TIMES; t++) {
		if (b->tables[t].n)
			memcpy(p + hdr.table[t].off, b->tables[t].data,
			       b->tables[t].n * batch_elem_size[t]);
	}
	batch_build_times(b, &hdr, (void *)(p + hdr.table[BATCH_SAMPLES].off),
		  (void *)(p + hdr.table[BATCH_TIMES].off));
	memcpy(p, &hdr, sizeof(hdr));
	*ret = p;
	*len = hdr.bytes;
	return 0;
}
