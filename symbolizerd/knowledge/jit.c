// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/clock.h"
#include "symbolizerd/knowledge/record.h"

#define LOOK_NS		(NSEC_PER_SEC / 10)
#define JIT_LOOKS	8		/* between two ticks, for jitdumps */
#define DUMP_WAIT_NS	(NSEC_PER_SEC / 2)	/* for MSG_EXE, after an answer */

_Static_assert(offsetof(struct jit_place, entry) == 0, "entry comes first");

/* --- places ------------------------------------------------------------------- */

struct jit_place_key {
	uint64_t space, addr;
};

static uint64_t jit_hash(const struct jit *j, const struct jit_place_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), j->seed);
}

static bool jit_same_place(const void *entry, const void *key)
{
	const struct jit_place *a = entry;
	const struct jit_place_key *k = key;

	return a->space == k->space && a->addr == k->addr;
}

static struct jit_place *jit_place(const struct jit *j, uint32_t space, uint64_t addr)
{
	struct jit_place_key key = { space, addr };
	uint32_t i = owner_cache_find(&j->places, jit_hash(j, &key), &key);

	return i == INDEX_NONE ? NULL : owner_cache_at(&j->places, i);
}

static uint32_t jit_place_index(const struct jit *j, const struct jit_place *a)
{
	return (uint32_t)(a - (const struct jit_place *)(const void *)j->places.v);
}

static bool jit_place_dropped(void *ctx, uint32_t i)
{
	struct jit *j = ctx;
	struct jit_place *a = owner_cache_at(&j->places, i);

	free(a->is.name);
	free(a->was.name);
	a->is = a->was = (struct jit_called){ .name = NULL };
	a->state = JIT_FREE;
	return false;
}

const struct jit_place *jit_find(const struct jit *j, uint32_t space, uint64_t addr)
{
	return space ? jit_place(j, space, addr) : NULL;
}

/* --- processes ------------------------------------------------------------------ */

/* The perf map's target of a space; NULL: it is gone. */
static struct visit_target *jit_map(const struct jit *j, uint32_t space)
{
	return visits_find(&j->visits, space);
}

static struct jit_file *jit_file(struct jit *j, const struct visit_target *t)
{
	return &j->files[visits_slot(&j->visits, t)];
}

/* The jitdump's target of a process; NULL: there is none. */
static struct visit_target *jit_dump_of(struct jit *j, const struct visit_target *map)
{
	return visits_find(&j->visits, jit_file(j, map)->dump);
}

static enum jit_source jit_source(const struct visit_target *t)
{
	return t->key.v[3] == JIT_DUMP ? JIT_DUMP : JIT_MAP;
}

static void jit_close(struct jit *j, struct jit_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	owners_add(&j->open, f->owner, -1);
}

/* The places of a process are of no space then: the next sweep drops them. */
static void jit_target_dropped(void *ctx, const struct visit_target *t)
{
	struct jit_file *f = jit_file(ctx, t);

	jit_close(ctx, f);
	*f = (struct jit_file){ .fd = -1 };
}

static struct visit_target *jit_new_dump(struct jit *j, struct visit_target *map,
					 uint64_t now_ns)
{
	struct process_id process = visit_process(&map->key);
	struct visit_key key = visit_key_of(&process, JIT_DUMP);
	struct visit_target *dump;

	dump = visits_target(&j->visits, &key, map->owner, now_ns);
	if (!dump)
		return NULL;
	jit_file(j, dump)->space = map->number;
	jit_file(j, map)->dump = dump->number;
	return dump;
}

/* --- files ---------------------------------------------------------------------- */

/* Of the open files of this owner the one that was not used for longest; NULL: he has none. */
static struct jit_file *jit_oldest(struct jit *j, uint32_t owner)
{
	struct jit_file *oldest = NULL;
	uint64_t used_ns = UINT64_MAX;

	for (uint32_t i = 0; i < JIT_TARGETS; i++) {
		struct jit_file *f = &j->files[i];

		if (f->fd < 0 || f->owner != owner || j->visits.v[i].used_ns >= used_ns)
			continue;
		oldest = f;
		used_ns = j->visits.v[i].used_ns;
	}
	return oldest;
}

