// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/managed.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ipc/runtimes.h"
#include "symbolizerd/knowledge/record.h"
#include "symbolizerd/symbols/java_name.h"
#include "symbolizerd/symbols/line_table.h"
#include "symbolizerd/symbols/utf8.h"

void managed_init(struct managed *m, uint64_t seed)
{
	*m = (struct managed){
		.seed = seed, .names.seed = seed, .places.seed = seed,
	};
}

void managed_fini(struct managed *m)
{
	for (uint32_t i = 0; i < m->functions.n; i++)
		free(m->functions.v[i].name);
	free(m->functions.v);
	free(m->free_functions.v);
	free(m->frames.v);
	free(m->free_frames.v);
	hash_free(&m->by_content);
	hash_free(&m->by_key);
	owners_fini(&m->names);
	owners_fini(&m->places);
	visits_fini(&m->visits);
	*m = (struct managed){ 0 };
}

/* --- text ------------------------------------------------------------------------- */

/* The words of a FRAME_TEXT as UTF-8. */
static void managed_text(const uint64_t *w, struct utf8 *t)
{
	uint32_t which = TEXT_WHICH(FRAME_NUMBER(w[0]));
	uint32_t kind = TEXT_FORM(FRAME_NUMBER(w[0]));
	uint32_t size = kind ? kind : 1;
	const uint8_t *p = (const void *)(w + 1);

	utf8_begin(t, which == TEXT_NAME ? 0 : FRAME_PLACE(w[0]));
	if (kind == TEXT_UTF8)
		utf8_java(t, p, 8 * FRAME_MORE(w[0]));
	for (size_t i = 0; kind != TEXT_UTF8 && i + size <= 8 * FRAME_MORE(w[0]);
	     i += size) {
		uint32_t c = 0;

		memcpy(&c, p + i, size);
		if (!c)
			break;
		utf8_put(t, kind || c < 0x80 ? c : 0);
	}
}

/* --- room --------------------------------------------------------------------------- */

#define FRAME_BYTES	(sizeof(struct managed_frame) + 2 * sizeof(struct hash_slot))
#define FUNCTION_BYTES	(sizeof(struct managed_function) + 2 * sizeof(struct hash_slot))
#define GIVE_STEPS	4096	/* elements looked at for one that gives */

/* One of this owner's gives its room.  False: none was found. */
typedef bool (*give_fn)(struct managed *m, uint32_t owner);

/* May this owner have so many bytes more?  Then they are his. */
static bool managed_charge(struct managed *m, struct owners *o, uint64_t max,
			   uint32_t owner, uint64_t bytes, give_fn give)
{
	uint32_t most;

	while (o->total + bytes > max) {
		m->full++;
		if (!owners_most(o, &most) || most == owner || !give(m, most))
			return false;
	}
	owners_add(o, owner, (int64_t)bytes);
	return true;
}

/* --- functions ---------------------------------------------------------------------- */

/* What is known of it goes; the number rests. */
static void managed_drop_name(struct managed *m, uint32_t i)
{
	struct managed_function *f = &m->functions.v[i];

	if (f->state == MANAGED_NAMED)
		hash_remove_index(&m->by_content, f->hash, i);
	owners_add(&m->names, f->owner, -(int64_t)(f->bytes + FUNCTION_BYTES));
	free(f->name);
	*f = (struct managed_function){ .state = MANAGED_GONE };
	m->gone++;
}

static bool managed_give_name(struct managed *m, uint32_t owner)
{
	for (uint32_t n = 0; n < GIVE_STEPS && n < m->functions.n; n++) {
		uint32_t i = m->name_hand++ % m->functions.n;

		if (m->functions.v[i].name && m->functions.v[i].owner == owner) {
			managed_drop_name(m, i);
			return true;
		}
	}
	return false;
}

/* What a function's names say; then it is one piece of memory. */
struct naming {
	char name[JAVA_NAME_MAX], full[JAVA_FULL_MAX];
	struct utf8 file;
	uint32_t line, form;
	size_t n_lines;
	uint8_t lines[TEXT_LINES_MAX * TEXT_BYTES];
};

