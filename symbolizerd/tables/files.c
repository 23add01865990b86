// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/vector.h"
#include "symbolizerd/tables/vdso.h"

#define HEADROOM	OWNER_SPARE	/* this fraction is kept free */
#define NUMBERS_SPARE	256	/* numbers that can be given now, which the owner with
				 * the most numbers does not get */
#define FORGET_STEP	64	/* files a second */
#define MOVE_STEP	16	/* tables a second: loaderd copies each of them */
#define ADOPT_GAP	64	/* numbers that a former hub may have given just before
				 * its end, so that records may have them */

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
	if (!s)
		return EXE_NONE;
	return hash_index(s);
}

const struct known_file *files_get(const struct file_policy *f, uint32_t number)
{
	if (number >= f->n || number >= f->cap || !f->v[number].used)
		return NULL;
	return &f->v[number];
}

static struct known_file *files_at(struct file_policy *f, uint32_t number)
{
	return (struct known_file *)files_get(f, number);
}

/* --- numbers ---------------------------------------------------------------- */

/* Room for n numbers; new ones are free.  0 or -errno. */
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

/* The number is reused when the messages sent so far are settled, and idle_s have
 * passed. */
static void files_number_free(struct file_policy *f, uint32_t number)
{
	uint32_t owner = f->v[number].used ? f->v[number].owner : OWNER_UNKNOWN;

	f->v[number] = (struct known_file){
		.used_s = f->now_s, .after = f->tables.sent, .owner = owner,
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

/* Can n numbers be given now? */
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

/* May this owner have one more file?  0; -ENOSPC: after others have been dropped;
 * -EAGAIN: after more numbers have rested. */
static int files_may_have(struct file_policy *f, uint32_t owner)
{
	if (f->owners.total >= owners_limit(&f->owners, owner, FILES_MAX))
		return -ENOSPC;
	if (owners_limit(&f->numbers, owner, FILES_MAX) != FILES_MAX &&
	    !files_numbers_left(f, NUMBERS_SPARE))
		return -EAGAIN;
	return 0;
}

/* A number for a file of this owner, other than the vDSO.  Or -errno. */
static int files_number_take(struct file_policy *f, uint32_t owner)
{
	uint32_t number;
	int r = files_may_have(f, owner);

	if (r)
		return r;
	number = files_number_again(f);
	if (number) {
		owners_add(&f->numbers, f->v[number].owner, -1);
	} else {
		r = files_grow(f, f->n + 1);
		if (r)
			return r;
		number = f->n;
		f->n++;
	}
	f->stats.exes++;
	f->stats.files++;
	f->stats.numbers = f->n - EXE_FIRST;
	return (int)number;
}

/* A number for this key, which has none.  Or -errno. */
static int files_number(struct file_policy *f, const struct file_key *key,
			uint32_t owner)
{
	int number = EXE_VDSO;

	if (!hash_reserve(&f->by_key))
		return -ENOMEM;
	if (!vdso_is(key))
		number = files_number_take(f, owner);
	if (number < 0)
		return number;
	f->v[number] = (struct known_file){
		.key = *key, .used = true, .used_s = f->now_s,
		.owner = owner, .table.owner = owner,
	};
	owners_add(&f->owners, owner, 1);
	owners_add(&f->numbers, owner, 1);
	files_link(f, (uint32_t)number);
	return number;
}

/* --- messages to loaderd ------------------------------------------------------ */

static struct file_entry files_entry(const struct file_policy *f, uint32_t number)
{
	const struct known_file *e = &f->v[number];
	struct file_entry entry = {
		.exe = number, .dir = e->table.dir, .pages = e->table.pages,
		.state = e->state, .runtime = e->runtime,
	};

	if (!e->host)
		entry.state |= FILE_ASK_HOST;
	return entry;
}

/* Send the entry as it is now, with ask (FILE_ASK or 0).  This answers a pending
 * MSG_EXE. */
static void files_say(struct file_policy *f, uint32_t number, uint8_t ask)
{
	struct file_entry entry = files_entry(f, number);
	struct known_file *e = &f->v[number];

	entry.state |= ask;
	f->tables.sent++;
	f->out->entry(f->ctx, e->id, &e->key, &entry);
	e->id = 0;
}

/* Count the files of each runtime. */
static void files_set_runtime(struct file_policy *f, struct known_file *e, uint32_t runtime)
{
	f->of_runtime[e->runtime]--;
	e->runtime = (uint8_t)runtime;
	f->of_runtime[e->runtime]++;
}

static void files_say_drop(struct file_policy *f, uint64_t id, const struct file_key *key)
{
	f->tables.sent++;
	f->out->drop(f->ctx, id, key);
}

/* First the key, so that no lookup finds the table; then the space; the number
 * last. */
static void files_drop(struct file_policy *f, uint32_t number)
{
	struct known_file *e = &f->v[number];

	files_say_drop(f, e->id, &e->key);
	f->out->dropped(f->ctx, number);
	if (e->table.pages)
		f->stats.tables--;
	if (number >= EXE_FIRST)
		f->stats.files--;
	if (e->need)
		f->waiting--;
	owners_add(&f->owners, e->owner, -1);
	tables_release(&f->tables, &e->table);
	hash_remove_index(&f->by_key, files_hash(f, &e->key), number);
	files_set_runtime(f, e, RUNTIME_NONE);
	files_number_free(f, number);
}

/* --- making room -------------------------------------------------------------- */

/* The least recently used file of this owner, or of all if owner is NULL; 0: none. */
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

/* Drop a file of the owner that has the most of `what`: files (.owners), elements
 * (.tables.owners) or rules (.tables.rules.owners).  If that owner has no file
 * (those that a former hub left have none, and a rule may be in tables of others),
 * drop the coldest of all.  False: there is none. */
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

/* Evict until `need` bytes of `bytes` will be free when all grace periods are over. */
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

/* Evict until `spare` rules are in no table. */
static void files_spare_rules(struct file_policy *f, uint32_t spare)
{
	for (int i = 0; i < FORGET_STEP; i++) {
		if (f->tables.rules.n + spare <= RULES_MAX ||
		    !files_evict(f, 0, &f->tables.rules.owners))
			return;
	}
}

/* Move tables out of the last slab if the others have room for them; then it can be
 * dropped. */
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

/* Ask for the table again.  This may call files_exe(). */
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

/* The owner is known now: a former hub did not say it. */
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
	if (m->host || vdso_is(&m->key))
		f->v[number].host = true;
	/* send the number at once, so that records have it; or answer an earlier
	 * MSG_EXE for the same file */
	if (f->v[number].id || !f->v[number].tgid)
		files_say(f, (uint32_t)number, 0);
	f->v[number].id = id;
	f->v[number].tgid = m->process.tgid;
	f->v[number].runs_as = owner_of_uid(m->uid);
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

	if (!e->need)
		f->waiting++;
	e->need = (uint32_t)len;
	files_say(f, number, 0);
}

void files_later(struct file_policy *f, uint32_t number)
{
	if (!files_get(f, number))
		return;
	if (number == EXE_VDSO)		/* loaderd has no file to ask with */
		files_want_room(f, number, 1);
	else
		files_say(f, number, FILE_ASK);
}

void files_no_table(struct file_policy *f, uint32_t number, enum file_state state)
{
	struct known_file *e = files_at(f, number);

	if (!e)
		return;
	if (!e->table.pages)
		e->state = (uint8_t)state;
	files_say(f, number, 0);
}

/* There is no room: evict other tables, and wait until their grace period is over. */
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
		files_set_runtime(f, e, runtime);
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
	if (r == -EPROTO)
		f->stats.table_bad++;
	else if (r)
		f->stats.table_full++;
	if (e->table.pages) {
		f->stats.tables++;
		e->state = FILE_TABLE;
		e->id = 0;	/* that was the answer */
	} else {
		e->state = FILE_BARE;
		files_say(f, number, 0);
	}
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

/* Is this an entry that a hub may have sent? */
static bool files_adopt_sound(const struct msg_entry *m)
{
	uint8_t state = m->entry.state & FILE_STATE;

	return vdso_is(&m->key) == (m->entry.exe == EXE_VDSO) &&
	       m->entry.exe != EXE_NONE && m->entry.exe < FILE_NUMBERS_MAX &&
	       m->entry.runtime < RUNTIME__MAX &&
	       !(m->entry.state & ~(FILE_STATE | FILE_ASK | FILE_ASK_HOST)) &&
	       (state == FILE_TABLE) == (m->entry.pages != 0);
}

/* False: the entry is invalid, or its number or key is taken. */
static bool files_adopt_one(struct file_policy *f, const struct msg_entry *m)
{
	bool vdso = vdso_is(&m->key);
	uint8_t state = m->entry.state & FILE_STATE;
	uint32_t number = m->entry.exe;
	struct known_file *e;
	bool enough;

	if (!files_adopt_sound(m) || files_find(f, &m->key) ||
	    files_grow(f, number + 1) || f->v[number].used || !hash_reserve(&f->by_key))
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
	e->host = vdso;		/* only the former hub knew its path */
	files_set_runtime(f, e, m->entry.runtime);
	files_link(f, number);
	if (f->n <= number)
		f->n = number + 1;
	if (!vdso)
		f->stats.files++;
	if (state == FILE_TABLE)
		f->stats.tables++;
	enough = f->out->adopted(f->ctx, number, &e->key) &&
		 state != FILE_PENDING;
	/* the hub has the vDSO itself */
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
