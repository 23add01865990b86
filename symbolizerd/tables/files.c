// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/vector.h"
#include "symbolizerd/tables/vdso.h"

#define HEADROOM	OWNER_SPARE	/* one part in so many is kept free */
#define NUMBERS_SPARE	256	/* of those that can be given now: for others
				 * than the owner who has the most numbers */
#define FORGET_STEP	64	/* files a second */
#define MOVE_STEP	16	/* likewise: each is copied by loaderd */
#define ADOPT_GAP	64	/* numbers that a former hub may have given just
				 * before its end: records may carry them */

void files_init(struct file_policy *f, uint64_t seed, const struct tables_out *out,
		void *ctx)
{
	*f = (struct file_policy){ .seed = seed, .out = out, .ctx = ctx,
			     .n = EXE_FIRST, .owners.seed = seed,
			     .numbers.seed = seed };
}

void files_fini(struct file_policy *f)
{
	for (uint32_t i = 0; i < f->n && i < f->cap; i++) {
		free(f->v[i].table.entries);
		free(f->v[i].table.rules);
	}
	if (f->up)
		tables_fini(&f->tables);
	free(f->v);
	hash_free(&f->by_key);
	owners_fini(&f->owners);
	owners_fini(&f->numbers);
	files_init(f, f->seed, f->out, f->ctx);
}

/* --- by key ----------------------------------------------------------------- */

static uint64_t files_hash(const struct file_policy *f,
			   const struct file_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), f->seed);
}

uint32_t files_find(const struct file_policy *f, const struct file_key *key)
{
	const struct hash_slot *s = hash_find(&f->by_key, files_hash(f, key));

	while (s && memcmp(&f->v[hash_index(s)].key, key, sizeof(*key)))
		s = hash_next(&f->by_key, s);
	return s ? hash_index(s) : EXE_NONE;
}

const struct known_file *files_get(const struct file_policy *f, uint32_t number)
{
	return number < f->n && number < f->cap && f->v[number].used ?
		&f->v[number] : NULL;
}

static struct known_file *files_at(struct file_policy *f, uint32_t number)
{
	return (struct known_file *)files_get(f, number);
}

/* --- numbers ---------------------------------------------------------------- */

/* Room for n numbers; those that are new stand for nothing.  0 or -errno. */
static int files_grow(struct file_policy *f, uint32_t n)
{
	uint32_t before = f->cap;

	if (n > FILE_NUMBERS_MAX)
		return -ENOSPC;
	if (!array_reserve(&f->v, &f->cap, n))
		return -ENOMEM;
	if (f->cap > before)
		memset(f->v + before, 0, (f->cap - before) * sizeof(*f->v));
	return 0;
}

/* To be given again when what was sent until now is settled, and idle_s have
 * passed. */
static void files_number_free(struct file_policy *f, uint32_t number)
{
	f->v[number] = (struct known_file){
		.used_s = f->now_s, .after = f->tables.sent,
		.owner = f->v[number].used ? f->v[number].owner :
					     OWNER_UNKNOWN,
	};
	if (number < EXE_FIRST)
		return;
	if (f->free_last)
		f->v[f->free_last].next = number;
	else
		f->free_first = number;
	f->free_last = number;
}

static bool files_number_ready(const struct file_policy *f, uint32_t number)
{
	return number && f->v[number].after <= f->tables.settled &&
	       (uint64_t)f->v[number].used_s + f->idle_s < f->now_s;
}

/* Can so many numbers be given now? */
static bool files_numbers_left(const struct file_policy *f, uint32_t n)
{
	uint32_t left = FILE_NUMBERS_MAX - f->n;

	for (uint32_t i = f->free_first; left < n && files_number_ready(f, i);
	     i = f->v[i].next)
		left++;
	return left >= n;
}

static uint32_t files_number_again(struct file_policy *f)
{
	uint32_t number = f->free_first;

	if (!files_number_ready(f, number))
		return 0;
	f->free_first = f->v[number].next;
	if (!f->free_first)
		f->free_last = 0;
	return number;
}

/* There is room: hash_reserve() was called. */
static void files_link(struct file_policy *f, uint32_t number)
{
	(void)!hash_add(&f->by_key, files_hash(f, &f->v[number].key), number);
}