static bool managed_same(const struct managed_function *f, const struct naming *n)
{
	return f->line == n->line && f->form == n->form &&
	       f->n_lines == n->n_lines && !strcmp(f->name, n->name) &&
	       !strcmp(f->full, n->full) && !strcmp(f->file, n->file.s) &&
	       !memcmp(f->lines, n->lines, n->n_lines);
}

/* A free number, or MANAGED_UNKNOWN. */
static uint32_t managed_number(struct managed *m)
{
	static const struct managed_function none;

	if (m->free_functions.n)
		return m->free_functions.v[--m->free_functions.n];
	if (!m->functions.n && !vector_push(&m->functions, none))
		return MANAGED_UNKNOWN;
	if (m->functions.n > FRAME_NUMBER_MASK || !vector_push(&m->functions, none))
		return MANAGED_UNKNOWN;
	return m->functions.n - 1;
}

/* The piece: name, NUL, full name, NUL, file, NUL, table of lines. */
static bool managed_make(struct managed_function *f, const struct naming *n)
{
	char *at;

	f->name = malloc(f->bytes);
	if (!f->name)
		return false;
	at = stpcpy(f->name, n->name) + 1;
	f->full = at;
	at = stpcpy(at, n->full) + 1;
	f->file = at;
	at = stpcpy(at, n->file.s) + 1;
	memcpy(at, n->lines, n->n_lines);
	f->lines = (const uint8_t *)at;
	return true;
}

/* A new one; of those that are wanted each is by itself. */
static uint32_t managed_add(struct managed *m, const struct naming *n,
			    enum managed_state state, uint64_t hash, uint32_t owner)
{
	struct managed_function f = {
		.bytes = (uint32_t)(strlen(n->name) + strlen(n->full) +
				    n->file.len + 3 + n->n_lines),
		.line = n->line, .form = (uint16_t)n->form, .owner = owner,
		.n_lines = (uint16_t)n->n_lines, .hash = hash,
		.state = (uint8_t)state,
	};
	uint64_t bytes = f.bytes + FUNCTION_BYTES;
	uint32_t i;

	if (!managed_charge(m, &m->names, MANAGED_NAMES_BYTES, owner, bytes,
			    managed_give_name))
		return MANAGED_UNKNOWN;
	i = managed_make(&f, n) ? managed_number(m) : MANAGED_UNKNOWN;
	if (i == MANAGED_UNKNOWN ||
	    (state == MANAGED_NAMED && !hash_add(&m->by_content, hash, i))) {
		if (i != MANAGED_UNKNOWN)	/* or it stays unused */
			vector_push(&m->free_functions, i);
		owners_add(&m->names, owner, -(int64_t)bytes);
		free(f.name);
		return MANAGED_UNKNOWN;
	}
	m->functions.v[i] = f;
	return i;
}

static uint32_t managed_intern(struct managed *m, const struct naming *n,
			       uint32_t owner)
{
	uint64_t hash = XXH3_64bits_withSeed(n->name, strlen(n->name),
					     m->seed + n->line);
	const struct hash_slot *s;

	hash = XXH3_64bits_withSeed(n->full, strlen(n->full), hash);
	hash = XXH3_64bits_withSeed(n->file.s, n->file.len, hash);
	hash = XXH3_64bits_withSeed(n->lines, n->n_lines, hash);
	s = hash_find(&m->by_content, hash);
	while (s && !managed_same(&m->functions.v[hash_index(s)], n))
		s = hash_next(&m->by_content, s);
	return s ? hash_index(s) : managed_add(m, n, MANAGED_NAMED, hash, owner);
}

#define SAME_MAX	4	/* once for its lines, once for its names */

/* The number that has the names, for one that was wanted. */
static uint32_t managed_of(const struct managed *m, uint32_t number)
{
	for (int i = 0; i < SAME_MAX && number < m->functions.n &&
			m->functions.v[number].state == MANAGED_SAME; i++)
		number = m->functions.v[number].same;
	return number;
}

static enum managed_state managed_state_of(const struct managed *m, uint32_t number)
{
	number = managed_of(m, number);
	return number < m->functions.n ? m->functions.v[number].state : MANAGED_FREE;
}

const struct managed_function *managed_find(const struct managed *m,
					    uint32_t number)
{
	return managed_state_of(m, number) == MANAGED_NAMED ?
	       &m->functions.v[managed_of(m, number)] : NULL;
}

