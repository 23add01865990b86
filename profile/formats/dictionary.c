// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* --- tables -------------------------------------------------------------- */

/* The element that was appended at `start` is complete: its index.  A duplicate is
 * removed again. */
static uint32_t dictionary_intern(struct dict *d, unsigned int which,
				  size_t start)
{
	uint32_t n = texts_number(&d->table[which], start);

	if (d->table[which].failed)
		d->failed = true;
	return n;
}

static uint32_t dictionary_string(struct dict *d, const char *s, size_t n)
{
	struct buffer *w = &d->table[DICT_STRING].bytes;
	size_t start = w->len;

	pb_text(w, DICT_STRING, s, n);
	return dictionary_intern(d, DICT_STRING, start);
}

uint32_t dict_literal(struct dict *d, const char *s)
{
	unsigned int i;

	for (i = 0; i < d->n_literals; i++) {
		if (d->literals[i].text == s)
			return d->literals[i].index;
	}
	if (i == DICT_LITERALS)
		return dictionary_string(d, s, strlen(s));
	d->literals[i].text = s;
	d->literals[i].index = dictionary_string(d, s, strlen(s));
	d->n_literals++;
	return d->literals[i].index;
}

static uint32_t dictionary_batch_string(struct dict *d, uint32_t i)
{
	const char *s;
	size_t n;

	if (i == 0)
		return 0;
	if (!d->strings[i]) {
		s = batch_str(d->b, i, &n);
		d->strings[i] = dictionary_string(d, s, n);
	}
	return d->strings[i];
}

uint32_t dict_attr_text(struct dict *d, const char *key, const char *s, size_t n)
{
	struct buffer *w = &d->table[DICT_ATTRIBUTE].bytes;
	size_t start = w->len, mark;

	mark = pb_begin(w, DICT_ATTRIBUTE);
	pb_uint(w, 1, dict_literal(d, key));
	pb_any_text(w, 2, s, n);
	pb_end(w, mark);
	return dictionary_intern(d, DICT_ATTRIBUTE, start);
}

uint32_t dict_attr_int(struct dict *d, const char *key, uint64_t v)
{
	struct buffer *w = &d->table[DICT_ATTRIBUTE].bytes;
	size_t start = w->len, mark;

	mark = pb_begin(w, DICT_ATTRIBUTE);
	pb_uint(w, 1, dict_literal(d, key));
	pb_any_int(w, 2, v);
	pb_end(w, mark);
	return dictionary_intern(d, DICT_ATTRIBUTE, start);
}

static uint32_t dictionary_attr_string(struct dict *d, const char *key, uint32_t i)
{
	size_t n;
	const char *s = batch_str(d->b, i, &n);

	return dict_attr_text(d, key, s, n);
}

/* --- executables, functions, frames, stacks ----------------------------- */

static unsigned int dictionary_build_ids(struct dict *d, const struct batch_exe *x,
					 uint32_t attrs[3])
{
	static const uint8_t none[FILE_ID_LEN];
	static const char digits[] = "0123456789abcdef";
	char hex[2 * FILE_ID_LEN];
	unsigned int n = 0;

	if (x->build_id)
		attrs[n++] = dictionary_attr_string(d, "process.executable.build_id.gnu",
						    x->build_id);
	if (x->runtime_id)
		attrs[n++] = dictionary_attr_string(d, runtime_info(x->runtime)->id_key,
						    x->runtime_id);
	if (memcmp(x->file_id, none, sizeof(none)) != 0) {
		for (int i = 0; i < FILE_ID_LEN; i++) {
			hex[2 * i] = digits[x->file_id[i] >> 4];
			hex[2 * i + 1] = digits[x->file_id[i] & 15];
		}
		attrs[n++] = dict_attr_text(d, "process.executable.build_id.htlhash",
					    hex, sizeof(hex));
	}
	return n;
}

/* 0 for an executable without any ID. */
static uint32_t dictionary_mapping(struct dict *d, uint32_t exe)
{
	const struct batch_exe *x = &d->b->exes[exe];
	struct buffer *w = &d->table[DICT_MAPPING].bytes;
	size_t start = w->len, mark;
	uint32_t attrs[3], path;
	unsigned int n;

	if (exe == 0 || d->exes[exe])
		return d->exes[exe];
	n = dictionary_build_ids(d, x, attrs);
	if (n == 0)
		return 0;
	path = dictionary_batch_string(d, x->path);
	mark = pb_begin(w, DICT_MAPPING);
	pb_uint(w, 2, d->limits[exe]);
	pb_uint(w, 4, path);
	pb_packed(w, 5, attrs, n);
	pb_end(w, mark);
	d->exes[exe] = dictionary_intern(d, DICT_MAPPING, start);
	return d->exes[exe];
}