/* May this owner have one more file?  0; -ENOSPC, if others are dropped; -EAGAIN,
 * not before more numbers have rested. */
static int files_may_have(struct file_policy *f, uint32_t owner)
{
	if (f->owners.total >= owners_limit(&f->owners, owner, FILES_MAX))
		return -ENOSPC;
	return owners_limit(&f->numbers, owner, FILES_MAX) == FILES_MAX ||
	       files_numbers_left(f, NUMBERS_SPARE) ? 0 : -EAGAIN;
}

/* A number for this key, which has none.  Or -errno. */
static int files_number(struct file_policy *f, const struct file_key *key,
			uint32_t owner)
{
	uint32_t number = EXE_VDSO;
	int r;

	if (!hash_reserve(&f->by_key))
		return -ENOMEM;
	if (!vdso_is(key)) {
		r = files_may_have(f, owner);
		number = r ? 0 : files_number_again(f);
		if (!r && !number)
			r = files_grow(f, f->n + 1);
		if (r)
			return r;
		if (number)
			owners_add(&f->numbers, f->v[number].owner, -1);
		else
			number = f->n++;
		f->stats.exes++;
		f->stats.files++;
		f->stats.numbers = f->n - EXE_FIRST;
	}
	f->v[number] = (struct known_file){
		.key = *key, .used = true, .used_s = f->now_s,
		.owner = owner, .table.owner = owner,
	};
	owners_add(&f->owners, owner, 1);
	owners_add(&f->numbers, owner, 1);
	files_link(f, number);
	return (int)number;
}

/* --- what loaderd is told ---------------------------------------------------- */

static struct file_entry files_entry(const struct file_policy *f, uint32_t number)
{
	const struct known_file *e = &f->v[number];

	return (struct file_entry){
		.exe = number, .dir = e->table.dir, .pages = e->table.pages,
		.state = e->state | (e->host ? 0 : FILE_ASK_HOST),
		.runtime = e->runtime,
	};
}

/* Send the entry as it is now, with ask (FILE_ASK or 0).  This answers the
 * MSG_EXE that waits. */
static void files_say(struct file_policy *f, uint32_t number, uint8_t ask)
{
	struct file_entry entry = files_entry(f, number);
	struct known_file *e = &f->v[number];

	entry.state |= ask;
	f->tables.sent++;
	f->out->entry(f->ctx, e->id, &e->key, &entry);
	e->id = 0;
}

static void files_say_drop(struct file_policy *f, uint64_t id, const struct file_key *key)
{
	f->tables.sent++;
	f->out->drop(f->ctx, id, key);
}

/* The key first, so that no lookup finds the table; then the space; the number
 * last. */
static void files_drop(struct file_policy *f, uint32_t number)
{
	struct known_file *e = &f->v[number];

	files_say_drop(f, e->id, &e->key);
	f->out->dropped(f->ctx, number);
	f->stats.tables -= e->table.pages != 0;
	f->stats.files -= number >= EXE_FIRST;
	f->waiting -= e->need != 0;
	owners_add(&f->owners, e->owner, -1);
	tables_release(&f->tables, &e->table);
	hash_remove_index(&f->by_key, files_hash(f, &e->key), number);
	files_number_free(f, number);
}

/* --- making room -------------------------------------------------------------- */

/* The least recently used one of this owner, or, owner is NULL, of all; 0: there
 * is none. */
static uint32_t files_coldest(const struct file_policy *f, uint32_t except,
			      bool with_table, const uint32_t *owner)
{
	uint32_t found = 0;

	for (uint32_t i = EXE_FIRST; i < f->n; i++) {
		const struct known_file *e = &f->v[i];

		if (i == except || !e->used ||
		    (with_table && !e->table.pages) ||
		    (owner && e->owner != *owner) ||
		    (found && e->used_s >= f->v[found].used_s))
			continue;
		found = i;
	}
	return found;
}

/* Of the owner that has the most of `what`: of .owners files, of .tables.owners
 * bytes, of .tables.rules.owners rules.  Files that a former hub left have no
 * owner, and a rule may be left to others: then the coldest of all. */
static bool files_evict(struct file_policy *f, uint32_t except,
			struct owners *what)
{
	bool with_table = what != &f->owners;
	uint32_t owner, found = 0;

