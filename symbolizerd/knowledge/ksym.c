// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/ksym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ksym_clear(struct ksym_names *k)
{
	for (uint32_t i = 0; i < k->names.n; i++)
		free(k->names.v[i].name);
	free(k->names.v);
	free(k->ours);
	free(k->unused);
	hash_free(&k->by_name);
	*k = (struct ksym_names){ .full = k->full, .max = k->max };
}

/* "ext4_map [ext4]": where the module begins; "": it has none.  *len: of the function's
 * name. */
static const char *ksym_module(const char *name, size_t *len)
{
	const char *module = strstr(name, " [");

	*len = module ? (size_t)(module - name) : strlen(name);
	return module ? module + 1 : "";
}

static bool ksym_same(const char *known, const char *name)
{
	size_t len;
	const char *module = ksym_module(name, &len);

	return strlen(known) == len && !memcmp(known, name, len) &&
	       !strcmp(known + len + 1, module);
}

static char *ksym_copy(const char *name)
{
	size_t len;
	const char *module = ksym_module(name, &len);
	char *copy = malloc(len + strlen(module) + 2);

	if (!copy)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	strcpy(copy + len + 1, module);
	return copy;
}

static uint32_t ksym_max(const struct ksym_names *k)
{
	return k->max ? k->max : KSYM_NAMES_MAX;
}

/* A number that no name has, KSYM_UNKNOWN without room. */
static uint32_t ksym_take(struct ksym_names *k)
{
	if (k->n_unused) {
		k->n_unused--;
		return k->unused[k->n_unused];
	}
	if (k->names.n == ksym_max(k) || !vector_reserve(&k->names, 1))
		return KSYM_UNKNOWN;
	return k->names.n++;
}

/* Our number of a name, KSYM_UNKNOWN without room. */
static uint32_t ksym_intern(struct ksym_names *k, const char *name)
{
	uint64_t hash = hash_mix(k->seed, name, strlen(name));
	struct hash_slot *s = hash_find(&k->by_name, hash);
	uint32_t number;
	char *copy;

	while (s && !ksym_same(k->names.v[hash_index(s)].name, name))
		s = hash_next(&k->by_name, s);
	if (s)
		return hash_index(s);
	copy = ksym_copy(name);
	if (!copy || !hash_reserve(&k->by_name)) {
		free(copy);
		return KSYM_UNKNOWN;
	}
	number = ksym_take(k);
	if (number == KSYM_UNKNOWN) {
		k->full++;
		free(copy);
		return KSYM_UNKNOWN;
	}
	k->names.v[number] = (struct ksym_name){ .name = copy, .hash = hash };
	/* there is room */
	(void)!hash_add(&k->by_name, hash, number);
	return number;
}

int ksym_set(struct ksym_names *k, const struct ksym_rec *rec)
{
	static const struct ksym_name none;
	uint32_t before = k->cap;

	if (!k->names.n) {
		k->seed = hash_seed();
		if (!vector_push(&k->names, none))
			return -ENOMEM;
	}
	if (!array_reserve(&k->ours, &k->cap, (uint64_t)rec->number + 1))
		return -ENOMEM;
	memset(k->ours + before, 0, (k->cap - before) * sizeof(*k->ours));
	k->ours[rec->number] = ksym_intern(k, rec->name);
	return k->ours[rec->number] == KSYM_UNKNOWN ? -ENOMEM : 0;
}

/* --- forgetting ------------------------------------------------------------------- */

static void ksym_mark_traces(struct ksym_names *k, const struct traces *traces)
{
	for (uint32_t i = 0; i < traces->top; i++) {
		const struct trace *t = traces->v[i];

		for (uint32_t w = 0; t && w < t->n_kernel; w++) {
			if (FRAME_NUMBER(t->words[w]) < k->names.n)
				k->names.v[FRAME_NUMBER(t->words[w])].used = true;
		}
	}
}

static void ksym_mark_ours(struct ksym_names *k)
{
	for (uint32_t i = 0; i < k->cap; i++)
		k->names.v[k->ours[i]].used = true;
}

/* Forget those that are not used.  False: all are. */
static bool ksym_forget(struct ksym_names *k)
{
	for (uint32_t i = 1; i < k->names.n; i++) {
		struct ksym_name *n = &k->names.v[i];

		if (n->used || !n->name)
			continue;
		hash_remove_index(&k->by_name, n->hash, i);
		free(n->name);
		n->name = NULL;
		k->unused[k->n_unused] = i;
		k->n_unused++;
	}
	for (uint32_t i = 0; i < k->cap; i++) {
		if (!k->names.v[k->ours[i]].name)
			k->ours[i] = KSYM_UNKNOWN;
	}
	return k->n_unused > 0;
}

void ksym_sweep(struct ksym_names *k, const struct traces *traces)
{
	if (k->names.n < ksym_max(k) || k->n_unused)
		return;
	if (!k->unused)
		k->unused = calloc(ksym_max(k), sizeof(*k->unused));
	if (!k->unused)
		return;
	for (uint32_t ours = 2; ours-- > 0;) {
		for (uint32_t i = 0; i < k->names.n; i++)
			k->names.v[i].used = false;
		ksym_mark_traces(k, traces);
		if (ours)
			ksym_mark_ours(k);
		if (ksym_forget(k))
			return;
	}
}

/* --- what they are used for -------------------------------------------------------- */

void ksym_translate(const struct ksym_names *k, struct trace_rec *rec)
{
	for (uint32_t i = 0; i < rec->n_kernel; i++) {
		uint32_t number = FRAME_NUMBER(rec->words[i]);

		number = number < k->cap ? k->ours[number] : KSYM_UNKNOWN;
		rec->words[i] = FRAME_WORD(FRAME_KERNEL, number,
					   FRAME_PLACE(rec->words[i]));
	}
}

const char *ksym_find(const struct ksym_names *k, uint32_t number, const char **module)
{
	const char *name;

	*module = KSYM_NO_NAME;
	if (number == KSYM_UNKNOWN)
		return KSYM_NO_NAME;
	if (number >= k->names.n)
		return NULL;
	name = k->names.v[number].name;
	if (!name)
		return KSYM_NO_NAME;
	if (name[strlen(name) + 1])
		*module = name + strlen(name) + 1;
	return name;
}

static void ksym_name(void *source, const struct frame_place *f, struct frame_called *c)
{
	const char *name = ksym_find(source, FRAME_NUMBER(f->words[0]), &c->module);

	if (!name)
		return;
	c->n = 1;
	c->at[0] = (struct symbol_place){ .name = name, .file = "" };
}

const struct name_source ksym_source = { .name = ksym_name };
