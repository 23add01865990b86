// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/process.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/vector.h"

void processes_init(struct processes *p, uint64_t seed)
{
	*p = (struct processes){ .free = PROCESS_NONE, .seed = seed };
}

void processes_fini(struct processes *p)
{
	for (uint32_t i = 0; i < p->top; i++) {
		free(p->v[i].path);
		free(p->v[i].script);
	}
	free(p->v);
	hash_free(&p->by_key);
	processes_init(p, p->seed);
}

static uint64_t process_hash(const struct processes *p, const struct process_id *id)
{
	return XXH3_64bits_withSeed(id, sizeof(*id), p->seed);
}

/* A free index, or PROCESS_NONE. */
static uint32_t process_take_index(struct processes *p)
{
	uint32_t i = p->free;

	if (i != PROCESS_NONE) {
		p->free = p->v[i].next;
		return i;
	}
	if (p->n >= PROCESSES_MAX ||
	    !array_reserve(&p->v, &p->cap, (uint64_t)p->top + 1))
		return PROCESS_NONE;
	return p->top++;
}

/* The entry stays below .top, to be taken again. */
static void process_free(struct processes *p, uint32_t i)
{
	free(p->v[i].path);
	free(p->v[i].script);
	p->v[i] = (struct process){ .next = p->free };
	p->free = i;
}

static uint32_t process_insert(struct processes *p, const struct trace_rec *rec,
			       uint64_t hash)
{
	uint32_t i = process_take_index(p);

	if (i == PROCESS_NONE)
		return i;
	p->v[i] = (struct process){
		.id = rec->process,
		.live = true,
	};
	if (!hash_add(&p->by_key, hash, i)) {
		process_free(p, i);
		return PROCESS_NONE;
	}
	p->n++;
	return i;
}

static void process_update(struct process *pr, const struct trace_rec *rec,
			   uint32_t interval)
{
	pr->used = interval;
	pr->cgroup_id = rec->cgroup_id;
	if (rec->exe != EXE_NONE)
		pr->exe = rec->exe;
	if (rec->n_user || rec->stop != STOP_NO_USER || rec->exe != EXE_NONE)
		pr->user = true;
	if (rec->tid == rec->process.tgid)
		memcpy(pr->comm, rec->comm, sizeof(pr->comm));
	else if (rec->leader[0] != '\0')
		memcpy(pr->comm, rec->leader, sizeof(pr->comm));
	else if (pr->comm[0] == '\0')
		memcpy(pr->comm, rec->comm, sizeof(pr->comm));
}

uint32_t processes_add(struct processes *p, const struct trace_rec *rec,
		       uint32_t interval)
{
	uint64_t hash = process_hash(p, &rec->process);
	const struct hash_slot *s = hash_find(&p->by_key, hash);
	uint32_t i;

	while (s && !same_process(&p->v[hash_index(s)].id, &rec->process))
		s = hash_next(&p->by_key, s);
	i = s ? hash_index(s) : process_insert(p, rec, hash);
	if (i != PROCESS_NONE)
		process_update(&p->v[i], rec, interval);
	return i;
}

void processes_sweep(struct processes *p, uint32_t interval)
{
	bool many = p->n > PROCESSES_MAX / 2;

	/* backwards: low indices are taken again first */
	for (uint32_t i = p->top; i-- > 0;) {
		const struct process *pr = &p->v[i];
		uint32_t idle = pr->script ? PROCESS_SCRIPT_INTERVALS : PROCESS_IDLE_INTERVALS;

		if (many)
			idle = 1;
		if (!pr->live || interval - pr->used < idle)
			continue;
		hash_remove_index(&p->by_key, process_hash(p, &pr->id), i);
		process_free(p, i);
		p->n--;
	}
	if (p->n == 0)
		processes_fini(p);
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
		if (path)
			process_set_path(pr, path, strlen(path), false);
		pr->exe = EXE_NONE;
	}
}

size_t process_path_len(const char *path, size_t len)
{
	static const char deleted[] = " (deleted)";
	const size_t n = sizeof(deleted) - 1;

	return len > n && !memcmp(path + len - n, deleted, n) ? len - n : len;
}

void process_set_path(struct process *p, const char *path, size_t len, bool host)
{
	if (p->host_path || (p->path && !host))
		return;
	free(p->path);
	p->path = strndup(path, len);
	p->host_path = p->path && host;
}

bool process_has_exe_name(const struct process *p)
{
	size_t len = strnlen(p->comm, sizeof(p->comm));
	const char *slash;

	if (!p->path || !len)
		return false;
	slash = strrchr(p->path, '/');
	return strncmp(slash ? slash + 1 : p->path, p->comm, len) == 0;
}
