/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf - the sampler's object: opening, sizing, loading, asking it
 */
#ifndef LOADERD_BPF_H
#define LOADERD_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/request.h"
#include "ipc/counters_loader.h"

struct sampler;			/* build/bpf/sampler.skel.h */

struct bpf {
	struct sampler *skel;
	bool can_list;		/* iter/task_vma */
	int name_fd;		/* link of name_symbol() */
	/* BPF wakes us for each sample; it says: a module was loaded or unloaded */
	uint32_t *wake, *modules;
	uint64_t map_bytes;	/* of all maps but the later slabs: keys and values */
	/* of maps and of the sampler's program, for others to work with */
	int ring_fd, requests_fd, files_fd, slabs_fd, slab0_fd, sample_fd;
	int left_fd;		/* struct msg_hello_loader [1], for a successor */
	int counts_fd;		/* nobody but BPF can write this one */
	uint32_t cpus;		/* possible ones: its elements */
};

/* libbpf tells on standard error what the kernel refuses, unless it was told not
 * to (libbpf_set_print()).  Load for this frequency (it sizes the ring) and these
 * tasks; of the filter, before_ns is set here.  Tables, rings and `left` are those of a
 * former loaderd, if they are in the store.  0 or -errno. */
int bpf_load(struct bpf *b, uint32_t frequency, const struct task_filter *filter);

/* Identity of the file mapped at addr in this process, by the kernel's word
 * (the sampler's own walker).  0; 1: its path is the host's; or -ENOENT. */
int bpf_identify(struct bpf *b, const void *addr, struct file_key *ret);

/* Call fn for every executable file mapping of a process (6.1+), or of all
 * (tgid 0).  0 or -errno. */
int bpf_list(struct bpf *b, uint32_t tgid,
	     void (*fn)(void *ctx, const struct request_file *n), void *ctx);

/* What the kernel's %pB says of an address: "name+0xoff/0xsize [module]" of the
 * instruction before it, or the bare address.  0 or -errno. */
int bpf_name(struct bpf *b, uint64_t addr, char *ret, size_t size);

/* A cgroup's name has gone on: do not ask for it again. */
void bpf_cgroup_known(struct bpf *b, uint64_t id);

/* Ask for everything anew. */
void bpf_forget_asked(struct bpf *b);

#endif /* LOADERD_BPF_H */
