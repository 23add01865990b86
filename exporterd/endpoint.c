// SPDX-License-Identifier: Apache-2.0
#include "exporterd/endpoint.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "common/number.h"
#include "common/read_all.h"

#define OTLP	"OTEL_EXPORTER_OTLP_"
#define MORE	"TRIFOLD_EXPORTER_"
#define HEADERS_FILE_VARIABLE	MORE "HEADERS_FILE"
#define NAMES_VARIABLE		MORE "NAMES"
#define GUESSES_VARIABLE	MORE "GUESSES"
#define PLACEHOLDERS_VARIABLE	MORE "PLACEHOLDERS"
#define HEADERS_FILE_MAX	8192	/* as a line of the configuration */

extern char **environ;

/* Of a variable: the longest one is OTLP "PROFILES_CLIENT_CERTIFICATE". */
struct name {
	char s[64];
};

static int endpoint_no_memory(void)
{
	log_err("out of memory");
	return 1;
}

/* --- headers -------------------------------------------------------------- */

static bool endpoint_is_token(const char *s)
{
	static const char tchar[] = "!#$%&'*+-.^_`|~0123456789"
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *s && s[strspn(s, tchar)] == '\0';
}

/* RFC 9110, 5.5: no control characters but the tab. */
static bool endpoint_is_field_value(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Headers that exporterd sets, or that would break the request's framing. */
static bool endpoint_is_reserved(const char *name)
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

static int endpoint_add_header(struct endpoint *e, const char *from, const char *name,
			       const char *value)
{
	char shown[128];

	if (!endpoint_is_token(name) || !endpoint_is_field_value(value)) {
		log_err("%s: \"%s\" is no header: write NAME=VALUE, without control characters",
			from, log_quote(name, strlen(name), shown,
					sizeof(shown)));
		return ENDPOINT_USAGE;
	}
	if (endpoint_is_reserved(name)) {
		log_warn("%s: %s is set by trifold itself; ignored", from, name);
		return 0;
	}
	if (pairs_set(&e->headers, name, strdup(value), strcasecmp) < 0)
		return endpoint_no_memory();
	return 0;
}

/* --- variables ------------------------------------------------------------ */

static const char *endpoint_env(const char *name)
{
	const char *s = getenv(name);

	if (!s || !*s)
		return NULL;
	return s;
}

/* The value, or NULL; which: the name of the variable, for messages. */
static const char *endpoint_env_of(unsigned int number, const char *option,
				   struct name *which)
{
	const char *s;

	if (number > 1) {
		snprintf(which->s, sizeof(which->s), MORE "%u_%s", number,
			 option);
		return endpoint_env(which->s);
	}
	snprintf(which->s, sizeof(which->s), OTLP "%s_%s",
		 number ? "PROFILES" : "METRICS", option);
	s = endpoint_env(which->s);
	if (s)
		return s;
	snprintf(which->s, sizeof(which->s), OTLP "%s", option);
	return endpoint_env(which->s);
}

/* from: the text's origin, for messages.  The text is cut into pieces. */
static int endpoint_add_headers(struct endpoint *e, const char *from, char *text)
{
	char *key, *value;
	bool bad = false;
	int r = 0;

	if (strchr(text, ';')) {
		log_err("%s: \";\" is not supported: write a semicolon in a value as %%3B",
			from);
		r = ENDPOINT_USAGE;
	}
	while (r == 0 && pairs_next(&text, &key, &value, &bad))
		r = endpoint_add_header(e, from, key, value);
	if (bad) {
		log_err("%s: write name=value,name=value, special characters as %%XX",
			from);
		r = ENDPOINT_USAGE;
	}
	return r;
}

/* The text of a file, without the line's end, NUL-terminated.  0 or -errno. */
static int endpoint_read_headers_file(const char *path, struct buffer *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0)
		return -errno;
	r = read_all(fd, HEADERS_FILE_MAX, text);
	close(fd);
	if (r)
		return r;
	if (text->len > HEADERS_FILE_MAX)
		return -EFBIG;
	while (text->len && strchr("\r\n", text->data[text->len - 1]))
		text->len--;
	buffer_add(text, "", 1);
	return text->failed ? -ENOMEM : 0;
}

