// SPDX-License-Identifier: Apache-2.0
#include "loaderd/bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler.skel.h"
#include "common/clock.h"
#include "ipc/message_loader.h"
#include "loaderd/store.h"
#include "loaderd/variant.h"

/* Samples wait here while symbolizerd is busy, a few seconds at worst.  RING_MIN has
 * 12 s of 2 CPUs at 20 Hz, and 32 of the largest records; RING_MAX 5 s of 64 at 100 Hz. */
#define RING_MIN	(512u << 10)
#define RING_MAX	(32u << 20)
#define RING_WANTED	4096	/* for each CPU and Hz: 4 s of records of 1 KiB */

/*
 * Under lockdown=confidentiality a program that may read kernel memory is
 * refused, which libbpf 0.2 - 1.7 (probe_kern_probe_read_kernel()) takes for a
 * kernel before 5.5: it replaces all calls by bpf_probe_read(), refused too.
 * The calls that are left then read user memory alone, which is allowed; if the
 * verifier keeps others, the walker's check at start fails.
 */
static int bpf_keep_user_reads(struct bpf_program *prog,
			   struct bpf_prog_load_opts *opts, long cookie)
{
	/* libbpf's own memory: a copy would have to be as large, for some words */
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog);

	(void)cookie;
	for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
		if (insns[i].code == (BPF_JMP | BPF_CALL) &&
		    !insns[i].src_reg && insns[i].imm == BPF_FUNC_probe_read)
			insns[i].imm = BPF_FUNC_probe_read_user;
	}
	variant_keep(prog, opts);
	return 0;
}

static uint32_t bpf_ring_bytes(uint32_t frequency)
{
	/* not of all possible CPUs: a guest may have hundreds */
	uint64_t want = (uint64_t)frequency * sysconf(_SC_NPROCESSORS_CONF) * RING_WANTED;
	uint32_t size = RING_MIN;

	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

/* What a map has room for: keys and values. */
#define ROOM(map)	((uint64_t)bpf_map__max_entries(s->maps.map) *		\
			 (bpf_map__key_size(s->maps.map) + bpf_map__value_size(s->maps.map)))

/*
 * Replaces libbpf's own.  That looks for a weak function that vmlinux lacks
 * (bpf_rdonly_cast, before 6.2) in the BTF of modules, which only CAP_SYS_ADMIN may list;
 * a unit's loaderd does not have it, and no function that we use is in a module.  A libbpf
 * that is linked with -Bsymbolic-functions (Ubuntu) calls its own: it needs Linux 6.2.
 */
int bpf_btf_get_next_id(__u32 start, __u32 *next)
{
	(void)start;
	(void)next;
	errno = ENOENT;
	return -ENOENT;
}

/* Maps that outlive a loaderd: tables, samples and requests that wait, its account.
 * put: have those kept that are not in the store; else: take those that are. */
static void bpf_share_maps(const struct bpf_object *obj, bool put)
{
	static const char *const names[][2] = {	/* here, and in the store */
		{ "files", "files" }, { "slabs", "slabs" }, { "slab0", "slab0" },
		{ "ring", "ring" }, { "requests", "requests" }, { "left", STORE_LAYOUT },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, names[i][0]);
		int fd = store_get(names[i][1], 0);

		if (put && fd < 0)
			store_put(names[i][1], bpf_map__fd(map));
		else if (!put && fd >= 0)
			bpf_map__reuse_fd(map, fd);
	}
}

static int bpf_do_load(struct bpf *b, uint32_t frequency,
		       const struct task_filter *filter, bool prealloc)
{
	uint32_t cpus = libbpf_num_possible_cpus();
	struct sampler *s = sampler__open();
	int r;

	if (!s)
		return -errno;
	variant_note(s->obj);
	s->rodata_runtimes->runtimes = 0;
	bpf_map__set_max_entries(s->maps.ring, bpf_ring_bytes(frequency));
	bpf_map__set_max_entries(s->maps.counts, cpus);
	bpf_map__set_value_size(s->maps.left, sizeof(struct msg_hello_loader));
	if (!prealloc)
		bpf_map__set_map_flags(s->maps.files, BPF_F_NO_PREALLOC);
	bpf_share_maps(s->obj, false);
	s->rodata->ring_wake_bytes = bpf_map__max_entries(s->maps.ring) / 4 * 3;
	s->rodata->filter = *filter;
	s->rodata->filter.before_ns = clock_ns(CLOCK_BOOTTIME);
	s->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	r = sampler__load(s);
	if (r)
		sampler__destroy(s);
	else
		*b = (struct bpf){
			.skel = s, .cpus = cpus,
			/* of rings, entries are bytes */
			.map_bytes = bpf_map__max_entries(s->maps.ring) +
				     bpf_map__max_entries(s->maps.requests) +
				     ROOM(files) + ROOM(slabs) + ROOM(slab0) + ROOM(asked) +
				     ROOM(shares) + ROOM(counts) +
				     cpus * (ROOM(scratch_map) + ROOM(remembered_rules)),
			.files_fd = bpf_map__fd(s->maps.files),
			.counts_fd = bpf_map__fd(s->maps.counts),
			.left_fd = bpf_map__fd(s->maps.left),
			.sample_fd = bpf_program__fd(s->progs.sample),
			.programs_fd = bpf_map__fd(s->maps.programs),
			.wake = &s->bss->wake, .modules = &s->bss->modules,
			.asked_since = &s->bss->asked_since,
		};
	return r;
}

