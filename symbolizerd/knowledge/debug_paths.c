// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/debug_paths.h"

#include <stdio.h>
#include <string.h>

/* One more, of three parts; dir has n bytes. */
static void debug_paths_add(struct msg_wanted *q, size_t *at, const char *before,
			    const char *dir, size_t n, const char *after)
{
	size_t left = sizeof(q->paths) - 1 - *at;	/* but the NUL at the end */
	int len = snprintf(q->paths + *at, left, "%s%.*s%s", before, (int)n, dir, after);

	if (len >= 0 && (size_t)len < left)
		*at += (size_t)len + 1;
	else
		memset(q->paths + *at, 0, left);
}

static void debug_paths_by_id(struct msg_wanted *q, size_t *at, const struct build_id *id)
{
	char name[2 * BUILD_ID_MAX + 16];
	size_t n = (size_t)snprintf(name, sizeof(name), "%02x/", id->bytes[0]);

	for (uint32_t i = 1; i < id->len && i < BUILD_ID_MAX; i++)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%02x", id->bytes[i]);
	snprintf(name + n, sizeof(name) - n, DEBUG_SUFFIX);
	debug_paths_add(q, at, "/usr/lib/debug/.build-id/", "", 0, name);
}

void debug_paths_alternate(struct msg_wanted *q, const struct build_id *id, const char *name)
{
	size_t at = 0;

	memset(q->paths, 0, sizeof(q->paths));
	debug_paths_by_id(q, &at, id);
	if (name[0] && msg_debug_alternate(name))
		debug_paths_add(q, &at, DEBUG_ALTERNATES, "", 0, name);
}

/* Of this name, where debug files are of the executable's directory. */
static void debug_paths_by_name(struct msg_wanted *q, size_t *at, const char *exe,
				const char *name)
{
	const char *slash = exe ? strrchr(exe, '/') : NULL;
	char beside[512];
	size_t n;

	if (!slash || exe[0] != '/')
		return;
	n = (size_t)(slash - exe) + 1;		/* with the slash */
	debug_paths_add(q, at, "", exe, n, name);
	if (snprintf(beside, sizeof(beside), ".debug/%s", name) < (int)sizeof(beside))
		debug_paths_add(q, at, "", exe, n, beside);
	debug_paths_add(q, at, "/usr/lib/debug", exe, n, name);
}

void debug_paths_set(struct msg_wanted *q, const struct build_id *id, const char *exe,
		     const char *link)
{
	size_t at = 0;

	memset(q->paths, 0, sizeof(q->paths));
	if (id->len)
		debug_paths_by_id(q, &at, id);
	if (msg_debug_link(link))
		debug_paths_by_name(q, &at, exe, link);
}

void debug_paths_package(struct msg_wanted *q, const char *exe, const char *link)
{
	char name[512];
	size_t at = 0;

	memset(q->paths, 0, sizeof(q->paths));
	if (exe && exe[0] == '/')
		debug_paths_add(q, &at, "", exe, strlen(exe), PACKAGE_SUFFIX);
	if (msg_debug_link(link) &&
	    snprintf(name, sizeof(name), "%s" PACKAGE_SUFFIX, link) < (int)sizeof(name))
		debug_paths_by_name(q, &at, exe, name);
}