/* A file keeps secrets out of the environment.  Profiles and metrics share one. */
static int endpoint_file_headers(struct endpoint *e)
{
	struct buffer text = { 0 };
	struct name which;
	const char *path;
	int r;

	if (e->number > 1)
		snprintf(which.s, sizeof(which.s), MORE "%u_HEADERS_FILE", e->number);
	else
		strcpy(which.s, HEADERS_FILE_VARIABLE);
	path = endpoint_env(which.s);
	if (!path)
		return 0;
	r = endpoint_read_headers_file(path, &text);
	if (r) {
		log_err("%s: %s: %s: name a file of at most 8 KiB that user %u may read",
			which.s, path, strerror(-r), (unsigned int)geteuid());
		r = ENDPOINT_USAGE;
	} else {
		r = endpoint_add_headers(e, path, (char *)text.data);
	}
	if (text.data)
		explicit_bzero(text.data, text.cap);
	free(text.data);
	return r;
}

static int endpoint_env_headers(struct endpoint *e)
{
	struct name which;
	const char *s = endpoint_env_of(e->number, "HEADERS", &which);
	char *copy;
	int r;

	if (!s)
		return endpoint_file_headers(e);
	copy = strdup(s);
	if (!copy)
		return endpoint_no_memory();
	r = endpoint_add_headers(e, which.s, copy);
	free(copy);
	if (r)
		return r;
	return endpoint_file_headers(e);
}

static void endpoint_env_timeout(struct endpoint *e)
{
	struct name which;
	const char *s = endpoint_env_of(e->number, "TIMEOUT", &which);
	uint64_t v;

	if (!s)
		return;
	if (!number_parse(s, 0, LONG_MAX, &v)) {
		log_warn("%s: not a number of milliseconds; using %d", which.s,
			 ENDPOINT_TIMEOUT_MS);
		return;
	}
	e->timeout_ms = (long)v;
}

static int endpoint_env_compression(struct endpoint *e)
{
	struct name which;
	const char *s = endpoint_env_of(e->number, "COMPRESSION", &which);
	char shown[32];
	int c;

	if (!s)
		return 0;
	c = compression_of(s);
	if (c < 0) {
		log_err("%s: \"%s\" is none of gzip, zstd, none", which.s,
			log_quote(s, strlen(s), shown, sizeof(shown)));
		return ENDPOINT_USAGE;
	}
	e->compression = (enum compression)c;
	return 0;
}

/* Variables with yes or no, for profiles only: OpenTelemetry has none of these. */
static int endpoint_env_switch(const struct endpoint *e, const char *what, bool *ret)
{
	const char *s = NULL;
	struct name which;

	snprintf(which.s, sizeof(which.s), MORE "%s", what);
	if (e->number > 1)
		s = endpoint_env_of(e->number, what, &which);
	else if (e->number == 1)
		s = endpoint_env(which.s);
	if (!s)
		return 0;
	if (strcmp(s, "yes") != 0 && strcmp(s, "no") != 0) {
		log_err("%s: write yes or no", which.s);
		return ENDPOINT_USAGE;
	}
	*ret = strcmp(s, "yes") == 0;
	return 0;
}

static int endpoint_env_switches(struct endpoint *e)
{
	bool names = true, placeholders = true;
	int r = endpoint_env_switch(e, "NAMES", &names);

	if (r == 0)
		r = endpoint_env_switch(e, "PLACEHOLDERS", &placeholders);
	e->bare = !names;
	e->nameless = !placeholders;
	if (r)
		return r;
	return endpoint_env_switch(e, "GUESSES", &e->guesses);
}

static int endpoint_env_protocol(struct endpoint *e)
{
	struct name which;
	const char *s;

	if (e->number > 1)
		return 0;
	s = endpoint_env_of(e->number, "PROTOCOL", &which);
	if (!s || strcmp(s, "http/protobuf") == 0)
		return 0;
	if (strcmp(s, "grpc") != 0 && strcmp(s, "http/json") != 0) {
		log_warn("%s: unknown protocol; using http/protobuf", which.s);
		return 0;
	}
	if (!e->number) {
		log_warn("%s=%s: metrics are not sent: trifold speaks http/protobuf only",
			 which.s, s);
		return -EPROTONOSUPPORT;
	}
	log_err("%s=%s: trifold speaks http/protobuf only: set "
		OTLP "PROFILES_PROTOCOL=http/protobuf and "
		OTLP "PROFILES_ENDPOINT to the receiver's HTTP port (by default 4318)",
		which.s, s);
	return ENDPOINT_USAGE;
}

static int endpoint_env_file(struct endpoint *e, const char *option, char **ret)
{
	struct name which;
	const char *s = endpoint_env_of(e->number, option, &which);

	if (!s)
		return 0;
	if (s[0] != '/' || access(s, R_OK) < 0) {
		log_err("%s: %s: name a readable PEM file by its full path",
			which.s, s[0] != '/' ? "not a full path" :
			strerror(errno));
		return ENDPOINT_USAGE;
	}
	*ret = strdup(s);
	if (!*ret)
		return endpoint_no_memory();
	return 0;
}