/* There is nothing behind this number, and nothing will come. */
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
static void managed_settle(struct managed *m, uint32_t wanted, uint32_t function)
{
	struct managed_function *f = &m->functions.v[wanted];

	if (f->state != MANAGED_WANTED)
		return;
	managed_drop_name(m, wanted);
	if (function == MANAGED_UNKNOWN)
		return;
	f->state = MANAGED_SAME;
	f->same = function;
}

uint32_t managed_line(const struct managed_function *f, uint32_t at)
{
	return line_table_line(f->form, f->lines, f->n_lines,
			       f->n_lines < TEXT_LINES_MAX * TEXT_BYTES,
			       f->line, at);
}

/* --- frames ------------------------------------------------------------------------- */

static uint64_t managed_hash(const struct managed *m, const struct managed_key *k)
{
	return XXH3_64bits_withSeed(k, sizeof(*k), m->seed);
}

static struct managed_frame *managed_frame_of(struct managed *m,
					      const struct managed_key *key)
{
	const struct hash_slot *s = hash_find(&m->by_key, managed_hash(m, key));

	while (s && memcmp(&m->frames.v[hash_index(s)].key, key, sizeof(*key)))
		s = hash_next(&m->by_key, s);
	return s ? &m->frames.v[hash_index(s)] : NULL;
}

static void managed_drop_frame(struct managed *m, uint32_t i)
{
	struct managed_frame *f = &m->frames.v[i];

	hash_remove_index(&m->by_key, managed_hash(m, &f->key), i);
	owners_add(&m->places, f->owner, -(int64_t)FRAME_BYTES);
	f->used_ns = 0;
	vector_push(&m->free_frames, i);	/* or it stays unused */
}

static bool managed_give_frame(struct managed *m, uint32_t owner)
{
	for (uint32_t n = 0; n < GIVE_STEPS && n < m->frames.n; n++) {
		uint32_t i = m->place_hand++ % m->frames.n;

		if (m->frames.v[i].used_ns && m->frames.v[i].owner == owner) {
			managed_drop_frame(m, i);
			return true;
		}
	}
	return false;
}

/* A free element, or INDEX_NONE. */
static uint32_t managed_frame_index(struct managed *m)
{
	static const struct managed_frame none;

	if (m->free_frames.n)
		return m->free_frames.v[--m->free_frames.n];
	return vector_push(&m->frames, none) ? m->frames.n - 1 : INDEX_NONE;
}

static struct managed_frame *managed_new_frame(struct managed *m,
					       const struct managed_key *key,
					       uint32_t owner)
{
	uint32_t i;

	if (!managed_charge(m, &m->places, MANAGED_FRAMES_BYTES, owner, FRAME_BYTES,
			    managed_give_frame))
		return NULL;
	i = managed_frame_index(m);
	if (i != INDEX_NONE && hash_add(&m->by_key, managed_hash(m, key), i)) {
		m->frames.v[i] = (struct managed_frame){ .key = *key,
							 .owner = owner };
		return &m->frames.v[i];
	}
	owners_add(&m->places, owner, -(int64_t)FRAME_BYTES);
	if (i != INDEX_NONE)
		vector_push(&m->free_frames, i);	/* or it stays unused */
	return NULL;
}

/* FRAME_TEXT of the next frame, each NULL if there is none; and of the record. */
struct texts {
	uint32_t owner;
	uint32_t n_lines;
	const uint64_t *name, *file, *class, *signature, *lines[TEXT_LINES_MAX];
};

static void managed_note_text(const uint64_t *w, struct texts *t)
{
	switch (TEXT_WHICH(FRAME_NUMBER(w[0]))) {
	case TEXT_NAME:
		t->name = w;
		break;
	case TEXT_FILE:
		t->file = w;
		break;
	case TEXT_CLASS:
		t->class = w;
		break;
	case TEXT_SIGNATURE:
		t->signature = w;
		break;
	case TEXT_OWNER:
		t->owner = owner_of_uid((uint32_t)FRAME_PLACE(w[0]));
		break;
	default:
		/* parts of the table, in their order */
		if (t->n_lines < TEXT_LINES_MAX &&
		    FRAME_PLACE(w[0]) == (uint64_t)t->n_lines * TEXT_BYTES)
			t->lines[t->n_lines++] = w;
	}
}

