// SPDX-License-Identifier: Apache-2.0
#include "common/container.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ECS_TASK_DIGITS		32

static const char *const prefixes[] = {
	"docker-", "cri-containerd-", "crio-", "libpod-", "containerd-",
	"nerdctl-", "podman-",
};

static size_t container_hex_digits(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!(s[i] >= '0' && s[i] <= '9') &&
		    !(s[i] >= 'a' && s[i] <= 'f'))
			break;
	}
	return i;
}

static bool container_all_decimal(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
	}
	return len > 0;
}

static bool container_ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

/* The ID in one component of a path, or NULL. */
static const char *container_component_id(const char *s, size_t len, size_t *ret)
{
	size_t digits;

	if (container_ends_with(s, len, ".scope"))
		len -= strlen(".scope");
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (len > n && !memcmp(s, prefixes[i], n)) {
			s += n;
			len -= n;
			break;
		}
	}
	digits = container_hex_digits(s, len);
	if (digits == CONTAINER_ID_MAX && len == digits) {
		*ret = len;
		return s;
	}
	if (digits == ECS_TASK_DIGITS && len > digits + 1 &&
	    len <= CONTAINER_ID_MAX && s[digits] == '-' &&
	    container_all_decimal(s + digits + 1, len - digits - 1)) {
		*ret = len;
		return s;
	}
	return NULL;
}

const char *container_id(const char *path, size_t len, size_t *ret)
{
	const char *end = path + len;
	const char *found = NULL;

	while (path < end) {
		const char *stop = path;
		const char *id;
		size_t n;

		while (stop < end && *stop != '/' && *stop != ':')
			stop++;
		id = container_component_id(path, (size_t)(stop - path), &n);
		if (id) {
			found = id;
			*ret = n;
		}
		path = stop;
		if (path < end)
			path++;
	}
	return found;
}

/* --- services --------------------------------------------------------------------- */

/* A component of a path. */
struct level {
	const char *s;
	size_t n;		/* 0: there is none */
};

/* The one that begins at *at or after a slash there; *at: behind it. */
static struct level level_next(const char **at, const char *end)
{
	struct level l;

	while (*at < end && **at == '/')
		++*at;
	l.s = *at;
	while (*at < end && **at != '/')
		++*at;
	l.n = (size_t)(*at - l.s);
	return l;
}

/* The length of its name without this end; 0: it has another one. */
static size_t level_of(const struct level *l, const char *kind)
{
	size_t n = strlen(kind);

	if (l->n <= n || !container_ends_with(l->s, l->n, kind))
		return 0;
	return l->n - n;
}

/* The next one that is no slice. */
static struct level level_below_slices(const char **at, const char *end)
{
	struct level l = level_next(at, end);

	while (level_of(&l, ".slice"))
		l = level_next(at, end);
	return l;
}

/* The last service; none if there is a scope below it. */
static struct level level_innermost(const char *at, const char *end)
{
	struct level found = { at, 0 }, l = level_next(&at, end);

	for (; l.n; l = level_next(&at, end)) {
		if (level_of(&l, ".scope"))
			found.n = 0;
		else if (level_of(&l, ".service"))
			found = l;
	}
	return found;
}

/* Of a user: user@UID.service.  The length of its name without its end; 0: it is none. */
static size_t level_manager(const struct level *l)
{
	static const char name[] = "user@";

	if (l->n <= strlen(name) || memcmp(l->s, name, strlen(name)))
		return 0;
	return level_of(l, ".service");
}

/* in: the end of the container's ID in it, or NULL.  *above: so much of *outer goes before
 * the name. */
static struct level level_service(const char *at, const char *end, const char *in,
				  struct level *outer, size_t *above)
{
	struct level l;

	*outer = level_below_slices(&at, end);
	*above = level_manager(outer);
	if (in) {
		level_next(&in, end);		/* what is left of that name */
		return level_innermost(in, end);
	}
	if (*above) {
		l = level_below_slices(&at, end);
		if (l.n)
			return l;
		*above = 0;
	}
	if (level_of(outer, ".service"))
		return *outer;
	*above = outer->n;
	return level_innermost(at, end);
}

size_t cgroup_service(const char *path, size_t len, char *ret, size_t size)
{
	struct level outer, l;
	size_t id_len = 0, above;
	const char *in = container_id(path, len, &id_len);
	int made = 0;

	if (in)
		in += id_len;
	l = level_service(path, path + len, in, &outer, &above);
	ret[0] = '\0';
	if (!level_of(&l, ".service"))
		return 0;
	made = snprintf(ret, size, "%.*s%s%.*s", (int)above, outer.s, above ? "/" : "",
			(int)level_of(&l, ".service"), l.s);
	if (made >= 0 && (size_t)made < size)
		return (size_t)made;
	ret[0] = '\0';
	return 0;
}
