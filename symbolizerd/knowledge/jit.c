// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/clock.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/record.h"

#define PLACE_BYTES	(sizeof(struct jit_place) + 2 * sizeof(struct hash_slot))
#define GIVE_STEPS	4096	/* places looked at for one that gives */
#define GROWN_NS	(NSEC_PER_SEC / 10)
#define DUMP_WAIT_NS	(NSEC_PER_SEC / 2)	/* for MSG_EXE, behind an answer */

void jit_init(struct jit *j, uint64_t seed, struct hub_stats *stats)
{
	*j = (struct jit){ .seed = seed, .stats = stats, .bytes.seed = seed };
}

/* --- places ------------------------------------------------------------------- */

static uint64_t jit_place_hash(const struct jit *j, uint32_t space, uint64_t addr)
{
	uint64_t key[2] = { space, addr };

	return XXH3_64bits_withSeed(key, sizeof(key), j->seed);
}

static struct jit_place *jit_place(const struct jit *j, uint32_t space, uint64_t addr)
{
	const struct hash_slot *s = hash_find(&j->by_addr, jit_place_hash(j, space, addr));

	while (s && (j->places.v[hash_index(s)].space != space ||
		     j->places.v[hash_index(s)].addr != addr))
		s = hash_next(&j->by_addr, s);
	return s ? &j->places.v[hash_index(s)] : NULL;
}

static struct jit_process *jit_process(const struct jit *j, uint32_t space)
{
	struct jit_process *p = space && j->v ? &j->v[space % JIT_PROCESSES] : NULL;

	return p && p->space == space ? p : NULL;
}

static void jit_drop_place(struct jit *j, uint32_t i)
{
	struct jit_place *a = &j->places.v[i];
	struct jit_process *p = jit_process(j, a->space);

	if (p)
		p->n_places--;
	hash_remove_index(&j->by_addr, jit_place_hash(j, a->space, a->addr), i);
	owners_add(&j->bytes, a->owner, -(int64_t)a->bytes);
	free(a->name);
	*a = (struct jit_place){ .state = JIT_FREE };
	vector_push(&j->free_places, i);	/* or it stays unused */
}

/* One of this owner's goes.  False: none was found. */
static bool jit_give(struct jit *j, uint32_t owner)
{
	for (uint32_t n = 0; n < GIVE_STEPS && n < j->places.n; n++) {
		uint32_t i = j->hand++ % j->places.n;

		if (j->places.v[i].state && j->places.v[i].owner == owner) {
			jit_drop_place(j, i);
			return true;
		}
	}
	return false;
}

/* May this owner have so many bytes more?  Then they are his. */
static bool jit_charge(struct jit *j, uint32_t owner, uint32_t bytes)
{
	uint32_t most;

	while (j->bytes.total + bytes > JIT_BYTES) {
		if (!owners_most(&j->bytes, &most) || most == owner || !jit_give(j, most))
			return false;
	}
	owners_add(&j->bytes, owner, bytes);
	return true;
}

/* A free element, or INDEX_NONE. */
static uint32_t jit_place_index(struct jit *j)
{
	static const struct jit_place none;

	if (j->free_places.n)
		return j->free_places.v[--j->free_places.n];
	return vector_push(&j->places, none) ? j->places.n - 1 : INDEX_NONE;
}

static void jit_new_place(struct jit *j, struct jit_process *p, uint64_t addr,
			  uint32_t interval, uint64_t now_ns)
{
	uint32_t i;

	if (p->n_places >= JIT_PLACES || !vector_reserve(&p->wanted, 1) ||
	    !jit_charge(j, p->owner, PLACE_BYTES))
		return;
	i = jit_place_index(j);
	if (i == INDEX_NONE ||
	    !hash_add(&j->by_addr, jit_place_hash(j, p->space, addr), i)) {
		owners_add(&j->bytes, p->owner, -(int64_t)PLACE_BYTES);
		if (i != INDEX_NONE)
			vector_push(&j->free_places, i);
		return;
	}
	j->places.v[i] = (struct jit_place){
		.addr = addr, .born_ns = now_ns, .space = p->space, .bytes = PLACE_BYTES,
		.owner = p->owner, .used = interval, .state = JIT_WANTED,
	};
	p->n_places++;
	p->wanted.v[p->wanted.n++] = i;
}

const struct jit_place *jit_find(const struct jit *j, uint32_t space, uint64_t addr)
{
	return space ? jit_place(j, space, addr) : NULL;
}

