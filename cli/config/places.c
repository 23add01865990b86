// SPDX-License-Identifier: Apache-2.0
#include "cli/config/places.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAIN_FILE	"trifold.conf"
#define DROP_INS	"trifold.conf.d"

static char *places_join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	return path;
}

/* Takes over path. */
static int places_add(struct config_places *p, char *path)
{
	if (!path)
		return -ENOMEM;
	if (p->n == CONFIG_FILES_MAX) {
		p->failed = path;
		return -E2BIG;
	}
	p->file[p->n++] = path;
	return 0;
}

static bool places_hides_only(const char *path)
{
	char to[16];
	ssize_t n = readlink(path, to, sizeof(to));

	return n == 9 && !memcmp(to, "/dev/null", 9);
}

/* access(2) would check the real user, which may have fewer rights. */
static bool places_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 || errno != ENOENT;
}

static int places_add_main(struct config_places *p, const char *vendor, const char *admin)
{
	char *path = places_join(admin, MAIN_FILE);

	if (path && !places_there(path)) {
		free(path);
		path = places_join(vendor, MAIN_FILE);
	}
	if (path && (!places_there(path) || places_hides_only(path))) {
		free(path);
		return 0;
	}
	return places_add(p, path);
}

static int places_is_drop_in(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

static int places_compare_names(const struct dirent **a,
				const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Read the names in it into *list (malloc).  Returns their number or -errno. */
static int places_list(struct config_places *p, char *dir, struct dirent ***list)
{
	int n;

	*list = NULL;
	if (!dir)
		return -ENOMEM;
	n = scandir(dir, list, places_is_drop_in, places_compare_names);
	if (n < 0 && errno == ENOENT) {
		free(dir);
		return 0;
	}
	if (n < 0) {
		p->failed = dir;
		return -errno;
	}
	p->dir[p->n_dirs++] = dir;
	return n;
}

static int places_add_drop_in(struct config_places *p, const char *base, const char *name)
{
	char *dir = places_join(base, DROP_INS), *path = NULL;

	if (dir)
		path = places_join(dir, name);
	free(dir);
	if (path && places_hides_only(path)) {
		free(path);
		return 0;
	}
	return places_add(p, path);
}

static int places_add_drop_ins(struct config_places *p, const char *vendor, const char *admin)
{
	struct dirent **v, **a;
	int nv = places_list(p, places_join(vendor, DROP_INS), &v), na, i = 0, k = 0;
	int r = 0;

	if (nv < 0)
		r = nv;
	if (r)
		na = 0;
	else
		na = places_list(p, places_join(admin, DROP_INS), &a);
	if (na < 0)
		r = na;
	while (!r && (i < nv || k < na)) {
		int order;

		if (i == nv)
			order = 1;
		else if (k == na)
			order = -1;
		else
			order = strcmp(v[i]->d_name, a[k]->d_name);
		if (order < 0)
			r = places_add_drop_in(p, vendor, v[i]->d_name);
		else
			r = places_add_drop_in(p, admin, a[k]->d_name);
		i += order <= 0;
		k += order >= 0;
	}
	for (i = 0; i < nv; i++)
		free(v[i]);
	for (k = 0; k < na; k++)
		free(a[k]);
	if (nv >= 0)
		free(v);
	if (nv >= 0 && na >= 0)
		free(a);
	return r;
}

int config_places_find(const char *vendor, const char *admin,
		       struct config_places *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = places_add_main(ret, vendor, admin);
	if (r)
		return r;
	return places_add_drop_ins(ret, vendor, admin);
}

void config_places_free(struct config_places *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		free(p->file[i]);
	for (unsigned int i = 0; i < p->n_dirs; i++)
		free(p->dir[i]);
	free(p->failed);
	memset(p, 0, sizeof(*p));
}
