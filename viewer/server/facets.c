// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/facets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"
#include "common/json.h"
#include "common/vector.h"
#include "profile/profile.h"
#include "viewer/server/params.h"

#define LABEL_MAX	64	/* bytes of a path's last part */
#define CONTAINER_SHOWN	12	/* of its ID, as container runtimes show it */

struct facet_entry {
	size_t value, label;		/* in .text */
	uint32_t value_len, label_len;
	uint64_t samples;
};

/* The values of one key. */
struct facet {
	struct buffer text;
	VECTOR(struct facet_entry);
	struct hash_table set;		/* of entries by their value */
	uint64_t seed;			/* of the hashes: profiled processes choose
					 * the names */
};

static uint64_t facets_hash(const struct facet *f, const struct facet_entry *e)
{
	return XXH3_64bits_withSeed(f->text.data + e->value, e->value_len,
				    f->seed);
}

/* Count samples of the value that was appended to .text at `value`, followed by its label
 * at `label`.  0 or -ENOMEM. */
static int facets_add(struct facet *f, size_t value, size_t label,
		      uint64_t samples)
{
	struct facet_entry e = {
		.value = value,
		.label = label,
		.value_len = (uint32_t)(label - value),
		.label_len = (uint32_t)(f->text.len - label),
		.samples = samples,
	};
	uint64_t hash;

	if (f->text.failed)
		return -ENOMEM;
	hash = facets_hash(f, &e);
	for (struct hash_slot *s = hash_find(&f->set, hash); s;
	     s = hash_next(&f->set, s)) {
		struct facet_entry *o = &f->v[hash_index(s)];

		if (o->value_len == e.value_len &&
		    (!e.value_len || !memcmp(f->text.data + o->value,
					     f->text.data + e.value,
					     e.value_len))) {
			o->samples += samples;
			f->text.len = value;
			return 0;
		}
	}
	if (!vector_reserve(f, 1) || !hash_add(&f->set, hash, f->n))
		return -ENOMEM;
	f->v[f->n++] = e;
	return 0;
}

/* --- one segment ------------------------------------------------------------------- */

static void facets_put_string(struct facet *f, const struct batch *b, uint32_t i)
{
	size_t len;
	const char *s = batch_str(b, i, &len);

	buffer_add(&f->text, s, len);
}

/* Append the label of a container or an executable: its value, shortened. */
static void facets_put_short(struct facet *f, enum select_key key, size_t value)
{
	const char *s = (const char *)f->text.data + value, *slash = NULL;
	size_t len = f->text.len - value, most = LABEL_MAX;
	char buf[LABEL_MAX];

	if (!len || f->text.failed)
		return;
	if (key == KEY_CONTAINER)
		most = CONTAINER_SHOWN;
	if (key == KEY_EXECUTABLE)
		slash = memrchr(s, '/', len);
	if (slash && slash + 1 < s + len) {
		len -= (size_t)(slash + 1 - s);
		s = slash + 1;
	}
	if (len > most) {
		len = most;
		while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
			len--;		/* no part of a character */
	}
	/* the source moves when .text grows */
	memcpy(buf, s, len);
	buffer_add(&f->text, buf, len);
}

static int facets_add_resource(struct facet *f, enum select_key key,
			       const struct batch *b, uint32_t i, uint64_t samples)
{
	const struct batch_resource *r = &b->resources[i];
	size_t value = f->text.len, label;

	if (key == KEY_PID)
		buffer_num(&f->text, r->pid);
	else if (key == KEY_PROCESS)
		facets_put_string(f, b, r->comm);
	else if (key == KEY_CONTAINER)
		facets_put_string(f, b, r->container_id);
	else
		facets_put_string(f, b, r->exe_path);
	label = f->text.len;
	if (key == KEY_PID) {
		buffer_num(&f->text, r->pid);
		if (r->comm)
			buffer_str(&f->text, " ");
		facets_put_string(f, b, r->comm);
	} else if (key == KEY_PROCESS) {
		facets_put_string(f, b, r->comm);
	} else {
		facets_put_short(f, key, value);
	}
	return facets_add(f, value, label, samples);
}

static int facets_add_thread(struct facet *f, const struct batch *b, uint32_t i,
			     uint64_t samples)
{
	size_t value = f->text.len, label;

	facets_put_string(f, b, b->attrs[i].thread_name);
	label = f->text.len;
	facets_put_string(f, b, b->attrs[i].thread_name);
	return facets_add(f, value, label, samples);
}

static int facets_add_kinds(struct facet *f, uint32_t kinds, uint64_t samples)
{
	int r = 0;

	for (uint32_t k = 0; k < BATCH_FRAME__KINDS && r == 0; k++) {
		const char *name = frame_kind_filter(k);
		size_t value = f->text.len, label;

		if (!(kinds >> k & 1) || !name)
			continue;
		buffer_str(&f->text, name);
		label = f->text.len;
		buffer_str(&f->text, name);
		r = facets_add(f, value, label, samples);
	}
	return r;
}

static size_t facets_elements(const struct batch *b, enum select_key key)
{
	switch (key) {
	case KEY_KIND:
		return 1u << BATCH_FRAME__KINDS;
	case KEY_THREAD:
		return batch_n(b, BATCH_ATTRS);
	default:
		return batch_n(b, BATCH_RESOURCES);
	}
}

