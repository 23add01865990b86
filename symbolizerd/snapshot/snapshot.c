// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

const uint32_t snapshot_regs_n[SNAPSHOT__MACHINES] = { 17, 33 };

void snapshot_fini(struct snapshot *s)
{
	for (uint32_t i = 0; i < s->pages.n; i++)
		free(s->pages.v[i]);
	for (uint32_t i = 0; i < s->frames.n; i++) {
		free(s->frames.v[i].place);
		free(s->frames.v[i].name);
	}
	free(s->files.v);
	free(s->maps.v);
	free(s->rows.v);
	free(s->pages.v);
	free(s->failed.v);
	free(s->threads.v);
	free(s->frames.v);
	*s = (struct snapshot){ 0 };
}

/* Of the first page at or above an address. */
static uint32_t snapshot_page_index(const struct snapshot *s, uint64_t at)
{
	uint32_t lo = 0, hi = s->pages.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (s->pages.v[mid]->at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct snapshot_page *snapshot_page_of(const struct snapshot *s, uint64_t at)
{
	uint32_t i = snapshot_page_index(s, at);

	return i < s->pages.n && s->pages.v[i]->at == at ? s->pages.v[i] : NULL;
}

static struct snapshot_page *snapshot_new_page(struct snapshot *s, uint64_t at)
{
	uint32_t i = snapshot_page_index(s, at);
	struct snapshot_page *p;

	if (s->pages.n >= SNAPSHOT_PAGES_MAX)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || !vector_push(&s->pages, p)) {
		free(p);
		return NULL;
	}
	p->at = at;
	memmove(&s->pages.v[i + 1], &s->pages.v[i],
		(s->pages.n - 1 - i) * sizeof(p));
	s->pages.v[i] = p;
	return p;
}

bool snapshot_put(struct snapshot *s, uint64_t at, const void *data, size_t len)
{
	const uint8_t *from = data;

	for (size_t i = 0; i < len; i++) {
		uint64_t addr = at + i, in = addr % SNAPSHOT_PAGE;
		struct snapshot_page *p = snapshot_page_of(s, addr - in);

		if (!p)
			p = snapshot_new_page(s, addr - in);
		if (!p)
			return false;
		for (; in < SNAPSHOT_PAGE && i < len; in++, i++) {
			p->data[in] = from[i];
			p->has[in / 8] |= (uint8_t)(1u << in % 8);
		}
		i--;
	}
	return true;
}

bool snapshot_get(const struct snapshot *s, uint64_t at, void *dst, size_t len)
{
	uint8_t *to = dst;

	for (size_t i = 0; i < len; i++) {
		uint64_t addr = at + i, in = addr % SNAPSHOT_PAGE;
		const struct snapshot_page *p = snapshot_page_of(s, addr - in);

		if (!p || !(p->has[in / 8] & 1u << in % 8))
			return false;
		to[i] = p->data[in];
	}
	return true;
}

bool snapshot_failed(const struct snapshot *s, uint64_t at, uint64_t len)
{
	for (uint32_t i = 0; i < s->failed.n; i++) {
		if (s->failed.v[i].at == at && s->failed.v[i].len == len)
			return true;
	}
	return false;
}

const struct snapshot_map *snapshot_map_of(const struct snapshot *s, uint64_t at)
{
	uint32_t lo = 0, hi = s->maps.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (s->maps.v[mid].end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->maps.n && s->maps.v[lo].start <= at ? &s->maps.v[lo] : NULL;
}

const struct snapshot_row *snapshot_row_of(const struct snapshot *s, uint32_t file,
					   uint64_t off)
{
	for (uint32_t i = 0; i < s->rows.n; i++) {
		const struct snapshot_row *r = &s->rows.v[i];

		if (r->file == file && off - r->start < r->end - r->start)
			return r;
	}
	return NULL;
}

bool snapshot_frame(struct snapshot *s, char *place, char *name)
{
	struct snapshot_frame f = { place, name };

	if (place && s->threads.n && s->frames.n < SNAPSHOT_FRAMES_MAX &&
	    vector_push(&s->frames, f)) {
		s->threads.v[s->threads.n - 1].n++;
		return true;
	}
	free(place);
	free(name);
	return false;
}
