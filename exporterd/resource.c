// SPDX-License-Identifier: Apache-2.0
#include "exporterd/resource.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/log.h"

static const char *resource_env(const char *name)
{
	const char *s = getenv(name);

	if (!s || !*s)
		return NULL;
	return s;
}

static int resource_set(struct pairs *p, const char *key, const char *value)
{
	return pairs_set(p, key, strdup(value), strcmp);
}

/* --- files ------------------------------------------------------------------ */

#define FILE_MAX	16384

/* Up to FILE_MAX - 1 bytes as a string; false when it cannot be read. */
static bool resource_read_text(const char *root, const char *path, char *text)
{
	char full[PATH_MAX];
	size_t n;
	FILE *f;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >=
	    (int)sizeof(full))
		return false;
	f = fopen(full, "re");
	if (!f)
		return false;
	n = fread(text, 1, FILE_MAX - 1, f);
	fclose(f);
	text[n] = '\0';
	return true;
}

/* The value after "KEY=", up to the end of the line. */
static bool resource_unquote(const char *s, char *out, size_t size)
{
	char quote = '\0';
	size_t n = 0;

	if (*s == '"' || *s == '\'') {
		quote = *s;
		s++;
	}
	for (; *s && *s != '\n'; s++) {
		if (*s == quote)
			break;
		if (!quote && strchr(" \t\r", *s))
			break;
		if (*s == '\\' && quote != '\'') {
			if (!s[1] || s[1] == '\n')
				return false;
			s++;
		}
		if (n + 1 >= size)
			return false;
		out[n++] = *s;
	}
	out[n] = '\0';
	return n && (!quote || *s == quote);
}

