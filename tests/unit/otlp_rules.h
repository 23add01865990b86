/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_rules - is this request what receivers want?
 *
 * The rules of profcheck (OpenTelemetry sig-profiling, 2026-08), and those of
 * other receivers.  Each function returns NULL, or the rule that is broken.
 */
#ifndef TESTS_OTLP_RULES_H
#define TESTS_OTLP_RULES_H

#include <stdbool.h>
#include <string.h>

#include "profile/formats/otlp.pb-c.h"

typedef Otlp__ExportProfilesServiceRequest Request;
typedef Otlp__ProfilesDictionary Dictionary;

#define RULE(ok, text)							\
	do {								\
		if (!(ok))						\
			return (text);					\
	} while (0)

static bool below(int64_t i, size_t n)
{
	return i >= 0 && (uint64_t)i < n;
}

static const char *attribute_key(const Dictionary *d, int32_t i)
{
	return d->string_table[d->attribute_table[i]->key_strindex];
}

static const char *check_attributes(const Dictionary *d, const int32_t *v,
				    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		RULE(below(v[i], d->n_attribute_table), "attribute index");
		for (size_t k = 0; k < i; k++)
			RULE(strcmp(attribute_key(d, v[i]),
				    attribute_key(d, v[k])) != 0,
			     "attribute keys unique");
	}
	return NULL;
}

/* Element 0 is empty: it encodes to nothing. */
#define EMPTY(table)							\
	RULE(d->n_##table && d->table[0] &&				\
	     protobuf_c_message_get_packed_size(&d->table[0]->base) == 0, \
	     #table "[0] is the empty element")

static const char *check_tables(const Dictionary *d)
{
	EMPTY(mapping_table);
	EMPTY(location_table);
	EMPTY(function_table);
	EMPTY(link_table);
	EMPTY(attribute_table);
	EMPTY(stack_table);
	RULE(d->n_string_table && !d->string_table[0][0], "string_table[0]");
	for (size_t i = 0; i < d->n_attribute_table; i++) {
		Otlp__KeyValueAndUnit *a = d->attribute_table[i];

		RULE(below(a->key_strindex, d->n_string_table), "key index");
		RULE(below(a->unit_strindex, d->n_string_table), "unit index");
	}
	for (size_t i = 0; i < d->n_stack_table; i++) {
		Otlp__Stack *s = d->stack_table[i];

		for (size_t k = 0; k < s->n_location_indices; k++)
			RULE(below(s->location_indices[k], d->n_location_table),
			     "location index");
	}
	return NULL;
}

static const char *check_code(const Dictionary *d)
{
	const char *bad;

	for (size_t i = 0; i < d->n_mapping_table; i++) {
		Otlp__Mapping *m = d->mapping_table[i];

		RULE(below(m->filename_strindex, d->n_string_table),
		     "mapping file name index");
		RULE((!m->memory_start && !m->memory_limit) ||
		     m->memory_start < m->memory_limit, "mapping range");
		bad = check_attributes(d, m->attribute_indices,
				       m->n_attribute_indices);
		RULE(!bad, bad);
	}
	for (size_t i = 0; i < d->n_function_table; i++) {
		Otlp__Function *f = d->function_table[i];

		RULE(below(f->name_strindex, d->n_string_table) &&
		     below(f->system_name_strindex, d->n_string_table) &&
		     below(f->filename_strindex, d->n_string_table) &&
		     f->start_line >= 0, "function");
	}
	for (size_t i = 0; i < d->n_location_table; i++) {
		Otlp__Location *l = d->location_table[i];

		RULE(below(l->mapping_index, d->n_mapping_table),
		     "mapping index");
		for (size_t k = 0; k < l->n_lines; k++)
			RULE(below(l->lines[k]->function_index,
				   d->n_function_table) &&
			     l->lines[k]->line >= 0 && l->lines[k]->column >= 0,
			     "line");
		bad = check_attributes(d, l->attribute_indices,
				       l->n_attribute_indices);
		RULE(!bad, bad);
	}
	return NULL;
}

static const char *check_sample(const Dictionary *d, const Otlp__Profile *p,
				const Otlp__Sample *s)
{
	const Otlp__Sample *first = p->samples[0];

	RULE(below(s->stack_index, d->n_stack_table), "stack index");
	RULE(below(s->link_index, d->n_link_table), "link index");
	RULE(s->n_values || s->n_timestamps_unix_nano, "empty sample");
	RULE(!s->n_values || !s->n_timestamps_unix_nano ||
	     s->n_values == s->n_timestamps_unix_nano, "values and times");
	RULE(!s->n_values || s->n_timestamps_unix_nano || s->n_values == 1,
	     "one value");
	RULE(!s->n_values == !first->n_values &&
	     !s->n_timestamps_unix_nano == !first->n_timestamps_unix_nano,
	     "samples of one shape");
	for (size_t i = 0; i < s->n_timestamps_unix_nano; i++)
		RULE(s->timestamps_unix_nano[i] >= p->time_unix_nano &&
		     s->timestamps_unix_nano[i] - p->time_unix_nano <
		     p->duration_nano, "timestamp in the profile");
	return check_attributes(d, s->attribute_indices,
				s->n_attribute_indices);
}

static const char *check_profile(const Dictionary *d, const Otlp__Profile *p)
{
	const Otlp__ValueType *t[] = { p->sample_type, p->period_type };

	for (int i = 0; i < 2; i++)
		RULE(!t[i] || (below(t[i]->type_strindex, d->n_string_table) &&
			       below(t[i]->unit_strindex, d->n_string_table)),
		     "value type");
	for (size_t i = 0; i < p->n_samples; i++) {
		const char *bad = check_sample(d, p, p->samples[i]);

		RULE(!bad, bad);
	}
	return check_attributes(d, p->attribute_indices,
				p->n_attribute_indices);
}

static inline const char *check_profcheck(const Request *r)
{
	const Dictionary *d = r->dictionary;
	const char *bad;

	RULE(d, "a dictionary");
	bad = check_tables(d);
	RULE(!bad, bad);
	bad = check_code(d);
	RULE(!bad, bad);
	RULE(r->n_resource_profiles, "resource profiles");
	for (size_t i = 0; i < r->n_resource_profiles; i++) {
		Otlp__ResourceProfiles *rp = r->resource_profiles[i];

		RULE(rp->n_scope_profiles, "scope profiles");
		for (size_t k = 0; k < rp->n_scope_profiles; k++) {
			Otlp__ScopeProfiles *sp = rp->scope_profiles[k];

			RULE(sp->n_profiles, "profiles");
			for (size_t j = 0; j < sp->n_profiles; j++) {
				bad = check_profile(d, sp->profiles[j]);
				RULE(!bad, bad);
			}
		}
	}
	return NULL;
}

/* --- what other receivers ask for ------------------------------------------ */

static bool has_key(const Dictionary *d, const int32_t *v, size_t n,
		    const char *prefix)
{
	for (size_t i = 0; i < n; i++) {
		if (strncmp(attribute_key(d, v[i]), prefix,
			    strlen(prefix)) == 0)
			return true;
	}
	return false;
}

static bool same_sample(const Otlp__Sample *a, const Otlp__Sample *b)
{
	if (a->stack_index != b->stack_index || a->link_index != b->link_index ||
	    a->n_attribute_indices != b->n_attribute_indices)
		return false;
	for (size_t i = 0; i < a->n_attribute_indices; i++) {
		size_t k = 0;

		while (k < b->n_attribute_indices &&
		       a->attribute_indices[i] != b->attribute_indices[k])
			k++;
		if (k == b->n_attribute_indices)
			return false;
	}
	return true;
}

/* What a sample is, is said by its stack, its set of attributes and its link
 * (profiles.proto, message Sample); those that are the same are one. */
static const char *check_unique_samples(const Otlp__Profile *p)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		for (size_t k = 0; k < i; k++)
			RULE(!same_sample(p->samples[i], p->samples[k]), "samples unique");
	}
	return NULL;
}