/* There is room for one more of this owner. */
static void jit_make_room(struct jit *j, uint32_t owner)
{
	struct jit_file *goes;
	uint32_t most;

	if (j->open.total < JIT_FDS || !owners_most(&j->open, &most))
		return;
	if (owners_have(&j->open, owner) == owners_have(&j->open, most))
		most = owner;
	goes = jit_oldest(j, most);
	if (!goes)
		return;
	jit_close(j, goes);
	j->closed++;
}

/* A copy of fd is the target's file. */
static void jit_keep(struct jit *j, const struct visit_target *t, int fd)
{
	struct jit_file *f = jit_file(j, t);

	jit_close(j, f);
	f->owner = t->owner;
	jit_make_room(j, f->owner);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	f->missing = 0;
	if (f->fd >= 0)
		owners_add(&j->open, f->owner, 1);
}

/* What tells a file from what it was before; 0: there is none.  *ago_ns: how long ago
 * it was written, if that is less. */
static uint64_t jit_version(const struct jit_file *f, uint64_t *ago_ns)
{
	uint64_t at, now = clock_ns(CLOCK_REALTIME);
	struct stat st;

	if (f->fd < 0 || fstat(f->fd, &st))
		return 0;
	at = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
	if (at <= now && now - at < *ago_ns)
		*ago_ns = now - at;
	return (uint64_t)st.st_size + at * 31;
}

static bool jit_has_file(struct jit *j, const struct visit_target *map)
{
	const struct visit_target *dump = jit_dump_of(j, map);

	return jit_file(j, map)->fd >= 0 || (dump && jit_file(j, dump)->fd >= 0);
}

/* The version of a process's files, which is not found out all the time. */
static uint64_t jit_files_now(struct jit *j, const struct visit_target *map, uint64_t now_ns)
{
	const struct visit_target *dump = jit_dump_of(j, map);
	struct jit_file *f = jit_file(j, map);

	uint64_t version, ago_ns = now_ns;

	if (now_ns - f->looked_ns < LOOK_NS)
		return f->now;
	f->looked_ns = now_ns;
	version = jit_version(f, &ago_ns);
	if (dump)
		version += jit_version(jit_file(j, dump), &ago_ns);
	if (version != f->now)
		f->changed_ns = now_ns - ago_ns;
	f->now = version;
	return version;
}

/* May a file say more of this place than when it was looked for? */
static bool jit_changed(struct jit *j, const struct visit_target *map,
			const struct jit_place *a, uint64_t now_ns)
{
	return jit_has_file(j, map) && jit_files_now(j, map, now_ns) != a->version;
}

/* How long a name lasts before it is looked up again. */
static uint64_t jit_lasts_ns(struct jit *j, const struct visit_target *map)
{
	const struct visit_target *dump = jit_dump_of(j, map);
	uint64_t bytes = jit_file(j, map)->size;

	if (dump)
		bytes += jit_file(j, dump)->size;
	if (bytes / JIT_GAP_BYTES >= JIT_AGAIN_NS / JIT_GAP_NS)
		return JIT_AGAIN_NS;
	return JIT_GAP_NS * (1 + bytes / JIT_GAP_BYTES);
}

bool jit_waits(struct jit *j, uint32_t space, uint64_t addr, uint64_t now_ns)
{
	const struct jit_place *a = jit_find(j, space, addr);
	const struct visit_target *map = jit_map(j, space);

	if (!a || !map || !j->visit)
		return false;
	if (a->is.name)
		return a->state == JIT_WANTED;
	if (a->state == JIT_WANTED || jit_changed(j, map, a, now_ns))
		return true;
	if (!jit_has_file(j, map))
		return now_ns < jit_file(j, map)->dump_until_ns;
	return now_ns - a->born_ns < JIT_YOUNG_NS;
}

static bool jit_was(const struct jit_place *a, uint64_t time_ns)
{
	return a->was.name && time_ns && time_ns < a->was_until_ns;
}

uint64_t jit_was_until(const struct jit *j, uint32_t space, uint64_t addr)
{
	const struct jit_place *a = jit_find(j, space, addr);

	return a && a->was.name ? a->was_until_ns : 0;
}

