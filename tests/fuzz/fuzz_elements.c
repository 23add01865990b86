// SPDX-License-Identifier: Apache-2.0
/*
 * Any runs from a hub into slabs (files in memory instead of BPF maps): what is
 * refused as bad content has changed no element, nothing but what the runs say
 * has changed otherwise, and the number of slabs stays within the budget.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message_loader.h"
#include "loaderd/elements.h"
#include "tests/unit/harness.h"

#define SLABS	8		/* that inputs talk about, most of the time */
#define BUDGET	(3u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct elements e;
static struct slab_element *shadow[SLABS_MAX];
static unsigned int fail;	/* the kernel refuses once, so many calls later */

static bool kernel_fails(void)
{
	errno = ENOMEM;
	return fail && !--fail;
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key,
		   __u32 value, __u32 n, const struct bpf_map_create_opts *o)
{
	int fd;

	(void)type, (void)name, (void)o;
	CHECK(key == 4 && value == sizeof(struct slab_element));
	if (kernel_fails())
		return -1;
	fd = memfd_create("slab", MFD_CLOEXEC);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)value * n));
	return fd;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	return kernel_fails() ? -1 : 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)fd, (void)key;
	return 0;
}

/* What the run does, in the shadow. */
static void shadow_run(const struct table_run *r, const struct slab_element *new)
{
	struct slab_element *to = shadow[r->pos >> SLAB_SHIFT];
	uint32_t mask = SLAB_ELEMENTS - 1;

	memmove(to + (r->pos & mask), r->from == TABLE_RUN_NEW ? new :
		shadow[r->from >> SLAB_SHIFT] + (r->from & mask),
		r->n * sizeof(*to));
}

static void check_slabs(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; (i = elements_next(&e, i)) < SLABS_MAX; i++, n++) {
		void *at = mmap(NULL, SLAB_BYTES, PROT_READ, MAP_SHARED,
				e.slabs[i].fd, 0);

		CHECK(at != MAP_FAILED && !e.slabs[i].at);
		if (!shadow[i])
			shadow[i] = calloc(SLAB_ELEMENTS, sizeof(*shadow[i]));
		CHECK(!memcmp(at, shadow[i], SLAB_BYTES));
		munmap(at, SLAB_BYTES);
	}
	CHECK(n == e.n_slabs && n <= e.slabs_max);
}

/* Most inputs talk of few slabs and bring as many elements as they say. */
static uint8_t *message(const uint8_t *data, size_t size, bool mend, uint32_t n,
			size_t *len)
{
	size_t runs = n * sizeof(struct table_run);
	uint64_t own = 0;
	struct table_run *r;

	*len = runs > size ? size : runs;
	r = malloc(*len ? *len : 1);
	memcpy(r, data, *len);
	for (uint32_t i = 0; i < n && mend && *len == runs; i++) {
		r[i].pos &= ((SLABS << SLAB_SHIFT) - 1);
		r[i].n &= 0x40ff;
		if (r[i].from & 1)
			r[i].from = TABLE_RUN_NEW;
		else
			r[i].from &= ((SLABS << SLAB_SHIFT) - 1);
		own += r[i].from == TABLE_RUN_NEW ? r[i].n : 0;
	}
	if (mend && *len == runs) {
		*len += own * sizeof(struct slab_element);
		r = realloc(r, *len ? *len : 1);
		memset((uint8_t *)r + runs, size ? data[size - 1] : 0,
		       *len - runs);
	}
	return (uint8_t *)r;
}

static void install(const uint8_t *data, size_t size, bool mend, uint32_t n)
{
	size_t len, runs = n * sizeof(struct table_run);
	uint8_t *m = message(data, size, mend, n, &len);
	const struct table_run *r = (void *)m;
	const struct slab_element *new = (void *)(m + runs);
	int ret = elements_write(&e, m, len, n);

	CHECK(ret == 0 || ret == MSG_BAD_CONTENT || ret == -ENOMEM);
	for (uint32_t i = 0; (i = elements_next(&e, i)) < SLABS_MAX; i++) {
		if (!shadow[i])
			shadow[i] = calloc(SLAB_ELEMENTS, sizeof(*shadow[i]));
	}
	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		shadow_run(&r[i], new);
		new += r[i].from == TABLE_RUN_NEW ? r[i].n : 0;
	}
	free(m);
	check_slabs();
}

static void drop(uint32_t slab)
{
	bool there = slab < SLABS_MAX && e.slabs[slab].fd >= 0;
	int r = elements_drop(&e, slab);

	CHECK(r == (there && slab >= RULE_SLABS ? 0 : MSG_BAD_CONTENT));
	if (!r) {
		free(shadow[slab]);
		shadow[slab] = NULL;
	}
}

/* Steps: what, how many runs, how many bytes of them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elements_init(&e, -1, bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4,
					     sizeof(struct slab_element),
					     SLAB_ELEMENTS, NULL), BUDGET);
	for (int steps = 0; size >= 3 && steps < 8; steps++) {
		uint32_t n = data[1];
		size_t own = data[2] * 8u;

		own = own < size - 3 ? own : size - 3;
		fail = data[0] >> 4;
		if (data[0] % 4 == 3)
			drop(data[1] == 255 ? UINT32_MAX : data[1]);
		else
			install(data + 3, own, data[0] % 4, n);
		fail = 0;
		data += 3 + own;
		size -= 3 + own;
	}
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		if (e.slabs[i].fd >= 0)
			close(e.slabs[i].fd);
		free(shadow[i]);
		shadow[i] = NULL;
	}
	return 0;
}
