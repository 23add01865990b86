// SPDX-License-Identifier: Apache-2.0
#include "common/container.h"

#include <stdbool.h>
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

/* --- levels of a path ------------------------------------------------------------- */

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

static bool level_begins(const struct level *l, const char *with)
{
	return l->n > strlen(with) && !memcmp(l->s, with, strlen(with));
}

/* Of a user: user@UID.service.  The length of its name without its end; 0: it is none. */
static size_t level_manager(const struct level *l)
{
	if (!level_begins(l, "user@"))
		return 0;
	return level_of(l, ".service");
}

/* --- containers ------------------------------------------------------------------- */

/* The ID in a part of a level that has no colon, or NULL. */
static const char *container_part_id(const char *s, size_t len, size_t *ret)
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

/* Is it a service below which an engine makes the cgroups of its containers? */
static bool level_is_engine(const struct level *l)
{
	static const char *const names[] = {
		"containerd", "crio", "cri-o", "docker", "k0scontroller", "k0sworker", "k3s",
		"k3s-agent", "kubelet", "podman", "rke2-agent", "rke2-server",
	};
	size_t n = level_of(l, ".service");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (n == strlen(names[i]) && !memcmp(l->s, names[i], n))
			return true;
	}
	return level_begins(l, "snap.docker.") || level_begins(l, "snap.k8s.") ||
	       level_begins(l, "snap.microk8s.") || level_begins(l, "systemd-nspawn@");
}

/* The last ID in a level, whose parts colons end; or NULL. */
static const char *level_id(const struct level *l, size_t *ret)
{
	const char *s = l->s, *end = l->s + l->n, *found = NULL;

	while (s < end) {
		const char *colon = memchr(s, ':', (size_t)(end - s));
		const char *stop = colon ? colon : end, *id;
		size_t n;

		id = container_part_id(s, (size_t)(stop - s), &n);
		if (id) {
			found = id;
			*ret = n;
		}
		s = stop;
		if (colon)
			s++;
	}
	return found;
}

const char *container_id(const char *path, size_t len, size_t *ret)
{
	const char *end = path + len, *found = NULL;
	struct level l = level_next(&path, end);
	bool of_user = false;

	for (; l.n; l = level_next(&path, end)) {
		const char *id;
		size_t n;

		if (level_manager(&l))
			of_user = true;
		if (!of_user && level_of(&l, ".service") && !level_is_engine(&l))
			break;		/* it makes what is below */
		id = level_id(&l, &n);
		if (id) {
			found = id;
			*ret = n;
		}
	}
	return found;
}

/* --- services --------------------------------------------------------------------- */

/* What is told of a service: the levels that go before its name, and that. */
struct service_name {
	char *s;
	size_t len, size;	/* len >= size: it does not fit */
};

static void service_name_add(struct service_name *name, const char *s, size_t n)
{
	if (name->len + n < name->size)
		memcpy(name->s + name->len, s, n);
	name->len += n;
}

/* A level that goes before it: n bytes of it. */
static void service_name_below(struct service_name *name, const struct level *l, size_t n)
{
	service_name_add(name, l->s, n);
	service_name_add(name, "/", 1);
}

/* The next one that is no slice. */
static struct level level_below_slices(const char **at, const char *end)
{
	struct level l = level_next(at, end);

	while (level_of(&l, ".slice"))
		l = level_next(at, end);
	return l;
}

/* The users whose systemd started what lies at `to`. */
static void service_name_users(struct service_name *name, const char *at, const char *to)
{
	struct level l = level_next(&at, to);

	for (; l.n; l = level_next(&at, to)) {
		if (level_manager(&l))
			service_name_below(name, &l, level_manager(&l));
	}
}

/* The first service from `at` on.  machine: at is within one, which what was added names;
 * so its engine's own levels are left out.  False: there is none. */
static bool service_name_find(struct service_name *name, const char *at, const char *end,
			 bool machine)
{
	struct level l = level_below_slices(&at, end);

	while (l.n) {
		size_t manager = level_manager(&l), n = level_of(&l, ".service");
		struct level next = level_below_slices(&at, end);

		if (n && (!manager || !next.n)) {
			service_name_add(name, l.s, n);
			return true;
		}
		if (level_of(&l, ".scope"))
			machine = true;
		if (n)
			service_name_below(name, &l, n);
		else if (!machine || level_of(&l, ".scope"))
			service_name_below(name, &l, l.n);
		l = next;
	}
	return false;
}

size_t cgroup_service(const char *path, size_t len, char *ret, size_t size)
{
	struct service_name name = { ret, 0, size };
	const char *end = path + len, *in;
	size_t id_len = 0;
	bool found;

	in = container_id(path, len, &id_len);
	if (in) {
		service_name_users(&name, path, in);
		in += id_len;
		while (in < end && *in != '/')	/* what is left of that level */
			in++;
		found = service_name_find(&name, in, end, true);
	} else {
		found = service_name_find(&name, path, end, false);
	}
	if (!found || name.len >= size || memchr(ret, '\0', name.len))
		name.len = 0;
	ret[name.len] = '\0';
	return name.len;
}