/* Has a file more to say than when it was read?  Not asked all the time. */
static bool jit_grown(struct jit_process *p, uint64_t now_ns)
{
	if (now_ns - p->grown_ns < GROWN_NS)
		return p->grown;
	p->grown_ns = now_ns;
	p->grown = false;
	for (int s = 0; s < JIT__SOURCES; s++) {
		const struct jit_file *f = &p->file[s];
		struct stat st;

		p->grown |= f->fd >= 0 && !fstat(f->fd, &st) &&
			    (uint64_t)st.st_size != f->size;
	}
	return p->grown;
}

bool jit_waits(struct jit *j, uint32_t space, uint64_t addr, uint64_t now_ns)
{
	const struct jit_place *a = jit_find(j, space, addr);
	struct jit_process *p = jit_process(j, space);

	if (!a || !p || a->name || !j->visit)
		return false;
	return a->state == JIT_WANTED || jit_grown(p, now_ns) ||
	       (now_ns - a->born_ns < JIT_YOUNG_NS &&
		(p->file[JIT_DUMP].fd >= 0 || p->file[JIT_MAP].fd >= 0));
}

/* --- processes ------------------------------------------------------------------ */

static uint64_t jit_key_hash(const struct jit *j, uint32_t tgid, uint64_t start_ns,
			     uint64_t exec_id)
{
	uint64_t key[3] = { tgid, start_ns, exec_id };

	return XXH3_64bits_withSeed(key, sizeof(key), j->seed);
}

static void jit_close(struct jit_process *p)
{
	for (int s = 0; s < JIT__SOURCES; s++) {
		if (p->file[s].fd >= 0)
			close(p->file[s].fd);
		p->file[s].fd = -1;
	}
}

/* Its places are of no space then: the next sweep drops them. */
static void jit_drop_process(struct jit *j, struct jit_process *p)
{
	jit_close(p);
	free(p->wanted.v);
	hash_remove_index(&j->by_key, jit_key_hash(j, p->tgid, p->start_ns, p->exec_id),
			  (uint32_t)(p - j->v));
	*p = (struct jit_process){ .space = 0 };
}

/* A free element; else that of the process whose last sample is longest ago. */
static struct jit_process *jit_take_process(struct jit *j, uint32_t interval)
{
	struct jit_process *oldest = NULL;

	if (!j->v)
		j->v = calloc(JIT_PROCESSES, sizeof(*j->v));
	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		struct jit_process *p = &j->v[i];

		if (!p->space)
			return p;
		if (p->used != interval && (!oldest || p->used < oldest->used))
			oldest = p;
	}
	if (oldest)
		jit_drop_process(j, oldest);
	return oldest;
}

static void jit_take_dump(struct jit *j, struct jit_process *p)
{
	for (uint32_t i = 0; i < JIT_DUMPS; i++) {
		if (j->dumps[i].tgid != p->tgid)
			continue;
		p->file[JIT_DUMP].fd = j->dumps[i].fd;
		j->dumps[i].tgid = 0;
	}
}

static struct jit_process *jit_new_process(struct jit *j, const struct trace_rec *rec,
					   uint64_t hash, uint32_t interval)
{
	struct jit_process *p = jit_take_process(j, interval);

	if (!p || !hash_add(&j->by_key, hash, (uint32_t)(p - j->v)))
		return NULL;
	/* never 0, and another one each time */
	j->generation = (j->generation + 1) % (UINT32_MAX / JIT_PROCESSES);
	*p = (struct jit_process){
		.start_ns = rec->start_ns, .exec_id = rec->exec_id, .tgid = rec->tgid,
		.space = (j->generation + 1) * JIT_PROCESSES + (uint32_t)(p - j->v),
		.owner = OWNER_UNKNOWN,
		.file = { { .fd = -1 }, { .fd = -1 } },
	};
	jit_take_dump(j, p);
	return p;
}

uint32_t jit_space(struct jit *j, const struct trace_rec *rec, uint32_t interval)
{
	const struct hash_slot *s;
	struct jit_process *p;
	uint64_t hash;

	if (!(rec->flags & REC_HAS_ANON))
		return 0;
	hash = jit_key_hash(j, rec->tgid, rec->start_ns, rec->exec_id);
	s = hash_find(&j->by_key, hash);
	while (s && (j->v[hash_index(s)].tgid != rec->tgid ||
		     j->v[hash_index(s)].start_ns != rec->start_ns ||
		     j->v[hash_index(s)].exec_id != rec->exec_id))
		s = hash_next(&j->by_key, s);
	p = s ? &j->v[hash_index(s)] : jit_new_process(j, rec, hash, interval);
	if (!p)
		return 0;
	p->used = interval;
	return p->space;
}

/* --- asking ---------------------------------------------------------------------- */