/* A method of a class, or a function. */
static void managed_full_name(const struct texts *t, struct naming *n)
{
	struct utf8 name, class, signature = { .len = 0 };

	n->name[0] = '\0';
	if (!t->name)
		return;
	managed_text(t->name, &name);
	if (!t->class) {
		memcpy(n->name, name.s, name.len + 1);
		return;
	}
	managed_text(t->class, &class);
	if (t->signature)
		managed_text(t->signature, &signature);
	java_name(n->name, n->full, class.s, name.s, signature.s);
}

/* What a method's table says of its first line, and where it ends. */
static void managed_java_lines(struct naming *n)
{
	if (n->form != LINES_JAVA && n->form != LINES_JAVA_20)
		return;
	n->n_lines = line_table_length(n->form, n->lines, n->n_lines);
	n->line = line_table_line(n->form, n->lines, n->n_lines, true, 0, 0);
}

/* What there is of names and lines. */
static void managed_name(const struct texts *t, struct naming *n)
{
	n->file.s[0] = n->full[0] = '\0';
	n->file.len = n->n_lines = n->form = 0;
	n->line = t->name ? (uint32_t)FRAME_PLACE(t->name[0]) : 0;
	managed_full_name(t, n);
	if (t->file)
		managed_text(t->file, &n->file);
	for (uint32_t i = 0; i < t->n_lines; i++) {
		n->form = TEXT_FORM(FRAME_NUMBER(t->lines[i][0]));
		memcpy(n->lines + n->n_lines, t->lines[i] + 1,
		       8 * FRAME_MORE(t->lines[i][0]));
		n->n_lines += 8 * FRAME_MORE(t->lines[i][0]);
	}
	managed_java_lines(n);
}

/* Code of the runtime's own; MANAGED_UNKNOWN: it has no name. */
static uint32_t managed_own(struct managed *m, const struct managed_key *key)
{
	const struct runtime_info *r;
	struct naming n;

	if (key->runtime >= RUNTIME__MAX || key->function >= RUNTIME_OWN)
		return MANAGED_UNKNOWN;
	r = runtime_info(key->runtime);
	if (!r->own[key->function] || !r->own[key->function][0])
		return MANAGED_UNKNOWN;
	n.file.s[0] = n.full[0] = '\0';
	n.file.len = n.n_lines = n.form = n.line = 0;
	strcpy(n.name, r->own[key->function]);
	return managed_intern(m, &n, OWNER_UNKNOWN);
}

/* A runtime's function whose names a visit can read. */
static bool managed_visited(const struct managed *m, const struct managed_key *key)
{
	return m->visit && key->runtime < RUNTIME__MAX &&
	       runtime_info(key->runtime)->visited && key->function >= RUNTIME_OWN;
}

/* Its names are to be read; until then it has this number.  MANAGED_UNKNOWN: they are
 * not. */
