// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ipc/message_hub.h"

#define PLACE_BYTES	(sizeof(struct line_place) + 2 * sizeof(struct hash_slot))
#define FUNCTION_BYTES	(sizeof(struct line_function) + 2 * sizeof(struct hash_slot))
#define PIECE_BYTES	16	/* of the allocator, about */
#define GIVE_STEPS	8192	/* places looked at for one that gives: some twice */

void source_lines_init(struct source_lines *l, uint64_t seed)
{
	*l = (struct source_lines){ .seed = seed, .bytes.seed = seed };
}

void source_lines_fini(struct source_lines *l)
{
	for (uint32_t i = 0; i < l->places.n; i++)
		free(l->places.v[i].v);
	for (uint32_t i = 0; i < l->functions.n; i++)
		free(l->functions.v[i].name);
	for (uint32_t i = 0; l->files && i < LINES_FILES; i++)
		free(l->files[i].wanted.v);
	free(l->files);
	free(l->places.v);
	free(l->free_places.v);
	free(l->functions.v);
	free(l->free_functions.v);
	hash_free(&l->by_place);
	hash_free(&l->by_content);
	owners_fini(&l->bytes);
	source_lines_init(l, l->seed);
}

void source_lines_share(struct source_lines *l, uint32_t percent, uint64_t now_ns)
{
	user_share_init(&l->share, percent, now_ns);
}

/* --- functions ---------------------------------------------------------------- */

static void lines_drop_function(struct source_lines *l, uint32_t i)
{
	struct line_function *f = &l->functions.v[i];

	if (--f->refs)
		return;
	hash_remove_index(&l->by_content, f->hash, i);
	owners_add(&l->bytes, f->owner, -(int64_t)f->bytes);
	free(f->name);
	*f = (struct line_function){ .name = NULL };
	vector_push(&l->free_functions, i);	/* or it stays unused */
}

static uint64_t lines_hash_function(const struct source_lines *l, const struct symbol_place *p,
				    const char *system, uint32_t owner)
{
	uint64_t hash = XXH3_64bits_withSeed(p->name, strlen(p->name), l->seed + owner);

	hash = XXH3_64bits_withSeed(system, strlen(system), hash + p->first_line);
	return XXH3_64bits_withSeed(p->file, strlen(p->file), hash);
}

static bool lines_same_function(const struct line_function *f, const struct symbol_place *p,
				const char *system, uint32_t owner)
{
	return f->owner == owner && f->first_line == p->first_line &&
	       !strcmp(f->name, p->name) && !strcmp(f->system, system) &&
	       !strcmp(f->file, p->file);
}

static bool lines_charge(struct source_lines *l, uint32_t owner, uint32_t bytes);

/* A free element, or INDEX_NONE. */
static uint32_t lines_number(struct source_lines *l)
{
	static const struct line_function none;

	if (l->free_functions.n)
		return l->free_functions.v[--l->free_functions.n];
	return vector_push(&l->functions, none) ? l->functions.n - 1 : INDEX_NONE;
}

/* A new one, or INDEX_NONE. */
static uint32_t lines_add_function(struct source_lines *l, const struct symbol_place *p,
				   const char *system, uint32_t owner, uint64_t hash)
{
	size_t len = strlen(p->name) + strlen(system) + strlen(p->file) + 3;
	struct line_function f = {
		.first_line = p->first_line, .refs = 1, .owner = owner, .hash = hash,
		.bytes = (uint32_t)(len + FUNCTION_BYTES + PIECE_BYTES),
	};
	char *at;
	uint32_t i;

	if (!lines_charge(l, owner, f.bytes))
		return INDEX_NONE;
	f.name = malloc(len);
	i = f.name ? lines_number(l) : INDEX_NONE;
	if (i == INDEX_NONE || !hash_add(&l->by_content, hash, i)) {
		if (i != INDEX_NONE)
			vector_push(&l->free_functions, i);
		owners_add(&l->bytes, owner, -(int64_t)f.bytes);
		free(f.name);
		return INDEX_NONE;
	}
	at = stpcpy(f.name, p->name) + 1;
	f.system = at;
	at = stpcpy(at, system) + 1;
	f.file = at;
	strcpy(at, p->file);
	l->functions.v[i] = f;
	return i;
}

