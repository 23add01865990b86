// SPDX-License-Identifier: Apache-2.0
#include "exporterd/config.h"

#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/log.h"
#include "exporterd/otlp.h"

#define VAR	"OTEL_EXPORTER_OTLP_"
#define USAGE	2

static int no_memory(void)
{
	log_err("out of memory");
	return 1;
}

/* value: of malloc; NULL if there was no memory for it. */
static int set(struct pairs *p, const char *key, char *value,
	       int (*same)(const char *a, const char *b))
{
	return pairs_set(p, key, value, same) < 0 ? no_memory() : 0;
}

/* --- headers -------------------------------------------------------------- */

static bool is_token(const char *s)
{
	static const char tchar[] = "!#$%&'*+-.^_`|~0123456789"
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *s && s[strspn(s, tchar)] == '\0';
}

/* RFC 9110, 5.5: no control characters but the tab. */
static bool is_field_value(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Those that exporterd sets, or that would break the request's framing. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = {
		"Content-Type", "Content-Encoding", "Content-Length",
		"Transfer-Encoding", "Connection", "Expect",
		"OTLP-Profiles-Development-Version",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int add_header(struct config *c, const char *from, const char *name,
		      const char *value)
{
	char shown[128];

	if (!is_token(name) || !is_field_value(value)) {
		log_err("%s: \"%s\" is no header: write NAME=VALUE, without control characters",
			from, log_quote(name, strlen(name), shown,
					sizeof(shown)));
		return USAGE;
	}
	if (is_reserved(name)) {
		log_warn("%s: %s is set by trifold itself; ignored", from, name);
		return 0;
	}
	return set(&c->headers, name, strdup(value), strcasecmp);
}

/* --- variables ------------------------------------------------------------ */

static const char *env(const char *name)
{
	const char *s = getenv(name);

	return s && *s ? s : NULL;
}

/* The per-signal variable, else the generic one; which: for messages. */
static const char *env_otlp(const char *option, char which[64])
{
	static const char *const prefix[] = { VAR "PROFILES_", VAR };
	const char *s = NULL;

	for (int i = 0; i < 2 && !s; i++) {
		snprintf(which, 64, "%s%s", prefix[i], option);
		s = env(which);
	}
	return s;
}

static int env_headers(struct config *c)
{
	char which[64], *copy, *rest, *key, *value;
	const char *s = env_otlp("HEADERS", which);
	bool bad = false;
	int r = 0;

	if (!s)
		return 0;
	copy = rest = strdup(s);
	if (!copy)
		return no_memory();
	if (strchr(s, ';')) {
		log_err("%s: \";\" is not supported: write a semicolon in a value as %%3B",
			which);
		r = USAGE;
	}
	while (r == 0 && pairs_next(&rest, &key, &value, &bad))
		r = add_header(c, which, key, value);
	if (bad) {
		log_err("%s: write name=value,name=value, special characters as %%XX",
			which);
		r = USAGE;
	}
	free(copy);
	return r;
}

static void env_timeout(struct config *c)
{
	char which[64], *end;
	const char *s = env_otlp("TIMEOUT", which);
	long v;

	if (!s)
		return;
	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || *end || v < 0) {
		log_warn("%s: not a number of milliseconds; using %d", which,
			 CONFIG_TIMEOUT_MS);
		return;
	}
	c->timeout_ms = v;
}

static void env_compression(struct config *c)
{
	char which[64];
	const char *s = env_otlp("COMPRESSION", which);

	if (!s)
		return;
	if (strcmp(s, "gzip") == 0 || strcmp(s, "none") == 0)
		c->gzip = *s == 'g';
	else
		log_warn("%s: neither gzip nor none; using gzip", which);
}

