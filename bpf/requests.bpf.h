/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * requests - what BPF asks of loaderd: a file, the name of a cgroup
 *
 * A part of sampler.bpf.c, which has the maps and struct scratch.
 */
#ifndef BPF_REQUESTS_BPF_H
#define BPF_REQUESTS_BPF_H

/* True if this thing may be asked for now; remembers that it was. */
static __always_inline int may_ask(__u64 thing, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&asked, &thing);

	if (last && (*last == ~0ULL || now - *last < ASK_NS))
		return 0;
	bpf_map_update_elem(&asked, &thing, &now, BPF_ANY);
	return 1;
}

static __always_inline void count(__u32 which)
{
	__u32 zero = 0;
	struct counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (c && which < BPF_COUNT__MAX)
		c->n[which]++;
}

static __always_inline __u64 mix(__u64 a, __u64 b)
{
	return (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
}

static __always_inline void ask_file(struct scratch *s)
{
	struct request_file *n = &s->request_file;
	struct file_key *k = &s->m.key;
	__u64 thing = mix(mix(k->ino ^ k->size, k->ctime),
			  ((__u64)k->dev << 32) ^ k->ctime_ns ^ k->generation);

	if (!may_ask(thing >> 1, s->now))
		return;
	n->kind = REQUEST_FILE;
	n->tgid = s->rec.tgid;
	n->start_ns = s->rec.start_ns;
	n->start = s->m.start;
	n->end = s->m.end;
	n->key = *k;
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
}

static __always_inline __u64 kernfs_parent(__u64 kn)
{
	if (bpf_core_field_exists(struct kernfs_node___6_15, __parent))
		return (__u64)KLOAD(kernfs_node___6_15, kn, __parent);
	return (__u64)KLOAD(kernfs_node___old, kn, parent);
}

/* A kernel string, cut to what fits. */
static __always_inline void read_name(char *dst, __u64 src)
{
	__u64 *word = (__u64 *)dst;

	if (!bpf_rdonly_cast) {
		bpf_probe_read_kernel_str(dst, CGROUP_NAME, (void *)src);
		return;
	}
	for (int i = 0; i < CGROUP_NAME / 8; i++) {
		__u64 v = LOAD(src + i * 8);

		word[i] = v;
		if ((v - 0x0101010101010101ULL) & ~v & 0x8080808080808080ULL)
			return;		/* one of its bytes is 0 */
	}
	dst[CGROUP_NAME - 1] = 0;
}

/* Apart, so that its many reads are verified once. */
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
	n->levels = 0;
	for (int i = 0; i < CGROUP_LEVELS; i++) {
		__u64 parent = kn ? kernfs_parent(kn) : 0;

		n->name[i][0] = 0;
		if (!parent)
			break;
		read_name(n->name[i], (__u64)KLOAD(kernfs_node, kn, name));
		n->levels = i + 1;
		kn = parent;
	}
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
	return 0;
}

#endif /* BPF_REQUESTS_BPF_H */