static uint32_t lines_intern(struct source_lines *l, const struct symbol_place *p, uint32_t owner)
{
	const char *system = p->system ? p->system : "";
	uint64_t hash = lines_hash_function(l, p, system, owner);
	const struct hash_slot *s = hash_find(&l->by_content, hash);

	while (s && !lines_same_function(&l->functions.v[hash_index(s)], p, system, owner))
		s = hash_next(&l->by_content, s);
	if (!s)
		return lines_add_function(l, p, system, owner, hash);
	l->functions.v[hash_index(s)].refs++;
	return hash_index(s);
}

/* --- places ------------------------------------------------------------------- */

static uint64_t lines_hash_place(const struct source_lines *l, uint32_t file, uint64_t off)
{
	uint64_t key[2] = { file, off };

	return XXH3_64bits_withSeed(key, sizeof(key), l->seed);
}

static uint32_t lines_place(const struct source_lines *l, uint32_t file, uint64_t off)
{
	const struct hash_slot *s = hash_find(&l->by_place, lines_hash_place(l, file, off));

	while (s && (l->places.v[hash_index(s)].file != file ||
		     l->places.v[hash_index(s)].offset != off))
		s = hash_next(&l->by_place, s);
	return s ? hash_index(s) : INDEX_NONE;
}

/* What is known of it goes. */
static void lines_clear_place(struct source_lines *l, struct line_place *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		lines_drop_function(l, p->v[i].function);
	if (p->v)
		owners_add(&l->bytes, p->owner, -(int64_t)(p->n * sizeof(*p->v) + PIECE_BYTES));
	free(p->v);
	p->v = NULL;
	p->n = 0;
}

static void lines_drop_place(struct source_lines *l, uint32_t i)
{
	struct line_place *p = &l->places.v[i];

	lines_clear_place(l, p);
	hash_remove_index(&l->by_place, lines_hash_place(l, p->file, p->offset), i);
	owners_add(&l->bytes, p->owner, -(int64_t)PLACE_BYTES);
	*p = (struct line_place){ .state = LINE_FREE };
	vector_push(&l->free_places, i);	/* or it stays unused */
}

/* One of this owner's goes that was not used since the hand passed.  False: none was
 * found. */
static bool lines_give(struct source_lines *l, uint32_t owner)
{
	for (uint32_t n = 0; n < GIVE_STEPS && n < 2 * l->places.n; n++) {
		uint32_t i = l->hand++ % l->places.n;
		struct line_place *p = &l->places.v[i];

		if (p->state != LINE_KNOWN || p->owner != owner)
			continue;
		if (!p->touched) {
			lines_drop_place(l, i);
			return true;
		}
		p->touched = false;
	}
	return false;
}

/* May this owner have so many bytes more?  Then they are his. */
static bool lines_charge(struct source_lines *l, uint32_t owner, uint32_t bytes)
{
	uint32_t most;

	while (l->bytes.total + bytes > LINES_BYTES) {
		if (!owners_most(&l->bytes, &most) || !lines_give(l, most))
			return false;
	}
	owners_add(&l->bytes, owner, bytes);
	return true;
}

/* A new one that is wanted, or INDEX_NONE. */
static uint32_t lines_add_place(struct source_lines *l, const struct executable *e, uint64_t off,
				uint32_t interval)
{
	static const struct line_place none;
	uint32_t i;

	if (!lines_charge(l, e->owner, PLACE_BYTES))
		return INDEX_NONE;
	if (l->free_places.n)
		i = l->free_places.v[--l->free_places.n];
	else
		i = vector_push(&l->places, none) ? l->places.n - 1 : INDEX_NONE;
	if (i == INDEX_NONE ||
	    !hash_add(&l->by_place, lines_hash_place(l, e->lines_id, off), i)) {
		owners_add(&l->bytes, e->owner, -(int64_t)PLACE_BYTES);
		if (i != INDEX_NONE)
			vector_push(&l->free_places, i);
		return INDEX_NONE;
	}
	l->places.v[i] = (struct line_place){
		.offset = off, .file = e->lines_id, .owner = e->owner, .used = interval,
		.state = LINE_WANTED,
	};
	return i;
}

/* --- files ---------------------------------------------------------------------- */

static struct line_file *lines_file(const struct source_lines *l, uint32_t id)
{
	for (uint32_t i = 0; id && l->files && i < LINES_FILES; i++) {
		if (l->files[i].id == id)
			return &l->files[i];
	}
	return NULL;
}

/* May this user have another place waiting, and maybe another file? */
static bool lines_share(const struct source_lines *l, uint32_t owner, bool file)
{
	uint32_t places = 0, files = 0;

	for (uint32_t i = 0; i < LINES_FILES; i++) {
		const struct line_file *f = &l->files[i];

		if (!f->id || f->owner != owner)
			continue;
		places += f->wanted.n;
		files += f->wanted.n != 0;
	}
	return places < LINES_SHARE(LINES_WAITING) &&
	       (!file || files < LINES_SHARE(LINES_FILES));
}