static int env_protocol(void)
{
	char which[64];
	const char *s = env_otlp("PROTOCOL", which);

	if (!s || strcmp(s, "http/protobuf") == 0)
		return 0;
	if (strcmp(s, "grpc") != 0 && strcmp(s, "http/json") != 0) {
		log_warn("%s: unknown protocol; using http/protobuf", which);
		return 0;
	}
	log_err("%s=%s: trifold speaks http/protobuf only: set "
		VAR "PROFILES_PROTOCOL=http/protobuf and "
		VAR "PROFILES_ENDPOINT to the receiver's HTTP port (by default 4318)",
		which, s);
	return USAGE;
}

static int env_file(const char *option, char **ret)
{
	char which[64];
	const char *s = env_otlp(option, which);

	if (!s)
		return 0;
	if (s[0] != '/' || access(s, R_OK) < 0) {
		log_err("%s: %s: name a readable PEM file by its full path",
			which, s[0] != '/' ? "not a full path" :
			strerror(errno));
		return USAGE;
	}
	*ret = strdup(s);
	return *ret ? 0 : no_memory();
}

static int host_attributes(struct config *c)
{
	struct utsname u;
	int r;

	if (uname(&u) < 0)
		return 0;
	r = set(&c->resource, "host.name", strdup(u.nodename), strcmp);
	if (r == 0)
		r = set(&c->resource, "host.arch", strdup(
			strcmp(u.machine, "x86_64") == 0 ? "amd64" :
			strcmp(u.machine, "aarch64") == 0 ? "arm64" :
			u.machine), strcmp);
	if (r == 0)
		r = set(&c->resource, "os.type", strdup("linux"), strcmp);
	return r;
}

/* Any mistake voids the whole variable (specification, resource SDK). */
static int env_attributes(struct config *c)
{
	static const char which[] = "OTEL_RESOURCE_ATTRIBUTES";
	char *copy, *rest, *key, *value;
	const char *s = env(which);
	struct pairs got = { 0 };
	bool bad = false;
	int r = 0;

	if (!s)
		return 0;
	copy = rest = strdup(s);
	if (!copy)
		return no_memory();
	while (r == 0 && pairs_next(&rest, &key, &value, &bad)) {
		bad = !percent_decode(key) || !*key;
		if (bad)
			break;
		r = set(&got, key, strdup(value), strcmp);
	}
	if (bad)
		log_err("%s: write key=value,key=value, special characters as %%XX; ignored",
			which);
	for (size_t i = 0; i < got.n && r == 0 && !bad; i++)
		r = set(&c->resource, got.v[2 * i],
			      strdup(got.v[2 * i + 1]), strcmp);
	pairs_fini(&got);
	free(copy);
	return r;
}

static int env_resource(struct config *c)
{
	const char *name = env("OTEL_SERVICE_NAME");
	int r = host_attributes(c);

	if (r == 0)
		r = env_attributes(c);
	if (r == 0 && name)
		r = set(&c->resource, "service.name", strdup(name),
			      strcmp);
	return r;
}

/* --- the endpoint --------------------------------------------------------- */

/* Put the path of profiles behind that of a base URL. */
static bool append_path(CURLU *u)
{
	char *path, *longer = NULL;
	bool ok = false;
	size_t n;

	if (curl_url_get(u, CURLUPART_PATH, &path, 0))
		return false;
	n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	if (asprintf(&longer, "%.*s%s", (int)n, path, CONFIG_PATH) >= 0)
		ok = !curl_url_set(u, CURLUPART_PATH, longer, 0);
	free(longer);
	curl_free(path);
	return ok;
}

static bool is_http(CURLU *u)
{
	char *scheme, *host = NULL;
	bool ok;

	if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0))
		return false;
	ok = strcasecmp(scheme, "http") == 0 || strcasecmp(scheme, "https") == 0;
	if (ok)
		ok = !curl_url_get(u, CURLUPART_HOST, &host, 0) && *host;
	curl_free(scheme);
	curl_free(host);
	return ok;
}