bool os_release_value(const char *text, const char *key, char *out,
		      size_t size)
{
	size_t n = strlen(key);
	bool found = false;

	while (text) {
		if (strncmp(text, key, n) == 0 && text[n] == '=')
			found = resource_unquote(text + n + 1, out, size);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return found;
}

/* machine-id(5): 32 hexadecimal digits; "uninitialized" is none. */
static bool resource_is_machine_id(char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	if (n != 32 || (text[n] && text[n] != '\n') ||
	    strspn(text, "0") == n)
		return false;
	text[n] = '\0';
	return true;
}

/* --- detected attributes -------------------------------------------------------- */

static int resource_of_machine(struct pairs *p, const char *root, char *text)
{
	static const char *const paths[] = {
		"/etc/machine-id", "/var/lib/dbus/machine-id",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (resource_read_text(root, paths[i], text) &&
		    resource_is_machine_id(text))
			return resource_set(p, "host.id", text);
	}
	return 0;
}

static int resource_of_os(struct pairs *p, const char *root, const char *kernel,
			  char *text)
{
	char value[256], both[384];
	int r = 0;

	if (!resource_read_text(root, "/etc/os-release", text) &&
	    !resource_read_text(root, "/usr/lib/os-release", text))
		return 0;
	if (os_release_value(text, "NAME", value, sizeof(value)))
		r = resource_set(p, "os.name", value);
	if (r == 0 &&
	    os_release_value(text, "VERSION_ID", value, sizeof(value)))
		r = resource_set(p, "os.version", value);
	if (r == 0 &&
	    os_release_value(text, "PRETTY_NAME", value, sizeof(value))) {
		snprintf(both, sizeof(both), "%s, Linux %s", value, kernel);
		r = resource_set(p, "os.description", both);
	}
	return r;
}

static int resource_of_files(struct pairs *p, const char *root, const char *kernel)
{
	char *text = malloc(FILE_MAX);
	int r;

	if (!text)
		return -ENOMEM;
	r = resource_of_machine(p, root, text);
	if (r == 0)
		r = resource_of_os(p, root, kernel, text);
	free(text);
	return r;
}

/* Names of the conventions (host.arch) for uname(2)'s. */
static const char *resource_arch(const char *machine)
{
	if (strcmp(machine, "x86_64") == 0)
		return "amd64";
	if (strcmp(machine, "aarch64") == 0)
		return "arm64";
	return machine;
}

static int resource_detect(struct resource *res, const char *root)
{
	struct pairs *p = &res->pairs;
	struct utsname u;
	int r = resource_set(p, "os.type", "linux");

	if (r == 0)
		r = resource_set(p, "telemetry.distro.name", "trifold");
	if (r == 0)
		r = resource_set(p, "telemetry.distro.version", TRIFOLD_VERSION);
	if (r || uname(&u) < 0)
		return r;
	res->host_name = strdup(u.nodename);
	if (!res->host_name)
		return -ENOMEM;
	r = resource_set(p, "host.name", u.nodename);
	if (r == 0)
		r = resource_set(p, "host.arch", resource_arch(u.machine));
	if (r == 0)
		r = resource_of_files(p, root, u.release);
	return r;
}

/* --- configured attributes ------------------------------------------------------ */

/* Any mistake voids the whole variable (specification, resource SDK). */
static int resource_of_variable(struct pairs *p)
{
	static const char which[] = "OTEL_RESOURCE_ATTRIBUTES";
	char *copy, *rest, *key, *value;
	const char *s = resource_env(which);
	struct pairs got = { 0 };
	bool bad = false;
	int r = 0;

	if (!s)
		return 0;
	copy = rest = strdup(s);
	if (!copy)
		return -ENOMEM;
	while (r == 0 && pairs_next(&rest, &key, &value, &bad)) {
		bad = !percent_decode(key) || !*key;
		if (bad)
			break;
		r = resource_set(&got, key, value);
	}
	if (bad)
		log_err("%s: write key=value,key=value, special characters as %%XX; ignored",
			which);
	for (size_t i = 0; i < got.n && r == 0 && !bad; i++)
		r = resource_set(p, got.v[2 * i], got.v[2 * i + 1]);
	pairs_fini(&got);
	free(copy);
	return r;
}

/* --- what a resource is of ------------------------------------------------------ */

/* A backend that makes labels of attributes has a series for each process otherwise; a
 * Collector finds a container's pod by container.id. */
static const struct resource_preset {
	const char *name;
	enum otlp_per per;
	const char *only;
} resource_presets[] = {
	{ "pyroscope", OTLP_PER_SERVICE, "service.name,host.name" },
	{ "collector", OTLP_PER_SERVICE, "service.name,host.name,host.id,container.id" },
};

static int resource_wrong(const char *which, const char *wanted)
{
	log_err("%s: write %s", which, wanted);
	return -EINVAL;
}

static int resource_find_preset(const struct resource_preset **ret)
{
	const char *s = resource_env(RESOURCE_PRESET_VARIABLE);

	*ret = NULL;
	for (size_t i = 0; s && i < sizeof(resource_presets) / sizeof(resource_presets[0]); i++) {
		if (strcmp(s, resource_presets[i].name) == 0)
			*ret = &resource_presets[i];
	}
	if (s && !*ret)
		return resource_wrong(RESOURCE_PRESET_VARIABLE, "pyroscope or collector");
	return 0;
}

static int resource_load_per(struct resource *r, const struct resource_preset *preset)
{
	static const char *const names[] = { "process", "service", "host" };
	const char *s = resource_env(RESOURCE_PER_VARIABLE);

	if (preset)
		r->per = preset->per;
	if (!s)
		return 0;
	for (unsigned int i = 0; i < 3; i++) {
		if (strcmp(s, names[i]) == 0) {
			r->per = (enum otlp_per)i;
			return 0;
		}
	}
	return resource_wrong(RESOURCE_PER_VARIABLE, "process, service or host");
}

static int resource_load_only(struct resource *r, const struct resource_preset *preset)
{
	const char *s = resource_env(RESOURCE_ONLY_VARIABLE);
	char *key, *rest;
	size_t n = 0;

	if (!s && preset)
		s = preset->only;
	if (!s)
		return 0;
	r->only = strdup(s);
	if (!r->only)
		return -ENOMEM;
	for (key = strtok_r(r->only, ", ", &rest); key; key = strtok_r(NULL, ", ", &rest)) {
		if (n == RESOURCE_ONLY_MAX)
			return resource_wrong(RESOURCE_ONLY_VARIABLE, "at most 32 keys");
		r->keys[n++] = key;
	}
	return 0;
}

/* Leave out what was found and is not wanted. */
static void resource_filter(struct resource *r)
{
	struct pairs *p = &r->pairs;
	size_t n = 0;

	for (size_t i = 0; i < p->n && r->only; i++) {
		bool wanted = false;

		for (const char *const *k = r->keys; *k; k++)
			wanted |= strcmp(*k, p->v[2 * i]) == 0;
		if (!wanted) {
			free(p->v[2 * i]);
			free(p->v[2 * i + 1]);
			continue;
		}
		p->v[2 * n] = p->v[2 * i];
		p->v[2 * n + 1] = p->v[2 * i + 1];
		n++;
	}
	if (!r->only)
		return;
	p->n = n;
	p->v[2 * n] = NULL;
}

int resource_load(struct resource *r, const char *root)
{
	const char *name = resource_env("OTEL_SERVICE_NAME");
	const struct resource_preset *preset;
	int err = resource_find_preset(&preset);

	if (err == 0)
		err = resource_load_per(r, preset);
	if (err == 0)
		err = resource_load_only(r, preset);
	if (err == 0)
		err = resource_detect(r, root);
	if (err)
		return err;
	resource_filter(r);
	err = resource_of_variable(&r->pairs);
	if (err == 0 && name)
		err = resource_set(&r->pairs, "service.name", name);
	return err;
}

void resource_fini(struct resource *r)
{
	pairs_fini(&r->pairs);
	free(r->host_name);
	free(r->only);
}
