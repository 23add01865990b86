// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/executable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#define ROOM_FIRST	64u

void executables_init(struct executables *x, uint64_t seed)
{
	*x = (struct executables){ .seed = seed };
}

static void symbols_drop(struct executable *e)
{
	if (e->map)
		munmap((void *)e->map, e->map_len);
	e->map = NULL;
	e->map_len = 0;
	e->symbols = (struct symbol_index){ 0 };
}

static void executable_free(struct executable *e)
{
	if (!e)
		return;
	symbols_drop(e);
	free(e->path);
	free(e->runtime_id);
	free(e);
}

void executables_fini(struct executables *x)
{
	for (uint32_t i = 0; i < x->top; i++)
		executable_free(x->v[i]);
	free(x->v);
	free(x->buckets);
	free(x->by_number);
	free(x->retired);
	executables_init(x, x->seed);
}

static uint32_t *executable_bucket(const struct executables *x,
				   const struct file_key *key)
{
	uint64_t h = XXH3_64bits_withSeed(key, sizeof(*key), x->seed);

	return &x->buckets[h & (x->n_buckets - 1)];
}

static void executable_relink(struct executables *x)
{
	memset(x->buckets, 0xff, x->n_buckets * sizeof(*x->buckets));
	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];
		uint32_t *head;

		if (!e)
			continue;
		head = executable_bucket(x, &e->key);
		e->next = *head;
		*head = i;
	}
}

static int executable_grow(struct executables *x)
{
	uint32_t room = x->room ? x->room * 2 : ROOM_FIRST;
	struct executable **v;
	uint32_t *b;

	if (x->top < x->room)
		return 0;
	v = reallocarray(x->v, room, sizeof(*v));
	if (!v)
		return -ENOMEM;
	x->v = v;
	b = reallocarray(x->buckets, room, sizeof(*b));
	if (!b)
		return -ENOMEM;
	x->buckets = b;
	x->n_buckets = room;
	x->room = room;
	executable_relink(x);
	return 0;
}

/* A free index, or EXECUTABLE_NONE. */
static uint32_t executable_take_index(struct executables *x)
{
	for (; x->free_hint < x->top; x->free_hint++) {
		if (!x->v[x->free_hint])
			return x->free_hint;
	}
	if (executable_grow(x) < 0)
		return EXECUTABLE_NONE;
	x->v[x->top] = NULL;
	return x->top++;
}

uint32_t executables_find(const struct executables *x,
			  const struct file_key *key)
{
	uint32_t i = x->n_buckets ? *executable_bucket(x, key)
				  : EXECUTABLE_NONE;

	while (i != EXECUTABLE_NONE &&
	       memcmp(&x->v[i]->key, key, sizeof(*key)))
		i = x->v[i]->next;
	return i;
}

static bool executable_is_free(const struct executable *e)
{
	return e && !e->numbers && !e->jobs;
}

/* The ones that were not used for longest go, some thousands at once, so that
 * the next new ones find room without a search. */
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
		executable_free(x->v[i]);
		x->v[i] = NULL;
		x->n--;
		left--;
	}
	x->free_hint = 0;
	executable_relink(x);
	return x->n < before;
}

uint32_t executables_mention(struct executables *x, const struct file_key *key,
			     uint32_t interval, uint64_t now_ns)
{
	uint32_t i = executables_find(x, key);
	struct executable *e;
	uint32_t *head;

	if (i != EXECUTABLE_NONE) {
		x->v[i]->used = interval;
		return i;
	}
	if (x->n >= EXECUTABLES_MAX && !executables_make_room(x))
		return EXECUTABLE_NONE;
	i = executable_take_index(x);
	if (i == EXECUTABLE_NONE)
		return i;
	e = calloc(1, sizeof(*e));
	if (!e)
		return EXECUTABLE_NONE;
	e->key = *key;
	e->used = interval;
	e->met_ns = now_ns;
	head = executable_bucket(x, key);
	e->next = *head;
	*head = i;
	x->v[i] = e;
	x->n++;
	return i;
}

struct executable *executables_number(const struct executables *x,
				      uint32_t number)
{
	if (number >= x->numbers_room || x->by_number[number] == 0)
		return NULL;
	return x->v[x->by_number[number] - 1];
}

static void unassign(struct executables *x, uint32_t number)
{
	struct executable *e = executables_number(x, number);

	if (!e)
		return;
	e->numbers--;
	x->by_number[number] = 0;
}