static char *without_secrets(CURLU *u)
{
	static const CURLUPart parts[] = {
		CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY,
		CURLUPART_FRAGMENT,
	};
	char *url = NULL, *copy;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		curl_url_set(u, parts[i], NULL, 0);
	if (curl_url_get(u, CURLUPART_URL, &url, 0))
		return NULL;
	copy = strdup(url);
	curl_free(url);
	return copy;
}

static int set_url(struct config *c, const char *from, const char *s,
		   bool base)
{
	CURLU *u = curl_url();
	char *url = NULL;
	bool ok;

	/* never silently trimmed: a blank is a mistake in quoting */
	ok = u && !strpbrk(s, " \t\r\n") &&
	     !curl_url_set(u, CURLUPART_URL, s, 0) && is_http(u);
	if (ok && base)
		ok = append_path(u) && !curl_url_get(u, CURLUPART_URL, &url, 0);
	if (ok) {
		c->url = strdup(base ? url : s);
		c->shown_url = without_secrets(u);
	}
	curl_free(url);
	curl_url_cleanup(u);
	if (ok)
		return c->url && c->shown_url ? 0 : no_memory();
	log_err("%s: not a URL of the form http://HOST:PORT or https://HOST:PORT%s",
		from, base ? "" : "/PATH");
	return USAGE;
}

static int find_url(struct config *c, const char *endpoint,
		    const char *profiles_endpoint)
{
	const char *s;

	if (c->no_network)
		return 0;
	if (profiles_endpoint)
		return set_url(c, "--profiles-endpoint", profiles_endpoint,
			       false);
	if (endpoint)
		return set_url(c, "--endpoint", endpoint, true);
	s = env(VAR "PROFILES_ENDPOINT");
	if (s)
		return set_url(c, VAR "PROFILES_ENDPOINT", s, false);
	s = env(VAR "ENDPOINT");
	return set_url(c, VAR "ENDPOINT", s ? s : CONFIG_ENDPOINT, true);
}

/* --- options -------------------------------------------------------------- */

struct options {
	const char *endpoint, *profiles_endpoint;
	struct pairs headers;
};

static int number(const char *option, const char *s, unsigned long max,
		  unsigned int *ret)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (*s < '0' || *s > '9' || errno || *end || v > max) {
		log_err("--%s: not a number that fits", option);
		return USAGE;
	}
	*ret = (unsigned int)v;
	return 0;
}

static int option_header(struct options *o, const char *s)
{
	const char *eq = strchr(s, '=');
	char *name;
	int r;

	if (!eq) {
		log_err("--header: write NAME=VALUE");
		return USAGE;
	}
	name = strndup(s, (size_t)(eq - s));
	if (!name)
		return no_memory();
	r = set(&o->headers, name, strdup(eq + 1), strcasecmp);
	free(name);
	return r;
}

enum {
	OPT_UID = 256, OPT_GID, OPT_HUB, OPT_HUB_UID, OPT_ENDPOINT,
	OPT_PROFILES_ENDPOINT, OPT_HEADER, OPT_NO_NETWORK, OPT_RECORDER_FD,
	OPT_DEBUG, OPT_VERSION,
};