static void jit_source_name(void *source, const struct frame_place *f, struct frame_called *c)
{
	const struct jit_place *a = jit_find(source, f->space, FRAME_ADDR(f->words[0]));
	const struct jit_called *called;

	if (!a || !a->is.name)
		return;
	called = &a->is;
	if (jit_was(a, f->time_ns))
		called = &a->was;
	c->n = 1;
	c->at[0] = (struct symbol_place){
		.name = called->name, .file = called->file, .line = called->line,
	};
}

static bool jit_source_waits(void *source, const struct frame_place *f)
{
	return jit_waits(source, f->space, FRAME_ADDR(f->words[0]), f->now_ns);
}

const struct name_source jit_name_source = { jit_source_name, jit_source_waits };

/* The jitdump that came for this process before its first sample. */
static void jit_take_dump(struct jit *j, struct visit_target *map,
			  const struct process_id *process, uint64_t now_ns)
{
	int fd = jit_early_take(&j->early, process);
	struct visit_target *dump;

	if (fd < 0)
		return;
	dump = jit_new_dump(j, map, now_ns);
	if (dump)
		jit_keep(j, dump, fd);
	close(fd);
}

uint32_t jit_space(struct jit *j, const struct trace_rec *rec, uint64_t now_ns)
{
	struct visit_key key = visit_key_of(&rec->process, JIT_MAP);
	struct visit_target *map, *dump;

	if (!(rec->flags & REC_HAS_ANON))
		return 0;
	map = visits_target(&j->visits, &key, owner_of_uid(rec->uid), now_ns);
	if (!map)
		return 0;
	if (!jit_file(j, map)->space) {
		*jit_file(j, map) = (struct jit_file){ .fd = -1, .space = map->number };
		jit_take_dump(j, map, &rec->process, now_ns);
	}
	dump = jit_dump_of(j, map);
	if (dump)
		dump->used_ns = now_ns;
	return map->number;
}

/* --- asking ---------------------------------------------------------------------- */

/* No source is left. */
static void jit_settle(struct jit_place *a, uint64_t now_ns)
{
	a->state = a->is.name ? JIT_KNOWN : JIT_NAMELESS;
	a->at_ns = now_ns;
}

/* A name may be another one: it is looked up anew.  What has none is looked for by
 * jit_look_again(). */
static void jit_look_up_failed(struct jit_place *a)
{
	if (a->is.name)
		a->version = 0;
}

/* Look for a place in a target's file.  False: that is not to be read soon. */
static bool jit_want_in(struct jit *j, struct visit_target *t, struct jit_place *a,
			uint64_t now_ns)
{
	uint64_t word = FRAME_ANON_WORD(a->addr);

	if (!visits_due(&j->visits, t, now_ns + JIT_GAP_NS))
		return false;
	a->state = JIT_WANTED;
	if (visits_want(&j->visits, t, &word, true, now_ns))
		return true;
	jit_file(j, jit_map(j, a->space))->more = true;
	jit_look_up_failed(a);
	jit_settle(a, now_ns);
	return true;
}

static void jit_want(struct jit *j, struct visit_target *map, struct jit_place *a,
		     uint64_t now_ns)
{
	struct visit_target *dump = jit_dump_of(j, map);

	if (dump && jit_file(j, dump)->fd >= 0 && jit_want_in(j, dump, a, now_ns))
		return;
	if (!jit_want_in(j, map, a, now_ns))
		jit_settle(a, now_ns);
}

static void jit_new_place(struct jit *j, struct visit_target *map, uint64_t addr,
			  uint64_t now_ns)
{
	struct jit_place_key key = { map->number, addr };
	uint32_t i = owner_cache_add_key(&j->places, map->owner, jit_hash(j, &key), 0);
	struct jit_place *a;

	if (i == INDEX_NONE)
		return;
	a = owner_cache_at(&j->places, i);
	a->addr = addr;
	a->space = map->number;
	a->born_ns = a->used_ns = now_ns;
	jit_want(j, map, a, now_ns);
}

/* A name is looked up again, if there may be another one by now. */
static void jit_mention_place(struct jit *j, struct visit_target *map, struct jit_place *a,
			      uint64_t now_ns)
{
	a->used_ns = now_ns;
	owner_cache_touch(&j->places, jit_place_index(j, a));
	if (a->state != JIT_KNOWN || !jit_changed(j, map, a, now_ns))
		return;
	if (!a->changed_ns) {
		a->changed_ns = jit_file(j, map)->changed_ns;
		if (a->changed_ns < a->at_ns)
			a->changed_ns = a->at_ns;
	}
	if (now_ns - a->at_ns >= jit_lasts_ns(j, map))
		jit_want(j, map, a, now_ns);
}