static uint32_t managed_want(struct managed *m, const struct managed_key *key,
			     struct managed_frame *f, const struct texts *texts,
			     uint64_t now_ns)
{
	struct naming naming;
	uint32_t number;

	/* with any text BPF has tried */
	if (!visits_want(&m->visits, key, texts->owner,
			 texts->name || texts->class || texts->signature ||
			 texts->file || texts->n_lines, now_ns))
		return MANAGED_UNKNOWN;
	managed_name(texts, &naming);
	number = managed_add(m, &naming, MANAGED_WANTED, 0, texts->owner);
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

/* Of one that is wanted, or was, lines have come at last. */
static void managed_take_lines(struct managed *m, struct managed_frame *f,
			       const struct texts *texts)
{
	const struct managed_function *old = &m->functions.v[f->function];
	enum managed_state state = old->state;
	struct naming n;
	uint32_t number;

	if (!texts->n_lines || old->n_lines || !old->name)
		return;
	managed_name(texts, &n);
	strcpy(n.name, old->name);
	strcpy(n.full, old->full);
	utf8_begin(&n.file, 0);
	n.file.len = strlen(strcpy(n.file.s, old->file));
	number = state == MANAGED_NAMED ? managed_intern(m, &n, old->owner) :
					  managed_add(m, &n, state, 0, old->owner);
	if (number == MANAGED_UNKNOWN)
		return;
	managed_settle(m, f->function, number);
	f->function = number;
}

static bool managed_whole(const struct texts *t, bool visited)
{
	return t->name && (!visited || (t->class && t->signature));
}

static uint32_t managed_function_of(struct managed *m,
				    const struct managed_key *key,
				    const struct texts *texts, uint64_t now_ns)
{
	struct managed_frame *f = managed_frame_of(m, key);
	bool visited = managed_visited(m, key);
	struct naming naming;
	uint32_t function;

	if (f)
		f->used_ns = now_ns;
	if (visited && !managed_whole(texts, visited)) {
		if (f && !managed_lost(m, f->function)) {
			managed_take_lines(m, f, texts);
			return f->function;
		}
		function = managed_want(m, key, f, texts, now_ns);
		if (function != MANAGED_UNKNOWN)
			return function;
	}
	if (!texts->name)
		return f ? f->function : managed_own(m, key);
	managed_name(texts, &naming);
	function = managed_intern(m, &naming, texts->owner);
	if (!f && function != MANAGED_UNKNOWN)
		f = managed_new_frame(m, key, texts->owner);
	if (f) {
		managed_settle(m, f->function, function);
		f->used_ns = now_ns;
		f->function = function;
	}
	return function;
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
				 const uint64_t *w, const struct texts *texts,
				 uint64_t now_ns)
{
	key->runtime = MANAGED_RUNTIME(w[0]);
	key->cookie = MANAGED_COOKIE_OF(w[0]);
	key->function = w[1];
	return OUR_WORD(managed_function_of(m, key, texts, now_ns), key->runtime,
			MANAGED_AT(w[0]));
}

void managed_translate(struct managed *m, struct trace_rec *rec, uint64_t now_ns)
{
	uint64_t *words = (uint64_t *)rec->words + rec->n_kernel;
	struct managed_key key = {
		.start_ns = rec->start_ns, .exec_id = rec->exec_id,
		.tgid = rec->tgid,
	};
	struct texts texts = { .owner = OWNER_UNKNOWN };
	/* they make room for what they run, if that is there */
	bool loops = m->show_loops || !managed_any(rec, 1 << FRAME_MANAGED);
	uint32_t n = 0, next;	/* what is written is never more than was read */

	for (uint32_t i = 0; i < rec->n_user; i = next) {
		const uint64_t *w = &words[i];

		next = i + frame_words(w[0]);
		if (FRAME_KIND(w[0]) == FRAME_TEXT) {
			managed_note_text(w, &texts);
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
		texts = (struct texts){ .owner = texts.owner };
	}
	rec->len -= 8 * (rec->n_user - n);
	rec->n_user = (uint16_t)n;
}

/* --- visits ------------------------------------------------------------------------------ */

void managed_ask(struct managed *m, bool late, uint64_t now_ns)
{
	struct jit_question q;

	while (m->visit && visits_next(&m->visits, late, now_ns, &q)) {
		int r = m->visit(m->ctx, &q, MANAGED_RUNTIME(q.words[0]));

		m->visited++;
		if (r)
			managed_answer(m, q.space, q.words, q.n, NULL, r);
	}
}

/* What a visit says of a function: its name and file, its full name.  False: nothing, or
 * more than there can be. */
static bool managed_take_places(struct naming *n, const struct symbol_place *name,
				const struct symbol_place *full)
{
	if (!name->name[0] || strlen(name->name) >= sizeof(n->name) ||
	    strlen(full->name) >= sizeof(n->full) ||
	    strlen(name->file) >= sizeof(n->file.s))
		return false;
	strcpy(n->name, name->name);
	strcpy(n->full, full->name);
	n->file.len = strlen(strcpy(n->file.s, name->file));
	return true;
}

/* The answer for one frame.  If there is none, what BPF has sent is all. */
static void managed_visit_one(struct managed *m, const struct managed_key *key,
			      const struct symbol_place *name,
			      const struct symbol_place *full)
{
	struct managed_frame *f = managed_frame_of(m, key);
	const struct managed_function *w;
	uint32_t wanted, function;
	struct naming n;

	if (!f || !managed_waits(m, f->function))
		return;		/* BPF has sent them meanwhile */
	wanted = managed_of(m, f->function);
	w = &m->functions.v[wanted];
	n.line = w->line;
	n.form = w->form;
	n.n_lines = w->n_lines;
	memcpy(n.lines, w->lines, w->n_lines);
	if (managed_take_places(&n, name, full)) {
		m->read++;
	} else if (w->name[0]) {
		strcpy(n.name, w->name);
		strcpy(n.full, w->full);
		n.file.len = strlen(strcpy(n.file.s, w->file));
	} else {
		managed_settle(m, wanted, MANAGED_UNKNOWN);
		m->functions.v[wanted].state = MANAGED_NAMELESS;
		return;
	}
	function = managed_intern(m, &n, w->owner);
	managed_settle(m, wanted, function);
	if (function != MANAGED_UNKNOWN)
		f->function = function;
}

void managed_answer(struct managed *m, uint32_t space, const uint64_t *words, size_t n,
		    const struct frame_names *names, int result)
{
	struct managed_key key;
	uint32_t at = 0;

	if (!visits_asked(&m->visits, space, &key))
		return;
	for (size_t i = 0; i + 1 < n && !visits_again(result); i += 2) {
		struct symbol_place place[2] = { { .name = "", .file = "" },
						 { .name = "", .file = "" } };

		for (uint32_t k = 0; names && at < names->n &&
				     names->v[at].frame == i / 2; at++, k++) {
			if (k < 2)
				place[k] = frame_names_place(names, at);
		}
		key.cookie = MANAGED_COOKIE_OF(words[i]);
		key.function = words[i + 1];
		managed_visit_one(m, &key, &place[0], &place[1]);
	}
	visits_answered(&m->visits, space, result);
}

/* --- forgetting ------------------------------------------------------------------------ */

static void managed_sweep_frames(struct managed *m, uint64_t now_ns)
{
	for (uint32_t i = 0; i < m->frames.n; i++) {
		const struct managed_frame *f = &m->frames.v[i];

		if (f->used_ns &&
		    (now_ns - f->used_ns >= MANAGED_KEPT_NS ||
		     managed_lost(m, f->function)))
			managed_drop_frame(m, i);
	}
}

static void managed_mark(struct managed *m, uint32_t number)
{
	if (number >= m->functions.n)
		return;
	m->functions.v[number].used = true;
	for (int i = 0; i < SAME_MAX && m->functions.v[number].state == MANAGED_SAME; i++) {
		number = m->functions.v[number].same;
		m->functions.v[number].used = true;
	}
}

static void managed_mark_used(struct managed *m, const struct traces *traces)
{
	for (uint32_t i = 0; i < m->frames.n; i++) {
		if (m->frames.v[i].used_ns)
			managed_mark(m, m->frames.v[i].function);
	}
	for (uint32_t i = 0; i < traces->top; i++) {
		const struct trace *t = traces->v[i];

		for (uint32_t k = t ? t->n_kernel : 0;
		     t && k < (uint32_t)t->n_kernel + t->n_user;
		     k += frame_words(t->words[k])) {
			if (FRAME_KIND(t->words[k]) == FRAME_MANAGED)
				managed_mark(m, FRAME_NUMBER(t->words[k]));
		}
	}
}

void managed_sweep(struct managed *m, const struct traces *traces,
		   uint64_t now_ns)
{
	managed_sweep_frames(m, now_ns);
	visits_sweep(&m->visits, now_ns);
	if (!m->gone && m->names.total < MANAGED_NAMES_BYTES / 2)
		return;
	for (uint32_t i = 0; i < m->functions.n; i++)
		m->functions.v[i].used = false;
	managed_mark_used(m, traces);
	for (uint32_t i = 1; i < m->functions.n; i++) {
		struct managed_function *f = &m->functions.v[i];

		if (f->state == MANAGED_FREE || f->used ||
		    !vector_reserve(&m->free_functions, 1))
			continue;
		if (f->name)
			managed_drop_name(m, i);
		f->state = MANAGED_FREE;
		m->gone--;
		m->free_functions.v[m->free_functions.n++] = i;
	}
}
