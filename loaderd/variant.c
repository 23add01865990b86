// SPDX-License-Identifier: Apache-2.0
#include "loaderd/variant.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/request.h"
#include "bpf/sampler.skel.h"

#define MAPS_MAX	64	/* that a program can use */
#define TINY_VALUE	8	/* bytes */

/* Of one runtime. */
static struct variant_map {
	struct bpf_map *map;
	uint32_t runtime;
	uint32_t value_size[2], entries[2];	/* while it is off; while it is on */
} variant_maps[MAPS_MAX];
static uint32_t variant_n;

/* libbpf's own, which may be another version's than our header's: that says its size. */
static union {
	struct bpf_prog_load_opts opts;
	char room[512];
} variant_kept;

void variant_note(const struct bpf_object *obj)
{
	struct bpf_map *map;
	uint32_t runtime;

	variant_n = 0;
	bpf_object__for_each_map(map, obj) {
		if (sscanf(bpf_map__name(map), "rt%u_", &runtime) != 1)
			continue;
		variant_maps[variant_n] = (struct variant_map){
			.map = map, .runtime = runtime,
			.value_size = { TINY_VALUE, bpf_map__value_size(map) },
			.entries = { 1, bpf_map__max_entries(map) },
		};
		bpf_map__set_value_size(map, TINY_VALUE);
		bpf_map__set_max_entries(map, 1);
		variant_n++;
	}
}

void variant_keep(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts)
{
	if (!strcmp(bpf_program__name(prog), "walk"))
		memcpy(&variant_kept, opts, opts->sz);
}

/* fd, which is taken over, gets the number.  0; or fd, if that is -errno. */
static int variant_number(int fd, int number)
{
	if (fd < 0)
		return fd;
	dup3(fd, number, O_CLOEXEC);
	return close(fd);
}

/* A new map: of its own size (on), or tiny. */
static int variant_map(const struct variant_map *m, bool on)
{
	return variant_number(bpf_map_create(bpf_map__type(m->map), bpf_map__name(m->map),
					     bpf_map__key_size(m->map), m->value_size[on],
					     m->entries[on], NULL), bpf_map__fd(m->map));
}

/* The constant `runtimes` becomes another one. */
static int variant_constant(const struct sampler *s, uint64_t runtimes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "runtimes", sizeof(uint32_t),
				sizeof(runtimes), 1, &opts);

	if (bpf_map_update_elem(fd, &(uint32_t){ 0 }, &runtimes, BPF_ANY) || bpf_map_freeze(fd))
		return -errno;
	return variant_number(fd, bpf_map__fd(s->maps.rodata_runtimes));
}

int variant_use(struct sampler *s, uint64_t *in_force, uint64_t runtimes)
{
	int fd, r;

	if (runtimes == *in_force)
		return 0;
	r = variant_constant(s, runtimes);
	for (uint32_t i = 0; i < variant_n && !r; i++)
		r = variant_map(&variant_maps[i], runtimes >> variant_maps[i].runtime & 1);
	if (r)
		return r;
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "walk", "GPL",
			   bpf_program__insns(s->progs.walk),
			   bpf_program__insn_cnt(s->progs.walk), &variant_kept.opts);
	if (fd < 0)
		return fd;
	r = bpf_map_update_elem(bpf_map__fd(s->maps.programs), &(uint32_t){ 0 }, &fd, BPF_ANY);
	/* with libbpf's own the tiny maps go */
	variant_number(fd, bpf_program__fd(s->progs.walk));
	if (!r)
		*in_force = runtimes;
	return r;
}
