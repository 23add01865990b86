// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/executable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/log_limit.h"
#include "common/log.h"
#include "symbolizerd/symbols/index_keep.h"
#include "symbolizerd/tables/vdso.h"

void executables_init(struct executables *x, uint64_t seed)
{
	*x = (struct executables){
		.seed = seed, .kept.seed = seed, .kept_s = KEPT_S,
		.lasts = LET_GO_INTERVALS,
	};
	met_symbols_init(&x->met, seed);
	read_again_init(&x->again);
}

static void executable_free(struct executable *e)
{
	if (!e)
		return;
	if (e->fd >= 0)
		close(e->fd);
	file_symbols_clear(&e->s);
	free(e->path);
	free(e->runtime_id);
	free(e);
}

void executables_fini(struct executables *x)
{
	for (uint32_t i = 0; i < x->top; i++)
		executable_free(x->v[i]);
	free(x->v);
	hash_free(&x->by_key);
	free(x->by_number);
	free(x->retired.v);
	free(x->kept_list.v);
	owners_fini(&x->kept);
	met_symbols_fini(&x->met);
	executables_init(x, x->seed);
}

static uint64_t executable_hash(const struct executables *x,
				const struct file_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), x->seed);
}

/* A free index, or EXECUTABLE_NONE. */
static uint32_t executable_take_index(struct executables *x)
{
	for (; x->free_hint < x->top; x->free_hint++) {
		if (!x->v[x->free_hint])
			return x->free_hint;
	}
	if (!array_reserve(&x->v, &x->cap, (uint64_t)x->top + 1))
		return EXECUTABLE_NONE;
	x->v[x->top] = NULL;
	return x->top++;
}

static void executables_let_go(struct executables *x, uint32_t i);

/* Forget the entry at index i, which no number and no job refers to. */
static void executable_remove(struct executables *x, uint32_t i)
{
	hash_remove_index(&x->by_key, executable_hash(x, &x->v[i]->key), i);
	executables_let_go(x, i);
	executable_free(x->v[i]);
	x->v[i] = NULL;
	x->n--;
	if (x->free_hint > i)
		x->free_hint = i;
}

static uint32_t executable_find(const struct executables *x,
				const struct file_key *key, uint64_t hash)
{
	const struct hash_slot *s = hash_find(&x->by_key, hash);

	while (s && memcmp(&x->v[hash_index(s)]->key, key, sizeof(*key)))
		s = hash_next(&x->by_key, s);
	return s ? hash_index(s) : EXECUTABLE_NONE;
}

uint32_t executables_find(const struct executables *x,
			  const struct file_key *key)
{
	return executable_find(x, key, executable_hash(x, key));
}

static bool executable_is_free(const struct executable *e)
{
	return e && !e->numbers && !e->jobs;
}

/* Forget the least recently used ones, some thousands at once, so that the next
 * new ones find room without a search. */
static bool executables_make_room(struct executables *x)
{
	uint32_t before = x->n, left = EXECUTABLES_MAX / 16;
	const struct executable *cold = NULL;
	uint32_t used;

	for (uint32_t i = 0; i < x->top; i++) {
		if (executable_is_free(x->v[i]) &&
		    (!cold || (int32_t)(x->v[i]->used - cold->used) < 0))
			cold = x->v[i];
	}
	if (!cold)
		return false;
	used = cold->used;
	for (uint32_t i = 0; i < x->top && left; i++) {
		if (!executable_is_free(x->v[i]) || x->v[i]->used != used)
			continue;
		executable_remove(x, i);
		x->crowded++;
		left--;
	}
	return x->n < before;
}

static uint32_t executable_insert(struct executables *x,
				  const struct file_key *key, uint64_t hash)
{
	struct executable *e;
	uint32_t i;

	if (x->n >= EXECUTABLES_MAX && !executables_make_room(x)) {
		x->crowded++;
		return EXECUTABLE_NONE;
	}
	i = executable_take_index(x);
	if (i == EXECUTABLE_NONE)
		return i;
	e = calloc(1, sizeof(*e));
	if (!e || !hash_add(&x->by_key, hash, i)) {
		free(e);
		return EXECUTABLE_NONE;
	}
	e->key = *key;
	e->fd = -1;
	e->s.all = &x->met;
	e->again.all = &x->again;
	x->v[i] = e;
	x->n++;
	return i;
}

