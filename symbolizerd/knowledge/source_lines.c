// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/source_lines.h"

#include <errno.h>
#include <stddef.h>
#include <xxhash.h>

#include "ipc/message_hub.h"

_Static_assert(offsetof(struct line_place, entry) == 0, "entry comes first");
_Static_assert(LINES_ASK <= JOB_WORDS_MAX, "a visit's places are a job");
_Static_assert(LINES_LATE_GAP_MAX_NS + LINES_LATE_NS < LINES_IDLE_NS,
	       "what waits is visited before its file is forgotten");

void source_lines_share(struct source_lines *l, uint32_t percent, uint64_t now_ns)
{
	user_share_init(&l->share, percent, now_ns);
}

/* --- places ------------------------------------------------------------------- */

struct lines_place_key {
	uint64_t file, offset;
};

static uint64_t source_lines_hash_place(const struct source_lines *l,
					const struct lines_place_key *k)
{
	return XXH3_64bits_withSeed(k, sizeof(*k), l->seed);
}

static bool source_lines_same_place(const void *entry, const void *key)
{
	const struct line_place *p = entry;
	const struct lines_place_key *k = key;

	return p->file == k->file && p->offset == k->offset;
}

static struct line_place *source_lines_place_at(const struct source_lines *l, uint32_t i)
{
	return owner_cache_at(&l->places, i);
}

/* INDEX_NONE: it is not known. */
static uint32_t source_lines_place(const struct source_lines *l, uint32_t file, uint64_t off)
{
	struct lines_place_key k = { file, off };

	return owner_cache_find(&l->places, source_lines_hash_place(l, &k), &k);
}

static bool source_lines_place_dropped(void *ctx, uint32_t i)
{
	source_lines_place_at(ctx, i)->file = 0;
	return false;
}

/* A new one that is wanted, or INDEX_NONE. */
static uint32_t source_lines_add_place(struct source_lines *l, const struct executable *e,
				       uint64_t off)
{
	struct lines_place_key k = { e->lines_id, off };
	uint32_t i = owner_cache_add_key(&l->places, e->owner, source_lines_hash_place(l, &k), 0);
	struct line_place *p;

	if (i == INDEX_NONE)
		return i;
	p = source_lines_place_at(l, i);
	p->offset = off;
	p->file = e->lines_id;
	return i;
}

/* --- files ---------------------------------------------------------------------- */

static struct visit_target *source_lines_target(const struct source_lines *l, uint32_t id)
{
	struct visit_key key = { { id } };

	return visits_of_key(&l->visits, &key);
}

static struct line_file *source_lines_file(struct source_lines *l, const struct visit_target *t)
{
	return &l->files[visits_slot(&l->visits, t)];
}

/* A place that is new waits for a visit.  False: there is no room now. */
static bool source_lines_ask_for(struct source_lines *l, const struct executable *e,
				 uint64_t off, bool urgent, uint64_t now_ns)
{
	struct visit_key key = { { e->lines_id } };
	struct visit_target *t = visits_target(&l->visits, &key, e->owner, now_ns);
	struct line_file *f;

	if (!t)
		return false;
	f = source_lines_file(l, t);
	if (f->number != t->number)
		*f = (struct line_file){ .number = t->number, .key = e->key };
	/* each owner leaves room for what is urgent; visits_want() shares it among them */
	if (!urgent && (t->words.n >= LINES_LATE_WAITING ||
			visits_waiting(&l->visits, t) >= LINES_LATE_OWNER))
		return false;
	if (!visits_want(&l->visits, t, &off, urgent, now_ns))
		return false;
	/* a full visit is worth its cost */
	if (t->words.n >= LINES_ASK)
		visits_shorten(&l->visits, t, LINES_GAP_MAX_NS);
	return true;
}

/* Never 0. */
static uint32_t source_lines_new_id(struct source_lines *l)
{
	l->last_id++;
	if (!l->last_id)
		l->last_id++;
	return l->last_id;
}

