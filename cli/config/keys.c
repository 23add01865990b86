// SPDX-License-Identifier: Apache-2.0
#include "cli/config/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/file.h"
#include "cli/config/options.h"
#include "cli/config/suggest.h"
#include "common/number.h"
#include "common/pairs.h"
#include "common/listen.h"

#define CREDENTIALS	"/run/credentials/"	/* systemd.exec(5), LoadCredential= */
#define NUMBER(lo, hi)	.kind = KIND_NUMBER, .min = (lo), .max = (hi)

const struct config_key config_keys[KEY__COUNT] = {
	[KEY_FREQUENCY] = {
		"sampling", "frequency", NUMBER(1, FREQUENCY_MAX), .def = "19",
		.flag = "frequency", .owner = OBEYS_LOADER,
		.help = "Samples a second on each CPU, 1 to 1000.  The default is prime, so\n"
			"that samples do not coincide with timers.",
	},
	[KEY_INTERVAL] = {
		"sampling", "interval", NUMBER(1, INTERVAL_MAX), .def = "5",
		.flag = "interval", .owner = OBEYS_NEXT_START,
		.help = "Seconds between two batches, 1 to 300.",
	},
	[KEY_INCLUDE_SELF] = {
		"sampling", "include_self", KIND_YES, .def = "no",
		.flag = "include-self", .flag_value = "yes",
		.owner = OBEYS_NEXT_START,
		.help = "yes: samples of trifold's own processes, too.  Else they are counted\n"
			"and left out.",
	},
	[KEY_SHOW_LOOPS] = {
		"sampling", "show_loops", KIND_YES, .def = "no",
		.flag = "show-loops", .flag_value = "yes",
		.owner = OBEYS_NEXT_START,
		.help = "yes: the frame of an interpreter's loop, too, where the functions are\n"
			"that it runs.  Else those stand for it.",
	},
	[KEY_BUDGET] = {
		"tables", "budget", NUMBER(1, 4096), .def = "256",
		.owner = OBEYS_LOADER,
		.help = "MiB of kernel memory for unwind tables, 1 to 4096.  When less than a\n"
			"sixteenth is left, the least recently used table is evicted.",
	},
	[KEY_IDLE] = {
		"tables", "idle", NUMBER(1, 604800), .def = "600",
		.owner = OBEYS_LOADER,
		.help = "Seconds after which a file is forgotten that no process maps and no\n"
			"sample uses, 1 to 604800 (a week).",
	},
	[KEY_CPU_SHARE] = {
		"limits", "cpu_share", NUMBER(1, 100), .def = "2",
		.owner = OBEYS_NEXT_START,
		.help = "Percent of the CPU time of the whole host, 1 to 100, that all of trifold\n"
			"may take over a minute; a recording, which ends, may take five times as\n"
			"much.  What is beyond that is put off: lines first, then names, then the\n"
			"tables of new files, each user's for himself.  Samples are taken always.",
	},
	[KEY_LINES_SHARE] = {
		"limits", "lines_share", NUMBER(0, 100), .def = "2",
		.owner = OBEYS_NEXT_START,
		.help = "Percent of one CPU, 0 to 100, that workers may take to read lines and\n"
			"inlined calls of native code from DWARF, over ten seconds; 0: there are\n"
			"none, only functions.",
	},
	[KEY_ENDPOINT] = {
		"export", "endpoint", KIND_URL, .def = "", .flag = "endpoint",
		.variable = "ENDPOINT", .otlp = true,
		.help = "The receiver of OTLP profiles, such as http://localhost:4318;\n"
			"/v1development/profiles is appended.  Without one nothing is sent, and\n"
			"`trifold run` writes a file.",
	},
	[KEY_HEADERS] = {
		"export", "headers", KIND_HEADERS, .def = "",
		.variable = "HEADERS", .otlp = true, .secret = true,
		.help = "Headers of each request: name=value,name=value; special characters as\n"
			"%XX (a blank is %20).  If they hold a secret, let only root read this\n"
			"file: chmod 600.",
	},
	[KEY_TIMEOUT] = {
		"export", "timeout_ms", NUMBER(0, 3600000), .def = "10000",
		.variable = "TIMEOUT", .otlp = true,
		.help = "Milliseconds for one attempt to send; 0: no limit.",
	},
	[KEY_COMPRESSION] = {
		"export", "compression", KIND_CHOICE, .choices = "gzip zstd none",
		.def = "gzip", .variable = "COMPRESSION", .otlp = true,
		.help = "Compression of requests: gzip, zstd or none.",
	},
	[KEY_CA] = {
		"export", "ca", KIND_FILE, .def = "",
		.variable = "CERTIFICATE", .otlp = true,
		.help = "PEM file of certificate authorities for the receiver; none: the\n"
			"system's.",
	},
	[KEY_CLIENT_CERT] = {
		"export", "client_certificate", KIND_FILE, .def = "",
		.variable = "CLIENT_CERTIFICATE", .otlp = true,
		.help = "PEM file of the client's certificate, if the receiver asks for one.",
	},
	[KEY_CLIENT_KEY] = {
		"export", "client_key", KIND_FILE, .def = "",
		.variable = "CLIENT_KEY", .otlp = true,
		.help = "PEM file of its key.",
	},
	[KEY_HEADERS_FILE] = {
		"export", "headers_file", KIND_FILE, .def = "",
		.variable = "HEADERS_FILE", .numbered = true,
		.help = "A file with more headers, written as in `headers`, for those that hold a\n"
			"secret.  Only exporterd has to read it.",
	},
	[KEY_EXPORT_NAMES] = {
		"export", "names", KIND_YES, .def = "yes",
		.variable = "NAMES", .numbered = true,
		.help = "no: native code is sent without names of functions, files and lines, for\n"
			"a receiver that finds them by build ID and address.",
	},
	[KEY_EXPORT_GUESSES] = {
		"export", "guesses", KIND_YES, .def = "no",
		.variable = "GUESSES", .numbered = true,
		.help = "yes: stacks through code that says nothing of its frames are sent whole, with\n"
			"a mark before each caller that is guessed; no: they end there.",
	},
	[KEY_EXPORT_PLACEHOLDERS] = {
		"export", "placeholders", KIND_YES, .def = "yes",
		.variable = "PLACEHOLDERS", .numbered = true,
		.help = "no: code without a name is sent without a function, for a receiver that\n"
			"finds names by build ID and address; yes: with one, file!0x1234 or\n"
			"file+0x..., since others leave such code out: its time would be its callers'.",
	},
	[KEY_SPOOL] = {
		"export", "spool", KIND_DIRECTORY, .def = "",
		.variable = "TRIFOLD_EXPORTER_SPOOL",
		.help = "A directory that keeps what the receiver has not answered, also when\n"
			"trifold is killed; none: memory does, 256 requests or 64 MiB of it.\n"
			"It belongs to the user trifold-exporterd, whom you have to make, and to\n"
			"nobody else:\n"
			"install -d -m 700 -o trifold-exporterd /var/lib/trifold-exporterd",
	},
	[KEY_SPOOL_SIZE] = {
		"export", "spool_size", NUMBER(1, 65536), .def = "256",
		.variable = "TRIFOLD_EXPORTER_SPOOL_SIZE",
		.help = "MiB for the files in it, 1 to 65536; then the oldest are removed.",
	},
	[KEY_DEBUGINFOD_URLS] = {
		"names", "debuginfod_urls", KIND_URLS, .def = "",
		.variable = "TRIFOLD_DEBUGINFOD_URLS",
		.help = "Servers that are asked for debug files which this host does not have: URLs\n"
			"with blanks between them, or environment: what DEBUGINFOD_URLS says.  Build\n"
			"IDs of programs that are sampled leave the host then, and nothing else.\n"
			"None: nobody is asked.",
	},
	[KEY_DEBUGINFOD_SIZE] = {
		"names", "debuginfod_size", NUMBER(1, 512), .def = "128",
		.variable = "TRIFOLD_DEBUGINFOD_SIZE",
		.help = "MiB that such a file may have, 1 to 512.  Without a cache (below) those that\n"
			"were used in the last ten minutes are in memory, 256 MiB of them or the\n"
			"last one, and one that comes.",
	},
	[KEY_DEBUGINFOD_TIMEOUT] = {
		"names", "debuginfod_timeout", NUMBER(1, 600), .def = "90",
		.variable = "TRIFOLD_DEBUGINFOD_TIMEOUT",
		.help = "Seconds for one such request, 1 to 600.",
	},
	[KEY_DEBUGINFOD_CACHE] = {
		"names", "debuginfod_cache", KIND_DIRECTORY, .def = "/var/cache/trifold-exporterd",
		.variable = "TRIFOLD_DEBUGINFOD_CACHE",
		.help = "A directory that keeps such files, so that no server is asked twice; if it is\n"
			"not there, memory does.  It belongs to the user trifold-exporterd and to\n"
			"nobody else.",
	},
	[KEY_DEBUGINFOD_CACHE_SIZE] = {
		"names", "debuginfod_cache_size", NUMBER(0, 65536), .def = "1024",
		.variable = "TRIFOLD_DEBUGINFOD_CACHE_SIZE",
		.help = "MiB for the files in it, 0 to 65536; then those that were not used for\n"
			"longest are removed.  0: no cache.",
	},
	[KEY_SERVICE_NAME] = {
		"resource", "service_name", KIND_TEXT, .def = "",
		.variable = "OTEL_SERVICE_NAME",
		.help = "service.name of every resource; none: each process's service or program.",
	},
	[KEY_ATTRIBUTES] = {
		"resource", "attributes", KIND_PAIRS, .def = "",
		.variable = "OTEL_RESOURCE_ATTRIBUTES",
		.help = "More attributes of every resource: key=value,key=value; special\n"
			"characters as %XX.",
	},
	[KEY_RESOURCE_PRESET] = {
		"resource", "preset", KIND_CHOICE, .choices = "pyroscope collector", .def = "",
		.variable = "TRIFOLD_RESOURCE_PRESET",
		.help = "What a backend needs and no more, where `per` and `only` say nothing:\n"
			"pyroscope (it makes labels of attributes) or collector; none: everything.",
	},
	[KEY_RESOURCE_PER] = {
		"resource", "per", KIND_CHOICE, .choices = "process service host", .def = "",
		.variable = "TRIFOLD_RESOURCE_PER",
		.help = "A resource and a profile for each process, service or host; process IDs and\n"
			"programs are attributes of samples otherwise.  None: process, or as `preset`\n"
			"says.",
	},
	[KEY_RESOURCE_ONLY] = {
		"resource", "only", KIND_TEXT, .def = "",
		.variable = "TRIFOLD_RESOURCE_ONLY",
		.help = "The attributes that a resource has beside service.name and those of\n"
			"`attributes`, with commas between; none: all, or as `preset` says.",
	},
	[KEY_METRICS] = {
		"metrics", "exporter", KIND_CHOICE, .choices = "otlp none",
		.def = "otlp", .variable = "OTEL_METRICS_EXPORTER",
		.help = "trifold's own metrics, the sums of `trifold status`: otlp (send them to\n"
			"the receiver of [export], with /v1/metrics appended) or none.",
	},
	[KEY_METRICS_MS] = {
		"metrics", "interval_ms", NUMBER(1000, 86400000),
		.def = "60000", .variable = "OTEL_METRIC_EXPORT_INTERVAL",
		.help = "Milliseconds between two exports, 1000 to 86400000 (a day).",
	},
	[KEY_PAGE] = {
		"page", "enabled", KIND_YES, .def = "yes", .flag = "no-page",
		.flag_value = "no", .owner = OBEYS_NEXT_START,
		.help = "Serve the live page to browsers on this host: yes or no.",
	},
	[KEY_LISTEN] = {
		"page", "listen", KIND_LISTEN, .def = "", .flag = "listen",
		.owner = OBEYS_NEXT_START,
		.help = "Its address: PORT, or HOST:PORT with localhost, 127.0.0.1 or [::1]; none:\n"
			"4328, or any free port if that is taken.",
	},
	[KEY_MEMORY] = {
		"page", "memory", NUMBER(1, 4096), .def = "64",
		.owner = OBEYS_NEXT_START,
		.help = "MiB for its samples, 1 to 4096; beyond that the oldest lose detail.",
	},
	[KEY_KEEP] = {
		"page", "keep", NUMBER(10, 604800), .def = "3600",
		.owner = OBEYS_NEXT_START,
		.help = "Seconds for which it keeps samples, 10 to 604800 (a week).",
	},
	[KEY_OTLP] = {
		"page", "otlp", KIND_YES, .def = "no",
		.owner = OBEYS_NEXT_START,
		.help = "yes: also accept OTLP profiles from clients that have the page's key.",
	},
	[KEY_VERBOSE] = {
		"log", "verbose", KIND_YES, .def = "no", .flag = "verbose",
		.flag_value = "yes", .owner = OBEYS_NEXT_START,
		.help = "yes: show all messages of the daemons, not only warnings.",
	},
};

