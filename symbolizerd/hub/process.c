// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/process.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define ROOM_FIRST	64u

void processes_init(struct processes *p, uint64_t seed)
{
	*p = (struct processes){ .free = PROCESS_NONE, .seed = seed };
}

void processes_fini(struct processes *p)
{
	for (uint32_t i = 0; i < p->top; i++)
		free(p->v[i].path);
	free(p->v);
	free(p->buckets);
	processes_init(p, p->seed);
}

static uint32_t process_bucket(const struct processes *p, uint32_t tgid,
			       uint64_t start_ns, uint64_t exec_id)
{
	uint64_t key[3] = { tgid, start_ns, exec_id };

	return (uint32_t)XXH3_64bits_withSeed(key, sizeof(key), p->seed) &
	       (p->n_buckets - 1);
}

static void process_link_in(struct processes *p, uint32_t i)
{
	const struct process *pr = &p->v[i];
	uint32_t b = process_bucket(p, pr->tgid, pr->start_ns, pr->exec_id);

	p->v[i].next = p->buckets[b];
	p->buckets[b] = i;
}

/* Chains and the free list anew, from what is live. */
static void process_relink(struct processes *p)
{
	memset(p->buckets, 0xff, p->n_buckets * sizeof(*p->buckets));
	p->free = PROCESS_NONE;
	for (uint32_t i = p->top; i-- > 0;) {
		if (p->v[i].live) {
			process_link_in(p, i);
			continue;
		}
		p->v[i].next = p->free;
		p->free = i;
	}
}

static int process_grow(struct processes *p)
{
	uint32_t room = p->room ? p->room * 2 : ROOM_FIRST;
	struct process *v;
	uint32_t *b;

	if (p->free != PROCESS_NONE || p->top < p->room)
		return 0;
	if (p->n >= PROCESSES_MAX)
		return -1;
	v = reallocarray(p->v, room, sizeof(*v));
	if (!v)
		return -1;
	p->v = v;
	b = reallocarray(p->buckets, room, sizeof(*b));
	if (!b)
		return -1;
	p->buckets = b;
	p->n_buckets = room;
	p->room = room;
	process_relink(p);
	return 0;
}

static uint32_t process_insert(struct processes *p, const struct trace_rec *rec)
{
	uint32_t i;

	if (process_grow(p) < 0)
		return PROCESS_NONE;
	i = p->free;
	if (i != PROCESS_NONE)
		p->free = p->v[i].next;
	else
		i = p->top++;
	p->v[i] = (struct process){
		.start_ns = rec->start_ns,
		.exec_id = rec->exec_id,
		.tgid = rec->tgid,
		.live = true,
	};
	p->n++;
	process_link_in(p, i);
	return i;
}

static void update(struct process *pr, const struct trace_rec *rec,
		   uint32_t interval)
{
	pr->used = interval;
	pr->cgroup_id = rec->cgroup_id;
	if (rec->exe != EXE_NONE)
		pr->exe = rec->exe;
	pr->user |= rec->n_user > 0 || rec->stop != STOP_NO_USER ||
		    rec->exe != EXE_NONE;
	if (rec->tid == rec->tgid || pr->comm[0] == '\0')
		memcpy(pr->comm, rec->comm, sizeof(pr->comm));
}

uint32_t processes_add(struct processes *p, const struct trace_rec *rec,
		       uint32_t interval)
{
	uint32_t i = PROCESS_NONE;

	if (p->n_buckets)
		i = p->buckets[process_bucket(p, rec->tgid, rec->start_ns,
					      rec->exec_id)];
	for (; i != PROCESS_NONE; i = p->v[i].next) {
		const struct process *pr = &p->v[i];

		if (pr->tgid == rec->tgid && pr->start_ns == rec->start_ns &&
		    pr->exec_id == rec->exec_id)
			break;
	}
	if (i == PROCESS_NONE)
		i = process_insert(p, rec);
	if (i != PROCESS_NONE)
		update(&p->v[i], rec, interval);
	return i;
}

void processes_sweep(struct processes *p, uint32_t interval)
{
	uint32_t before = p->n;

	for (uint32_t i = 0; i < p->top; i++) {
		struct process *pr = &p->v[i];

		if (!pr->live ||
		    interval - pr->used < PROCESS_IDLE_INTERVALS)
			continue;
		free(pr->path);
		*pr = (struct process){ 0 };
		p->n--;
	}
	if (p->n == 0)
		processes_fini(p);
	else if (p->n != before)
		process_relink(p);
}

void processes_forget_numbers(struct processes *p)
{
	for (uint32_t i = 0; i < p->top; i++)
		p->v[i].exe = EXE_NONE;
}

void processes_drop_number(struct processes *p, uint32_t number,
			   const char *path)
{
	for (uint32_t i = 0; i < p->top; i++) {
		struct process *pr = &p->v[i];

		if (!pr->live || pr->exe != number)
			continue;
		if (!pr->path && path)
			process_set_path(pr, path, strlen(path));
		pr->exe = EXE_NONE;
	}
}

void process_set_path(struct process *p, const char *path, size_t len)
{
	static const char deleted[] = " (deleted)";
	const size_t n = sizeof(deleted) - 1;

	if (len > n && !memcmp(path + len - n, deleted, n))
		len -= n;
	free(p->path);
	p->path = strndup(path, len);
}
