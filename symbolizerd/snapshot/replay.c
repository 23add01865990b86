// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolizerd/snapshot/frames.h"
#include "symbolizerd/snapshot/walk.h"
#include "symbolizerd/unwind/table.h"

struct replaying {
	const struct snapshot *s;
	struct replay_misses *misses;
	struct walk walk;
	struct managed managed;
};

static int replay_read(void *ctx, uint64_t at, void *dst, size_t len)
{
	struct replaying *r = ctx;

	if (snapshot_get(r->s, at, dst, len))
		return 0;
	memset(dst, 0, len);
	if (!snapshot_failed(r->s, at, len))
		r->misses->memory++;
	return -EFAULT;
}

static void replay_looked_up(void *ctx, uint32_t file, uint64_t off)
{
	struct replaying *r = ctx;

	if (!snapshot_row_of(r->s, file, off))
		r->misses->rows++;
}

#define BEYOND	(2ULL << TABLE_PAGE_SHIFT)

/* The rows of this file as a worker would lay them out, and one far beyond them: a file
 * of which no place has a rule still has a table. */
static void replay_table(void *ctx, uint32_t file, struct walk_file *ret)
{
	static const struct unwind_rule end = { .cfa = CFA_END };
	struct replaying *r = ctx;
	struct table_builder b;
	void *table = NULL;
	uint64_t last = 0;
	size_t len;
	int err = table_builder_init(&b);

	for (uint32_t i = 0; !err && i < r->s->rows.n; i++) {
		const struct snapshot_row *row = &r->s->rows.v[i];

		if (row->file != file)
			continue;
		err = table_builder_add(&b, row->start, row->end, &row->rule);
		if (row->end > last)
			last = row->end;
	}
	if (!err && last)
		err = table_builder_add(&b, last + BEYOND, last + BEYOND + 1, &end);
	if (!err)
		err = table_builder_finish(&b, &table, &len);
	table_builder_fini(&b);
	if (!err)
		walk_tables_add(&r->walk.tables, table, &ret->dir, &ret->pages);
	free(table);
}

int replay(const struct snapshot *s, struct snapshot *got,
	   struct replay_misses *misses)
{
	struct replaying r = {
		.s = s, .misses = misses,
		.walk = { .s = s, .read = replay_read, .table = replay_table,
			  .looked_up = replay_looked_up },
	};
	int err;

	*misses = (struct replay_misses){ 0 };
	r.walk.ctx = &r;
	got->machine = s->machine;
	managed_init(&r.managed, 1);
	err = walk_begin(&r.walk);
	for (uint32_t i = 0; !err && i < s->threads.n; i++)
		err = frames_walk(&r.walk, &r.managed, &s->threads.v[i], got);
	walk_end(&r.walk);
	managed_fini(&r.managed);
	return err;
}
