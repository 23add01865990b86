// SPDX-License-Identifier: Apache-2.0
#include "exporterd/split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/dictionary.h"
#include "profile/formats/otlp.pb-c.h"

struct table {
	void **v;
	size_t *n;
	size_t old;		/* *n before any was dropped */
	uint32_t *map;		/* of old: 1: needed; then the new index */
};

struct cut {
	Otlp__ExportProfilesServiceRequest *r;
	struct table tables[DICT__MAX];
	bool rewrite;		/* indices get their new values */
	bool bad;		/* one was out of range */
	uint64_t at, from, to;	/* events: seen, and those that stay */
	uint64_t samples;	/* that stayed */
	uint32_t profiles;
};

static void split_drop(void *message)
{
	protobuf_c_message_free_unpacked(message, NULL);
}

/* --- events ----------------------------------------------------------------- */

/* False when nothing of it is left. */
static bool cut_sample(struct cut *c, Otlp__Sample *s)
{
	uint64_t n = s->n_timestamps_unix_nano, at = c->at;
	uint64_t lo = c->from > at ? c->from - at : 0;
	uint64_t hi = c->to > at ? c->to - at : 0;

	c->at += n;
	if (s->n_values)
		c->bad = true;
	if (hi > n)
		hi = n;
	if (lo >= hi)
		return false;
	memmove(s->timestamps_unix_nano, s->timestamps_unix_nano + lo,
		(hi - lo) * sizeof(*s->timestamps_unix_nano));
	s->n_timestamps_unix_nano = hi - lo;
	c->samples += hi - lo;
	return true;
}

static bool cut_profile(struct cut *c, Otlp__Profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_samples; i++) {
		if (cut_sample(c, p->samples[i]))
			p->samples[n++] = p->samples[i];
		else
			split_drop(p->samples[i]);
	}
	p->n_samples = n;
	c->profiles += n != 0;
	return n;
}

static bool cut_scope(struct cut *c, Otlp__ScopeProfiles *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_profiles; i++) {
		if (cut_profile(c, s->profiles[i]))
			s->profiles[n++] = s->profiles[i];
		else
			split_drop(s->profiles[i]);
	}
	s->n_profiles = n;
	return n;
}

static bool cut_resource(struct cut *c, Otlp__ResourceProfiles *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_scope_profiles; i++) {
		if (cut_scope(c, r->scope_profiles[i]))
			r->scope_profiles[n++] = r->scope_profiles[i];
		else
			split_drop(r->scope_profiles[i]);
	}
	r->n_scope_profiles = n;
	return n;
}

static void cut_events(struct cut *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->r->n_resource_profiles; i++) {
		if (cut_resource(c, c->r->resource_profiles[i]))
			c->r->resource_profiles[n++] =
				c->r->resource_profiles[i];
		else
			split_drop(c->r->resource_profiles[i]);
	}
	c->r->n_resource_profiles = n;
}

/* --- the dictionary ----------------------------------------------------------
 *
 * Everything that refers to an element is visited twice: to learn which are
 * needed, and to give the references their new values.
 */

static void split_visit(struct cut *c, enum dict_field f, int32_t *index)
{
	struct table *t = &c->tables[f];

	if (*index < 0 || (uint32_t)*index >= t->old)
		c->bad = true;
	else if (c->rewrite)
		*index = (int32_t)t->map[*index];
	else
		t->map[*index] = 1;
}

static void visit_all(struct cut *c, enum dict_field f, int32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		split_visit(c, f, v + i);
}

static void visit_type(struct cut *c, Otlp__ValueType *t)
{
	if (!t)
		return;
	split_visit(c, DICT_STRING, &t->type_strindex);
	split_visit(c, DICT_STRING, &t->unit_strindex);
}

static void visit_profile(struct cut *c, Otlp__Profile *p)
{
	visit_type(c, p->sample_type);
	visit_type(c, p->period_type);
	visit_all(c, DICT_ATTRIBUTE, p->attribute_indices,
		  p->n_attribute_indices);
	for (size_t i = 0; i < p->n_samples; i++) {
		Otlp__Sample *s = p->samples[i];

		split_visit(c, DICT_STACK, &s->stack_index);
		split_visit(c, DICT_LINK, &s->link_index);
		visit_all(c, DICT_ATTRIBUTE, s->attribute_indices,
			  s->n_attribute_indices);
	}
}