uint32_t executables_mention(struct executables *x, const struct file_key *key,
			     uint32_t interval)
{
	uint64_t hash = executable_hash(x, key);
	uint32_t i = executable_find(x, key, hash);

	if (i == EXECUTABLE_NONE) {
		i = executable_insert(x, key, hash);
		if (i == EXECUTABLE_NONE)
			return i;
	}
	x->v[i]->used = interval;
	return i;
}

struct executable *executables_number(const struct executables *x,
				      uint32_t number)
{
	if (number >= x->numbers_cap || x->by_number[number] == 0)
		return NULL;
	return x->v[x->by_number[number] - 1];
}

static void executables_unassign(struct executables *x, uint32_t number)
{
	struct executable *e = executables_number(x, number);

	if (!e)
		return;
	e->numbers--;
	x->by_number[number] = 0;
}

/* Room for the number; those in between mean nothing. */
static bool executables_reserve_number(struct executables *x, uint32_t number)
{
	uint32_t before = x->numbers_cap;

	if (!array_reserve(&x->by_number, &x->numbers_cap,
			   (uint64_t)number + 1))
		return false;
	if (x->numbers_cap > before)
		memset(x->by_number + before, 0, (x->numbers_cap - before) *
						 sizeof(*x->by_number));
	return true;
}

static void executables_unretire(struct executables *x, uint32_t number)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->retired.n; i++) {
		if (x->retired.v[i].number != number)
			x->retired.v[n++] = x->retired.v[i];
	}
	x->retired.n = n;
}

int executables_assign(struct executables *x, uint32_t number, uint32_t i,
		       const char *path, size_t len, bool host)
{
	bool better = path && (host || !x->v[i]->path);
	char *copy = NULL;

	if (better)
		copy = strndup(path, len);
	if ((better && !copy) || !executables_reserve_number(x, number)) {
		free(copy);
		return -ENOMEM;
	}
	executables_unretire(x, number);
	executables_unassign(x, number);
	x->by_number[number] = i + 1;
	x->v[i]->numbers++;
	x->v[i]->number = number;
	if (!better)
		return 0;
	free(x->v[i]->path);
	x->v[i]->path = copy;
	x->v[i]->host_path = host;
	return 0;
}

int executables_retire(struct executables *x, uint32_t number,
		       uint32_t interval)
{
	struct retired r = { number, interval };

	if (!executables_number(x, number))
		return 0;
	executables_unretire(x, number);
	if (!vector_push(&x->retired, r))
		return -ENOMEM;
	return 0;
}

void executables_forget_numbers(struct executables *x)
{
	for (uint32_t i = 0; i < x->top; i++) {
		if (x->v[i])
			x->v[i]->numbers = 0;
	}
	free(x->by_number);
	x->by_number = NULL;
	x->numbers_cap = 0;
	x->retired.n = 0;
}