static int numbers_grow(struct executables *x, uint32_t number)
{
	uint32_t room = x->numbers_room ? x->numbers_room : ROOM_FIRST;
	uint32_t *v;

	if (number < x->numbers_room)
		return 0;
	while (room <= number)
		room *= 2;
	v = reallocarray(x->by_number, room, sizeof(*v));
	if (!v)
		return -ENOMEM;
	memset(v + x->numbers_room, 0,
	       (room - x->numbers_room) * sizeof(*v));
	x->by_number = v;
	x->numbers_room = room;
	return 0;
}

static void unretire(struct executables *x, uint32_t number)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n_retired; i++) {
		if (x->retired[i].number != number)
			x->retired[n++] = x->retired[i];
	}
	x->n_retired = n;
}

int executables_assign(struct executables *x, uint32_t number, uint32_t i,
		       const char *path, size_t len)
{
	char *copy = path ? strndup(path, len) : NULL;

	if ((path && !copy) || numbers_grow(x, number) < 0) {
		free(copy);
		return -ENOMEM;
	}
	unretire(x, number);
	unassign(x, number);
	x->by_number[number] = i + 1;
	x->v[i]->numbers++;
	if (!path)
		return 0;
	free(x->v[i]->path);
	x->v[i]->path = copy;
	return 0;
}

int executables_retire(struct executables *x, uint32_t number,
		       uint32_t interval)
{
	size_t room = x->retired_room ? x->retired_room * 2 : 64;
	struct retired *v;

	if (!executables_number(x, number))
		return 0;
	unretire(x, number);
	if (x->n_retired == x->retired_room) {
		v = reallocarray(x->retired, room, sizeof(*v));
		if (!v)
			return -ENOMEM;
		x->retired = v;
		x->retired_room = room;
	}
	x->retired[x->n_retired++] = (struct retired){ number, interval };
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
	x->numbers_room = 0;
	x->n_retired = 0;
}

static void to_hex(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

bool executable_done(struct executable *e, const struct msg_job_done *done,
		     const void *map, size_t map_len,
		     const struct symbol_index *idx)
{
	if (done->build_id_len > BUILD_ID_MAX ||
	    done->runtime >= RUNTIME__MAX ||
	    !memchr(done->runtime_id, '\0', sizeof(done->runtime_id)))
		return false;
	symbols_drop(e);
	e->map = map;
	e->map_len = map_len;
	e->symbols = *idx;
	to_hex(done->build_id, done->build_id_len, e->build_id);
	memcpy(e->file_id, done->file_id, sizeof(e->file_id));
	e->runtime = done->runtime;
	free(e->runtime_id);
	e->runtime_id = done->runtime_id[0] ? strdup(done->runtime_id) : NULL;
	e->known = true;
	e->quarantined = false;
	return true;
}

static void end_retired(struct executables *x, uint32_t interval)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n_retired; i++) {
		struct retired r = x->retired[i];

		if (interval - r.interval < RETIRE_INTERVALS)
			x->retired[n++] = r;
		else
			unassign(x, r.number);
	}
	x->n_retired = n;
}

/* The index that was not used for longest, of those not used just now. */
static struct executable *coldest(const struct executables *x,
				  uint32_t interval)
{
	struct executable *cold = NULL;

	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (e && e->map && interval - e->used > 1 &&
		    (!cold || interval - e->used > interval - cold->used))
			cold = e;
	}
	return cold;
}

static void keep_budget(struct executables *x, uint32_t interval)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < x->top; i++)
		bytes += x->v[i] ? x->v[i]->map_len : 0;
	while (bytes > SYMBOLS_BUDGET) {
		struct executable *cold = coldest(x, interval);

		if (!cold)
			return;
		bytes -= cold->map_len;
		symbols_drop(cold);
	}
}

void executables_sweep(struct executables *x, uint32_t interval)
{
	uint32_t before = x->n;

	end_retired(x, interval);
	for (uint32_t i = 0; i < x->top; i++) {
		struct executable *e = x->v[i];

		if (!e || e->numbers || e->jobs ||
		    interval - e->used < (e->quarantined ?
					  QUARANTINE_INTERVALS :
					  EXECUTABLE_IDLE_INTERVALS))
			continue;
		executable_free(e);
		x->v[i] = NULL;
		x->n--;
	}
	if (x->n != before) {
		x->free_hint = 0;
		executable_relink(x);
	}
	keep_budget(x, interval);
}

void executables_count(const struct executables *x, uint64_t *waiting,
		       uint64_t *failed)
{
	*waiting = 0;
	*failed = 0;
	for (uint32_t i = 0; i < x->top; i++) {
		*waiting += x->v[i] && x->v[i]->jobs > 0;
		*failed += x->v[i] && x->v[i]->quarantined;
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
		tail = e->path + (len < QUARANTINE_PATH ? 0 :
				  len - (QUARANTINE_PATH - 1));
		memcpy(ret->path[n++], tail, strlen(tail));
	}
}