	if (owners_most(what, &owner))
		found = files_coldest(f, except, with_table, &owner);
	if (!found)
		found = files_coldest(f, except, with_table, NULL);
	if (!found)
		return false;
	files_drop(f, found);
	f->stats.evicted++;
	return true;
}

/* Evict until `need` of so many bytes will be free, once the grace of all is
 * over. */
static void files_make_room(struct file_policy *f, uint64_t need, uint64_t bytes,
			    uint32_t except)
{
	for (int i = 0; i < FORGET_STEP; i++) {
		uint64_t n = f->tables.slabs.elements - f->tables.held_elements;

		if (n * sizeof(union element) + need <= bytes ||
		    !files_evict(f, except, &f->tables.owners))
			return;
	}
}

/* Until so many rules are in no table. */
static void files_spare_rules(struct file_policy *f, uint32_t spare)
{
	for (int i = 0; i < FORGET_STEP; i++) {
		if (f->tables.rules.n + spare <= RULES_MAX ||
		    !files_evict(f, 0, &f->tables.rules.owners))
			return;
	}
}

/* Move tables out of the last slab when the others have room for them: a slab
 * that is empty is dropped. */
static void files_compact(struct file_policy *f)
{
	uint32_t last = slabs_spare(&f->tables.slabs), left = MOVE_STEP;

	for (uint32_t i = EXE_VDSO; last && left && i < f->n; i++) {
		struct known_file *e = files_at(f, i);
		struct file_entry entry;

		if (!e || !tables_in(&e->table, last))
			continue;
		entry = files_entry(f, i);
		if (tables_move(&f->tables, &e->key, &entry, &e->table, last))
			return;
		left--;
	}
}

/* Ask for the table once more.  This may call files_exe(). */
static void files_ask(struct file_policy *f, uint32_t number)
{
	if (number == EXE_VDSO)
		f->out->vdso(f->ctx);
	else
		files_say(f, number, FILE_ASK);
}

/* There may be room now for tables that had to wait. */
static void files_ask_again(struct file_policy *f)
{
	uint64_t used = f->tables.slabs.elements * sizeof(union element);
	uint64_t room = f->tables.budget > used ? f->tables.budget - used : 0;

	for (uint32_t i = EXE_VDSO; f->waiting && i < f->n; i++) {
		struct known_file *e = &f->v[i];

		if (!e->need || e->need > room)
			continue;
		room -= e->need;
		e->need = 0;
		f->waiting--;
		files_ask(f, i);
	}
}

/* --- the life of a file -------------------------------------------------------- */

/* A former hub did not say whose it is. */
static void files_own(struct file_policy *f, struct known_file *e, uint32_t owner)
{
	if (e->owner == owner)
		return;
	owners_add(&f->owners, e->owner, -1);
	owners_add(&f->owners, owner, 1);
	owners_add(&f->numbers, e->owner, -1);
	owners_add(&f->numbers, owner, 1);
	e->owner = owner;
	tables_own(&f->tables, &e->table, owner);
}

int files_exe(struct file_policy *f, const struct msg_exe *m, uint32_t owner,
	      uint64_t id)
{
	int number = (int)files_find(f, &m->key);

	if (number && m->no_room) {	/* loaderd has lost it */
		files_drop(f, (uint32_t)number);
		number = 0;
	}
	if (!number && !m->no_room)
		number = files_number(f, &m->key, owner);
	if (number <= 0) {
		/* loaderd asks again, and then there is room */
		files_say_drop(f, id, &m->key);
		if (number != -EAGAIN)
			files_evict(f, 0, &f->owners);
		return -ENOSPC;
	}
	files_own(f, &f->v[number], owner);
	f->v[number].host |= m->host || vdso_is(&m->key);
	/* send the number at once, so that records carry it; or answer a
	 * question that was asked twice */
	if (f->v[number].id || !f->v[number].tgid)
		files_say(f, (uint32_t)number, 0);
	f->v[number].id = id;
	f->v[number].tgid = m->tgid;
	return number;
}

bool files_has_answer(const struct file_policy *f, uint32_t number)
{
	const struct known_file *e = files_get(f, number);

	return e && e->state != FILE_PENDING;
}

