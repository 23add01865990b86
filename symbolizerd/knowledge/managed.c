// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/managed.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ipc/message_hub.h"
#include "ipc/runtimes.h"
#include "symbolizerd/knowledge/frame_text.h"
#include "symbolizerd/knowledge/record.h"
#include "symbolizerd/runtimes/reading.h"

_Static_assert(offsetof(struct managed_function, entry) == 0, "entry comes first");
_Static_assert(offsetof(struct managed_frame, entry) == 0, "likewise");
_Static_assert(2 * MANAGED_ASK <= JOB_WORDS_MAX, "a visit's frames are a job");

/* --- functions ---------------------------------------------------------------------- */

/* NULL: there is no such number. */
static struct managed_function *managed_function(const struct managed *m, uint32_t number)
{
	if (number == MANAGED_UNKNOWN || number > m->functions.n)
		return NULL;
	return owner_cache_at(&m->functions, number - 1);
}

/* The number rests. */
static bool managed_function_dropped(void *ctx, uint32_t i)
{
	struct managed *m = ctx;
	struct managed_function *f = owner_cache_at(&m->functions, i);

	free(f->name);
	*f = (struct managed_function){ .entry = f->entry, .state = MANAGED_GONE };
	m->gone++;
	return true;
}

static bool managed_same_function(const void *entry, const void *key)
{
	const struct managed_function *f = entry;
	const struct frame_naming *n = key;

	return f->runtime == n->runtime && f->line == n->line && f->form == n->form &&
	       f->n_lines == n->n_lines && !strcmp(f->name, n->name) &&
	       !strcmp(f->full, n->full) && !strcmp(f->file, n->file.s) &&
	       !memcmp(f->lines, n->lines, n->n_lines);
}

static uint64_t managed_hash_naming(const struct managed *m, const struct frame_naming *n)
{
	uint64_t seed = m->seed + ((uint64_t)n->runtime << 32) + n->line;
	uint64_t hash = XXH3_64bits_withSeed(n->name, strlen(n->name), seed);

	hash = XXH3_64bits_withSeed(n->full, strlen(n->full), hash);
	hash = XXH3_64bits_withSeed(n->file.s, n->file.len, hash);
	return XXH3_64bits_withSeed(n->lines, n->n_lines, hash);
}

/* Name, NUL, full name, NUL, file, NUL, table of lines. */
static void managed_fill(struct managed_function *f, const struct frame_naming *n, char *piece)
{
	char *at = stpcpy(piece, n->name) + 1;

	f->name = piece;
	f->full = at;
	at = stpcpy(at, n->full) + 1;
	f->file = at;
	at = stpcpy(at, n->file.s) + 1;
	memcpy(at, n->lines, n->n_lines);
	f->lines = (const uint8_t *)at;
	f->line = n->line;
	f->form = (uint16_t)n->form;
	f->runtime = (uint8_t)n->runtime;
	f->n_lines = (uint16_t)n->n_lines;
}

/* A new one; only those that are named can be found by what they are called. */
static uint32_t managed_add(struct managed *m, const struct frame_naming *n,
			    enum managed_state state, uint32_t owner)
{
	size_t bytes = strlen(n->name) + strlen(n->full) + n->file.len + 3 + n->n_lines;
	struct managed_function *f;
	char *piece = malloc(bytes);
	uint32_t i;

	if (!piece)
		return MANAGED_UNKNOWN;
	if (state == MANAGED_NAMED)
		i = owner_cache_add_key(&m->functions, owner, managed_hash_naming(m, n),
					(uint32_t)bytes);
	else
		i = owner_cache_add(&m->functions, owner, (uint32_t)bytes);
	if (i == INDEX_NONE) {
		free(piece);
		return MANAGED_UNKNOWN;
	}
	f = owner_cache_at(&m->functions, i);
	f->state = (uint8_t)state;
	managed_fill(f, n, piece);
	return i + 1;
}