static uint32_t dictionary_put_function(struct dict *d, uint32_t name,
					uint32_t system_name, uint32_t file,
					uint32_t start_line)
{
	struct buffer *w = &d->table[DICT_FUNCTION].bytes;
	size_t start = w->len, mark;

	if (!name && !file)
		return 0;
	mark = pb_begin(w, DICT_FUNCTION);
	pb_uint(w, 1, name);
	pb_uint(w, 2, system_name);
	pb_uint(w, 3, file);
	pb_uint(w, 4, start_line);
	pb_end(w, mark);
	return dictionary_intern(d, DICT_FUNCTION, start);
}

static uint32_t dictionary_function(struct dict *d, uint32_t i)
{
	const struct batch_function *f = &d->b->functions[i];
	uint32_t name, system_name, file;

	if (i == 0 || d->functions[i])
		return d->functions[i];
	name = dictionary_batch_string(d, batch_full_name(f));
	system_name = dictionary_batch_string(d, f->system_name);
	file = dictionary_batch_string(d, f->file);
	d->functions[i] = dictionary_put_function(d, name, system_name, file,
						  f->start_line);
	return d->functions[i];
}

/* "name [module]" for a symbol of a kernel module. */
static uint32_t dictionary_kernel_function(struct dict *d, const struct batch_frame *f)
{
	static const char kernel[] = "[kernel]";
	struct buffer *w = &d->table[DICT_STRING].bytes;
	size_t n, len, start = w->len, mark;
	const char *module, *name;

	module = batch_str(d->b, d->b->exes[f->exe].path, &n);
	name = batch_str(d->b, batch_full_name(&d->b->functions[f->function]),
			 &len);
	if (n == 0 ||
	    (n == strlen(kernel) && memcmp(module, kernel, n) == 0) ||
	    (len >= n && memcmp(name + len - n, module, n) == 0))
		return dictionary_function(d, f->function);
	mark = pb_begin(w, DICT_STRING);
	buffer_utf8(w, name, len);
	buffer_add(w, " ", 1);
	buffer_utf8(w, module, n);
	pb_end(w, mark);
	return dictionary_put_function(
		d, dictionary_intern(d, DICT_STRING, start), 0, 0, 0);
}

/* What stands for code without a name. */
static uint32_t dictionary_placeholder(struct dict *d, uint32_t frame)
{
	uint32_t name;

	d->text.len = 0;
	profile_frame_name(d->b, frame, &d->text);
	if (d->text.failed)
		d->failed = true;
	name = dictionary_string(d, (const char *)d->text.data, d->text.len);
	return dictionary_put_function(d, name, 0, 0, 0);
}

/* The attribute profile.frame.type. */
static uint32_t dictionary_frame_type(struct dict *d, uint32_t kind)
{
	const char *name = frame_kind_info(kind)->name;

	if (!d->types[kind])
		d->types[kind] = dict_attr_text(d, "profile.frame.type", name,
						strlen(name));
	return d->types[kind];
}

static void dictionary_put_line(struct buffer *w, uint32_t fn, uint32_t number)
{
	size_t line = pb_begin(w, 3);

	pb_uint(w, 1, fn);
	pb_uint(w, 2, number);
	pb_end(w, line);
}

/* Is there no function, because a receiver can find it?  map: 0 without any ID. */
static bool dictionary_leaves_name(const struct dict *d,
				   const struct batch_frame *f, uint32_t map)
{
	if (!profile_can_be_looked_up(f, map != 0))
		return false;
	if (d->bare && f->kind == BATCH_FRAME_NATIVE)
		return true;
	return d->nameless && profile_is_unnamed(d->b, f);
}