/* What is still to be looked for in this source, at most JIT_ASK; the list of what is
 * wanted loses what is not any more. */
static size_t jit_collect(struct jit *j, struct jit_process *p, enum jit_source source,
			  uint64_t words[JIT_ASK])
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < p->wanted.n; i++) {
		const struct jit_place *a = &j->places.v[p->wanted.v[i]];

		if (a->space != p->space || a->state != JIT_WANTED)
			continue;
		p->wanted.v[kept++] = p->wanted.v[i];
		if (n < JIT_ASK && !(a->tried & 1 << source))
			words[n++] = FRAME_ANON_WORD(a->addr);
	}
	p->wanted.n = kept;
	return n;
}

static bool jit_ask(struct jit *j, struct jit_process *p, enum jit_source source,
		    const uint64_t *words, size_t n, uint64_t now_ns)
{
	struct jit_file *f = &p->file[source];
	struct jit_question q = {
		.start_ns = p->start_ns, .tgid = p->tgid, .space = p->space,
		.owner = p->owner, .words = words, .n = n, .fd = f->fd,
	};
	struct stat st;

	/* the answer may come before .visit() returns */
	f->next_ns = now_ns + JIT_GAP_NS;
	p->visit = true;
	p->source = source;
	if (f->fd >= 0 && !fstat(f->fd, &st))
		f->size = (uint64_t)st.st_size;
	p->grown_ns = 0;
	j->stats->jit_visits++;
	if (!j->visit(j->ctx, &q))
		return true;
	p->visit = false;
	return false;
}

/* No source is left. */
static void jit_give_up(struct jit *j, struct jit_process *p, uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->wanted.n; i++) {
		struct jit_place *a = &j->places.v[p->wanted.v[i]];

		a->state = a->name ? JIT_KNOWN : JIT_NAMELESS;
		a->at_ns = now_ns;
	}
	p->wanted.n = 0;
}

/* The next question of a process, if one is due. */
static void jit_step(struct jit *j, struct jit_process *p, uint64_t now_ns)
{
	uint64_t words[JIT_ASK];

	if (!j->visit || p->visit || !p->wanted.n)
		return;
	for (int s = 0; s < JIT__SOURCES; s++) {
		struct jit_file *f = &p->file[s];
		size_t n = jit_collect(j, p, s, words);

		if (!n || (s == JIT_DUMP && f->fd < 0) ||
		    (now_ns < f->next_ns && f->next_ns - now_ns > JIT_GAP_NS))
			continue;	/* it is not to be had soon */
		if (now_ns >= f->next_ns)
			jit_ask(j, p, s, words, n, now_ns);
		return;
	}
	if (p->file[JIT_DUMP].fd >= 0 || now_ns >= p->dump_until_ns)
		jit_give_up(j, p, now_ns);
}

static void jit_again(struct jit_process *p, struct jit_place *a, uint32_t i)
{
	if (!vector_reserve(&p->wanted, 1))
		return;
	a->state = JIT_WANTED;
	a->tried = 0;
	p->wanted.v[p->wanted.n++] = i;
}

/* A name is looked up again, if there may be another one. */
static void jit_mention_place(struct jit_process *p, struct jit_place *a, uint32_t i,
			      uint64_t now_ns)
{
	if (a->state != JIT_KNOWN || now_ns - a->at_ns < JIT_AGAIN_NS)
		return;
	a->at_ns = now_ns;
	if (jit_grown(p, now_ns))
		jit_again(p, a, i);
}

void jit_mention(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		 uint32_t interval, uint64_t now_ns)
{
	struct jit_process *p = jit_process(j, space);

	for (size_t i = 0; p && i < n; i += frame_words(words[i])) {
		struct jit_place *a;

		if (FRAME_KIND(words[i]) != FRAME_ANON)
			continue;
		a = jit_place(j, space, FRAME_ADDR(words[i]));
		if (!a) {
			jit_new_place(j, p, FRAME_ADDR(words[i]), interval, now_ns);
			continue;
		}
		a->used = interval;
		jit_mention_place(p, a, (uint32_t)(a - j->places.v), now_ns);
	}
	/* what is not due yet waits for the tick */
	if (p && (now_ns >= p->file[JIT_MAP].next_ns ||
		  (p->file[JIT_DUMP].fd >= 0 && now_ns >= p->file[JIT_DUMP].next_ns)))
		jit_step(j, p, now_ns);
}