static uint32_t managed_intern(struct managed *m, const struct frame_naming *n, uint32_t owner)
{
	uint32_t i = owner_cache_find(&m->functions, managed_hash_naming(m, n), n);

	if (i == INDEX_NONE)
		return managed_add(m, n, MANAGED_NAMED, owner);
	owner_cache_touch(&m->functions, i);
	return i + 1;
}

#define SAME_MAX	4	/* once for its lines, once for its names */

/* The function that has the names, for one that was wanted; NULL: none. */
static struct managed_function *managed_resolve(const struct managed *m, uint32_t number)
{
	struct managed_function *f = managed_function(m, number);

	for (int i = 0; f && i < SAME_MAX && f->state == MANAGED_SAME; i++)
		f = managed_function(m, f->same);
	return f;
}

static enum managed_state managed_state_of(const struct managed *m, uint32_t number)
{
	const struct managed_function *f = managed_resolve(m, number);

	return f ? f->state : MANAGED_FREE;
}

const struct managed_function *managed_find(const struct managed *m,
					    uint32_t number)
{
	const struct managed_function *f = managed_resolve(m, number);

	return f && f->state == MANAGED_NAMED ? f : NULL;
}

static uint32_t managed_index(const struct managed *m, const struct managed_function *f)
{
	return (uint32_t)(f - (const struct managed_function *)(const void *)m->functions.v);
}

/* A sample has met it. */
static void managed_touch(struct managed *m, uint32_t number)
{
	const struct managed_function *f = managed_resolve(m, number);

	if (f && f->name)
		owner_cache_touch(&m->functions, managed_index(m, f));
}

/* This number has no name, and none will come. */
static bool managed_lost(const struct managed *m, uint32_t number)
{
	enum managed_state state = managed_state_of(m, number);

	return state == MANAGED_FREE || state == MANAGED_GONE;
}

bool managed_waits(const struct managed *m, uint32_t number)
{
	return managed_state_of(m, number) == MANAGED_WANTED;
}

/* One that was wanted is this function, MANAGED_UNKNOWN: none. */
static void managed_settle(struct managed *m, uint32_t wanted, uint32_t number)
{
	struct managed_function *f = managed_function(m, wanted);

	if (!f || f->state != MANAGED_WANTED)
		return;
	owner_cache_drop(&m->functions, wanted - 1);
	if (number == MANAGED_UNKNOWN)
		return;
	f->state = MANAGED_SAME;
	f->same = number;
}

uint32_t managed_line(const struct managed_function *f, uint32_t at)
{
	return reading_line(f->runtime, f->form, f->lines, f->n_lines,
			    f->n_lines < TEXT_LINES_MAX * TEXT_BYTES, f->line, at);
}

static void managed_source_name(void *source, const struct frame_place *f,
				struct frame_called *c)
{
	const struct managed_function *m = managed_find(source, FRAME_NUMBER(f->words[0]));

	if (!m)
		return;
	c->n = 1;
	c->full = m->full;
	c->at[0] = (struct symbol_place){
		.name = m->name, .file = m->file, .first_line = m->line,
		.line = managed_line(m, OUR_AT(f->words[0])),
	};
}

static bool managed_source_waits(void *source, const struct frame_place *f)
{
	return managed_waits(source, FRAME_NUMBER(f->words[0]));
}

const struct name_source managed_source = { managed_source_name, managed_source_waits };

/* --- frames ------------------------------------------------------------------------- */

static uint64_t managed_hash(const struct managed *m, const struct managed_key *k)
{
	return XXH3_64bits_withSeed(k, sizeof(*k), m->seed);
}

static bool managed_same_frame(const void *entry, const void *key)
{
	return !memcmp(&((const struct managed_frame *)entry)->key, key,
		       sizeof(struct managed_key));
}

static bool managed_frame_dropped(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
	return false;
}

/* NULL: it is not known. */
static struct managed_frame *managed_frame_of(struct managed *m, const struct managed_key *key)
{
	uint32_t i = owner_cache_find(&m->frames, managed_hash(m, key), key);