/* Innermost line first (opentelemetry/proto/profiles, message Location). */
static uint32_t dictionary_location(struct dict *d, uint32_t i)
{
	const struct batch_frame *f = &d->b->frames[i];
	enum frame_class class = frame_kind_class(f->kind);
	struct buffer *w = &d->table[DICT_LOCATION].bytes;
	uint32_t map = 0, fn, type;
	uint32_t in[BATCH_INLINED_MAX + 1], n = batch_inlined(d->b, i, in);
	size_t start = w->len, mark;

	if (d->frames[i])
		return d->frames[i];
	if (class == FRAMES_FILE)
		map = dictionary_mapping(d, f->exe);
	if (dictionary_leaves_name(d, f, map))
		fn = n = 0;
	else if (profile_is_nameless(f))
		fn = dictionary_placeholder(d, i);
	else if (class == FRAMES_KERNEL)
		fn = dictionary_kernel_function(d, f);
	else
		fn = dictionary_function(d, f->function);
	type = dictionary_frame_type(d, f->kind);
	mark = pb_begin(w, DICT_LOCATION);
	pb_uint(w, 1, map);
	if (class != FRAMES_MARK)
		pb_uint(w, 2, f->address);
	if (fn)
		dictionary_put_line(w, fn, f->function ? f->line : 0);
	for (uint32_t k = 1; k < n; k++) {
		f = &d->b->frames[in[k]];
		dictionary_put_line(w, dictionary_function(d, f->function),
				    f->line);
	}
	pb_packed(w, 4, &type, 1);
	pb_end(w, mark);
	d->frames[i] = dictionary_intern(d, DICT_LOCATION, start);
	return d->frames[i];
}

/* --- the order of locations ----------------------------------------------- */

/*
 * Stacks name locations by varints, so the DICTIONARY_SHORT that most stacks name come
 * first: one byte each.  Otherwise neighbours in a file are neighbours here, so that the
 * compressor meets nearly the same bytes again: the mapping, the high bits of the address,
 * and, as functions and strings are added with their locations, ascending indices.
 */
#define DICTIONARY_SHORT	127	/* varints of one byte, but for 0 */
#define DICTIONARY_USES		1024	/* larger numbers of uses are not told apart */

static uint32_t dictionary_location_uses(uint32_t uses)
{
	if (uses >= DICTIONARY_USES)
		return DICTIONARY_USES - 1;
	return uses;
}

static int dictionary_location_by_place(const void *a, const void *b, void *arg)
{
	const struct batch_frame *frames = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct batch_frame *f = &frames[x], *g = &frames[y];
	int r = profile_order(f->exe, g->exe);

	if (!r)
		r = profile_order(f->address, g->address);
	if (!r)
		r = profile_order(x, y);
	return r;
}

/* Count the stacks that name each frame; *n: frames that any stack names. */
static void dictionary_location_count(const struct batch *b, const uint32_t *depth,
			   uint32_t *uses, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < batch_n(b, BATCH_STACKS); i++) {
		const struct batch_stack *s = &b->stacks[i];

		for (uint32_t k = 0; k < depth[i]; k++) {
			uint32_t frame = b->stack_frames[s->first + k];

			if (!uses[frame])
				(*n)++;
			uses[frame]++;
		}
	}
}

/*
 * Sort the used frames into two: the first `few` of v are those that most stacks name,
 * the others follow.  Of frames with as many uses as the last of the few, the lower
 * numbers come first.
 */
static void dictionary_location_divide(const uint32_t *uses, uint32_t frames, uint32_t few,
			    uint32_t *v)
{
	uint32_t with[DICTIONARY_USES] = { 0 }, least = DICTIONARY_USES - 1;
	uint32_t left = few, n = 0, others = few;

	for (uint32_t i = 0; i < frames; i++)
		with[dictionary_location_uses(uses[i])]++;
	for (; least > 1 && with[least] <= left; least--)
		left -= with[least];
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t u = dictionary_location_uses(uses[i]);

		if (u > least) {
			v[n++] = i;
		} else if (u == least && left) {
			v[n++] = i;
			left--;
		} else if (u) {
			v[others++] = i;
		}
	}
}

/* The first depth[stack] frames of all stacks: malloc'ed, *n of them, each once.  NULL:
 * memory is short. */
static uint32_t *dictionary_location_order(const struct batch *b, const uint32_t *depth,
			 uint32_t *n)
{
	uint32_t frames = batch_n(b, BATCH_FRAMES), few = DICTIONARY_SHORT;
	uint32_t *uses = calloc(frames + 1, sizeof(*uses)), *v;

	if (!uses)
		return NULL;
	dictionary_location_count(b, depth, uses, n);
	v = malloc((*n + 1) * sizeof(*v));
	if (v) {
		if (few > *n)
			few = *n;
		dictionary_location_divide(uses, frames, few, v);
		qsort_r(v, few, sizeof(*v), dictionary_location_by_place, (void *)b->frames);
		qsort_r(v + few, *n - few, sizeof(*v), dictionary_location_by_place,
			(void *)b->frames);
	}
	free(uses);
	return v;
}