static void visit_profiles(struct cut *c)
{
	for (size_t i = 0; i < c->r->n_resource_profiles; i++) {
		Otlp__ResourceProfiles *r = c->r->resource_profiles[i];

		for (size_t k = 0; k < r->n_scope_profiles; k++) {
			Otlp__ScopeProfiles *s = r->scope_profiles[k];

			for (size_t m = 0; m < s->n_profiles; m++)
				visit_profile(c, s->profiles[m]);
		}
	}
}

static void visit_location(struct cut *c, Otlp__Location *l)
{
	split_visit(c, DICT_MAPPING, &l->mapping_index);
	for (size_t i = 0; i < l->n_lines; i++)
		split_visit(c, DICT_FUNCTION, &l->lines[i]->function_index);
	visit_all(c, DICT_ATTRIBUTE, l->attribute_indices,
		  l->n_attribute_indices);
}

static void visit_element(struct cut *c, enum dict_field f, void *p)
{
	Otlp__KeyValueAndUnit *a = p;
	Otlp__Function *fn = p;
	Otlp__Mapping *m = p;
	Otlp__Stack *s = p;

	if (f == DICT_STACK) {
		visit_all(c, DICT_LOCATION, s->location_indices,
			  s->n_location_indices);
	} else if (f == DICT_LOCATION) {
		visit_location(c, p);
	} else if (f == DICT_FUNCTION) {
		split_visit(c, DICT_STRING, &fn->name_strindex);
		split_visit(c, DICT_STRING, &fn->system_name_strindex);
		split_visit(c, DICT_STRING, &fn->filename_strindex);
	} else if (f == DICT_MAPPING) {
		split_visit(c, DICT_STRING, &m->filename_strindex);
		visit_all(c, DICT_ATTRIBUTE, m->attribute_indices,
			  m->n_attribute_indices);
	} else if (f == DICT_ATTRIBUTE) {
		split_visit(c, DICT_STRING, &a->key_strindex);
		split_visit(c, DICT_STRING, &a->unit_strindex);
	}
}

static void visit_everything(struct cut *c)
{
	/* each table after those that refer to it */
	static const enum dict_field order[] = {
		DICT_STACK, DICT_LOCATION, DICT_FUNCTION, DICT_MAPPING,
		DICT_ATTRIBUTE,
	};

	visit_profiles(c);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct table *t = &c->tables[order[i]];

		for (size_t k = 0; k < *t->n; k++) {
			if (c->rewrite || t->map[k])
				visit_element(c, order[i], t->v[k]);
		}
	}
}

/* Element 0 is always there, and refers to nothing. */
static void split_compact(struct table *t, bool strings)
{
	size_t n = 0;

	for (size_t i = 0; i < *t->n; i++) {
		if (i && !t->map[i]) {
			if (strings)
				free(t->v[i]);
			else
				split_drop(t->v[i]);
			continue;
		}
		t->map[i] = (uint32_t)n;
		t->v[n++] = t->v[i];
	}
	*t->n = n;
}

static bool cut_dictionary(struct cut *c)
{
	visit_everything(c);
	if (c->bad)
		return false;
	for (unsigned int f = DICT_MAPPING; f < DICT__MAX; f++)
		split_compact(&c->tables[f], f == DICT_STRING);
	c->rewrite = true;
	visit_everything(c);
	return true;
}

#define TABLE(c, f, name)						\
	((c)->tables[f] = (struct table){				\
		.v = (void **)(c)->r->dictionary->name##_table,		\
		.n = &(c)->r->dictionary->n_##name##_table,		\
		.old = (c)->r->dictionary->n_##name##_table,		\
	})