static int endpoint_env_files(struct endpoint *e)
{
	struct name key, cert;
	int r = endpoint_env_file(e, "CERTIFICATE", &e->ca);

	if (r == 0)
		r = endpoint_env_file(e, "CLIENT_CERTIFICATE", &e->cert);
	if (r == 0)
		r = endpoint_env_file(e, "CLIENT_KEY", &e->key);
	if (r || !e->key || e->cert)
		return r;
	endpoint_env_of(e->number, "CLIENT_KEY", &key);
	endpoint_env_of(e->number, "CLIENT_CERTIFICATE", &cert);
	log_err("%s without %s: set both", key.s, cert.s);
	return ENDPOINT_USAGE;
}

static const char *const options[] = {
	"ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE",
	"CLIENT_CERTIFICATE", "CLIENT_KEY", "HEADERS_FILE", "NAMES", "GUESSES",
	"PLACEHOLDERS",
};

/* s: the name of a variable after MORE. */
static bool endpoint_is_option(const char *s, size_t len)
{
	if (len < 3 || s[0] < '2' || s[0] >= '1' + ENDPOINTS_MAX || s[1] != '_')
		return false;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strlen(options[i]) == len - 2 &&
		    memcmp(options[i], s + 2, len - 2) == 0)
			return true;
	}
	return false;
}

int endpoint_check_names(void)
{
	for (char *const *v = environ; *v; v++) {
		size_t len = strcspn(*v, "=");
		char shown[64];

		if (strncmp(*v, MORE, strlen(MORE)) != 0 ||
		    !strncmp(*v, SPOOL_VARIABLE "=", len + 1) ||
		    !strncmp(*v, SPOOL_SIZE_VARIABLE "=", len + 1) ||
		    !strncmp(*v, HEADERS_FILE_VARIABLE "=", len + 1) ||
		    !strncmp(*v, NAMES_VARIABLE "=", len + 1) ||
		    !strncmp(*v, GUESSES_VARIABLE "=", len + 1) ||
		    !strncmp(*v, PLACEHOLDERS_VARIABLE "=", len + 1) ||
		    endpoint_is_option(*v + strlen(MORE), len - strlen(MORE)))
			continue;
		log_err("%s: no such variable: write " MORE "<N>_ENDPOINT, _HEADERS, _TIMEOUT, "
			"_COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY, _HEADERS_FILE, "
			"_NAMES, _GUESSES or _PLACEHOLDERS, N from 2 to %d, or _SPOOL, _SPOOL_SIZE, "
			"_HEADERS_FILE, _NAMES, _GUESSES or _PLACEHOLDERS without N",
			log_quote(*v, len, shown, sizeof(shown)),
			ENDPOINTS_MAX);
		return ENDPOINT_USAGE;
	}
	return 0;
}

/* --- the URL -------------------------------------------------------------- */

/* Append to the path of a base URL. */
static bool endpoint_append_path(CURLU *u, const char *more)
{
	char *path, *longer = NULL;
	bool ok = false;
	size_t n;

	if (curl_url_get(u, CURLUPART_PATH, &path, 0))
		return false;
	n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	if (asprintf(&longer, "%.*s%s", (int)n, path, more) >= 0)
		ok = !curl_url_set(u, CURLUPART_PATH, longer, 0);
	free(longer);
	curl_free(path);
	return ok;
}

static bool endpoint_is_http(CURLU *u)
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

static char *endpoint_without_secrets(CURLU *u)
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

static CURLU *endpoint_parse(const char *s)
{
	CURLU *u = curl_url();

	/* a blank is a mistake in quoting: it is not trimmed silently */
	if (u && !strpbrk(s, " \t\r\n") &&
	    !curl_url_set(u, CURLUPART_URL, s, 0) && endpoint_is_http(u))
		return u;
	curl_url_cleanup(u);
	return NULL;
}

char *endpoint_url(const char *base, const char *path)
{
	CURLU *u = endpoint_parse(base);
	char *url = NULL, *copy = NULL;

	if (u && endpoint_append_path(u, path) &&
	    !curl_url_get(u, CURLUPART_URL, &url, 0))
		copy = strdup(url);
	curl_free(url);
	curl_url_cleanup(u);
	return copy;
}

bool endpoint_is_loopback(const char *url)
{
	CURLU *u = endpoint_parse(url);
	char *host = NULL;
	bool yes = false;

	if (u && !curl_url_get(u, CURLUPART_HOST, &host, 0)) {
		struct in_addr a;

		yes = strcasecmp(host, "localhost") == 0 ||
		      strcmp(host, "[::1]") == 0 ||
		      (inet_pton(AF_INET, host, &a) == 1 &&
		       ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET);
	}
	curl_free(host);
	curl_url_cleanup(u);
	return yes;
}

