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
