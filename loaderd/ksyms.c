// SPDX-License-Identifier: Apache-2.0
#include "loaderd/ksyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define RANGES_MAX	65536
#define NAMES_MAX	131072
#define REFRESH_NS	(300 * NSEC_PER_SEC)

static uint32_t hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;	/* FNV-1a */

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static uint32_t *hash_slot(struct ksyms *k, const char *name)
{
	uint32_t i = hash_name(name) & (k->hash_size - 1);

	while (k->hash[i] && strcmp(k->names[k->hash[i] - 1].name, name))
		i = (i + 1) & (k->hash_size - 1);
	return &k->hash[i];
}

static int grow_names(struct ksyms *k)
{
	uint32_t cap = k->cap_names ? 2 * k->cap_names : 512;
	struct ksym_name *names;
	uint32_t *hash;

	if (cap > NAMES_MAX)
		return -ENOSPC;
	names = realloc(k->names, cap * sizeof(*names));
	if (!names)
		return -ENOMEM;
	k->names = names;
	k->cap_names = cap;
	hash = calloc(2 * cap, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	free(k->hash);
	k->hash = hash;
	k->hash_size = 2 * cap;
	for (uint32_t i = 0; i < k->n_names; i++)
		*hash_slot(k, k->names[i].name) = i + 1;
	return 0;
}

static uint32_t ksyms_intern(struct ksyms *k, const char *name)
{
	uint32_t *slot;
	char *copy;

	if (k->n_names == k->cap_names && grow_names(k))
		return KSYM_NONE;
	slot = hash_slot(k, name);
	if (*slot)
		return *slot - 1;
	copy = strdup(name);
	if (!copy)
		return KSYM_NONE;
	k->names[k->n_names] = (struct ksym_name){ .name = copy };
	*slot = ++k->n_names;
	return k->n_names - 1;
}

int ksyms_init(struct ksyms *k, struct bpf *bpf)
{
	*k = (struct ksyms){ .bpf = bpf };
	if (grow_names(k))
		return -ENOMEM;
	ksyms_intern(k, "[unknown]"); /* KSYM_NONE */
	return 0;
}

/* The first range with a start beyond addr. */
static uint32_t upper(const struct ksyms *k, uint64_t addr)
{
	uint32_t lo = 0, hi = k->n_ranges;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (k->ranges[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void remember(struct ksyms *k, const struct ksym_range *r)
{
	uint32_t at;

	if (k->n_ranges == RANGES_MAX)
		k->n_ranges = 0;
	if (k->n_ranges == k->cap_ranges) {
		uint32_t cap = k->cap_ranges ? 2 * k->cap_ranges : 256;
		struct ksym_range *p;

		p = realloc(k->ranges, cap * sizeof(*p));
		if (!p)
			return;
		k->ranges = p;
		k->cap_ranges = cap;
	}
	at = upper(k, r->start);
	memmove(k->ranges + at + 1, k->ranges + at,
		(k->n_ranges - at) * sizeof(*r));
	k->ranges[at] = *r;
	k->n_ranges++;
}

/* "name+0xoff/0xsize" or "name+0xoff/0xsize [module]", else a raw address. */
static int ksyms_parse(const char *s, char *name, uint64_t *off, uint64_t *size)
{
	const char *plus = strrchr(s, '+'), *module = strstr(s, " [");
	int len = plus ? (int)(plus - s) : 0;

	if (!len || sscanf(plus, "+0x%" SCNx64 "/0x%" SCNx64, off, size) != 2)
		return -EINVAL;
	snprintf(name, KSYM_NAME_MAX, "%.*s%s", len, s, module ? module : "");
	return 0;
}

static uint32_t ask_kernel(struct ksyms *k, uint64_t addr, uint64_t *off)
{
	char answer[KSYM_NAME_MAX + 64], name[KSYM_NAME_MAX];
	struct ksym_range range;
	uint64_t size;

	/* %pB names the instruction before a return address */
	if (bpf_name(k->bpf, addr + 1, answer, sizeof(answer)) ||
	    ksyms_parse(answer, name, off, &size))
		return KSYM_NONE;
	*off -= *off ? 1 : 0;
	range.start = addr - *off;
	range.size = size > UINT32_MAX ? UINT32_MAX : size;
	range.number = ksyms_intern(k, name);
	remember(k, &range);
	return range.number;
}

uint32_t ksyms_find(struct ksyms *k, uint64_t addr, bool leaf, uint64_t *off)
{
	uint32_t i;

	addr -= !leaf;
	i = upper(k, addr);
	if (i && addr - k->ranges[i - 1].start < k->ranges[i - 1].size) {
		*off = addr - k->ranges[i - 1].start;
		return k->ranges[i - 1].number;
	}
	*off = 0;
	return ask_kernel(k, addr, off);
}

void ksyms_refresh(struct ksyms *k, uint64_t now)
{
	if (now - k->flushed_ns < REFRESH_NS)
		return;
	k->n_ranges = 0;
	k->flushed_ns = now;
}