static int endpoint_set_url(struct endpoint *e, const char *from, const char *s,
			    bool base)
{
	const char *path = e->number ? ENDPOINT_PATH : ENDPOINT_METRICS_PATH;
	CURLU *u = endpoint_parse(s);

	if (!u) {
		log_err("%s: not a URL of the form http://HOST:PORT or https://HOST:PORT%s",
			from, base ? "" : "/PATH");
		return ENDPOINT_USAGE;
	}
	if (base)
		e->base = strdup(s);
	e->url = base ? endpoint_url(s, path) : strdup(s);
	if (base)
		endpoint_append_path(u, path);
	e->shown_url = endpoint_without_secrets(u);
	curl_url_cleanup(u);
	if (!e->url || !e->shown_url || (base && !e->base))
		return endpoint_no_memory();
	return 0;
}

static int endpoint_find_url(struct endpoint *e, const struct endpoint_options *o)
{
	struct name which;
	const char *s;

	if (e->number > 1) {
		s = endpoint_env_of(e->number, "ENDPOINT", &which);
		return endpoint_set_url(e, which.s, s ? s : "", true);
	}
	if (o->profiles_endpoint)
		return endpoint_set_url(e, "--profiles-endpoint", o->profiles_endpoint,
					false);
	if (o->endpoint)
		return endpoint_set_url(e, "--endpoint", o->endpoint, true);
	s = endpoint_env(OTLP "PROFILES_ENDPOINT");
	if (s)
		return endpoint_set_url(e, OTLP "PROFILES_ENDPOINT", s, false);
	s = endpoint_env(OTLP "ENDPOINT");
	return endpoint_set_url(e, OTLP "ENDPOINT", s ? s : ENDPOINT_DEFAULT, true);
}

/* --- an endpoint ---------------------------------------------------------- */

bool endpoint_named(unsigned int number, const struct endpoint_options *o)
{
	struct name which;

	return (number == 1 && (o->endpoint || o->profiles_endpoint)) ||
		endpoint_env_of(number, "ENDPOINT", &which);
}

static int endpoint_load_variables(struct endpoint *e, unsigned int number)
{
	int r;

	*e = (struct endpoint){
		.number = number, .timeout_ms = ENDPOINT_TIMEOUT_MS,
		.compression = COMPRESSION_GZIP,
	};
	endpoint_env_timeout(e);
	r = endpoint_env_compression(e);
	if (r == 0)
		r = endpoint_env_protocol(e);
	if (r == 0)
		r = endpoint_env_headers(e);
	if (r == 0)
		r = endpoint_env_switches(e);
	if (r == 0)
		r = endpoint_env_files(e);
	return r;
}

static int endpoint_option_headers(struct endpoint *e, const struct endpoint_options *o)
{
	int r = 0;

	for (size_t i = 0; i < o->headers.n && r == 0; i++)
		r = endpoint_add_header(e, "--header", o->headers.v[2 * i],
					o->headers.v[2 * i + 1]);
	return r;
}

int endpoint_load(struct endpoint *e, unsigned int number,
		  const struct endpoint_options *o)
{
	int r = endpoint_load_variables(e, number);

	if (r == 0 && number == 1)
		r = endpoint_option_headers(e, o);
	if (r)
		return r;
	return endpoint_find_url(e, o);
}

int endpoint_load_metrics(struct endpoint *e, const struct endpoint_options *o)
{
	const char *own = endpoint_env(OTLP "METRICS_ENDPOINT"),
		   *all = endpoint_env(OTLP "ENDPOINT");
	int r;

	*e = (struct endpoint){ 0 };
	if (!o->endpoint && !own && !all)
		return 0;
	r = endpoint_load_variables(e, 0);
	if (r == -EPROTONOSUPPORT)
		return 0;
	if (r == 0 && !o->endpoint && own)
		return endpoint_set_url(e, OTLP "METRICS_ENDPOINT", own, false);
	if (r == 0)
		r = endpoint_option_headers(e, o);
	if (r)
		return r;
	if (o->endpoint)
		return endpoint_set_url(e, "--endpoint", o->endpoint, true);
	return endpoint_set_url(e, OTLP "ENDPOINT", all, true);
}

void endpoint_fini(struct endpoint *e)
{
	free(e->url);
	free(e->shown_url);
	free(e->base);
	free(e->ca);
	free(e->cert);
	free(e->key);
	pairs_fini(&e->headers);
}