	return i == INDEX_NONE ? NULL : owner_cache_at(&m->frames, i);
}

static struct managed_frame *managed_new_frame(struct managed *m,
					       const struct managed_key *key,
					       uint32_t owner)
{
	uint32_t i = owner_cache_add_key(&m->frames, owner, managed_hash(m, key), 0);
	struct managed_frame *f;

	if (i == INDEX_NONE)
		return NULL;
	f = owner_cache_at(&m->frames, i);
	f->key = *key;
	return f;
}

/* A sample has met it. */
static void managed_touch_frame(struct managed *m, struct managed_frame *f, uint64_t now_ns)
{
	f->used_ns = now_ns;
	owner_cache_touch(&m->frames,
			  (uint32_t)(f - (struct managed_frame *)(void *)m->frames.v));
	managed_touch(m, f->function);
}

/* What a record says of the next frame, and whose process it is. */
struct managed_texts {
	struct frame_texts of;
	uint32_t owner;
};

/* Code of the runtime's own; MANAGED_UNKNOWN: it has no name. */
static uint32_t managed_own(struct managed *m, const struct managed_key *key)
{
	struct frame_naming n;
	const char *name;

	if (key->runtime >= RUNTIME__MAX || key->words[0] >= RUNTIME_OWN)
		return MANAGED_UNKNOWN;
	name = runtime_info(key->runtime)->own[key->words[0]];
	if (!name || !name[0] || !frame_naming_set(&n, key->runtime, name, "", ""))
		return MANAGED_UNKNOWN;
	return managed_intern(m, &n, OWNER_UNKNOWN);
}

/* A runtime's function whose names a visit can read: its question has one word of it. */
static bool managed_visited(const struct managed *m, const struct managed_key *key)
{
	return m->visit && key->runtime < RUNTIME__MAX &&
	       runtime_info(key->runtime)->flags & RUNTIME_VISITED &&
	       key->words[0] >= RUNTIME_OWN && !key->words[1] && !key->words[2];
}

/* False: its process is not visited, or there is no room now. */
static bool managed_ask_for(struct managed *m, const struct managed_key *key,
			    const struct managed_texts *texts, uint64_t now_ns)
{
	struct visit_key process = visit_key_of(&key->process, key->runtime);
	uint64_t words[2] = { MANAGED_WORD(key->runtime, key->cookie, 0ULL), key->words[0] };
	struct visit_target *t = visits_target(&m->visits, &process, texts->owner, now_ns);

	if (!t)
		return false;
	visits_give(&m->visits, t, texts->owner);
	/* with any text BPF has tried */
	return visits_want(&m->visits, t, words, frame_texts_any(&texts->of), now_ns);
}

/* Its names are to be read; until then it has this number.  MANAGED_UNKNOWN: they are
 * not. */
static uint32_t managed_want(struct managed *m, const struct managed_key *key,
			     struct managed_frame *f, const struct managed_texts *texts,
			     uint64_t now_ns)
{
	struct frame_naming naming;
	uint32_t number;

	if (!managed_ask_for(m, key, texts, now_ns))
		return MANAGED_UNKNOWN;
	frame_texts_read(&texts->of, key->runtime, &naming);
	number = managed_add(m, &naming, MANAGED_WANTED, texts->owner);
	if (number == MANAGED_UNKNOWN)
		return number;
	if (!f)
		f = managed_new_frame(m, key, texts->owner);
	if (!f) {
		managed_settle(m, number, MANAGED_UNKNOWN);
		return MANAGED_UNKNOWN;
	}
	f->used_ns = now_ns;
	f->function = number;
	return number;
}

/* The table of lines, and the first line. */
static void managed_copy_lines(struct frame_naming *n, const struct managed_function *f)
{
	n->line = f->line;
	n->form = f->form;
	n->n_lines = f->n_lines;
	memcpy(n->lines, f->lines, f->n_lines);
}