static void executable_to_hex(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

bool executable_unread(const struct executable *e)
{
	return !e->named || e->s.partial || e->renew;
}

void executable_forget_lines(struct executable *e)
{
	e->lines_id = 0;
	e->no_lines = e->lines_seen = e->lacks_dwarf = false;
}

bool executable_renew(struct executable *e, uint64_t print)
{
	if (e->debug_print == print)
		return false;
	e->debug_print = print;
	if (e->lacks_dwarf) {
		executable_forget_lines(e);
		return true;
	}
	e->renew = true;
	if (!e->quarantined)
		read_again_at_once(&e->again);
	return true;
}

void executable_missed_debug(struct executable *e)
{
	if (e->renew)
		e->debug_print = 0;
}

bool executable_want(struct executable *e, uint64_t off, uint64_t now_ns)
{
	bool unread = executable_unread(e);

	if (e->wanted || (!unread && !e->table_later))
		return false;
	if (!e->renew && !e->table_later && file_symbols_met(&e->s, off))
		return false;
	if (!read_again_begin(&e->again, e->owner, now_ns))
		return false;
	e->quarantined = false;
	if (!unread)		/* the table alone */
		return true;
	e->named = false;
	e->wanted = true;
	e->wanted_ns = now_ns;
	return true;
}

bool executable_known(struct executable *e, const struct msg_job_done *done)
{
	if (done->build_id_len > BUILD_ID_MAX ||
	    done->runtime >= RUNTIME__MAX || done->unknown > 1 || done->debug >= JOB_DEBUG__MAX ||
	    done->lines > 1 || done->too_large > 1 ||
	    !memchr(done->runtime_id, '\0', sizeof(done->runtime_id)))
		return false;
	executable_to_hex(done->build_id, done->build_id_len, e->build_id);
	memcpy(e->file_id, done->file_id, sizeof(e->file_id));
	e->runtime = done->runtime;
	if (e->debug != done->debug || e->lines != (done->lines == 1))
		executable_forget_lines(e);
	e->debug = done->debug;
	e->lines = done->lines;
	free(e->runtime_id);
	e->runtime_id = NULL;
	if (done->runtime_id[0])
		e->runtime_id = strdup(done->runtime_id);
	e->known = true;
	e->quarantined = false;
	return true;
}

bool executable_version_unknown(struct executable *e,
				const struct msg_job_done *done)
{
	const char *path = e->path ? e->path : "a file";
	const char *id = e->runtime_id ? e->runtime_id : "of this version";
	static struct log_limit limit;
	char shown[256], version[64];

	if (!done->unknown || e->unknown)
		return false;
	e->unknown = true;
	if (log_limited(&limit))
		log_warn("%s: trifold does not know the frames of %s %s yet; it shows native ones",
			 log_quote(path, strlen(path), shown, sizeof(shown)),
			 runtime_info(e->runtime)->name,
			 log_quote(id, strlen(id), version, sizeof(version)));
	return true;
}

void executable_named(struct executable *e, const void *map, size_t map_len,
		      const struct symbol_index *idx)
{
	file_symbols_set(&e->s, map, map_len, idx, e->renew);
	e->fresh = true;
	e->renew = false;
	e->named = true;
	e->wanted = false;
	e->tries = 0;
}

bool executable_again(struct executable *e)
{
	e->tries++;
	if (e->tries >= SYMBOLS_TRIES)
		return false;
	read_again_pay(&e->again, e->owner);
	return true;
}

bool executable_later(int verdict)
{
	return verdict < 0 || verdict == JOB_NO_MEMORY || verdict == JOB_KILLED;
}

void executable_failed(struct executable *e, int verdict, uint64_t now_ns)
{
	if (verdict == JOB_KILLED) {
		e->quarantined = true;
		read_again_quarantine(&e->again, now_ns);
	}
	e->s.partial = !e->s.map && executable_later(verdict);
	if (!executable_later(verdict))
		e->renew = false;
	e->named = true;
	e->wanted = false;
	e->tries = 0;
}

void executable_give(struct executable *e, uint32_t owner)
{
	file_symbols_give(&e->s, owner);
	e->owner = owner;
}

/* --- symbols that samples met ------------------------------------------------- */

uint32_t executable_places(struct executable *e, uint64_t off, uint32_t interval,
			   struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	bool new;
	uint32_t n = file_symbols_places(&e->s, off, &new, ret);

	if (new)
		e->new_interval = interval;
	return n;
}

static void executable_name(void *source, const struct frame_place *f, struct frame_called *c)
{
	(void)source;
	if (f->exe && (f->exe->path || vdso_is(&f->exe->key)))
		c->n = executable_places(f->exe, FRAME_PLACE(f->words[0]), f->interval, c->at);
}

/* A worker reads it, or loaderd is asked for it. */
static bool executable_waits(void *source, const struct frame_place *f)
{
	const struct executable *e = f->exe;

	(void)source;
	if (!e || e->named || file_symbols_met(&e->s, FRAME_PLACE(f->words[0])))
		return false;
	if (e->jobs > 0)
		return true;
	return e->wanted && (e->fd >= 0 || f->now_ns - e->wanted_ns < EXECUTABLE_OPEN_NS);
}

const struct name_source executable_source = { executable_name, executable_waits };

/* Since now they are there.  It was soon that they were missed, or late. */
static void executable_begin(const struct executables *x, struct executable *e,
			     uint32_t interval)
{
	if (!e->gone || interval - e->gone_interval >= x->lasts << e->doubled)
		e->doubled = 0;
	else if (e->doubled < LET_GO_DOUBLED)
		e->doubled++;
	e->new_interval = interval;
	e->fresh = false;
}

/* Its table may go.  The vDSO's could not be asked for again, and is small. */
static bool executable_is_whole(const struct executable *e)
{
	return e && e->s.map && !vdso_is(&e->key);
}

static bool executable_is_old(const struct executables *x, struct executable *e,
			      uint32_t interval)
{
	if (!executable_is_whole(e) || !e->s.marks)
		return false;
	if (e->fresh)
		executable_begin(x, e, interval);
	return interval - e->new_interval >= x->lasts << e->doubled;
}

/* Some went for want of room, and it has no descriptor to be read from. */
static bool executable_went(struct executable *e)
{
	bool went = e && e->s.went;

	if (went)
		e->s.went = false;
	return went && e->fd < 0;
}

uint32_t executables_let_names_go(struct executables *x, uint32_t i, uint32_t interval)
{
	for (; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (executable_went(e))
			return i;
		if (!executable_is_old(x, e, interval))
			continue;
		if (file_symbols_keep(&e->s, e->owner)) {
			e->new_interval = interval;	/* no memory: later */
			continue;
		}
		e->gone_interval = interval;
		e->gone = true;
		x->let_go++;
		return i;
	}
	return EXECUTABLE_NONE;
}

/* --- descriptors ------------------------------------------------------------- */

static uint32_t executables_kept_longest(const struct executables *x,
					 const uint32_t *owner)
{
	for (uint32_t i = 0; i < x->kept_list.n; i++) {
		const struct executable *e = x->v[x->kept_list.v[i]];

		if (!e->wanted && (!owner || e->fd_owner == *owner))
			return x->kept_list.v[i];
	}
	return EXECUTABLE_NONE;
}

bool executables_may_keep(struct executables *x, uint32_t owner, uint32_t *ret)
{
	uint32_t most;

	if (x->kept.total < owners_limit(&x->kept, owner, x->kept_max))
		return true;
	*ret = owners_most(&x->kept, &most) ?
		       executables_kept_longest(x, &most) : EXECUTABLE_NONE;
	if (*ret == EXECUTABLE_NONE)
		*ret = executables_kept_longest(x, NULL);
	return false;
}

bool executables_keep(struct executables *x, uint32_t i, int fd,
		      uint64_t now_ns)
{
	struct executable *e = x->v[i];

	if (!vector_push(&x->kept_list, i))
		return false;
	e->fd = fd;
	e->fd_owner = e->owner;
	e->kept_ns = now_ns;
	owners_add(&x->kept, e->fd_owner, 1);
	return true;
}

static void executables_unlist(struct executables *x, uint32_t i)
{
	uint32_t at = 0;

	while (x->kept_list.v[at] != i)
		at++;
	memmove(x->kept_list.v + at, x->kept_list.v + at + 1,
		(--x->kept_list.n - at) * sizeof(*x->kept_list.v));
}

int executables_take_fd(struct executables *x, uint32_t i)
{
	struct executable *e = x->v[i];
	int fd = e->fd;

	if (fd < 0)
		return -1;
	executables_unlist(x, i);
	owners_add(&x->kept, e->fd_owner, -1);
	e->fd = -1;
	return fd;
}

static void executables_let_go(struct executables *x, uint32_t i)
{
	int fd = executables_take_fd(x, i);

	if (fd >= 0)
		close(fd);
}

/* --- forgetting -------------------------------------------------------------- */

static void executables_end_retired(struct executables *x, uint32_t interval)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->retired.n; i++) {
		struct retired r = x->retired.v[i];

		if (interval - r.interval < RETIRE_INTERVALS)
			x->retired.v[n++] = r;
		else
			executables_unassign(x, r.number);
	}
	x->retired.n = n;
}