/* A free element; else that of the file that waits for nothing and was met longest ago;
 * else NULL. */
static struct line_file *lines_take_file(struct source_lines *l)
{
	struct line_file *oldest = NULL;

	for (uint32_t i = 0; i < LINES_FILES; i++) {
		struct line_file *f = &l->files[i];

		if (!f->id)
			return f;
		if (!f->wanted.n && (!oldest || f->used_ns < oldest->used_ns))
			oldest = f;
	}
	if (oldest)
		free(oldest->wanted.v);
	return oldest;
}

static struct line_file *lines_new_file(struct source_lines *l, const struct executable *e)
{
	struct line_file *f = lines_take_file(l);

	if (!f)
		return NULL;
	/* never 0, and another one each time */
	l->generation = (l->generation + 1) % (UINT32_MAX / LINES_FILES);
	*f = (struct line_file){
		.id = e->lines_id, .key = e->key, .owner = e->owner,
		.space = (l->generation + 1) * LINES_FILES + (uint32_t)(f - l->files),
	};
	return f;
}

/* The file of a place that is new, if there is room for it to wait. */
static struct line_file *lines_room(struct source_lines *l, const struct executable *e)
{
	struct line_file *f;

	if (!l->files)
		l->files = calloc(LINES_FILES, sizeof(*l->files));
	if (!l->files || l->waiting >= LINES_WAITING)
		return NULL;
	f = lines_file(l, e->lines_id);
	if (!lines_share(l, e->owner, !f || !f->wanted.n))
		return NULL;
	f = f ? f : lines_new_file(l, e);
	return f && f->wanted.n < LINES_ASK && vector_reserve(&f->wanted, 1) ? f : NULL;
}

void source_lines_want(struct source_lines *l, struct executable *e, uint64_t off,
		       uint32_t interval, uint64_t now_ns)
{
	struct line_file *f;
	uint32_t i;

	if (!e->lines_id)
		e->lines_id = ++l->last_id ? l->last_id : ++l->last_id;
	i = lines_place(l, e->lines_id, off);
	if (i == INDEX_NONE) {
		f = lines_room(l, e);
		i = f ? lines_add_place(l, e, off, interval) : INDEX_NONE;
		if (i == INDEX_NONE)
			return;
		f->used_ns = now_ns;
		f->wanted.v[f->wanted.n++] = i;
		l->waiting++;
	}
	l->places.v[i].touched |= l->places.v[i].used != interval;
	l->places.v[i].used = interval;
}

static bool lines_due(const struct source_lines *l, const struct line_file *f, uint64_t now_ns)
{
	return l->ending || now_ns >= f->next_ns;
}

bool source_lines_wait(const struct source_lines *l, const struct executable *e, uint64_t off,
		       uint64_t now_ns)
{
	uint32_t i = lines_place(l, e->lines_id, off);
	const struct line_file *f;

	if (i == INDEX_NONE || l->places.v[i].state != LINE_WANTED)
		return false;
	f = lines_file(l, e->lines_id);
	if (!f || user_share_used_up(&l->share, e->owner) || (l->ending && f->fd_ns))
		return f && f->asked;
	return f->asked || lines_due(l, f, now_ns + LINES_SOON_NS);
}

uint32_t source_lines_find(const struct source_lines *l, const struct executable *e,
			   uint64_t off, struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	uint32_t at = e->lines_id ? lines_place(l, e->lines_id, off) : INDEX_NONE;
	const struct line_place *p;

	if (at == INDEX_NONE)
		return 0;
	p = &l->places.v[at];
	for (uint32_t i = 0; i < p->n; i++) {
		const struct line_function *f = &l->functions.v[p->v[i].function];

		ret[i] = (struct symbol_place){
			.name = f->name, .file = f->file, .first_line = f->first_line,
			.line = p->v[i].line, .system = f->system[0] ? f->system : NULL,
		};
	}
	return p->n;
}

/* --- questions ------------------------------------------------------------------ */

/* The first n places of it do not wait any more; forget: nor are they known. */
static void lines_settle(struct source_lines *l, struct line_file *f, uint32_t n, bool forget)
{
	for (uint32_t i = 0; i < n; i++) {
		if (forget)
			lines_drop_place(l, f->wanted.v[i]);
		else
			l->places.v[f->wanted.v[i]].state = LINE_KNOWN;
	}
	memmove(f->wanted.v, f->wanted.v + n, (f->wanted.n - n) * sizeof(*f->wanted.v));
	f->wanted.n -= n;
	l->waiting -= n;
}

