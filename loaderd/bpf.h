/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf - the sampler's BPF object: load it, and call its programs
 */
#ifndef LOADERD_BPF_H
#define LOADERD_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/request.h"
#include "ipc/counters_loader.h"
#include "loaderd/variant.h"

struct sampler;			/* build/bpf/sampler.skel.h */

struct bpf {
	struct sampler *skel;
	int name_fd;		/* link of name_symbol() */
	uint32_t *wake;		/* 1: BPF wakes us for each sample */
	__u64 *asked_since;	/* BPF asks anew for all that it asked for before */
	uint32_t *modules;	/* BPF sets it when a module was loaded or unloaded */
	uint64_t map_bytes;	/* of all maps but the later slabs and those of runtimes:
				 * keys and values */
	int files_fd;		/* the map that is asked most often */
	int left_fd;		/* struct msg_hello_loader [1], for a successor */
	int sample_fd, programs_fd;	/* what events run, and the map where it goes on */
	int counts_fd;		/* only BPF can write this one */
	uint32_t cpus;		/* possible ones: its elements */
};

/* Load, without any runtime, for this frequency, which sizes the ring, and these tasks; the filter's before_ns
 * is set here.  Tables, rings and `left` are those of a former loaderd, if they are in the
 * store.  libbpf writes to standard error what the kernel refuses, unless
 * libbpf_set_print() says otherwise.  0 or -errno. */
int bpf_load(struct bpf *b, uint32_t frequency, const struct task_filter *filter);

/* A map's descriptor, by its name; borrowed. */
int bpf_map_fd(const struct bpf *b, const char *name);

/* Identity of the file mapped at addr in this process, as the kernel has it
 * (by the sampler's own walker).  0; 1: its path is the host's; or -ENOENT. */
int bpf_identify(struct bpf *b, const void *addr, struct file_key *ret);

/* Call fn for every executable file mapping of a process, or of all (LIST_ALL), as far as
 * bpf/list.bpf.h goes.  Negative: that failed. */
int bpf_list(struct bpf *b, uint32_t tgid,
	     void (*fn)(void *ctx, const struct request_file *n), void *ctx);

/* What the kernel prints for an address with %pB: "name+0xoff/0xsize [module]" of the
 * instruction before it, or the bare address.  0 or -errno. */
int bpf_name(struct bpf *b, uint64_t addr, char *ret, size_t size);

/* A cgroup's name was sent to the hub: do not ask for it again. */
void bpf_cgroup_known(struct bpf *b, uint64_t id);

#endif /* LOADERD_BPF_H */