static bool executable_counts(const struct executable *e, uint32_t interval,
			      bool idle)
{
	return executable_is_whole(e) && (!idle || interval - e->used > 1);
}

/* This owner's least recently used one that counts. */
static struct executable *executables_coldest(const struct executables *x,
					      uint32_t owner, uint32_t interval,
					      bool idle)
{
	struct executable *cold = NULL;

	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (executable_counts(e, interval, idle) && e->owner == owner &&
		    (!cold || interval - e->used > interval - cold->used))
			cold = e;
	}
	return cold;
}

/* Drop whole tables, or those that were not used just now, until they have at most
 * max bytes, len of this owner's to come among them.  False: they have more. */
static bool executables_bound(struct executables *x, size_t max, uint32_t owner,
			      size_t len, uint32_t interval, bool idle)
{
	struct owners bytes = { .seed = x->seed };
	bool enough;

	for (uint32_t i = 0; i < x->top; i++) {
		if (executable_counts(x->v[i], interval, idle))
			owners_add(&bytes, x->v[i]->owner,
				   (int64_t)x->v[i]->s.map_len);
	}
	owners_add(&bytes, owner, (int64_t)len);
	while (bytes.total > max && owners_most(&bytes, &owner)) {
		struct executable *cold = executables_coldest(x, owner,
							      interval, idle);

		if (!cold)
			break;
		owners_add(&bytes, owner, -(int64_t)cold->s.map_len);
		file_symbols_shrink(&cold->s, owner);
		x->full++;
	}
	enough = bytes.total <= max;
	owners_fini(&bytes);
	return enough;
}