/* The entry of a file; EXECUTABLE_NONE: it is gone, or is to be asked anew. */
static uint32_t lines_exe(const struct executables *x, const struct line_file *f)
{
	uint32_t i = executables_find(x, &f->key);

	return i != EXECUTABLE_NONE && executables_get(x, i)->lines_id == f->id ?
		       i : EXECUTABLE_NONE;
}

static uint64_t lines_gap(const struct line_file *f)
{
	uint64_t gap = LINES_GAP_NS << (f->visits < 16 ? f->visits : 16);

	return gap < LINES_GAP_MAX_NS ? gap : LINES_GAP_MAX_NS;
}

/* The question is under way. */
static void lines_ask(struct source_lines *l, struct line_file *f, int fd, uint64_t now_ns,
		      struct jit_question *ret)
{
	static uint64_t words[LINES_ASK];

	for (uint32_t i = 0; i < f->wanted.n; i++)
		words[i] = l->places.v[f->wanted.v[i]].offset;
	f->asked_ns = now_ns;
	f->next_ns = now_ns + lines_gap(f);
	f->visits++;
	f->asked = f->wanted.n;
	f->fd_ns = 0;
	f->put_off = false;
	l->visits++;
	*ret = (struct jit_question){
		.space = f->space, .owner = f->owner, .words = words, .n = f->asked, .fd = fd,
	};
}

/* Its descriptor is not there.  False: it did not come. */
static bool lines_await(struct source_lines *l, struct line_file *f, uint64_t now_ns)
{
	if (!f->fd_ns)
		f->fd_ns = now_ns;
	if (now_ns - f->fd_ns < LINES_FD_NS)
		return true;
	f->fd_ns = 0;
	lines_settle(l, f, f->wanted.n, true);
	return false;
}

/* Visits of this user's that are under way, and when the last was asked for. */
static uint32_t lines_served(const struct source_lines *l, uint32_t owner, uint64_t *last_ns)
{
	uint32_t n = 0;

	*last_ns = 0;
	for (uint32_t i = 0; i < LINES_FILES; i++) {
		const struct line_file *f = &l->files[i];

		if (!f->id || f->owner != owner)
			continue;
		n += f->asked != 0;
		if (f->asked_ns > *last_ns)
			*last_ns = f->asked_ns;
	}
	return n;
}

/* Is its question due, so that it can be asked? */
static bool lines_ready(const struct source_lines *l, const struct line_file *f, uint64_t now_ns)
{
	return f->id && f->wanted.n && !f->asked && lines_due(l, f, now_ns);
}

/* May a file of a user who has n visits under way be visited?  If not for want of time, that
 * is counted once. */
static bool lines_may(struct source_lines *l, struct line_file *f, uint32_t n, uint64_t now_ns)
{
	if (user_share_left(&l->share, f->owner, n * LINES_VISIT_NS, now_ns))
		return n < LINES_AT_ONCE / 2;
	l->put_off += !n && !f->put_off;
	f->put_off |= !n;
	return false;
}

/* Who is next of those that are ready and have a descriptor; NULL: nobody. */
static struct line_file *lines_pick(struct source_lines *l, const struct executables *x,
				    uint64_t now_ns)
{
	struct line_file *best = NULL;
	uint32_t under_way = 0, fewest = 0;
	uint64_t oldest = 0;

	for (uint32_t i = 0; i < LINES_FILES; i++) {
		struct line_file *f = &l->files[i];
		uint32_t exe, n;
		uint64_t last;

		under_way += f->asked != 0;
		if (!lines_ready(l, f, now_ns))
			continue;
		exe = lines_exe(x, f);
		if (exe == EXECUTABLE_NONE || executables_get(x, exe)->fd < 0)
			continue;
		n = lines_served(l, f->owner, &last);
		if (!lines_may(l, f, n, now_ns))
			continue;
		if (best && (n > fewest || (n == fewest && last >= oldest)))
			continue;
		best = f;
		fewest = n;
		oldest = last;
	}
	return under_way < LINES_AT_ONCE ? best : NULL;
}