void files_settled(struct file_policy *f, uint32_t number)
{
	if (files_get(f, number))
		files_say(f, number, 0);
}

void files_pending(struct file_policy *f, uint32_t number)
{
	const struct known_file *e = files_get(f, number);

	if (e && e->id)
		files_say(f, number, 0);
}

/* Ask for the table again when len bytes are free. */
static void files_want_room(struct file_policy *f, uint32_t number, size_t len)
{
	struct known_file *e = &f->v[number];

	f->waiting += !e->need;
	e->need = (uint32_t)len;
	files_say(f, number, 0);
}

void files_later(struct file_policy *f, uint32_t number)
{
	if (!files_get(f, number))
		return;
	if (number == EXE_VDSO)		/* loaderd has nothing to ask with */
		files_want_room(f, number, 1);
	else
		files_say(f, number, FILE_ASK);
}

void files_no_table(struct file_policy *f, uint32_t number)
{
	struct known_file *e = files_at(f, number);

	if (!e)
		return;
	if (!e->table.pages)
		e->state = FILE_BARE;
	files_say(f, number, 0);
}

/* There is no room: evict other tables, and wait until their grace is over. */
static void files_wait(struct file_policy *f, uint32_t number, size_t len)
{
	files_make_room(f, len, owners_limit(&f->tables.owners,
					     f->v[number].owner,
					     f->tables.budget), number);
	if (!f->tables.first)	/* rules are short, not bytes */
		files_evict(f, number, &f->tables.rules.owners);
	files_want_room(f, number, len);
}

void files_runtime(struct file_policy *f, uint32_t number, uint32_t runtime)
{
	struct known_file *e = files_at(f, number);

	if (e)
		e->runtime = (uint8_t)runtime;
}

void files_table(struct file_policy *f, uint32_t number, const void *data,
		 size_t len)
{
	struct known_file *e = files_at(f, number);
	struct file_entry entry;
	int r;

	if (!e)
		return;
	if (e->table.pages) {
		files_say(f, number, 0);
		return;
	}
	entry = files_entry(f, number);
	r = tables_install(&f->tables, e->id, &e->key, &entry, data, len,
			   &e->table);
	if (r == -ENOSPC) {
		files_wait(f, number, len);
		return;
	}
	f->stats.table_bad += r == -EPROTO;
	f->stats.table_full += r && r != -EPROTO;
	f->stats.tables += e->table.pages != 0;
	e->state = e->table.pages ? FILE_TABLE : FILE_BARE;
	if (e->table.pages)
		e->id = 0;	/* that was the answer */
	else
		files_say(f, number, 0);
}

bool files_settled_to(struct file_policy *f, uint64_t n)
{
	if (!f->up || !tables_settled(&f->tables, n))
		return false;
	files_ask_again(f);
	return true;
}

/* --- forgetting ----------------------------------------------------------------- */

void files_used(struct file_policy *f, uint32_t number)
{
	struct known_file *e = files_at(f, number);

	if (e)
		e->used_s = f->now_s;
}

void files_mapped(struct file_policy *f, const uint64_t *bits)
{
	for (uint32_t i = EXE_FIRST; i < f->n; i++)
		f->v[i].mapped = bits[i / 64] >> (i % 64) & 1;
	f->sweep = EXE_FIRST;
}

/* Each second forget some files that no process maps and no sample has used. */
static void files_sweep(struct file_policy *f)
{
	int left = FORGET_STEP;

	for (; left && f->sweep && f->sweep < f->n; f->sweep++) {
		const struct known_file *e = &f->v[f->sweep];

		if (!e->used || e->mapped || e->id ||
		    (uint64_t)e->used_s + f->idle_s > f->now_s)
			continue;
		files_drop(f, f->sweep);
		f->stats.forgotten++;
		left--;
	}
	if (f->sweep >= f->n)
		f->sweep = 0;
}

static uint32_t files_list_after(const struct file_policy *f)
{
	return f->list_s && f->list_s < f->idle_s ? f->list_s : f->idle_s;
}