/* --- names ---------------------------------------------------------------- */

static bool keys_is_in_section(const struct config_key *k, const char *section)
{
	return !section || !strcmp(k->section, section);
}

enum config_id config_key_find(const char *section, const char *name)
{
	int i = 0;

	while (i < KEY__COUNT && (!keys_is_in_section(&config_keys[i], section) ||
				  strcmp(config_keys[i].name, name)))
		i++;
	return i;
}

bool config_section_known(const char *section)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		if (keys_is_in_section(&config_keys[i], section))
			return true;
	}
	return false;
}

const char *config_key_like(const char *section, const char *name)
{
	struct suggestion s = suggest(name);

	for (int i = 0; i < KEY__COUNT; i++) {
		const struct config_key *k = &config_keys[i];

		if (!section)
			suggest_offer(&s, k->section);
		else if (keys_is_in_section(k, section))
			suggest_offer(&s, k->name);
	}
	return s.best;
}

const char *config_key_variable(const struct config_key *k, bool profiles,
				char out[64])
{
	const char *begin = "";

	*out = '\0';
	if (!k->variable || (profiles && !k->otlp))
		return out;
	if (profiles)
		begin = "OTEL_EXPORTER_OTLP_PROFILES_";
	else if (k->otlp)
		begin = "OTEL_EXPORTER_OTLP_";
	else if (k->numbered)
		begin = "TRIFOLD_EXPORTER_";
	snprintf(out, 64, "%s%s", begin, k->variable);
	return out;
}