/* The lines of one that is wanted, or was, have come now. */
static void managed_take_lines(struct managed *m, struct managed_frame *f,
			       const struct managed_texts *texts)
{
	const struct managed_function *old = managed_function(m, f->function);
	enum managed_state state = old->state;
	uint32_t owner = old->entry.owner, number;
	struct frame_naming n;

	if (!texts->of.n_lines || old->n_lines || !old->name)
		return;
	frame_texts_read(&texts->of, f->key.runtime, &n);
	if (!frame_naming_rename(&n, old->name, old->full, old->file))
		return;
	if (state == MANAGED_NAMED)
		number = managed_intern(m, &n, owner);
	else
		number = managed_add(m, &n, state, owner);
	if (number == MANAGED_UNKNOWN)
		return;
	managed_settle(m, f->function, number);
	f->function = number;
}

/* The number of a function whose names are not all in the record; MANAGED_UNKNOWN: it has
 * none, and none is to be read. */
static uint32_t managed_visit(struct managed *m, const struct managed_key *key,
			      struct managed_frame *f, const struct managed_texts *texts,
			      uint64_t now_ns)
{
	if (!f || managed_lost(m, f->function))
		return managed_want(m, key, f, texts, now_ns);
	managed_take_lines(m, f, texts);
	return f->function;
}

static uint32_t managed_function_of(struct managed *m,
				    const struct managed_key *key,
				    const struct managed_texts *texts, uint64_t now_ns)
{
	struct managed_frame *f = managed_frame_of(m, key);
	bool visited = managed_visited(m, key);
	struct frame_naming naming;
	uint32_t number;

	if (f)
		managed_touch_frame(m, f, now_ns);
	if (visited && !frame_texts_whole(&texts->of, visited)) {
		number = managed_visit(m, key, f, texts, now_ns);
		if (number != MANAGED_UNKNOWN)
			return number;
	}
	if (!texts->of.name)
		return f ? f->function : managed_own(m, key);
	frame_texts_read(&texts->of, key->runtime, &naming);
	number = managed_intern(m, &naming, texts->owner);
	if (!f && number != MANAGED_UNKNOWN)
		f = managed_new_frame(m, key, texts->owner);
	if (f) {
		managed_settle(m, f->function, number);
		f->used_ns = now_ns;
		f->function = number;
	}
	return number;
}

/* kinds: bits */
static bool managed_any(const struct trace_rec *rec, uint32_t kinds)
{
	size_t end = (size_t)rec->n_kernel + rec->n_user;

	for (size_t i = rec->n_kernel; i < end; i += frame_words(rec->words[i])) {
		if (kinds >> FRAME_KIND(rec->words[i]) & 1)
			return true;
	}
	return false;
}

bool managed_has(const struct trace_rec *rec)
{
	return managed_any(rec, 1 << FRAME_MANAGED | 1 << FRAME_TEXT | 1 << FRAME_LOOP);
}

static uint64_t managed_our_word(struct managed *m, struct managed_key *key,
				 const __u64 *w, const struct managed_texts *texts,
				 uint64_t now_ns)
{
	key->runtime = MANAGED_RUNTIME(w[0]);
	key->cookie = MANAGED_COOKIE_OF(w[0]);
	memset(key->words, 0, sizeof(key->words));
	memcpy(key->words, w + 1, FRAME_MORE(w[0]) * sizeof(*w));
	return OUR_WORD(managed_function_of(m, key, texts, now_ns), key->runtime,
			MANAGED_AT(w[0]));
}