/* What had no name may have one where a file has grown, or may be there by now. */
static void jit_look_again(struct jit *j, uint64_t now_ns)
{
	bool any = false;

	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		struct jit_process *p = &j->v[i];

		p->look = p->space && !p->visit &&
			  (jit_grown(p, now_ns) || (p->file[JIT_MAP].fd < 0 &&
						    now_ns >= p->file[JIT_MAP].next_ns));
		any |= p->look;
	}
	for (uint32_t i = 0; any && i < j->places.n; i++) {
		struct jit_place *a = &j->places.v[i];
		struct jit_process *p = jit_process(j, a->space);

		if (a->state == JIT_NAMELESS && p && p->look && p->used - a->used < 2)
			jit_again(p, a, i);
	}
}

void jit_tick(struct jit *j, uint64_t now_ns)
{
	jit_look_again(j, now_ns);
	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		if (j->v[i].space)
			jit_step(j, &j->v[i], now_ns);
	}
}

/* --- answers ------------------------------------------------------------------------ */

/* Its name from now on; without memory or room it has none. */
static void jit_name(struct jit *j, struct jit_place *a, const struct symbol_place *s)
{
	size_t name = strlen(s->name) + 1, file = strlen(s->file) + 1;
	uint32_t bytes = (uint32_t)(PLACE_BYTES + name + file);
	uint32_t more = bytes > a->bytes ? bytes - a->bytes : 0;
	char *piece;

	a->line = s->line;
	if (a->name && !strcmp(a->name, s->name) && !strcmp(a->file, s->file))
		return;
	piece = malloc(name + file);
	if (!piece)
		return;
	/* who gives is another owner: this one stays */
	if (more && !jit_charge(j, a->owner, more)) {
		free(piece);
		return;
	}
	if (!more)
		owners_add(&j->bytes, a->owner, (int64_t)bytes - a->bytes);
	memcpy(piece, s->name, name);
	memcpy(piece + name, s->file, file);
	free(a->name);
	a->name = piece;
	a->file = piece + name;
	a->bytes = bytes;
	j->stats->jit_names++;
}

/* When may it be asked for again? */
static uint64_t jit_next(struct jit_file *f, int result, uint64_t now_ns)
{
	uint32_t doubled = f->missing < 2 ? 0 : f->missing - 2;
	uint64_t wait = JIT_GAP_NS << (doubled < 5 ? doubled : 5);

	if (result == -ESRCH || result == -EPERM || result == -ESTALE || result > 0)
		return UINT64_MAX;	/* ended, in quarantine, not his, or nonsense */
	if (result == -EAGAIN || result == -ETIMEDOUT)
		return now_ns + JIT_GAP_NS;
	f->missing++;
	/* it is asked at a tick: a little earlier rather than one later */
	return now_ns - NSEC_PER_SEC / 2 + (wait < JIT_MISSING_NS ? wait : JIT_MISSING_NS);
}

void jit_answer(struct jit *j, uint32_t space, const uint64_t *words, size_t n,
		const struct frame_names *names, int result, uint64_t now_ns)
{
	struct jit_process *p = jit_process(j, space);
	struct jit_file *f;

	if (!p || !p->visit)
		return;
	f = &p->file[p->source];
	p->visit = false;
	if (!names)
		f->next_ns = jit_next(f, result, now_ns);
	else
		f->missing = 0;
	if (result == -ESRCH)
		j->stats->jit_gone += n;
	/* one that is only delayed is looked for again */
	if (result == -EAGAIN || result == -ETIMEDOUT)
		return;
	if (p->source == JIT_MAP && p->file[JIT_DUMP].fd < 0)
		p->dump_until_ns = now_ns + DUMP_WAIT_NS;
	for (size_t i = 0; i < n; i++) {
		struct jit_place *a = jit_place(j, space, FRAME_ADDR(words[i]));

		if (a && a->state == JIT_WANTED)
			a->tried |= 1 << p->source;
	}
	for (uint32_t i = 0; names && i < names->n; i++) {
		struct symbol_place s = frame_names_place(names, i);
		struct jit_place *a = names->v[i].frame < n ?
			jit_place(j, space, FRAME_ADDR(words[names->v[i].frame])) : NULL;

		if (!a || a->state != JIT_WANTED || !s.name[0])
			continue;
		jit_name(j, a, &s);
		a = jit_place(j, space, a->addr);
		if (a) {
			a->state = a->name ? JIT_KNOWN : JIT_NAMELESS;
			a->at_ns = now_ns;
		}
	}
}

/* --- files ---------------------------------------------------------------------------- */

