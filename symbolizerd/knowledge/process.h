/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process - what samples tell about the processes they come from
 *
 * Nobody tells the hub that one has ended: what had no sample for a while is forgotten.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_PROCESS_H
#define SYMBOLIZERD_KNOWLEDGE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/file.h"
#include "bpf/record.h"
#include "bpf/stop.h"
#include "common/hash_table.h"

#define PROCESS_NONE		UINT32_MAX
#define PROCESSES_MAX		65536
#define PROCESS_IDLE_INTERVALS	3
#define PROCESS_SCRIPT_INTERVALS	720	/* of one whose script is known: an hour */

struct process {
	struct process_id id;
	uint64_t cgroup_id;
	char *path;		/* of its executable, once known; owned */
	char *script;		/* what an interpreter runs, once known (script.h); owned */
	uint32_t exe;		/* number of its executable; EXE_NONE: unknown */
	uint32_t next;		/* if free: the next free one */
	uint32_t used;		/* interval of the last sample */
	uint32_t stamp;		/* number of the pass that .resource is of */
	uint32_t resource;	/* in the batch of that pass */
	bool live;		/* this entry is in use */
	bool user;		/* no kernel thread: a sample had a user stack or an executable */
	bool host_path;		/* .path is the host's */
	char comm[COMM_LEN];	/* the main thread's name; while that is unknown, the first
				 * thread's that was sampled */
};

struct processes {
	struct process *v;
	uint32_t cap, top, n;	/* indices below top were used */
	uint32_t free;		/* first free index below top */
	struct hash_table by_key;
	uint64_t seed;
};

void processes_init(struct processes *p, uint64_t seed);
void processes_fini(struct processes *p);

/* The index of the process of a record; PROCESS_NONE when memory is short or
 * there are PROCESSES_MAX. */
uint32_t processes_add(struct processes *p, const struct trace_rec *rec,
		       uint32_t interval);

/* This interval begins: forget those whose last sample is PROCESS_IDLE_INTERVALS old, with a
 * script PROCESS_SCRIPT_INTERVALS, since other samples may not say it.  If there are more than
 * half of PROCESSES_MAX, all go but those whose samples were held back for it. */
void processes_sweep(struct processes *p, uint32_t interval);

/* Forget all executable numbers. */
void processes_forget_numbers(struct processes *p);

/* The number is about to lose its meaning: processes that run from it and have
 * no path yet get this one (NULL: none). */
void processes_drop_number(struct processes *p, uint32_t number,
			   const char *path);

/* The length of a path without the kernel's " (deleted)". */
size_t process_path_len(const char *path, size_t len);

/* Keep a copy of len bytes as path, unless it has one that is as good: of the
 * host's, or none of the two is. */
void process_set_path(struct process *p, const char *path, size_t len, bool host);

/* Is it called as its executable is, which is an interpreter's then?  "name3" is that of
 * name3.11, too. */
bool process_has_exe_name(const struct process *p);

static inline struct process *processes_get(const struct processes *p,
					    uint32_t i)
{
	return &p->v[i];
}

#endif /* SYMBOLIZERD_KNOWLEDGE_PROCESS_H */