/* The element that a sample has of a key: a set of kinds, an attribute or a resource. */
static uint32_t facets_element(const struct match *m, enum select_key key,
			       const struct batch_sample *s)
{
	switch (key) {
	case KEY_KIND:
		return m->kinds[s->stack];
	case KEY_THREAD:
		return s->attr;
	default:
		return s->resource;
	}
}

static int facets_add_element(struct facet *f, const struct match *m, enum select_key key,
			      uint32_t i, uint64_t samples)
{
	switch (key) {
	case KEY_KIND:
		return facets_add_kinds(f, i, samples);
	case KEY_THREAD:
		return facets_add_thread(f, &m->seg->b, i, samples);
	default:
		return facets_add_resource(f, key, &m->seg->b, i, samples);
	}
}

/* Count by elements first.  sums: room for the elements of any key. */
static int facets_add_sums(struct facet *f, enum select_key key, const struct match *m,
			   const uint32_t *counts, uint64_t *sums)
{
	const struct batch *b = &m->seg->b;
	size_t n = facets_elements(b, key);
	int r = 0;

	memset(sums, 0, n * sizeof(*sums));
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		sums[facets_element(m, key, &b->samples[i])] += counts[i];
	for (uint32_t i = 0; i < n && r == 0; i++) {
		if (sums[i])
			r = facets_add_element(f, m, key, i, sums[i]);
	}
	return r;
}

static const struct {
	enum select_key key;
	const char *name;
} shown[] = {
	{ KEY_PROCESS, "process" }, { KEY_PID, "pid" },
	{ KEY_THREAD, "thread" }, { KEY_CONTAINER, "container" },
	{ KEY_EXECUTABLE, "executable" }, { KEY_KIND, "kind" },
};
#define SHOWN	(sizeof(shown) / sizeof(shown[0]))

static int facets_add_segment(struct facet *facets, const struct segment *s,
			      const struct query *q)
{
	size_t n = batch_n(&s->b, BATCH_ATTRS) + batch_n(&s->b, BATCH_RESOURCES) +
		(1u << BATCH_FRAME__KINDS);
	uint32_t *counts = calloc(batch_n(&s->b, BATCH_SAMPLES) + 1,
				  sizeof(*counts));
	uint64_t *sums = calloc(n, sizeof(*sums));
	struct match m;
	int r = match_init(&m, s, q);

	if (!counts || !sums)
		r = -ENOMEM;
	for (size_t i = 0; i < SHOWN && r == 0; i++) {
		match_counts(&m, 1u << shown[i].key, counts);
		r = facets_add_sums(&facets[i], shown[i].key, &m, counts, sums);
	}
	match_fini(&m);
	free(counts);
	free(sums);
	return r;
}

/* --- output ---------------------------------------------------------------------------- */

static int facets_by_samples(const void *pa, const void *pb, void *arg)
{
	const struct facet_entry *a = pa, *b = pb;
	const struct facet *f = arg;
	uint32_t n = a->value_len;
	int r = profile_order(b->samples, a->samples);

	if (b->value_len < n)
		n = b->value_len;
	if (!r && n)
		r = memcmp(f->text.data + a->value, f->text.data + b->value, n);
	if (!r)
		r = profile_order(a->value_len, b->value_len);
	return r;
}

static uint64_t facets_put(struct facet *f, const char *name, uint32_t limit,
			   struct json *j)
{
	const uint8_t *text = f->text.data;
	uint64_t others = 0;

	if (f->n)
		qsort_r(f->v, f->n, sizeof(*f->v), facets_by_samples, f);
	json_open(j, name, '[');
	for (uint32_t i = 0; i < f->n; i++) {
		const struct facet_entry *e = &f->v[i];

		if (i >= limit) {
			others += e->samples;
			continue;
		}
		json_line(j);
		json_open(j, NULL, '[');
		json_chars(j, NULL, text + e->value, e->value_len);
		json_chars(j, NULL, text + e->label, e->label_len);
		json_num(j, NULL, e->samples);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_line(j);
	return others;
}

int facets_encode(const struct store *s, const struct query *q, uint32_t limit,
		  struct buffer *out)
{
	struct facet facets[SHOWN] = { 0 };
	uint64_t seed = hash_seed(), others[SHOWN];
	struct json j = { .out = out };
	int r = 0;

	for (size_t i = 0; i < SHOWN; i++) {
		facets[i].seed = seed;
		/* the first value may be empty, and NULL + 0 is undefined */
		buffer_room(&facets[i].text, 1);
	}
	for (size_t i = 0; i < s->n && r == 0; i++) {
		if (select_overlaps(s->v[i], q))
			r = facets_add_segment(facets, s->v[i], q);
	}
	json_open(&j, NULL, '{');
	for (size_t i = 0; i < SHOWN && r == 0; i++)
		others[i] = facets_put(&facets[i], shown[i].name, limit, &j);
	json_open(&j, "others", '{');
	for (size_t i = 0; i < SHOWN && r == 0; i++)
		json_num(&j, shown[i].name, others[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	buffer_str(out, "\n");
	for (size_t i = 0; i < SHOWN; i++) {
		free(facets[i].text.data);
		free(facets[i].v);
		hash_free(&facets[i].set);
	}
	if (r)
		return r;
	if (out->failed)
		return -ENOMEM;
	return 0;
}