static const char *check_resource(const Otlp__ResourceProfiles *rp)
{
	const Otlp__Resource *r = rp->resource;
	bool service = false;
	const char *bad;

	RULE(r, "a resource");
	for (size_t i = 0; i < r->n_attributes; i++) {
		RULE(r->attributes[i]->key[0] && !r->attributes[i]->key_strindex,
		     "plain key");
		RULE(r->attributes[i]->value &&
		     r->attributes[i]->value->value_case !=
		     OTLP__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX,
		     "plain value");
		service |= !strcmp(r->attributes[i]->key, "service.name");
		for (size_t k = 0; k < i; k++)
			RULE(strcmp(r->attributes[i]->key,
				    r->attributes[k]->key) != 0,
			     "resource keys unique");
	}
	RULE(service, "service.name");
	for (size_t k = 0; k < rp->n_scope_profiles; k++) {
		for (size_t j = 0; j < rp->scope_profiles[k]->n_profiles; j++) {
			Otlp__Profile *p = rp->scope_profiles[k]->profiles[j];

			RULE(p->n_samples, "no empty profile");
			RULE(p->sample_type && p->sample_type->type_strindex &&
			     p->period_type && p->period_type->type_strindex &&
			     p->period > 0, "sample type, period");
			RULE(p->profile_id.len == 16, "profile id");
			bad = check_unique_samples(p);
			RULE(!bad, bad);
		}
	}
	return NULL;
}

