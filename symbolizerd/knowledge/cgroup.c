// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"

void cgroups_fini(struct cgroups *c)
{
	free(c->v);
	*c = (struct cgroups){ 0 };
}

/* The first whose id is not below this one. */
static uint32_t cgroup_place(const struct cgroups *c, uint64_t id)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int cgroup_insert(struct cgroups *c, uint32_t i, uint64_t id)
{
	if (!vector_reserve(c, 1))
		return -ENOMEM;
	memmove(&c->v[i + 1], &c->v[i],
		(c->n - i) * sizeof(*c->v));
	c->v[i] = (struct known_cgroup){ .id = id };
	c->n++;
	return 0;
}

/* Is this component of a path a unit of that kind?  Its name's length, or 0. */
static size_t cgroup_unit_of(const char *s, size_t len, const char *kind)
{
	size_t n = strlen(kind);

	if (len <= n || memcmp(s + len - n, kind, n))
		return 0;
	return len - n;
}

/* The service of a path (borrowed), and the length of its name; 0: none. */
static const char *cgroup_find_unit(const char *path, size_t len, size_t *ret)
{
	const char *end = path + len;

	*ret = 0;
	while (end > path) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));
		const char *s = slash ? slash + 1 : path;
		size_t n = (size_t)(end - s);

		if (cgroup_unit_of(s, n, ".scope"))
			break;
		*ret = cgroup_unit_of(s, n, ".service");
		if (*ret)
			return s;
		end = slash ? slash : path;
	}
	return path;
}

int cgroups_set(struct cgroups *c, uint64_t id, const char *path, size_t len)
{
	uint32_t i = cgroup_place(c, id);
	size_t n = 0;
	const char *found = container_id(path, len, &n), *unit;
	int r = 0;

	if (i == c->n || c->v[i].id != id) {
		if (c->n >= CGROUPS_MAX) {
			c->n = 0;
			i = 0;
		}
		r = cgroup_insert(c, i, id);
	}
	if (r < 0)
		return r;
	if (!found)
		n = 0;
	else
		memcpy(c->v[i].container, found, n);
	c->v[i].container[n] = '\0';
	unit = cgroup_find_unit(path, len, &n);
	if (n > BATCH_UNIT_MAX)
		n = 0;
	memcpy(c->v[i].unit, unit, n);
	c->v[i].unit[n] = '\0';
	return 0;
}

int cgroups_add(struct cgroups *c, const struct request_cgroup *r)
{
	char path[CGROUP_LEVELS * CGROUP_NAME];
	size_t n = 0;

	if (r->kind != REQUEST_CGROUP || r->levels > CGROUP_LEVELS)
		return -EPROTO;
	for (uint32_t i = r->levels; i-- > 0; ) {
		const char *end = memchr(r->name[i], '\0', CGROUP_NAME);

		if (!end)
			return -EPROTO;
		/* a slash takes the place of the NUL */
		path[n++] = '/';
		memcpy(path + n, r->name[i], (size_t)(end - r->name[i]));
		n += (size_t)(end - r->name[i]);
	}
	return cgroups_set(c, r->cgroup_id, path, n);
}

const char *cgroups_container(const struct cgroups *c, uint64_t id)
{
	uint32_t i = cgroup_place(c, id);

	if (i == c->n || c->v[i].id != id)
		return "";
	return c->v[i].container;
}

const char *cgroups_unit(const struct cgroups *c, uint64_t id)
{
	uint32_t i = cgroup_place(c, id);

	if (i == c->n || c->v[i].id != id)
		return "";
	return c->v[i].unit;
}