void managed_translate(struct managed *m, struct trace_rec *rec, uint64_t now_ns)
{
	struct managed_key key = { .process = rec->process };
	struct managed_texts texts = { .owner = owner_of_uid(rec->uid) };
	/* they are left out for what they run, if that is there */
	bool loops = m->show_loops || !managed_any(rec, 1 << FRAME_MANAGED);
	__u64 *words = rec->words + rec->n_kernel;
	uint32_t n = 0, next;	/* what is written is never more than was read */

	for (uint32_t i = 0; i < rec->n_user; i = next) {
		const __u64 *w = &words[i];

		next = i + frame_words(w[0]);
		if (FRAME_KIND(w[0]) == FRAME_TEXT) {
			(void)frame_texts_add(&texts.of, w);
			continue;
		}
		if (FRAME_KIND(w[0]) == FRAME_MANAGED) {
			words[n++] = managed_our_word(m, &key, w, &texts, now_ns);
		} else if (FRAME_KIND(w[0]) == FRAME_LOOP) {
			if (loops)
				words[n++] = FRAME_WORD(FRAME_NATIVE,
							FRAME_NUMBER(w[0]),
							FRAME_PLACE(w[0]));
		} else {
			memmove(&words[n], w, (next - i) * sizeof(*w));
			n += next - i;
		}
		texts.of = (struct frame_texts){ .n_lines = 0 };
	}
	rec->len -= 8 * (rec->n_user - n);
	rec->n_user = (uint16_t)n;
}

/* --- visits ------------------------------------------------------------------------------ */

static int managed_ask(void *ctx, const struct visit_target *t, struct visit_question *q)
{
	struct managed *m = ctx;

	if (!m->visit)
		return -ESRCH;
	q->process = visit_process(&t->key);
	q->runtime = (uint32_t)t->key.v[3];
	return m->visit(m->ctx, q);
}

/* A function that waits gets these names, with its lines.  Without a name: what BPF has
 * sent of it is all. */
static void managed_take_name(struct managed *m, struct managed_frame *f,
			      const struct symbol_place *name, const char *full)
{
	struct managed_function *w = managed_resolve(m, f->function);
	uint32_t wanted = managed_index(m, w) + 1, number;
	struct frame_naming n;
	bool named = false;

	if (name->name[0])
		named = frame_naming_set(&n, w->runtime, name->name, full, name->file);
	if (named)
		m->read++;
	else if (w->name[0])
		named = frame_naming_set(&n, w->runtime, w->name, w->full, w->file);
	if (!named) {
		managed_settle(m, wanted, MANAGED_UNKNOWN);
		w->state = MANAGED_NAMELESS;
		return;
	}
	managed_copy_lines(&n, w);
	number = managed_intern(m, &n, w->entry.owner);
	managed_settle(m, wanted, number);
	if (number != MANAGED_UNKNOWN)
		f->function = number;
}

static void managed_name(void *ctx, const struct visit_target *t, const uint64_t *words,
			 const struct frame_names *names, uint32_t first, uint32_t n, int result)
{
	struct managed_key key = {
		.process = visit_process(&t->key), .words = { words[1] },
		.runtime = (uint32_t)t->key.v[3],
		.cookie = MANAGED_COOKIE_OF(words[0]),
	};
	struct symbol_place name = { .name = "", .file = "" }, full = name;
	struct managed *m = ctx;
	struct managed_frame *f = managed_frame_of(m, &key);

	if (!f || !managed_waits(m, f->function))
		return;		/* BPF has sent them meanwhile, or it is forgotten */
	/* nothing was read: it may be asked for anew; until then what BPF has sent is all */
	if (result == VISIT_LOST ||
	    (result && !managed_resolve(m, f->function)->name[0])) {
		managed_settle(m, f->function, MANAGED_UNKNOWN);
		return;
	}
	if (n > 0)
		name = frame_names_place(names, first);
	if (n > 1)
		full = frame_names_place(names, first + 1);
	managed_take_name(m, f, &name, full.name);
}

static void managed_answered(void *ctx, struct visit_target *t, int result)
{
	struct managed *m = ctx;

	/* ended, denied or in quarantine; or what was read killed a worker */
	if (result == -ESRCH || result == -EPERM || result == -EACCES ||
	    (result > 0 && !visits_delayed(result)))
		visits_close(&m->visits, t);
}

/* --- forgetting ------------------------------------------------------------------------ */