static const struct option long_options[] = {
	{ "uid", required_argument, NULL, OPT_UID },
	{ "gid", required_argument, NULL, OPT_GID },
	{ "hub", required_argument, NULL, OPT_HUB },
	{ "hub-uid", required_argument, NULL, OPT_HUB_UID },
	{ "endpoint", required_argument, NULL, OPT_ENDPOINT },
	{ "profiles-endpoint", required_argument, NULL, OPT_PROFILES_ENDPOINT },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "no-network", no_argument, NULL, OPT_NO_NETWORK },
	{ "recorder-fd", required_argument, NULL, OPT_RECORDER_FD },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static int option(struct config *c, struct options *o, int opt)
{
	unsigned int v = 0;
	int r = 0;

	switch (opt) {
	case OPT_UID:
		r = number("uid", optarg, UINT_MAX - 1, &v);
		c->uid = v;
		return r;
	case OPT_GID:
		r = number("gid", optarg, UINT_MAX - 1, &v);
		c->gid = v;
		return r;
	case OPT_HUB_UID:
		r = number("hub-uid", optarg, UINT_MAX - 1, &v);
		c->hub_uid = v;
		return r;
	case OPT_RECORDER_FD:
		r = number("recorder-fd", optarg, INT_MAX, &v);
		c->recorder_fd = (int)v;
		return r;
	case OPT_HUB:
		free(c->hub);
		c->hub = strdup(optarg);
		return c->hub ? 0 : no_memory();
	case OPT_ENDPOINT:
		o->endpoint = optarg;
		return 0;
	case OPT_PROFILES_ENDPOINT:
		o->profiles_endpoint = optarg;
		return 0;
	case OPT_HEADER:
		return option_header(o, optarg);
	case OPT_NO_NETWORK:
		c->no_network = true;
		return 0;
	case OPT_DEBUG:
		c->debug = true;
		return 0;
	case OPT_VERSION:
		puts("trifold-exporterd " TRIFOLD_VERSION);
		return -1;
	default:
		log_err("usage: trifold-exporterd --hub PATH --hub-uid N "
			"[--uid N --gid N] "
			"[--endpoint URL | --profiles-endpoint URL] "
			"[--header NAME=VALUE]... [--no-network] "
			"[--recorder-fd N] [--debug]");
		return USAGE;
	}
}

static int read_options(struct config *c, struct options *o, int argc,
			char **argv)
{
	int opt, r = 0;

	optind = 0;
	opterr = 0;
	while (r == 0 && (opt = getopt_long(argc, argv, "", long_options,
					    NULL)) != -1)
		r = option(c, o, opt);
	if (r)
		return r;
	if (optind < argc || !c->hub || c->hub_uid == (uid_t)-1)
		return option(c, o, '?');
	if (c->hub[0] != '/') {
		log_err("--hub: write a full path");
		return USAGE;
	}
	if ((c->uid == (uid_t)-1) != (c->gid == (gid_t)-1)) {
		log_err("--uid and --gid need each other");
		return USAGE;
	}
	return 0;
}

static int read_environment(struct config *c)
{
	int r;

	env_timeout(c);
	env_compression(c);
	if ((r = env_protocol()) || (r = env_headers(c)) ||
	    (r = env_file("CERTIFICATE", &c->ca)) ||
	    (r = env_file("CLIENT_CERTIFICATE", &c->cert)) ||
	    (r = env_file("CLIENT_KEY", &c->key)))
		return r;
	if (c->key && !c->cert) {
		log_err("%sCLIENT_KEY without %sCLIENT_CERTIFICATE: set both",
			VAR, VAR);
		return USAGE;
	}
	return 0;
}

int config_load(struct config *c, int argc, char **argv)
{
	struct options o = { 0 };
	int r;

	*c = (struct config){
		.hub_uid = (uid_t)-1, .uid = (uid_t)-1, .gid = (gid_t)-1,
		.recorder_fd = -1, .timeout_ms = CONFIG_TIMEOUT_MS,
		.gzip = true,
	};
	r = read_options(c, &o, argc, argv);
	if (r == 0 && !c->no_network)
		r = read_environment(c);
	if (r == 0)
		r = env_resource(c);
	for (size_t i = 0; i < o.headers.n && r == 0; i++)
		r = add_header(c, "--header", o.headers.v[2 * i],
			       o.headers.v[2 * i + 1]);
	if (r == 0)
		r = find_url(c, o.endpoint, o.profiles_endpoint);
	pairs_fini(&o.headers);
	return r;
}

void config_fini(struct config *c)
{
	free(c->hub);
	free(c->url);
	free(c->shown_url);
	free(c->ca);
	free(c->cert);
	free(c->key);
	pairs_fini(&c->headers);
	pairs_fini(&c->resource);
}