/* The next file from *at on that is ready and has no descriptor, if that is new. */
static uint32_t lines_without(struct source_lines *l, const struct executables *x, uint32_t *at,
			      uint64_t now_ns)
{
	while (*at < LINES_FILES) {
		struct line_file *f = &l->files[(*at)++];
		bool first = !f->fd_ns;
		uint32_t i;

		if (!lines_ready(l, f, now_ns))
			continue;
		i = lines_exe(x, f);
		if (i == EXECUTABLE_NONE)
			lines_settle(l, f, f->wanted.n, true);
		else if (executables_get(x, i)->fd < 0 && lines_await(l, f, now_ns) && first)
			return i;
	}
	return EXECUTABLE_NONE;
}

uint32_t source_lines_next(struct source_lines *l, const struct executables *x, uint32_t *at,
			   uint64_t now_ns, struct jit_question *ret)
{
	struct line_file *f;
	uint32_t i;

	if (!l->waiting)
		return EXECUTABLE_NONE;
	ret->fd = -1;
	i = lines_without(l, x, at, now_ns);
	if (i != EXECUTABLE_NONE)
		return i;
	f = lines_pick(l, x, now_ns);
	if (!f)
		return EXECUTABLE_NONE;
	i = lines_exe(x, f);
	lines_ask(l, f, executables_get(x, i)->fd, now_ns, ret);
	return i;
}

/* --- answers -------------------------------------------------------------------- */

/* What is known of a place: so many names.  False: there is no room. */
static bool lines_set(struct source_lines *l, struct line_place *p,
		      const struct frame_names *names, uint32_t first, uint32_t n)
{
	uint32_t bytes = (uint32_t)(n * sizeof(*p->v) + PIECE_BYTES);

	if (!lines_charge(l, p->owner, bytes))
		return false;
	p->v = malloc(n * sizeof(*p->v));
	while (p->v && p->n < n) {
		struct symbol_place at = frame_names_place(names, first + p->n);
		uint32_t function = lines_intern(l, &at, p->owner);

		if (function == INDEX_NONE)
			break;
		p->v[p->n++] = (struct line_at){ function, at.line };
	}
	if (p->n == n)
		return true;
	while (p->n)
		lines_drop_function(l, p->v[--p->n].function);
	free(p->v);
	p->v = NULL;
	owners_add(&l->bytes, p->owner, -(int64_t)bytes);
	return false;
}

static void lines_take(struct source_lines *l, struct line_file *f,
		       const struct frame_names *names)
{
	for (uint32_t i = 0, n; i < names->n; i += n) {
		uint32_t frame = names->v[i].frame;
		const char *name = names->strings + names->v[i].name;
		struct line_place *p;

		for (n = 1; i + n < names->n && names->v[i + n].frame == frame; n++)
			;
		if (frame >= f->asked - names->left || (n == 1 && !name[0] && !names->v[i].line))
			continue;
		p = &l->places.v[f->wanted.v[frame]];
		l->found++;
		if (!lines_set(l, p, names, i, n))
			p->used -= LINES_IDLE;	/* it goes, and may be asked for anew */
	}
}

/* What a visit to it says of later ones. */
static void lines_judge(struct executable *e, int result)
{
	e->lines_seen |= !result;
	e->no_lines |= result != 0;
	e->lacks_dwarf |= result == JOB_NO_NAMES && e->debug == JOB_DEBUG_LINES;
}

void source_lines_answer(struct source_lines *l, const struct executables *x, uint32_t space,
			 const struct frame_names *names, int result)
{
	struct line_file *f = l->files ? &l->files[space % LINES_FILES] : NULL;
	bool poor = result < 0 || result == JOB_NO_MEMORY;
	uint32_t exe, n;

	if (!f || f->space != space || !f->asked)
		return;
	exe = lines_exe(x, f);
	n = names ? f->asked - names->left : f->asked;
	l->answers += names != NULL;
	l->deaths += result == JOB_KILLED;
	if (names)
		lines_take(l, f, names);
	f->asked = 0;
	f->tries = poor ? f->tries + 1 : 0;
	if (poor && f->tries < LINES_TRIES)
		return;		/* it is due again after the pause */
	if (!poor && exe != EXECUTABLE_NONE)
		lines_judge(executables_get(x, exe), result);
	lines_settle(l, f, result ? f->wanted.n : n, false);
}

void source_lines_used(struct source_lines *l, uint32_t owner, uint64_t cpu_ns)
{
	user_share_use(&l->share, owner, cpu_ns);
}

void source_lines_sweep(struct source_lines *l, uint32_t interval)
{
	for (uint32_t i = 0; i < l->places.n; i++) {
		const struct line_place *p = &l->places.v[i];

		if (p->state == LINE_KNOWN && interval - p->used >= LINES_IDLE)
			lines_drop_place(l, i);
	}
}
