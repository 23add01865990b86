// SPDX-License-Identifier: Apache-2.0
#include "loaderd/elements.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "ipc/message_loader.h"
#include "loaderd/store.h"

#define SLAB_NAME_MAX	16

/* What a slab is called in the store.  Returns name. */
static const char *elements_name(uint32_t slab, char name[SLAB_NAME_MAX])
{
	snprintf(name, SLAB_NAME_MAX, "slab%u", slab);
	return name;
}

int elements_make(struct elements *e, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	char name[SLAB_NAME_MAX];
	int fd, r;

	if (i >= SLABS_MAX)
		return MSG_BAD_CONTENT;
	if (e->slabs[i] >= 0)
		return 0;
	if (e->n_slabs >= e->slabs_max)
		return MSG_BAD_CONTENT;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
			    sizeof(struct slab_element), SLAB_ELEMENTS, &opts);
	if (fd < 0 || bpf_map_update_elem(e->outer_fd, &i, &fd, BPF_ANY)) {
		r = -errno;
		close(fd);
		return r;
	}
	e->slabs[i] = fd;
	e->n_slabs++;
	store_put(elements_name(i, name), fd);
	return 0;
}

int elements_drop(struct elements *e, uint32_t slab)
{
	char name[SLAB_NAME_MAX];

	if (slab < RULE_SLABS || slab >= SLABS_MAX || e->slabs[slab] < 0)
		return MSG_BAD_CONTENT;
	bpf_map_delete_elem(e->outer_fd, &slab);
	close(e->slabs[slab]);
	e->slabs[slab] = -1;
	e->n_slabs--;
	store_remove(elements_name(slab, name));
	return 0;
}

void elements_init(struct elements *e, int outer_fd, int slab0_fd, uint64_t budget)
{
	char name[SLAB_NAME_MAX];

	*e = (struct elements){
		.outer_fd = outer_fd,
		.slabs_max = RULE_SLABS + 1 + budget / SLAB_BYTES * 5 / 4,
		.n_slabs = 1,
	};
	e->slabs[0] = slab0_fd;
	for (uint32_t i = 1; i < SLABS_MAX; i++) {
		e->slabs[i] = store_get(elements_name(i, name), 0);
		if (e->slabs[i] >= 0)
			e->n_slabs++;
	}
}