void jit_mention(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		 uint64_t now_ns)
{
	struct visit_target *map = jit_map(j, space);

	for (size_t i = 0; map && i < n; i += frame_words(words[i])) {
		struct jit_place *a;

		if (FRAME_KIND(words[i]) != FRAME_ANON)
			continue;
		a = jit_place(j, space, FRAME_ADDR(words[i]));
		if (a)
			jit_mention_place(j, map, a, now_ns);
		else
			jit_new_place(j, map, FRAME_ADDR(words[i]), now_ns);
	}
}

/* Was this target closed, and is it visited again? */
static bool jit_is_open_again(struct jit *j, const struct visit_target *t, uint64_t now_ns)
{
	return t && jit_file(j, t)->closed && visits_due(&j->visits, t, now_ns);
}

/* May what has no name have one by now?  A file has grown, or may be there, or may be read
 * again. */
static bool jit_may_look(struct jit *j, const struct visit_target *map, uint64_t now_ns)
{
	const struct jit_file *f = jit_file(j, map);

	if (map->asked)
		return false;
	return f->more || jit_files_now(j, map, now_ns) != f->told ||
	       jit_is_open_again(j, map, now_ns) ||
	       jit_is_open_again(j, jit_dump_of(j, map), now_ns) ||
	       (f->fd < 0 && visits_due(&j->visits, map, now_ns));
}

/* All places of this process without a name are about to be looked for. */
static void jit_note_look(struct jit *j, const struct visit_target *map, uint64_t now_ns)
{
	const struct visit_target *dump = jit_dump_of(j, map);
	struct jit_file *f = jit_file(j, map);

	f->more = false;
	f->told = f->now;
	if (jit_is_open_again(j, map, now_ns))
		f->closed = false;
	if (jit_is_open_again(j, dump, now_ns))
		jit_file(j, dump)->closed = false;
}

static void jit_look_again(struct jit *j, uint64_t now_ns)
{
	bool any = false;

	for (uint32_t i = 0; j->visits.v && i < JIT_TARGETS; i++) {
		const struct visit_target *t = &j->visits.v[i];
		struct jit_file *f = &j->files[i];

		f->look = t->number && f->space == t->number && jit_may_look(j, t, now_ns);
		if (!f->look)
			continue;
		jit_note_look(j, t, now_ns);
		any = true;
	}
	for (uint32_t i = 0; any && i < j->places.n; i++) {
		struct jit_place *a = owner_cache_at(&j->places, i);
		struct visit_target *map = a->state == JIT_NAMELESS ? jit_map(j, a->space) : NULL;

		if (map && jit_file(j, map)->look && now_ns - a->used_ns < JIT_RECENT_NS)
			jit_want(j, map, a, now_ns);
	}
}

static void jit_look(struct jit *j, uint64_t now_ns)
{
	jit_look_again(j, now_ns);
	visits_ask(&j->visits, true, now_ns);
}

void jit_tick(struct jit *j, uint64_t now_ns)
{
	j->looks = 0;
	jit_look(j, now_ns);
}

/* --- visits ------------------------------------------------------------------------- */

/* A jitdump that had to be closed cannot be opened again. */
static enum visit_ready jit_ready(void *ctx, const struct visit_target *t, uint32_t under_way,
				  uint64_t now_ns)
{
	(void)under_way;
	(void)now_ns;
	if (jit_source(t) == JIT_DUMP && jit_file(ctx, t)->fd < 0)
		return VISIT_NEVER;
	return VISIT_NOW;
}

/* A visit to t, which is of this process, begins: its files are read as they are now. */
static void jit_note_version(struct jit *j, const struct visit_target *map,
			     const struct visit_target *t)
{
	jit_file(j, map)->looked_ns = 0;
	jit_file(j, t)->asked = jit_files_now(j, map, j->visits.now_ns);
}

/* May others than its owner write to this perf map?  A group of the user's own number is the
 * user's own: there umask 002 is usual.  Of a jitdump it does not count: the process has
 * mapped it. */