/* There is room for those of one process more. */
static void jit_make_room(struct jit *j, const struct jit_process *keep)
{
	struct jit_process *oldest = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < JIT_PROCESSES; i++) {
		struct jit_process *p = &j->v[i];

		if (!p->space || p == keep ||
		    (p->file[JIT_DUMP].fd < 0 && p->file[JIT_MAP].fd < 0))
			continue;
		n++;
		if (!oldest || p->used < oldest->used)
			oldest = p;
	}
	if (n >= JIT_FDS)
		jit_close(oldest);
}

/* A copy of fd is the process's file. */
static void jit_keep(struct jit *j, struct jit_process *p, enum jit_source source, int fd)
{
	struct jit_file *f = &p->file[source];

	jit_make_room(j, p);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	f->missing = 0;
}

static void jit_owner(struct jit *j, struct jit_process *p, uint32_t owner)
{
	if (p->owner == owner)
		return;
	p->owner = owner;
	for (uint32_t i = 0; i < j->places.n; i++) {
		struct jit_place *a = &j->places.v[i];

		if (a->space != p->space)
			continue;
		owners_add(&j->bytes, a->owner, -(int64_t)a->bytes);
		owners_add(&j->bytes, owner, a->bytes);
		a->owner = owner;
	}
}

int jit_opened(struct jit *j, uint32_t space, int fd, uint64_t start_ns)
{
	struct jit_process *p = jit_process(j, space);
	struct stat st;

	if (!p)
		return -ESRCH;
	/* left behind by another one of this number; clocks are not exact */
	if (fstat(fd, &st) ||
	    (uint64_t)st.st_mtim.tv_sec + 2 < start_ns / NSEC_PER_SEC)
		return -ESTALE;
	p->file[JIT_MAP].size = (uint64_t)st.st_size;
	jit_owner(j, p, owner_of_uid(st.st_uid));
	jit_keep(j, p, JIT_MAP, fd);
	return 0;
}

bool jit_is_dump(const char *path, size_t len)
{
	static const char begin[] = "jit-", end[] = ".dump";
	const char *slash = memrchr(path, '/', len);
	const char *base = slash ? slash + 1 : path, *stop = path + len;
	const char *digits = base + sizeof(begin) - 1;

	if ((size_t)(stop - base) < sizeof(begin) + sizeof(end) - 1 ||
	    memcmp(base, begin, sizeof(begin) - 1) ||
	    memcmp(stop - sizeof(end) + 1, end, sizeof(end) - 1))
		return false;
	while (digits < stop - sizeof(end) + 1 && *digits >= '0' && *digits <= '9')
		digits++;
	return digits == stop - sizeof(end) + 1;
}

/* Of a process without a sample until now. */
static void jit_dump_early(struct jit *j, uint32_t tgid, int fd)
{
	uint32_t i = j->next_dump++ % JIT_DUMPS;

	if (j->dumps[i].tgid)
		close(j->dumps[i].fd);
	j->dumps[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	j->dumps[i].tgid = j->dumps[i].fd < 0 ? 0 : tgid;
}

void jit_dump(struct jit *j, uint32_t tgid, int fd, uint64_t now_ns)
{
	struct jit_process *last = NULL;

	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		struct jit_process *p = &j->v[i];

		if (p->space && p->tgid == tgid && (!last || p->exec_id > last->exec_id ||
						    p->start_ns > last->start_ns))
			last = p;
	}
	if (!last) {
		jit_dump_early(j, tgid, fd);
		return;
	}
	jit_keep(j, last, JIT_DUMP, fd);
	last->dump_until_ns = 0;
	jit_step(j, last, now_ns);
}

/* --- forgetting ------------------------------------------------------------------------ */

void jit_sweep(struct jit *j, uint32_t interval)
{
	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		if (j->v[i].space && interval - j->v[i].used >= JIT_IDLE)
			jit_drop_process(j, &j->v[i]);
	}
	for (uint32_t i = 0; i < j->places.n; i++) {
		const struct jit_place *a = &j->places.v[i];

		if (a->state && (interval - a->used >= JIT_IDLE || !jit_process(j, a->space)))
			jit_drop_place(j, i);
	}
}

void jit_fini(struct jit *j)
{
	for (uint32_t i = 0; j->v && i < JIT_PROCESSES; i++) {
		if (j->v[i].space)
			jit_drop_process(j, &j->v[i]);
	}
	for (uint32_t i = 0; i < j->places.n; i++)
		free(j->places.v[i].name);
	for (uint32_t i = 0; i < JIT_DUMPS; i++) {
		if (j->dumps[i].tgid)
			close(j->dumps[i].fd);
	}
	free(j->v);
	free(j->places.v);
	free(j->free_places.v);
	hash_free(&j->by_key);
	hash_free(&j->by_addr);
	owners_fini(&j->bytes);
	*j = (struct jit){ 0 };
}