static void managed_sweep_frames(struct managed *m, uint64_t now_ns)
{
	for (uint32_t i = 0; i < m->frames.n; i++) {
		const struct managed_frame *f = owner_cache_at(&m->frames, i);

		if (owner_cache_has(&m->frames, i) &&
		    (now_ns - f->used_ns >= MANAGED_KEPT_NS ||
		     managed_lost(m, f->function)))
			owner_cache_drop(&m->frames, i);
	}
}

static void managed_mark(struct managed *m, uint32_t number)
{
	struct managed_function *f = managed_function(m, number);

	if (f)
		f->used = true;
	for (int i = 0; f && i < SAME_MAX && f->state == MANAGED_SAME; i++) {
		f = managed_function(m, f->same);
		if (f)
			f->used = true;
	}
}

static void managed_mark_trace(struct managed *m, const struct trace *t)
{
	uint32_t end = (uint32_t)t->n_kernel + t->n_user;

	for (uint32_t k = t->n_kernel; k < end; k += frame_words(t->words[k])) {
		if (FRAME_KIND(t->words[k]) == FRAME_MANAGED)
			managed_mark(m, FRAME_NUMBER(t->words[k]));
	}
}

static void managed_mark_used(struct managed *m, const struct traces *traces)
{
	for (uint32_t i = 0; i < m->frames.n; i++) {
		const struct managed_frame *f = owner_cache_at(&m->frames, i);

		if (owner_cache_has(&m->frames, i))
			managed_mark(m, f->function);
	}
	for (uint32_t i = 0; i < traces->top; i++) {
		if (traces->v[i])
			managed_mark_trace(m, traces->v[i]);
	}
}

void managed_sweep(struct managed *m, const struct traces *traces,
		   uint64_t now_ns)
{
	managed_sweep_frames(m, now_ns);
	visits_sweep(&m->visits, now_ns);
	if (!m->gone && m->functions.bytes.total < MANAGED_NAMES_BYTES / 2)
		return;
	for (uint32_t number = 1; number <= m->functions.n; number++)
		managed_function(m, number)->used = false;
	managed_mark_used(m, traces);
	for (uint32_t number = 1; number <= m->functions.n; number++) {
		struct managed_function *f = managed_function(m, number);

		if (f->state == MANAGED_FREE || f->used)
			continue;
		if (f->name)
			owner_cache_drop(&m->functions, number - 1);
		f->state = MANAGED_FREE;
		m->gone--;
		owner_cache_reuse(&m->functions, number - 1);
	}
}

/* --- the whole ------------------------------------------------------------------------- */

static const struct visits_rules managed_rules = {
	.targets = MANAGED_TARGETS, .frame_words = 2, .ask = MANAGED_ASK,
	.waiting = MANAGED_WAITING, .at_once = MANAGED_AT_ONCE, .gap_ns = MANAGED_GAP_NS,
	.gap_max_ns = MANAGED_GAP_MAX_NS, .late_ns = MANAGED_LATE_NS,
	.idle_ns = MANAGED_KEPT_NS,
};

static const struct visits_ops managed_ops = {
	.ask = managed_ask, .name = managed_name, .answered = managed_answered,
};

void managed_init(struct managed *m, uint64_t seed)
{
	*m = (struct managed){ .seed = seed };
	m->functions = (struct owner_cache){
		.size = sizeof(struct managed_function), .max = MANAGED_NAMES_BYTES,
		.limit = FRAME_NUMBER_MASK, .seed = seed, .same = managed_same_function,
		.dropped = managed_function_dropped, .ctx = m,
	};
	m->frames = (struct owner_cache){
		.size = sizeof(struct managed_frame), .max = MANAGED_FRAMES_BYTES,
		.seed = seed, .same = managed_same_frame, .dropped = managed_frame_dropped,
		.ctx = m,
	};
	visits_init(&m->visits, &managed_rules, &managed_ops, m, seed);
}

void managed_fini(struct managed *m)
{
	visits_fini(&m->visits);
	owner_cache_fini(&m->functions);
	owner_cache_fini(&m->frames);
	*m = (struct managed){ 0 };
}