static bool jit_is_shared(const struct stat *st)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != st->st_uid);
}

static int jit_ask(void *ctx, const struct visit_target *t, struct visit_question *q)
{
	struct jit *j = ctx;
	struct jit_file *f = jit_file(j, t);
	struct visit_target *map = jit_map(j, f->space);
	struct stat st;

	if (!j->visit)
		return -ESRCH;
	q->process = visit_process(&t->key);
	q->fd = f->fd;
	if (f->fd >= 0 && !fstat(f->fd, &st)) {
		if (jit_source(t) == JIT_MAP && jit_is_shared(&st)) {
			j->stats->jit_refused++;
			return -EACCES;
		}
		f->size = (uint64_t)st.st_size;
	}
	if (map)
		jit_note_version(j, map, t);
	j->stats->jit_visits++;
	return j->visit(j->ctx, q);
}

/* Its name from now on; without memory or room it keeps what it has. */
static void jit_name(struct jit *j, struct jit_place *a, const struct symbol_place *s)
{
	size_t name = strlen(s->name) + 1, file = strlen(s->file) + 1, was = 0;
	char *piece;

	if (a->is.name && !strcmp(a->is.name, s->name) && !strcmp(a->is.file, s->file)) {
		a->is.line = s->line;
		return;
	}
	if (a->is.name)
		was = strlen(a->is.name) + 1 + strlen(a->is.file) + 1;
	piece = malloc(name + file);
	if (!piece)
		return;
	if (!owner_cache_resize(&j->places, jit_place_index(j, a),
				(uint32_t)(name + file + was))) {
		free(piece);
		return;
	}
	memcpy(piece, s->name, name);
	memcpy(piece + name, s->file, file);
	free(a->was.name);
	a->was = a->is;
	a->was_until_ns = a->changed_ns;
	a->is = (struct jit_called){ piece, piece + name, s->line };
	j->stats->jit_names++;
}

/* The process has ended, or is in quarantine; or its file is nonsense. */
static bool jit_closes(int result)
{
	return result == -ESRCH || result == -EPERM || result > 0;
}

static void jit_take_name(void *ctx, const struct visit_target *t, const uint64_t *words,
			  const struct frame_names *names, uint32_t first, uint32_t n, int result)
{
	struct jit *j = ctx;
	uint32_t space = jit_file(j, t)->space;
	struct jit_place *a = jit_place(j, space, FRAME_ADDR(words[0]));
	struct symbol_place named = { .name = "" };
	bool failed = result == VISIT_LOST || jit_closes(result);
	struct visit_target *map = jit_map(j, space);

	if (!a || !map || a->state != JIT_WANTED)
		return;
	if (n)
		named = frame_names_place(names, first);
	if (!a->went_on)
		a->version = jit_file(j, t)->asked;
	if (failed)
		jit_look_up_failed(a);
	a->went_on = false;
	if (result == VISIT_LOST) {
		jit_file(j, map)->more = true;
	} else if (named.name[0]) {
		jit_name(j, a, &named);
	} else if (jit_source(t) == JIT_DUMP && jit_want_in(j, map, a, j->visits.now_ns)) {
		a->went_on = a->state == JIT_WANTED;
		return;
	}
	if (!failed)
		a->changed_ns = 0;
	jit_settle(a, j->visits.now_ns);
}

/* A file that was not there: when it is asked for again.  That is at a tick: a little
 * earlier rather than one later. */
static uint64_t jit_missing(struct jit_file *f, uint64_t now_ns)
{
	uint32_t doubled = f->missing < 2 ? 0 : f->missing - 2;
	uint64_t wait = JIT_GAP_NS << (doubled < 5 ? doubled : 5);

	f->missing++;
	if (wait > JIT_MISSING_NS)
		wait = JIT_MISSING_NS;
	return now_ns - NSEC_PER_SEC / 2 + wait;
}

static void jit_stop(struct jit *j, struct visit_target *t)
{
	visits_close(&j->visits, t);
	jit_file(j, t)->closed = true;
}

