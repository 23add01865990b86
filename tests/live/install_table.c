// SPDX-License-Identifier: Apache-2.0
#include "tests/live/install_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/sealed.h"

static int failed;		/* of the last installer_install() */

/* Its slab is made and mapped if need be; NULL: it cannot. */
static union element *installer_at(struct installer *in, uint32_t pos)
{
	uint32_t slab = pos >> SLAB_SHIFT;

	if (!in->at[slab] && !elements_make(&in->elements, slab)) {
		in->at[slab] = mmap(NULL, sizeof(*in->at[slab]), PROT_READ | PROT_WRITE,
				    MAP_SHARED, in->elements.slabs[slab], 0);
		if (in->at[slab] == MAP_FAILED)
			in->at[slab] = NULL;
	}
	return in->at[slab] ? &in->at[slab]->element[pos & (SLAB_ELEMENTS - 1)] : NULL;
}

/* All of it is new: nothing is ever moved here. */
static int installer_write(struct installer *in, const struct table_run *run, uint32_t n)
{
	const union element *data = (const void *)(run + n);

	for (; n; n--, data += run->n, run++) {
		union element *to = installer_at(in, run->pos);

		if (!to || run->from != TABLE_RUN_NEW)
			return -ENOMEM;
		memcpy(to, data, run->n * sizeof(*to));
	}
	return 0;
}

static void installer_install(void *ctx, uint64_t id, const struct file_key *key,
			      const struct file_entry *entry, uint32_t n_runs,
			      int fd)
{
	struct installer *in = ctx;
	const void *data;
	size_t len;

	(void)id;
	failed = sealed_map(fd, n_runs * sizeof(struct table_run),
			    INSTALL_BYTES_MAX, &data, &len);
	close(fd);
	if (failed)
		return;
	failed = installer_write(in, data, n_runs);
	munmap((void *)data, len);
	if (!failed && bpf_map_update_elem(in->files_fd, key, entry, BPF_ANY))
		failed = -errno;
}

int installer_init(struct installer *in, int files_fd, int slabs_fd,
		   int slab0_fd, uint64_t budget)
{
	static const struct tables_out out = { .install = installer_install };

	elements_init(&in->elements, slabs_fd, slab0_fd, budget);
	in->files_fd = files_fd;
	return tables_init(&in->policy, 1, budget, &out, in);
}

int installer_put(struct installer *in, const struct file_key *key,
		  uint32_t exe, const void *data, size_t len)
{
	struct file_entry entry = { .exe = exe, .state = FILE_BARE };
	struct table_ref ref = { 0 };
	int r = 0;

	failed = 0;
	if (len)
		r = tables_install(&in->policy, 0, key, &entry, data, len,
				   &ref);
	if (!r && !ref.pages &&
	    bpf_map_update_elem(in->files_fd, key, &entry, BPF_ANY))
		r = -errno;
	return r ? r : failed;
}