void dict_locations(struct dict *d, const uint32_t *depth)
{
	uint32_t n, *v = dictionary_location_order(d->b, depth, &n);

	if (!v) {
		d->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		dictionary_location(d, v[i]);
	free(v);
}

uint32_t dict_stack(struct dict *d, uint32_t i, uint32_t depth)
{
	const uint32_t *frames = d->b->stack_frames + d->b->stacks[i].first;
	struct buffer *w = &d->table[DICT_STACK].bytes;
	size_t start = w->len, mark, list;

	if (d->stacks[i])
		return d->stacks[i];
	mark = pb_begin(w, DICT_STACK);
	list = pb_begin(w, 1);
	for (uint32_t k = 0; k < depth; k++)
		pb_varint(w, dictionary_location(d, frames[k]));
	pb_end(w, list);
	pb_end(w, mark);
	d->stacks[i] = dictionary_intern(d, DICT_STACK, start);
	return d->stacks[i];
}

unsigned int dict_sample_attrs(struct dict *d, uint32_t i, uint32_t stop,
			       uint32_t attrs[DICT_SAMPLE_ATTRS])
{
	const struct batch_attr *a = &d->b->attrs[i];
	const char *end = batch_early_end(stop);
	unsigned int n = 0;

	if (end)
		attrs[n++] = dict_attr_text(d, "trifold.stack.end", end, strlen(end));
	if (i == 0)
		return n;
	attrs[n++] = dict_attr_int(d, "thread.id", a->tid);
	if (a->thread_name)
		attrs[n++] = dictionary_attr_string(d, "thread.name", a->thread_name);
	attrs[n++] = dict_attr_int(d, "cpu.logical_number", a->cpu);
	return n;
}

/* --- life ---------------------------------------------------------------- */

static void *dictionary_zeros(const struct batch *b, enum batch_table t,
			      size_t size)
{
	return calloc((size_t)batch_n(b, t) + 1, size);
}

static void dictionary_find_limits(struct dict *d)
{
	const struct batch *b = d->b;

	for (uint32_t i = 0; i < batch_n(b, BATCH_FRAMES); i++) {
		const struct batch_frame *f = &b->frames[i];
		uint64_t above = f->address;

		if (above < UINT64_MAX)
			above++;
		if (d->limits[f->exe] < above)
			d->limits[f->exe] = above;
	}
}

int dict_init(struct dict *d, const struct batch *b)
{
	uint64_t seed = hash_seed();

	*d = (struct dict){ .b = b };
	d->strings = dictionary_zeros(b, BATCH_STRINGS, sizeof(*d->strings));
	d->exes = dictionary_zeros(b, BATCH_EXES, sizeof(*d->exes));
	d->limits = dictionary_zeros(b, BATCH_EXES, sizeof(*d->limits));
	d->functions = dictionary_zeros(b, BATCH_FUNCTIONS,
					sizeof(*d->functions));
	d->frames = dictionary_zeros(b, BATCH_FRAMES, sizeof(*d->frames));
	d->stacks = dictionary_zeros(b, BATCH_STACKS, sizeof(*d->stacks));
	if (!d->strings || !d->exes || !d->limits || !d->functions ||
	    !d->frames || !d->stacks)
		return -ENOMEM;
	dictionary_find_limits(d);
	for (unsigned int t = DICT_MAPPING; t < DICT__MAX; t++) {
		struct buffer *w = &d->table[t].bytes;

		d->table[t].seed = seed;
		pb_end(w, pb_begin(w, t));
		dictionary_intern(d, t, 0);
	}
	return d->failed ? -ENOMEM : 0;
}

void dict_fini(struct dict *d)
{
	for (unsigned int t = DICT_MAPPING; t < DICT__MAX; t++)
		texts_fini(&d->table[t]);
	free(d->text.data);
	free(d->strings);
	free(d->exes);
	free(d->limits);
	free(d->functions);
	free(d->frames);
	free(d->stacks);
}

void dict_write(const struct dict *d, struct buffer *w)
{
	for (unsigned int t = DICT_MAPPING; t < DICT__MAX; t++)
		buffer_add(w, d->table[t].bytes.data, d->table[t].bytes.len);
}