static int bpf_attach_name(struct bpf *b)
{
	union bpf_iter_link_info info = {
		.map.map_fd = bpf_map__fd(b->skel->maps.bss),
	};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_link *link;

	link = bpf_program__attach_iter(b->skel->progs.name_symbol, &opts);
	if (!link)
		return -errno;
	b->name_fd = bpf_link__fd(link);
	return 0;
}

/* What this kernel can do is found by trying: hashes that allocate memory as they fill are
 * allowed in perf programs since 6.1. */
int bpf_load(struct bpf *b, uint32_t frequency, const struct task_filter *filter)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = bpf_keep_user_reads);
	int r;

	libbpf_register_prog_handler("perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, &opts);
	r = bpf_do_load(b, frequency, filter, false);
	if (r)
		r = bpf_do_load(b, frequency, filter, true);
	if (r)
		return r;
	bpf_share_maps(b->skel->obj, true);
	/* may fail: then only samples ask for files */
	(void)!bpf_program__attach(b->skel->progs.executed);
	/* a kernel without modules has neither */
	(void)!bpf_program__attach_raw_tracepoint(b->skel->progs.modules_changed, "module_load");
	(void)!bpf_program__attach_raw_tracepoint(b->skel->progs.modules_changed, "module_free");
	/* the hub gets it: from now on it cannot be written by its descriptor */
	if (bpf_map_freeze(b->counts_fd))
		return -errno;
	return bpf_attach_name(b);
}

int bpf_map_fd(const struct bpf *b, const char *name)
{
	return bpf_object__find_map_fd_by_name(b->skel->obj, name);
}

int bpf_identify(struct bpf *b, const void *addr, struct file_key *ret)
{
	/* a raw tracepoint's context has room for twelve words */
	uint64_t args[12] = { (uintptr_t)addr };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(bpf_program__fd(b->skel->progs.identify),
				   &opts) || !opts.retval)
		return -ENOENT;
	*ret = b->skel->bss->identity;
	return opts.retval == 2;
}

int bpf_list(struct bpf *b, uint32_t tgid,
	     void (*fn)(void *ctx, const struct request_file *n), void *ctx)
{
	union bpf_iter_link_info info = { .task.pid = tgid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct request_file found[64];
	struct bpf_link *link;
	ssize_t n;
	int fd;

	b->skel->bss->list_tgid = tgid;
	link = bpf_program__attach_iter(b->skel->progs.list_files, &opts);
	if (!link)	/* before 6.1 it is always of all tasks */
		link = bpf_program__attach_iter(b->skel->progs.list_files, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	do {
		n = read(fd, found, sizeof(found));
		for (ssize_t i = 0; i < n / (ssize_t)sizeof(found[0]); i++)
			fn(ctx, &found[i]);
	} while (n > 0);
	close(fd);
	bpf_link__destroy(link);
	return (int)n;
}

int bpf_name(struct bpf *b, uint64_t addr, char *ret, size_t size)
{
	int fd = bpf_iter_create(b->name_fd);
	ssize_t n;

	b->skel->bss->symbol_addr = addr;
	n = read(fd, ret, size - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	ret[n] = '\0';
	return 0;
}

void bpf_cgroup_known(struct bpf *b, uint64_t id)
{
	bpf_map_update_elem(bpf_map__fd(b->skel->maps.asked), &(uint64_t){ id | 1ULL << 63 },
			    &(uint64_t){ now_ns() | ASKED_KNOWN }, BPF_ANY);
}