/* Samples met it: it may be urgent now. */
static void source_lines_count(struct source_lines *l, struct line_place *p, uint32_t samples)
{
	struct visit_target *t = NULL;

	if (!samples || p->samples >= LINES_HOT)
		return;
	if (samples > LINES_HOT)
		samples = LINES_HOT;
	p->samples += (uint8_t)samples;
	if (p->samples >= LINES_HOT)
		t = source_lines_target(l, p->file);
	if (t)
		visits_hurry(&l->visits, t);
}

/* Is it known?  Then it was used. */
static bool source_lines_known(struct source_lines *l, const struct executable *e, uint64_t off)
{
	uint32_t i = line_store_find(&l->store, e->lines_id, off);

	if (i != INDEX_NONE)
		line_store_use(&l->store, i, l->interval);
	return i != INDEX_NONE;
}

void source_lines_want(struct source_lines *l, struct executable *e, uint64_t off,
		       uint32_t samples, uint32_t interval, uint64_t now_ns)
{
	uint32_t i;

	l->interval = interval;
	if (e->no_lines)
		executable_forget_lines(e);
	if (!e->lines_id)
		e->lines_id = source_lines_new_id(l);
	if (source_lines_known(l, e, off))
		return;
	i = source_lines_place(l, e->lines_id, off);
	if (i == INDEX_NONE &&
	    source_lines_ask_for(l, e, off, !l->late || samples >= LINES_HOT, now_ns))
		i = source_lines_add_place(l, e, off);
	if (i != INDEX_NONE)
		source_lines_count(l, source_lines_place_at(l, i), samples);
}

bool source_lines_wait(const struct source_lines *l, const struct executable *e, uint64_t off,
		       uint64_t now_ns)
{
	const struct visit_target *t;

	if (source_lines_place(l, e->lines_id, off) == INDEX_NONE ||
	    line_store_find(&l->store, e->lines_id, off) != INDEX_NONE)
		return false;
	t = source_lines_target(l, e->lines_id);
	if (!t || t->asked)
		return t != NULL;
	if (t->put_off || user_share_used_up(&l->share, e->owner) ||
	    (l->visits.ending && l->files[visits_slot(&l->visits, t)].fd_ns))
		return false;
	return t->urgent && visits_due(&l->visits, t, now_ns + LINES_SOON_NS);
}

uint32_t source_lines_find(const struct source_lines *l, const struct executable *e,
			   uint64_t off, struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	uint32_t i = e->lines_id ? line_store_find(&l->store, e->lines_id, off) : INDEX_NONE;

	return i == INDEX_NONE ? 0 : line_store_places(&l->store, i, off, ret);
}

/* The outermost has the name that the index has, whether or not its line is known. */
static void source_lines_refine(void *source, const struct frame_place *f,
				struct frame_called *c)
{
	struct symbol_place outer = { .name = "" }, *last;
	uint32_t n;

	if (!f->exe || c->n > 1 || (c->n && c->at[0].file[0]))
		return;
	if (c->n)
		outer = c->at[0];
	n = source_lines_find(source, f->exe, FRAME_PLACE(f->words[0]), c->at);
	if (!n)
		return;
	c->n = n;
	last = &c->at[n - 1];
	if (!outer.name[0] && (!outer.begin || last->name[0]))
		return;
	last->name = outer.name;
	last->system = outer.system;
	last->begin = outer.begin;
}

/* A place that was not asked for when it came, since its file was not read then, is
 * asked for now. */
static bool source_lines_name_waits(void *source, const struct frame_place *f)
{
	struct source_lines *l = source;
	uint64_t off = FRAME_PLACE(f->words[0]);

	if (!f->exe || !source_lines_of(l, f->exe))
		return false;
	source_lines_want(l, f->exe, off, f->samples, f->interval, f->now_ns);
	return !executable_lines_unsure(f->exe) && source_lines_wait(l, f->exe, off, f->now_ns);
}

const struct name_source source_lines_source = {
	source_lines_refine, source_lines_name_waits,
};

/* --- questions ------------------------------------------------------------------ */

