/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * requests - requests to loaderd for files and names of cgroups
 */
#ifndef BPF_REQUESTS_BPF_H
#define BPF_REQUESTS_BPF_H

#include "hash.h"
#include "request.h"
#include "state.bpf.h"
#include "vma.bpf.h"

#define ASK_NS		100000000ULL	/* a thing is asked for again after this time */
#define SHARE_NS	1000000000ULL
#define SHARE_SECOND	64	/* files that a process asks for in SHARE_NS */
#define SHARE_USER	512	/* ... all processes of a user */
#define SHARE_LISTS	16	/* ... of these processes, whose mappings are listed */
#define SHARE_EXEC	32	/* ... up to which programs ask that have no sample yet */
#define SHARE_SAMPLE	8	/* ... in a sample */
#define SHARE_IS_USER	(1ULL << 63)

/* May this be asked for now? */
static __always_inline int may_ask(__u64 thing, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&asked, &thing);

	return !last || (*last & ~ASKED_KNOWN) < asked_since ||
	       (!(*last & ASKED_KNOWN) && now - *last >= ASK_NS);
}

static __always_inline void note_asked(__u64 thing, __u64 now)
{
	bpf_map_update_elem(&asked, &thing, &now, BPF_ANY);
}

static __always_inline __u64 mix_words(__u64 a, __u64 b)
{
	return (a ^ (b * HASH_FACTOR)) * 0xbf58476d1ce4e5b9ULL;
}

/* How much a process or a user (| SHARE_IS_USER) has asked for in this second; NULL: no
 * room. */
static __always_inline struct share *share_of(__u64 owner, __u64 now)
{
	struct share *share = bpf_map_lookup_elem(&shares, &owner);
	struct share none = {};

	if (!share) {
		bpf_map_update_elem(&shares, &owner, &none, BPF_ANY);
		share = bpf_map_lookup_elem(&shares, &owner);
		if (!share)
			return NULL;
	}
	/* another CPU's time may be ahead */
	if ((__s64)(now - share->since_ns) >= (__s64)SHARE_NS) {
		share->since_ns = now;
		share->n = 0;
		share->lists = 0;
	}
	return share;
}

/* The bits of FILE_ASK* that a mapping of this open file answers. */
static __always_inline __u32 ask_bits_of(__u64 file)
{
	return host_path(file) ? FILE_ASK | FILE_ASK_HOST : FILE_ASK;
}

/* Ask for the file of s->m.  at_exec: it is in no sample yet; so a request without room
 * is not counted, and the process has no other mappings to list. */
static __always_inline void ask_file(struct scratch *s, int at_exec)
{
	struct request_file *n = &s->request_file;
	struct file_key *k = &s->m.key;
	__u64 thing = mix_words(mix_words(k->ino ^ k->size, k->ctime),
				((__u64)k->dev << 32) ^ k->ctime_ns ^ k->generation);
	struct share *process, *user;

	/* two things, since the first sample must still ask for the descriptor */
	thing = thing >> 2 | (__u64)at_exec << 62;
	if (!may_ask(thing, s->now))
		return;
	process = share_of(s->rec.process.tgid, s->now);
	user = share_of(owner_of_uid(s->rec.uid) | SHARE_IS_USER, s->now);
	if (!process || process->n >= SHARE_SECOND || !user ||
	    user->n >= (at_exec ? SHARE_EXEC : SHARE_USER) ||
	    s->files_asked >= SHARE_SAMPLE) {
		if (!at_exec)
			count(BPF_REQUEST_FULL);
		return;
	}
	note_asked(thing, s->now);
	s->files_asked++;
	user->n++;
	if (at_exec) {
		n->kind = REQUEST_EXEC;
	} else {
		n->kind = REQUEST_FILE;
		if (!process->n && user->lists < SHARE_LISTS) {
			n->kind = REQUEST_LIST;
			user->lists++;
		} else if (!process->n) {
			count(BPF_REQUEST_FULL);
		}
		process->n++;
	}
	n->process = s->rec.process;
	n->uid = s->rec.uid;
	n->start = s->m.start;
	n->end = s->m.end;
	n->key = *k;
	n->ask = ask_bits_of(s->m.file);
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
}

/* Clear the bytes of *v from the first NUL on.  True: there is one. */
static __always_inline int cut_at_nul(__u64 *v)
{
	/* the lowest bit is that of the first byte that is 0 */
	__u64 end = (*v - 0x0101010101010101ULL) & ~*v & 0x8080808080808080ULL;

	if (!end)
		return 0;
	*v &= ((end & -end) >> 7) - 1;
	return 1;
}

/* Copy a piece of the kernel's string at s->name_at, and no bytes after its end.  True:
 * the piece is full.  Global, so that its many reads are verified once. */
__weak __noinline int read_piece(__u32 i)
{
	struct scratch *s = scratch();
	__u64 *word, src;
	char *dst;

	if (!s)
		return 0;
	src = s->name_at;
	dst = s->request_cgroup.piece[i % CGROUP_PIECES];
	word = (__u64 *)dst;

	word[CGROUP_PIECE / 8 - 1] = 0;
	if (!bpf_rdonly_cast) {
		bpf_probe_read_kernel_str(dst, CGROUP_PIECE, (void *)src);
		return dst[CGROUP_PIECE - 2] != 0;
	}
	for (int k = 0; k < CGROUP_PIECE / 8; k++) {
		__u64 v = LOAD(src + k * 8);
		int end = cut_at_nul(&v);

		word[k] = v;
		if (end)
			break;
	}
	dst[CGROUP_PIECE - 1] = 0;
	return dst[CGROUP_PIECE - 2] != 0;
}

__weak __noinline int ask_cgroup(void)
{
	struct scratch *s = scratch();
	struct request_cgroup *n;
	__u64 css, kn;

	if (!s)
		return 0;
	n = &s->request_cgroup;
	css = bpf_get_current_task();
	css = (__u64)KLOAD(task_struct, css, cgroups);
	kn = (__u64)KLOAD(css_set, css, dfl_cgrp);
	kn = (__u64)KLOAD(cgroup, kn, kn);
	n->kind = REQUEST_CGROUP;
	n->cgroup_id = s->rec.cgroup_id;
	n->pieces = 0;
	s->name_at = 0;
	for (int i = 0; i < CGROUP_PIECES; i++) {
		if (!s->name_at) {
			__u64 parent = kn ? kernfs_parent(kn) : 0;

			n->piece[i][0] = 0;
			if (!parent)
				break;
			s->name_at = (__u64)KLOAD(kernfs_node, kn, name);
			kn = parent;
		}
		if (read_piece(i))
			s->name_at += CGROUP_PIECE - 1;
		else
			s->name_at = 0;
		n->pieces = i + 1;
	}
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
	return 0;
}

#endif /* BPF_REQUESTS_BPF_H */