/* --- values --------------------------------------------------------------- */

static bool keys_is_number(const char *s, uint32_t min, uint32_t max)
{
	uint64_t v;

	return number_parse(s, min, max, &v);
}

static bool keys_is_choice(const char *s, const char *choices)
{
	size_t len = strlen(s), n;

	for (; *choices; choices += n + (choices[n] == ' ')) {
		n = strcspn(choices, " ");
		if (n == len && !memcmp(choices, s, n))
			return true;
	}
	return false;
}

/* Checked without libcurl; exporterd checks again with it. */
static bool keys_is_url(const char *s)
{
	size_t n;
	const char *at, *end, *port;

	if (!strncmp(s, "http://", 7))
		n = 7;
	else if (!strncmp(s, "https://", 8))
		n = 8;
	else
		n = 0;
	if (!n || strpbrk(s, " \t\\\"<>^`{|}"))
		return false;
	s += n;
	end = s + strcspn(s, "/?#");
	at = memrchr(s, '@', (size_t)(end - s));
	if (at)
		s = at + 1;
	port = memrchr(s, ':', (size_t)(end - s));
	if (port && memchr(port, ']', (size_t)(end - port)))
		port = NULL;		/* within [an:IPv6:address] */
	if (port) {
		char digits[6] = "";

		n = (size_t)(end - port - 1);
		if (n < sizeof(digits))
			memcpy(digits, port + 1, n);
		if (!keys_is_number(digits, 1, 65535))
			return false;
		end = port;
	}
	return end > s && (*s == '[') == (end[-1] == ']') &&
	       (*s == '[' || !memchr(s, ':', (size_t)(end - s)));
}