/* The entry of a target; EXECUTABLE_NONE: it is gone, or is to be asked anew. */
static uint32_t source_lines_exe(struct source_lines *l, const struct visit_target *t)
{
	uint32_t i = executables_find(l->exes, &source_lines_file(l, t)->key);

	if (i == EXECUTABLE_NONE || executables_get(l->exes, i)->lines_id != t->key.v[0])
		return EXECUTABLE_NONE;
	return i;
}

/* Its descriptor is not there. */
static enum visit_ready source_lines_await(struct source_lines *l, struct line_file *f,
					   uint32_t exe, uint64_t now_ns)
{
	if (!f->fd_ns) {
		f->fd_ns = now_ns;
		if (l->open)
			l->open(l->ctx, exe);
	}
	if (now_ns - f->fd_ns < LINES_FD_NS)
		return VISIT_LATER;
	f->fd_ns = 0;
	return VISIT_NEVER;
}

/* May a file of a user who has so many visits under way be visited?  If not for want of
 * time, that is counted once. */
static enum visit_ready source_lines_ready(void *ctx, const struct visit_target *t,
					   uint32_t under_way, uint64_t now_ns)
{
	struct source_lines *l = ctx;
	struct line_file *f = source_lines_file(l, t);
	uint32_t exe = source_lines_exe(l, t);

	if (exe == EXECUTABLE_NONE)
		return VISIT_NEVER;
	if (executables_get(l->exes, exe)->fd < 0)
		return source_lines_await(l, f, exe, now_ns);
	if (user_share_left(&l->share, t->owner, under_way * LINES_VISIT_NS, now_ns))
		return VISIT_NOW;
	if (!under_way && !f->put_off) {
		l->put_off++;
		f->put_off = true;
	}
	return VISIT_LATER;
}

static int source_lines_ask(void *ctx, const struct visit_target *t, struct visit_question *q)
{
	struct source_lines *l = ctx;
	struct line_file *f = source_lines_file(l, t);
	uint32_t exe = source_lines_exe(l, t);

	f->fd_ns = 0;
	f->put_off = false;
	if (!l->visit || exe == EXECUTABLE_NONE)
		return -ENOENT;
	q->fd = executables_get(l->exes, exe)->fd;
	return l->visit(l->ctx, exe, q);
}

/* --- answers -------------------------------------------------------------------- */

/* A place waits no more if there is a piece with it. */
static bool source_lines_settle(void *ctx, const struct visit_target *t, const uint64_t *words)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct source_lines *l = ctx;
	uint32_t file = (uint32_t)t->key.v[0];
	uint32_t piece = line_store_find(&l->store, file, words[0]);
	uint32_t i = source_lines_place(l, file, words[0]);

	if (piece == INDEX_NONE)
		return false;
	if (i != INDEX_NONE)
		owner_cache_drop(&l->places, i);
	if (line_store_places(&l->store, piece, words[0], at))
		l->found++;
	return true;
}

/* Had its answer no room here? */
static bool source_lines_had_no_room(const struct source_lines *l, uint64_t off)
{
	return l->answer && line_codes_any(l->answer->codes, l->answer->hdr.codes, off);
}

/* A place that was asked for: nothing is known of it, or it was lost and may be asked for
 * anew.  Names come otherwise (source_lines_answer()). */
static void source_lines_take_name(void *ctx, const struct visit_target *t,
				   const uint64_t *words, const struct frame_names *names,
				   uint32_t first, uint32_t n, int result)
{
	struct source_lines *l = ctx;
	uint32_t file = (uint32_t)t->key.v[0], i = source_lines_place(l, file, words[0]);

	(void)names;
	(void)first;
	(void)n;
	if (i == INDEX_NONE || source_lines_settle(l, t, words))
		return;
	owner_cache_drop(&l->places, i);
	if (result != VISIT_LOST && !source_lines_had_no_room(l, words[0]))
		line_store_add_nothing(&l->store, file, t->owner, words[0], result != 0,
				       l->interval);
}

