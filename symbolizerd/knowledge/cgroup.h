/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup - which cgroup ids belong to which container, and to which service
 *
 * By their paths (common/container.h): a path whose first levels are not known has no service,
 * since it may be a user's, called as another one.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_CGROUP_H
#define SYMBOLIZERD_KNOWLEDGE_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/request.h"
#include "common/container.h"
#include "ipc/batch.h"
#include "symbolizerd/knowledge/owner_cache.h"

#define CGROUPS_MAX	16384

struct known_cgroup {
	struct cache_entry entry;	/* first */
	uint64_t id;
	char container[CONTAINER_ID_MAX + 1];	/* "": none */
	char unit[BATCH_UNIT_MAX + 1];		/* likewise; and a longer one is
						 * none */
};

struct cgroups {
	struct owner_cache known;	/* whose a cgroup is, its path says */
};

void cgroups_init(struct cgroups *c, uint64_t seed);
void cgroups_fini(struct cgroups *c);

/* Set or replace the path of an id.  0 or -ENOMEM. */
int cgroups_set(struct cgroups *c, uint64_t id, const char *path, size_t len);

/* The same for what BPF read of a cgroup: the path is made of its levels, of which the
 * first may be missing.  -EPROTO when the fields make no sense. */
int cgroups_add(struct cgroups *c, const struct request_cgroup *r);

/* Its container's ID; "" when it has none or is not known.  A sample is in it.  Until
 * another one is set. */
const char *cgroups_container(struct cgroups *c, uint64_t id);

/* Its service, as cgroup_service() says; likewise. */
const char *cgroups_unit(struct cgroups *c, uint64_t id);

#endif /* SYMBOLIZERD_KNOWLEDGE_CGROUP_H */