bool config_key_has_user(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " \t,");
		const char *host = memmem(text, n, "//", 2);

		if (host)
			host += 2;
		else
			host = text;
		if (memchr(host, '@', strcspn(host, "/?# \t,")))
			return true;
		text += n + strspn(text + n, " \t,");
	}
	return false;
}

bool config_key_hides(const struct config_key *k, const char *value)
{
	if (k->kind == KIND_URL || k->kind == KIND_URLS)
		return strchr(value, '@');
	return k->secret;
}

/* With blanks between them, as in DEBUGINFOD_URLS. */
static bool keys_is_urls(const char *s)
{
	char copy[CONFIG_LINE_MAX + 1], *save;
	bool any = false;

	if (!strcmp(s, "environment"))
		return true;
	if (strlen(s) >= sizeof(copy))
		return false;
	strcpy(copy, s);
	for (char *word = strtok_r(copy, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (!keys_is_url(word))
			return false;
		any = true;
	}
	return any;
}

static bool config_keys_is_token(const char *s)
{
	/* RFC 9110, 5.6.2 */
	static const char tchar[] = "!#$%&'*+-.^_`|~0123456789"
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *s && !s[strspn(s, tchar)];
}

/* As exporterd will read it. */
static bool keys_is_pairs(const char *s, bool headers)
{
	char copy[CONFIG_LINE_MAX + 1], *rest = copy, *key, *value;
	bool bad = false;
	int n = 0;

	if (strlen(s) >= sizeof(copy))
		return false;
	strcpy(copy, s);
	while (pairs_next(&rest, &key, &value, &bad)) {
		n++;
		if (headers && (!config_keys_is_token(key) ||
				strchr(value, '\n') || strchr(value, '\r')))
			return false;
		if (!headers && (!percent_decode(key) || !*key))
			return false;
	}
	return !bad && n && !(headers && strchr(s, ';'));
}

static const char *keys_check_file(const char *path, char *buf, size_t size)
{
	const char *why = "this is not a regular file";
	struct stat st;
	int r = 0;

	if (*path != '/')
		return "the full path of a PEM file";
	if (access(path, R_OK) < 0 || stat(path, &st) < 0)
		r = errno;
	if (!r && S_ISREG(st.st_mode))
		return NULL;
	/* another user may be able to; a credential of exporterd's unit is for
	 * that alone */
	if ((r == EACCES && geteuid()) ||
	    !strncmp(path, CREDENTIALS, strlen(CREDENTIALS)))
		return NULL;
	if (r)
		why = strerror(r);
	snprintf(buf, size, "a file that can be read (%s)", why);
	return buf;
}

static bool keys_is_directory(const char *value)
{
	struct stat st;

	return *value == '/' && stat(value, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool keys_fits(const struct config_key *k, const char *value)
{
	uint16_t port;
	int family;

	switch (k->kind) {
	case KIND_NUMBER:
		return keys_is_number(value, k->min, k->max);
	case KIND_YES:
		return keys_is_choice(value, "yes no");
	case KIND_CHOICE:
		return keys_is_choice(value, k->choices);
	case KIND_URL:
		return keys_is_url(value);
	case KIND_URLS:
		return keys_is_urls(value);
	case KIND_PAIRS:
		return keys_is_pairs(value, false);
	case KIND_HEADERS:
		return keys_is_pairs(value, true);
	case KIND_DIRECTORY:
		/* the default one need not exist */
		return keys_is_directory(value) || (*value && !strcmp(value, k->def));
	case KIND_LISTEN:
		return listen_parse(value, &family, &port) == 0;
	case KIND_TEXT: case KIND_FILE:		/* config_key_check() */
		break;
	}
	return true;
}

/* What a value should be, perhaps in buf. */
static const char *keys_wanted(const struct config_key *k, char *buf, size_t size)
{
	switch (k->kind) {
	case KIND_NUMBER:
		snprintf(buf, size, "a number from %u to %u", k->min, k->max);
		return buf;
	case KIND_YES:
		return "yes or no";
	case KIND_CHOICE:
		snprintf(buf, size, "one of: %s", k->choices);
		return buf;
	case KIND_URL:
		return "http://HOST:PORT or https://HOST:PORT";
	case KIND_URLS:
		return "http://HOST:PORT or https://HOST:PORT, more with blanks between, or environment";
	case KIND_PAIRS:
		return "key=value,key=value, special characters as %XX";
	case KIND_HEADERS:
		return "name=value,name=value, special characters as %XX";
	case KIND_DIRECTORY:
		return "the full path of a directory that exists";
	case KIND_LISTEN:
		return "PORT, or HOST:PORT with localhost, 127.0.0.1 or [::1]";
	case KIND_TEXT: case KIND_FILE:
		break;
	}
	return "something else";
}

const char *config_key_check(const struct config_key *k, const char *value,
			     char *buf, size_t size)
{
	if (k->kind == KIND_FILE)
		return keys_check_file(value, buf, size);
	if (k->kind == KIND_URLS && config_key_has_user(value))
		return "URLs without user and password, since every user can see them";
	if (keys_fits(k, value))
		return NULL;
	return keys_wanted(k, buf, size);
}

/* --- the file with every default ------------------------------------------ */

static void keys_write_comment(const char *text, FILE *to)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		fprintf(to, "# %.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void keys_write_overrides(const struct config_key *k, FILE *to)
{
	char first[64], second[64];
	const char *before = "";	/* a new line after another word */

	config_key_variable(k, true, first);
	config_key_variable(k, false, second);
	if (!k->flag && !*second)
		return;
	fputs("# Overridden by", to);
	if (k->flag)
		fprintf(to, " --%s", k->flag);
	if (k->flag && *second)
		fputc(',', to);
	if (k->flag)
		before = "\n#";
	if (*first)
		fprintf(to, "%s %s,", before, first);
	before = "";
	if (*first)
		before = "\n#";
	if (*second)
		fprintf(to, "%s %s", before, second);
	fputs(".\n", to);
}

static const char head[] =
"# " CONFIG_PATH_DEFAULT ": the configuration of `trifold run`\n"
"#\n"
"# Every key, with its default.  To change one, remove the # before it.  Then\n"
"#   trifold check-config                 finds mistakes, by line\n"
"#   trifold check-config --effective     shows each value and its origin\n"
"#   kill -HUP $(pidof trifold-supervisor)  makes a running trifold read it\n"
"#\n"
"# OTEL_EXPORTER_OTLP_* overrides this file, OTEL_EXPORTER_OTLP_PROFILES_*\n"
"# overrides these, and options of the command line override all.  A comment\n"
"# needs its own line.  See docs/CONFIG.md.\n";

static const char more[] =
"\n"
"# Up to seven more receivers, each with the keys of [export] and a name.  They\n"
"# inherit nothing from [export]:\n"
"#   [export \"second\"]\n"
"#   endpoint = https://profiles.example.com:4318\n"
"#   headers = authorization=Bearer%20...\n";

void config_keys_example(FILE *to)
{
	const char *section = "";

	fputs(head, to);
	for (int i = 0; i < KEY__COUNT; i++) {
		const struct config_key *k = &config_keys[i];

		if (strcmp(section, k->section))
			fprintf(to, "\n[%s]\n", k->section);
		section = k->section;
		fputc('\n', to);
		keys_write_comment(k->help, to);
		keys_write_overrides(k, to);
		if (*k->def)
			fprintf(to, "#%s = %s\n", k->name, k->def);
		else
			fprintf(to, "#%s =\n", k->name);
		if (i == KEY_CLIENT_KEY)
			fputs(more, to);
	}
}
