// SPDX-License-Identifier: Apache-2.0
#include "cli/record/container_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/container_json.h"
#include "common/read_all.h"

#define LETTERS		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define NAME_FIRST	LETTERS "0123456789"
#define NAME_REST	NAME_FIRST "_.-"
#define POD_REST	NAME_FIRST ".-"	/* no "_", which separates parts */
#define ENTRIES_MAX	20000	/* of a directory at most */
#define CONFIG_MAX	(1U << 20)	/* of docker, for one container */
#define LIST_MAX	(16U << 20)	/* of podman, for all of them */

bool container_name_is(const char *name)
{
	size_t len = strlen(name);

	return len && len <= CONTAINER_NAME_MAX &&
	       strchr(NAME_FIRST, *name) && strspn(name, NAME_REST) == len;
}

/* Add a container, unless it was found before. */
static void container_name_add(struct container_matches *m, const char *id,
			       const char *from, const char *more, size_t len)
{
	struct container_match *v = &m->v[m->n];

	for (uint32_t i = 0; i < m->n; i++) {
		if (!memcmp(m->v[i].id, id, CONTAINER_JSON_ID))
			return;
	}
	if (m->n == CONTAINER_MATCHES_MAX)
		return;
	memcpy(v->id, id, CONTAINER_JSON_ID);
	v->id[CONTAINER_JSON_ID] = '\0';
	snprintf(v->from, sizeof(v->from), "%s%s%.*s", from, len ? " " : "",
		 (int)len, more);
	m->n++;
}

/* --- files and directories -------------------------------------------------------- */

/* Read a regular file of root with at most max bytes; else the result is
 * empty. */
static struct buffer container_name_read(int dir, const char *path, size_t max)
{
	int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
			O_NOCTTY | O_CLOEXEC);
	struct buffer b = { 0 };
	struct stat st;

	if (fd < 0)
		return b;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != 0 ||
	    read_all(fd, max, &b) || b.len > max)
		b.len = 0;
	close(fd);
	return b;
}

typedef void name_entry_fn(int dir, const char *entry, const char *name,
			   struct container_matches *m);

/* Call f for each entry of a directory.  Its path may have symbolic links: an
 * engine's data may have been moved. */
static void container_name_each(int at, const char *path, name_entry_fn *f,
				const char *name, struct container_matches *m)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d;
	const struct dirent *e;

	if (fd < 0)
		d = NULL;
	else
		d = fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < ENTRIES_MAX && (e = readdir(d)); i++) {
		if (e->d_name[0] != '.')
			f(dirfd(d), e->d_name, name, m);
	}
	closedir(d);
}

/* --- engines ------------------------------------------------------------------------ */

static void container_docker_entry(int dir, const char *entry, const char *name,
				   struct container_matches *m)
{
	char path[300];
	struct buffer b;

	if (!container_json_is_id(entry, strlen(entry)))
		return;
	snprintf(path, sizeof(path), "%s/config.v2.json", entry);
	b = container_name_read(dir, path, CONFIG_MAX);
	if (b.len && container_json_docker((char *)b.data, b.len, name))
		container_name_add(m, entry, "docker", "", 0);
	free(b.data);
}

/* DRIVER-containers: overlay-containers, vfs-containers. */
static void container_podman_entry(int dir, const char *entry, const char *name,
				   struct container_matches *m)
{
	static const char end[] = "-containers";
	static const char *const files[] = {
		"containers.json", "volatile-containers.json",
	};
	size_t len = strlen(entry), n = strlen(end);

	if (len <= n || strcmp(entry + len - n, end) != 0)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[300], id[CONTAINER_JSON_ID + 1];
		struct buffer b;

		snprintf(path, sizeof(path), "%s/%s", entry, files[i]);
		b = container_name_read(dir, path, LIST_MAX);
		if (b.len && container_json_podman((char *)b.data, b.len, name,
						   id))
			container_name_add(m, id, "podman", "", 0);
		free(b.data);
	}
}

static void container_nerdctl_namespace(int dir, const char *entry,
					const char *name,
					struct container_matches *m)
{
	char path[NAME_MAX + CONTAINER_NAME_MAX + 2];
	struct buffer b;

	if (!container_name_is(entry))
		return;
	snprintf(path, sizeof(path), "%s/%s", entry, name);
	b = container_name_read(dir, path, CONTAINER_JSON_ID + 1);
	if (b.len && b.data[b.len - 1] == '\n')
		b.len--;
	if (b.len && container_json_is_id((char *)b.data, b.len))
		container_name_add(m, (char *)b.data, "nerdctl", entry,
				   strlen(entry));
	free(b.data);
}

static void container_nerdctl_entry(int dir, const char *entry,
				    const char *name,
				    struct container_matches *m)
{
	char path[NAME_MAX + 8];

	snprintf(path, sizeof(path), "%s/names", entry);
	container_name_each(dir, path, container_nerdctl_namespace, name, m);
}

/* POD_NAMESPACE_CONTAINER-ID.log; the link is not followed. */
static void container_kubernetes_entry(int dir, const char *entry,
				       const char *name,
				       struct container_matches *m)
{
	size_t len = strlen(entry), n = strlen(name), last = 1 +
		CONTAINER_JSON_ID + strlen(".log");
	size_t pod = strspn(entry, POD_REST), ns, own;
	const char *id, *container;

	(void)dir;
	if (len <= last || strcmp(entry + len - strlen(".log"), ".log") != 0)
		return;
	len -= last;		/* of POD_NAMESPACE_CONTAINER */
	id = entry + len + 1;
	if (!pod || entry[len] != '-' || entry[pod] != '_' ||
	    !container_json_is_id(id, CONTAINER_JSON_ID))
		return;
	ns = strspn(entry + pod + 1, POD_REST);
	if (!ns || entry[pod + 1 + ns] != '_' || pod + ns + 2 >= len)
		return;
	container = entry + pod + ns + 2;
	own = len - (pod + ns + 2);
	if (strspn(container, POD_REST) < own ||
	    !((pod == n && !memcmp(entry, name, n)) ||
	      (own == n && !memcmp(container, name, n))))
		return;
	container_name_add(m, id, "Kubernetes", entry, len);
}

void container_name_find(int root, const char *name,
			 struct container_matches *ret)
{
	static const struct {
		const char *path;
		name_entry_fn *f;
	} places[] = {
		{ "var/lib/docker/containers", container_docker_entry },
		{ "var/lib/containers/storage", container_podman_entry },
		{ "var/lib/nerdctl", container_nerdctl_entry },
		{ "var/log/containers", container_kubernetes_entry },
	};

	ret->n = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		container_name_each(root, places[i].path, places[i].f, name,
				    ret);
}