static int find_tables(struct cut *c)
{
	TABLE(c, DICT_MAPPING, mapping);
	TABLE(c, DICT_LOCATION, location);
	TABLE(c, DICT_FUNCTION, function);
	TABLE(c, DICT_LINK, link);
	TABLE(c, DICT_STRING, string);
	TABLE(c, DICT_ATTRIBUTE, attribute);
	TABLE(c, DICT_STACK, stack);
	for (unsigned int f = DICT_MAPPING; f < DICT__MAX; f++) {
		struct table *t = &c->tables[f];

		t->map = calloc(t->old ? t->old : 1, sizeof(*t->map));
		if (!t->map)
			return -ENOMEM;
	}
	return 0;
}

/* --- a half ----------------------------------------------------------------- */

static int pack(struct cut *c, struct split_part *ret)
{
	ret->len = otlp__export_profiles_service_request__get_packed_size(c->r);
	ret->data = malloc(ret->len ? ret->len : 1);
	if (!ret->data)
		return -ENOMEM;
	otlp__export_profiles_service_request__pack(c->r, ret->data);
	ret->samples = c->samples;
	ret->profiles = c->profiles;
	return 0;
}

/* The events from..to - 1 of a request. */
static int part(const uint8_t *data, size_t len, uint64_t from, uint64_t to,
		struct split_part *ret)
{
	struct cut c = { .from = from, .to = to };
	int r;

	*ret = (struct split_part){ 0 };
	c.r = otlp__export_profiles_service_request__unpack(NULL, len, data);
	if (!c.r || !c.r->dictionary) {
		r = -EPROTO;
	} else {
		cut_events(&c);
		r = find_tables(&c);
		if (r == 0)
			r = cut_dictionary(&c) ? pack(&c, ret) : -EPROTO;
	}
	for (unsigned int f = DICT_MAPPING; f < DICT__MAX; f++)
		free(c.tables[f].map);
	if (c.r)
		split_drop(c.r);
	return r;
}

static uint64_t events_of(const Otlp__ExportProfilesServiceRequest *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n_resource_profiles; i++) {
		const Otlp__ResourceProfiles *rp = r->resource_profiles[i];

		for (size_t k = 0; k < rp->n_scope_profiles; k++) {
			const Otlp__ScopeProfiles *s = rp->scope_profiles[k];

			for (size_t m = 0; m < s->n_profiles; m++) {
				const Otlp__Profile *p = s->profiles[m];

				for (size_t j = 0; j < p->n_samples; j++)
					n += p->samples[j]->n_timestamps_unix_nano;
			}
		}
	}
	return n;
}

int split_request(const uint8_t *data, size_t len, struct split_part ret[2])
{
	Otlp__ExportProfilesServiceRequest *m;
	uint64_t n;
	int r;

	m = otlp__export_profiles_service_request__unpack(NULL, len, data);
	if (!m)
		return -EPROTO;
	n = events_of(m);
	split_drop(m);
	if (n < 2)
		return -ENODATA;
	r = part(data, len, 0, n / 2, &ret[0]);
	if (r < 0)
		return r;
	r = part(data, len, n / 2, n, &ret[1]);
	if (r < 0)
		free(ret[0].data);
	return r;
}

/* --- items ------------------------------------------------------------------ */

static struct item *item_of(const struct item *it, const struct split_part *p)
{
	struct body *b = body_make(p->data, p->len, it->body->compression);
	struct item *ret = b ? item_new(b, it->id, p->samples, p->profiles) :
			       NULL;

	body_put(b);
	return ret;
}

int split_item(const struct item *it, struct item *ret[2])
{
	struct split_part parts[2];
	uint8_t *raw;
	int r;

	if (it->samples < 2)
		return -ENODATA;
	raw = body_raw(it->body);
	if (!raw)
		return -ENOMEM;
	r = split_request(raw, it->body->raw_len, parts);
	free(raw);
	if (r < 0)
		return r;
	for (int i = 0; i < 2; i++) {
		ret[i] = item_of(it, &parts[i]);
		free(parts[i].data);
	}
	if (ret[0] && ret[1])
		return 0;
	item_free(ret[0]);
	item_free(ret[1]);
	return -ENOMEM;
}