static void jit_answered(void *ctx, struct visit_target *t, int result)
{
	struct jit *j = ctx;
	struct jit_file *f = jit_file(j, t);

	if (visits_delayed(result))
		return;
	if (result == -ESRCH)
		j->stats->jit_gone += t->asked;
	if (!result)
		f->missing = 0;
	else if (jit_closes(result))
		jit_stop(j, t);
	else			/* not there, or still that of another process */
		t->next_ns = jit_missing(f, j->visits.now_ns);
	if (jit_source(t) == JIT_MAP && !jit_dump_of(j, t))
		f->dump_until_ns = j->visits.now_ns + DUMP_WAIT_NS;
}

/* --- the perf map and the jitdump ------------------------------------------------------- */

int jit_opened(struct jit *j, uint32_t space, int fd, uint64_t start_ns)
{
	struct visit_target *map = jit_map(j, space);
	struct jit_file *f;
	struct stat st;
	bool came;

	if (!map)
		return -ESRCH;
	f = jit_file(j, map);
	came = f->missing > 0;
	/* left by another process of this number; clocks are not exact */
	if (fstat(fd, &st) ||
	    (uint64_t)st.st_mtim.tv_sec + 2 < start_ns / NSEC_PER_SEC)
		return -ESTALE;
	if (jit_is_shared(&st)) {
		j->stats->jit_refused++;
		return -EACCES;
	}
	f->size = (uint64_t)st.st_size;
	jit_keep(j, map, fd);
	jit_note_version(j, map, map);
	f->told = f->asked;
	if (came)	/* what was looked for in vain may not be in this visit */
		f->more = true;
	return 0;
}

void jit_dump(struct jit *j, const struct process_id *process, int fd, uint64_t now_ns)
{
	struct visit_key key = visit_key_of(process, JIT_MAP);
	struct visit_target *map = visits_of_key(&j->visits, &key), *dump;

	if (!map) {
		jit_early_add(&j->early, process, fd, now_ns);
		return;
	}
	map->used_ns = now_ns;		/* it stays, whatever goes for its jitdump */
	dump = jit_new_dump(j, map, now_ns);
	if (!dump)
		return;
	jit_keep(j, dump, fd);
	jit_file(j, map)->dump_until_ns = 0;
	jit_file(j, map)->more = true;
	/* it looks at all places: those of many jitdumps wait for the tick */
	if (j->looks == JIT_LOOKS)
		return;
	j->looks++;
	jit_look(j, now_ns);
}

/* --- the whole -------------------------------------------------------------------------- */

static const struct visits_rules jit_rules = {
	.targets = JIT_TARGETS, .frame_words = 1, .ask = JIT_ASK,
	.waiting = JIT_TARGETS * JIT_ASK, .at_once = JIT_AT_ONCE,
	.gap_ns = JIT_GAP_NS, .gap_max_ns = JIT_GAP_NS, .idle_ns = JIT_IDLE_NS,
};

static const struct visits_ops jit_ops = {
	.ready = jit_ready, .ask = jit_ask, .name = jit_take_name, .answered = jit_answered,
	.dropped = jit_target_dropped,
};

void jit_init(struct jit *j, uint64_t seed, struct hub_stats *stats)
{
	*j = (struct jit){ .seed = seed, .open.seed = seed, .stats = stats };
	for (uint32_t i = 0; i < JIT_TARGETS; i++)
		j->files[i].fd = -1;
	visits_init(&j->visits, &jit_rules, &jit_ops, j, seed);
	j->places = (struct owner_cache){
		.size = sizeof(struct jit_place), .max = JIT_BYTES, .seed = seed,
		.same = jit_same_place, .dropped = jit_place_dropped, .ctx = j,
	};
}

void jit_sweep(struct jit *j, uint64_t now_ns)
{
	visits_sweep(&j->visits, now_ns);
	jit_early_sweep(&j->early, now_ns);
	for (uint32_t i = 0; i < j->places.n; i++) {
		const struct jit_place *a = owner_cache_at(&j->places, i);

		if (a->state && (now_ns - a->used_ns >= JIT_IDLE_NS || !jit_map(j, a->space)))
			owner_cache_drop(&j->places, i);
	}
}

void jit_fini(struct jit *j)
{
	visits_fini(&j->visits);
	owner_cache_fini(&j->places);
	owners_fini(&j->open);
	jit_early_fini(&j->early);
	*j = (struct jit){ 0 };
}
