// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash_table.h"

_Static_assert(offsetof(struct known_cgroup, entry) == 0, "entry comes first");

static bool cgroup_same(const void *entry, const void *key)
{
	return ((const struct known_cgroup *)entry)->id == *(const uint64_t *)key;
}

static bool cgroup_dropped(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
	return false;
}

void cgroups_init(struct cgroups *c, uint64_t seed)
{
	c->known = (struct owner_cache){
		.size = sizeof(struct known_cgroup), .seed = seed, .same = cgroup_same,
		.dropped = cgroup_dropped, .ctx = c,
	};
	c->known.max = CGROUPS_MAX * (uint64_t)owner_cache_cost(&c->known);
}

void cgroups_fini(struct cgroups *c)
{
	owner_cache_fini(&c->known);
}

static uint64_t cgroup_hash(const struct cgroups *c, uint64_t id)
{
	return hash_mix(c->known.seed, &id, sizeof(id));
}

/* NULL: it is not known. */
static struct known_cgroup *cgroup_find(struct cgroups *c, uint64_t id)
{
	uint32_t i = owner_cache_find(&c->known, cgroup_hash(c, id), &id);

	if (i == INDEX_NONE)
		return NULL;
	owner_cache_touch(&c->known, i);
	return owner_cache_at(&c->known, i);
}

/*
 * Who pays for it: the user below whose slice it lies (user.slice/user-1000.slice, which
 * systemd makes and users cannot), or else root, who made it or let others do so.  Of a
 * path without its first levels nobody knows.
 */
static uint32_t cgroup_owner(const char *path, size_t len)
{
	static const char slice[] = "/user.slice/user-";
	size_t n = sizeof(slice) - 1;
	uint64_t uid = 0;

	if (!len || path[0] != '/')
		return OWNER_UNKNOWN;
	if (len <= n || memcmp(path, slice, n))
		return 0;
	for (; n < len && path[n] >= '0' && path[n] <= '9' && uid < UINT32_MAX; n++)
		uid = 10 * uid + (uint64_t)(path[n] - '0');
	return owner_of_uid((uint32_t)uid);
}

/* NULL: no memory. */
static struct known_cgroup *cgroup_insert(struct cgroups *c, uint64_t id, uint32_t owner)
{
	uint32_t i = owner_cache_add_key(&c->known, owner, cgroup_hash(c, id), 0);
	struct known_cgroup *k;

	if (i == INDEX_NONE)
		return NULL;
	k = owner_cache_at(&c->known, i);
	k->id = id;
	return k;
}

static int cgroup_set(struct cgroups *c, uint64_t id, const char *path, size_t len,
		      uint32_t owner)
{
	struct known_cgroup *k = cgroup_find(c, id);
	size_t n = 0;
	const char *found = NULL;

	if (!k)
		k = cgroup_insert(c, id, owner);
	if (!k)
		return -ENOMEM;
	k->container[0] = '\0';
	k->unit[0] = '\0';
	if (owner == OWNER_UNKNOWN)	/* what is missing may say that it is another */
		return 0;
	(void)!cgroup_service(path, len, k->unit, sizeof(k->unit));
	found = container_id(path, len, &n);
	if (found) {
		memcpy(k->container, found, n);
		k->container[n] = '\0';
	}
	return 0;
}

int cgroups_set(struct cgroups *c, uint64_t id, const char *path, size_t len)
{
	return cgroup_set(c, id, path, len, cgroup_owner(path, len));
}

int cgroups_add(struct cgroups *c, const struct request_cgroup *r)
{
	char path[CGROUP_PIECES * CGROUP_PIECE];	/* made from its end on */
	uint32_t owner = OWNER_UNKNOWN;
	size_t at = sizeof(path);

	if (r->kind != REQUEST_CGROUP || r->pieces > CGROUP_PIECES)
		return -EPROTO;
	for (uint32_t i = 0; i < r->pieces;) {
		char name[CGROUP_PIECES * CGROUP_PIECE];
		size_t n = 0, piece;

		do {
			piece = strnlen(r->piece[i], CGROUP_PIECE);
			if (piece == CGROUP_PIECE)
				return -EPROTO;
			memcpy(name + n, r->piece[i], piece);
			n += piece;
			i++;
		} while (piece == CGROUP_PIECE - 1 && i < r->pieces);
		if (piece == CGROUP_PIECE - 1)
			break;		/* what follows was not read */
		at -= n;
		memcpy(path + at, name, n);
		/* a slash takes the place of the NUL */
		at--;
		path[at] = '/';
	}
	if (r->pieces < CGROUP_PIECES)		/* or its first levels may be missing */
		owner = cgroup_owner(path + at, sizeof(path) - at);
	return cgroup_set(c, r->cgroup_id, path + at, sizeof(path) - at, owner);
}

const char *cgroups_container(struct cgroups *c, uint64_t id)
{
	const struct known_cgroup *k = cgroup_find(c, id);

	return k ? k->container : "";
}

const char *cgroups_unit(struct cgroups *c, uint64_t id)
{
	const struct known_cgroup *k = cgroup_find(c, id);

	return k ? k->unit : "";
}