void files_tick(struct file_policy *f, uint32_t now_s)
{
	f->now_s = now_s;
	if (!f->up)
		return;
	files_make_room(f, f->tables.budget / HEADROOM, f->tables.budget, 0);
	files_spare_rules(f, RULES_MAX / HEADROOM);
	files_compact(f);
	files_sweep(f);
	tables_drop_slabs(&f->tables);
	if (!f->sweep && now_s - f->listed_s >= files_list_after(f)) {
		f->listed_s = now_s;
		f->tables.sent++;
		f->out->list(f->ctx);
	}
}

void files_stats(const struct file_policy *f, struct table_stats *ret)
{
	*ret = f->stats;
	ret->table_rows = f->tables.rows;
	ret->table_bytes = f->tables.slabs.elements * sizeof(union element);
	ret->rules = f->tables.rules.n;
}

/* --- another connection ---------------------------------------------------------- */

int files_begin(struct file_policy *f, uint64_t budget, uint32_t idle_s,
		uint32_t now_s)
{
	struct table_stats stats = f->stats;

	for (uint32_t i = EXE_VDSO; i < f->n && i < f->cap; i++) {
		if (f->v[i].used)
			f->out->dropped(f->ctx, i);
	}
	files_fini(f);
	f->stats = (struct table_stats){
		.exes = stats.exes, .table_bad = stats.table_bad,
		.table_full = stats.table_full, .evicted = stats.evicted,
		.forgotten = stats.forgotten,
	};
	if (files_grow(f, f->n) ||
	    tables_init(&f->tables, f->seed, budget, f->out, f->ctx))
		return -ENOMEM;
	f->idle_s = idle_s;
	f->now_s = f->listed_s = now_s;
	f->up = true;
	return 0;
}

bool files_adopt_slab(struct file_policy *f, uint32_t slab, const void *map)
{
	return f->up && tables_adopt_slab(&f->tables, slab, map);
}

/* False: the entry makes no sense, or has no number. */
static bool files_adopt_one(struct file_policy *f, const struct msg_entry *m)
{
	bool vdso = vdso_is(&m->key);
	uint8_t state = m->entry.state & (uint8_t)~(FILE_ASK | FILE_ASK_HOST);
	uint32_t number = m->entry.exe;
	struct known_file *e;
	bool enough;

	if (vdso != (number == EXE_VDSO) || number == EXE_NONE ||
	    number >= FILE_NUMBERS_MAX || state > FILE_BARE ||
	    (state == FILE_TABLE) != (m->entry.pages != 0) ||
	    files_find(f, &m->key) || files_grow(f, number + 1) ||
	    f->v[number].used || !hash_reserve(&f->by_key))
		return false;
	e = &f->v[number];
	if (state == FILE_TABLE &&
	    !tables_adopt(&f->tables, &m->entry, &e->table))
		return false;
	e->key = m->key;
	e->owner = e->table.owner = OWNER_UNKNOWN;
	owners_add(&f->owners, e->owner, 1);
	owners_add(&f->numbers, e->owner, 1);
	e->used = true;
	e->used_s = f->now_s;
	e->state = state;
	e->host = vdso;		/* the former hub knew its path, not we */
	e->runtime = m->entry.runtime;
	files_link(f, number);
	if (f->n <= number)
		f->n = number + 1;
	f->stats.files += !vdso;
	f->stats.tables += state == FILE_TABLE;
	enough = f->out->adopted(f->ctx, number, &e->key) &&
		 state != FILE_PENDING;
	/* the vDSO is not asked for: the hub has it */
	if (!vdso && (!enough || m->entry.state & FILE_ASK))
		files_say(f, number, enough ? 0 : FILE_ASK);
	return true;
}

int files_adopt(struct file_policy *f, const struct msg_entry *v, uint32_t n)
{
	if (!f->up)
		return -EPROTO;
	for (uint32_t i = 0; i < n; i++) {
		if (!files_adopt_one(f, &v[i]) && !vdso_is(&v[i].key))
			files_say_drop(f, 0, &v[i].key);
	}
	tables_adopt_end(&f->tables);
	if (f->n > EXE_FIRST && !files_grow(f, f->n + ADOPT_GAP))
		f->n += ADOPT_GAP;
	for (uint32_t i = EXE_FIRST; i < f->n; i++) {
		if (!f->v[i].used)
			files_number_free(f, i);
	}
	f->stats.numbers = f->n - EXE_FIRST;
	return 0;
}