/* No two equal elements: compares their bytes. */
#define UNIQUE(table)							\
	do {								\
		for (size_t i = 0; i < d->n_##table; i++) {		\
			for (size_t k = 0; k < i; k++)			\
				RULE(!same_message(&d->table[i]->base,	\
						   &d->table[k]->base),	\
				     #table " without duplicates");	\
		}							\
	} while (0)

static bool same_message(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
	size_t n = protobuf_c_message_get_packed_size(a);
	uint8_t x[4096], y[4096];

	if (n != protobuf_c_message_get_packed_size(b) || n > sizeof(x))
		return false;
	protobuf_c_message_pack(a, x);
	protobuf_c_message_pack(b, y);
	return memcmp(x, y, n) == 0;
}

static inline const char *check_receivers(const Request *r)
{
	const Dictionary *d = r->dictionary;

	for (size_t i = 1; i < d->n_location_table; i++)
		RULE(has_key(d, d->location_table[i]->attribute_indices,
			     d->location_table[i]->n_attribute_indices,
			     "profile.frame.type"), "frame type");
	for (size_t i = 1; i < d->n_mapping_table; i++)
		RULE(has_key(d, d->mapping_table[i]->attribute_indices,
			     d->mapping_table[i]->n_attribute_indices,
			     "process.executable.build_id."), "build id");
	for (size_t i = 1; i < d->n_function_table; i++)
		RULE(d->function_table[i]->name_strindex > 0, "function name");
	for (size_t i = 0; i < d->n_string_table; i++) {
		for (size_t k = 0; k < i; k++)
			RULE(strcmp(d->string_table[i], d->string_table[k]),
			     "string_table without duplicates");
	}
	UNIQUE(mapping_table);
	UNIQUE(location_table);
	UNIQUE(function_table);
	UNIQUE(attribute_table);
	UNIQUE(stack_table);
	for (size_t i = 0; i < r->n_resource_profiles; i++) {
		const char *bad = check_resource(r->resource_profiles[i]);

		RULE(!bad, bad);
	}
	return NULL;
}

/* --- orphans: every element is used ------------------------------------------ */

#define USED_MAX	4096

struct used {
	uint8_t mapping[USED_MAX], location[USED_MAX], function[USED_MAX],
		string[USED_MAX], attribute[USED_MAX], stack[USED_MAX];
};

static inline void use_attributes(struct used *u, const int32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		u->attribute[v[i]] = 1;
}

static inline void use_samples(struct used *u, const Otlp__Profile *p)
{
	u->string[p->sample_type->type_strindex] = 1;
	u->string[p->sample_type->unit_strindex] = 1;
	u->string[p->period_type->type_strindex] = 1;
	u->string[p->period_type->unit_strindex] = 1;
	for (size_t i = 0; i < p->n_samples; i++) {
		u->stack[p->samples[i]->stack_index] = 1;
		use_attributes(u, p->samples[i]->attribute_indices,
			       p->samples[i]->n_attribute_indices);
	}
}

static inline void use_tables(struct used *u, const Dictionary *d)
{
	for (size_t i = 0; i < d->n_stack_table; i++) {
		for (size_t k = 0; k < d->stack_table[i]->n_location_indices; k++)
			u->location[d->stack_table[i]->location_indices[k]] = 1;
	}
	for (size_t i = 0; i < d->n_location_table; i++) {
		Otlp__Location *l = d->location_table[i];

		u->mapping[l->mapping_index] = 1;
		for (size_t k = 0; k < l->n_lines; k++)
			u->function[l->lines[k]->function_index] = 1;
		use_attributes(u, l->attribute_indices, l->n_attribute_indices);
	}
	for (size_t i = 0; i < d->n_function_table; i++) {
		u->string[d->function_table[i]->name_strindex] = 1;
		u->string[d->function_table[i]->system_name_strindex] = 1;
		u->string[d->function_table[i]->filename_strindex] = 1;
	}
	for (size_t i = 0; i < d->n_mapping_table; i++) {
		u->string[d->mapping_table[i]->filename_strindex] = 1;
		use_attributes(u, d->mapping_table[i]->attribute_indices,
			       d->mapping_table[i]->n_attribute_indices);
	}
	for (size_t i = 0; i < d->n_attribute_table; i++)
		u->string[d->attribute_table[i]->key_strindex] = 1;
}

/* For dictionaries of at most USED_MAX elements a table. */
static inline const char *check_orphans(const Request *r)
{
	const Dictionary *d = r->dictionary;
	static struct used u;

	memset(&u, 0, sizeof(u));
	for (size_t i = 0; i < r->n_resource_profiles; i++)
		use_samples(&u, r->resource_profiles[i]->scope_profiles[0]->
				profiles[0]);
	use_tables(&u, d);
	RULE(!memchr(u.stack + 1, 0, d->n_stack_table - 1), "orphan stack");
	RULE(!memchr(u.location + 1, 0, d->n_location_table - 1),
	     "orphan location");
	RULE(!memchr(u.function + 1, 0, d->n_function_table - 1),
	     "orphan function");
	RULE(!memchr(u.mapping + 1, 0, d->n_mapping_table - 1),
	     "orphan mapping");
	RULE(!memchr(u.attribute + 1, 0, d->n_attribute_table - 1),
	     "orphan attribute");
	RULE(!memchr(u.string + 1, 0, d->n_string_table - 1), "orphan string");
	return NULL;
}

#endif /* TESTS_OTLP_RULES_H */