bool executables_symbols_room(struct executables *x, const struct executable *e,
			      size_t len, uint32_t interval)
{
	if (executables_bound(x, SYMBOLS_BUDGET_ALL, e->owner, len, interval, false))
		return true;
	x->full++;
	return false;
}

static bool executable_idle(const struct executable *e, uint32_t interval)
{
	if (e->quarantined)
		return interval - e->used >= QUARANTINE_INTERVALS;
	return interval - e->used >= EXECUTABLE_IDLE_INTERVALS;
}

void executables_sweep(struct executables *x, uint32_t interval)
{
	executables_end_retired(x, interval);
	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (!e)
			continue;
		if (!e->numbers && !e->wanted)
			executables_let_go(x, i);
		if (!e->numbers && !e->jobs && executable_idle(e, interval))
			executable_remove(x, i);
	}
	executables_bound(x, SYMBOLS_BUDGET, 0, 0, interval, true);
}

void executables_count(const struct executables *x, uint64_t *waiting,
		       uint64_t *failed)
{
	*waiting = 0;
	*failed = 0;
	for (uint32_t i = 0; i < x->top; i++) {
		const struct executable *e = x->v[i];

		if (e && (e->jobs || (e->wanted && e->fd >= 0)))
			++*waiting;
		if (e && e->quarantined)
			++*failed;
	}
}

void executables_quarantine(const struct executables *x,
			    struct quarantine *ret)
{
	uint32_t n = 0;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < x->top && n < QUARANTINE_SHOWN; i++) {
		const struct executable *e = x->v[i];
		const char *tail;
		size_t len;

		if (!e || !e->quarantined || !e->path)
			continue;
		len = strlen(e->path);
		tail = e->path;
		if (len >= QUARANTINE_PATH)
			tail += len - (QUARANTINE_PATH - 1);
		memcpy(ret->path[n++], tail, strlen(tail));
	}
}