void source_lines_answer(struct source_lines *l, uint32_t number, const struct line_codes *codes,
			 uint64_t now_ns)
{
	const struct frame_names rest = { .left = codes->hdr.left };
	struct visit_target *t = visits_find(&l->visits, number);

	if (t && source_lines_exe(l, t) != EXECUTABLE_NONE)
		line_store_add(&l->store, (uint32_t)t->key.v[0], t->owner, codes, l->interval);
	l->answer = codes;
	visits_answer(&l->visits, number, &rest, 0, now_ns);
	l->answer = NULL;
	/* of the same functions */
	if (t)
		visits_settle(&l->visits, t, source_lines_settle);
}

/* What a visit to it says of later ones. */
static void source_lines_judge(struct executable *e, int result, uint64_t now_ns)
{
	if (!result)
		e->lines_seen = true;
	else
		e->no_lines = true;
	if (result == JOB_NO_NAMES && e->debug == JOB_DEBUG_LINES)
		e->lacks_dwarf = true;
	e->lines_again_ns = 0;
	if (result != JOB_KILLED)
		return;
	e->lines_again_ns = now_ns + (LINES_KILLED_NS << e->lines_deaths);
	if (e->lines_deaths < LINES_KILLED_DOUBLED)
		e->lines_deaths++;
}

static void source_lines_answered(void *ctx, struct visit_target *t, int result)
{
	struct source_lines *l = ctx;
	uint32_t exe = source_lines_exe(l, t);

	if (!result)
		l->answers++;
	if (result == JOB_KILLED)
		l->deaths++;
	if (result >= 0 && result != JOB_NO_MEMORY && exe != EXECUTABLE_NONE)
		source_lines_judge(executables_get(l->exes, exe), result, l->visits.now_ns);
}

/* --- the whole ------------------------------------------------------------------ */

#define LINES_RULES								\
	.targets = LINES_FILES, .frame_words = 1, .ask = LINES_ASK,		\
	.waiting = LINES_WAITING, .at_once = LINES_AT_ONCE, .failures = LINES_TRIES,	\
	.idle_ns = LINES_IDLE_NS

static const struct visits_rules lines_rules = {
	LINES_RULES, .gap_ns = LINES_GAP_NS, .gap_max_ns = LINES_GAP_MAX_NS,
};

static const struct visits_rules lines_rules_late = {
	LINES_RULES, .gap_ns = LINES_LATE_GAP_NS, .gap_max_ns = LINES_LATE_GAP_MAX_NS,
	.late_ns = LINES_LATE_NS,
};

static const struct visits_ops lines_ops = {
	.ready = source_lines_ready, .ask = source_lines_ask, .name = source_lines_take_name,
	.answered = source_lines_answered,
};

void source_lines_init(struct source_lines *l, uint64_t seed, const struct executables *exes)
{
	*l = (struct source_lines){ .seed = seed, .exes = exes };
	line_store_init(&l->store, seed, LINES_BYTES);
	l->places = (struct owner_cache){
		.size = sizeof(struct line_place), .payer = &l->store.codes, .seed = seed,
		.same = source_lines_same_place, .dropped = source_lines_place_dropped, .ctx = l,
	};
	visits_init(&l->visits, &lines_rules, &lines_ops, l, seed);
}

void source_lines_fini(struct source_lines *l)
{
	visits_fini(&l->visits);
	owner_cache_fini(&l->places);
	line_store_fini(&l->store);
	source_lines_init(l, l->seed, l->exes);
}

void source_lines_late(struct source_lines *l, bool late)
{
	if (late == l->late)
		return;
	l->late = late;
	l->visits.rules = late ? &lines_rules_late : &lines_rules;
	if (!late)
		visits_hurry_all(&l->visits);
}

void source_lines_used(struct source_lines *l, uint32_t owner, uint64_t cpu_ns)
{
	user_share_use(&l->share, owner, cpu_ns);
}

void source_lines_sweep(struct source_lines *l, uint32_t interval, uint64_t now_ns)
{
	visits_sweep(&l->visits, now_ns);
	line_store_sweep(&l->store, interval, LINES_IDLE);
}
