// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/ksym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ksyms_clear(struct ksyms *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		free(k->v[i]);
	free(k->v);
	*k = (struct ksyms){ 0 };
}

static int ksym_make_room(struct ksyms *k, uint32_t number)
{
	uint32_t n = k->n ? k->n : 256;
	char **v;

	if (number < k->n)
		return 0;
	while (n <= number)
		n *= 2;
	v = reallocarray(k->v, n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	memset(v + k->n, 0, (n - k->n) * sizeof(*v));
	k->v = v;
	k->n = n;
	return 0;
}

int ksyms_set(struct ksyms *k, const struct ksym_rec *rec)
{
	int r = ksym_make_room(k, rec->number);
	char *name;

	if (r < 0)
		return r;
	name = strdup(rec->name);
	if (!name)
		return -ENOMEM;
	free(k->v[rec->number]);
	k->v[rec->number] = name;
	return 0;
}

const char *ksyms_find(const struct ksyms *k, uint32_t number, size_t *len,
		       const char **owner)
{
	const char *name = number < k->n ? k->v[number] : NULL;
	const char *module;

	if (!name)
		return NULL;
	module = strstr(name, " [");
	*len = module ? (size_t)(module - name) : strlen(name);
	*owner = module ? module + 1 : "[kernel]";
	return name;
}
