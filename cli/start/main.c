// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-start - becomes one of the daemons, as systemd's units start them
 *
 *   trifold-start loaderd|symbolizerd|exporterd|viewer
 *   trifold-start --reload loaderd PID
 *
 * It has the unit's user and capabilities.  The daemon's words are what
 * trifold-config.service wrote (cli/unit/unit_config.h), as far as ask.c lists
 * them; which users the others are, /etc/passwd says, and where their sockets are,
 * this file.  Nothing of the environment goes on but systemd's own variables.
 * --reload: end the process PID, which the unit starts again, if it would get other
 * arguments now.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/supervisor/ask.h"
#include "cli/supervisor/runtime_dir.h"

#define WORDS_DIR	"/run/trifold-config"
#define ARGS_MAX	320	/* PLAN_WORDS_MAX, and ours */
#define SAME_MAX	(ASK_WORDS_MAX + 4096)

/* .user: its number is the value */
static const struct start_daemon {
	const char *name;
	enum program id;
	struct { const char *option, *value, *user; } fixed[4];	/* up to the first without one */
} start_daemons[] = {
	{ "loaderd", PROGRAM_LOADER, {
		{ "--hub", LOADER_SOCKET, NULL },
		{ "--hub-uid", NULL, "trifold-symbolizerd" } } },
	{ "symbolizerd", PROGRAM_HUB, {
		{ "--loader-uid", NULL, "trifold-loaderd" },
		{ "--exporter-uid", NULL, "trifold-exporterd" },
		{ "--viewer-uid", NULL, "trifold-viewer" },
		{ "--readers", NULL, NULL } } },
	{ "exporterd", PROGRAM_EXPORTER, {
		{ "--hub", EXPORT_SOCKET, NULL },
		{ "--hub-uid", NULL, "trifold-symbolizerd" } } },
	{ "viewer", PROGRAM_VIEWER, {
		{ "--hub", STATUS_SOCKET, NULL },
		{ "--hub-uid", NULL, "trifold-symbolizerd" } } },
};

#define START_DAEMONS	(sizeof(start_daemons) / sizeof(start_daemons[0]))

/* What systemd says to a service, and what is no word of the configuration. */
static const char *const start_kept[] = {
	"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET",
	"WATCHDOG_PID", "WATCHDOG_USEC", "JOURNAL_STREAM",
};
#define START_KEPT	(sizeof(start_kept) / sizeof(start_kept[0]))

static char *start_args[ARGS_MAX + 1];
static int start_n;

__attribute__((format(printf, 1, 2)))
static char *start_text(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		err(1, "memory");
	va_end(ap);
	return s;
}

static void start_add(char *word)
{
	if (start_n == ARGS_MAX)
		errx(1, "too many arguments");
	start_args[start_n++] = word;
}

/* "--name=value" becomes two arguments, as loaderd takes them. */
static void start_add_option(char *word)
{
	char *value = strchr(word, '=');

	start_add(word);
	if (value) {
		*value = '\0';
		start_add(value + 1);
	}
}

static void start_environment(void)
{
	char *kept[START_KEPT];
	int n = 0;

	for (size_t i = 0; i < START_KEPT; i++) {
		const char *v = getenv(start_kept[i]);

		if (v)
			kept[n++] = start_text("%s=%s", start_kept[i], v);
	}
	clearenv();
	while (n)
		putenv(kept[--n]);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("LANG", "C.UTF-8", 1);
}

/* The numbers of the viewer's sockets, which systemd opened. */
static void start_add_sockets(void)
{
	const char *fds = getenv("LISTEN_FDS");
	int n = fds ? atoi(fds) : 0;

	for (int fd = 3; fd < 3 + n && fd < 5; fd++) {
		start_add((char *)"--listen-fd");
		start_add(start_text("%d", fd));
	}
}

static void start_add_fixed(const struct start_daemon *d)
{
	for (int i = 0; i < 4 && d->fixed[i].option; i++) {
		const struct passwd *pw;

		start_add((char *)d->fixed[i].option);
		if (d->fixed[i].value)
			start_add((char *)d->fixed[i].value);
		if (!d->fixed[i].user)
			continue;
		pw = getpwnam(d->fixed[i].user);
		if (!pw || !pw->pw_uid)
			errx(1, "there is no user %s: systemd-sysusers makes it",
			     d->fixed[i].user);
		start_add(start_text("%u", pw->pw_uid));
	}
	if (d->id == PROGRAM_VIEWER)
		start_add_sockets();
}

static char *start_read(const char *name, size_t *len)
{
	char *path = start_text(WORDS_DIR "/%s", name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = malloc(ASK_WORDS_MAX + 1);
	struct stat st;
	ssize_t n;

	if (!text)
		err(1, "memory");
	if (fd < 0 || fstat(fd, &st) < 0)
		err(1, "%s: is trifold-config.service active?", path);
	if (!S_ISREG(st.st_mode))
		errx(1, "%s is no file", path);
	*len = 0;
	while ((n = read(fd, text + *len, ASK_WORDS_MAX + 1 - *len)) > 0)
		*len += (size_t)n;
	if (n < 0 || *len > ASK_WORDS_MAX || (*len && text[*len - 1] != '\n'))
		errx(1, "%s cannot be read, or is not whole", path);
	close(fd);
	free(path);
	return text;
}

static void start_add_words(const struct start_daemon *d)
{
	size_t len;
	char *word = start_read(d->name, &len), *end = word + len, *next;

	for (; word < end; word = next + 1) {
		next = memchr(word, '\n', (size_t)(end - word));
		*next = '\0';
		if (strlen(word) != (size_t)(next - word) ||
		    !ask_allows(d->id, word) || !strncmp(word, "--own", 5) ||
		    strstr(word, "-fd="))
			errx(1, WORDS_DIR "/%s: a word that is not on the list",
			     d->name);
		if (*word == '-')
			start_add_option(word);
		else
			putenv(word);
	}
}

/* Has the process these arguments?  As /proc/PID/cmdline has them. */
static bool start_same(int pid)
{
	char *path = start_text("/proc/%d/cmdline", pid);
	static char want[SAME_MAX], have[SAME_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0, got = 0;
	ssize_t r;

	if (fd < 0)
		err(1, "%s", path);
	for (int i = 0; i < start_n; i++) {
		size_t len = strlen(start_args[i]) + 1;

		if (len > sizeof(want) - n)
			errx(1, "too many words");
		memcpy(want + n, start_args[i], len);
		n += len;
	}
	while ((r = read(fd, have + got, sizeof(have) - got)) > 0)
		got += (size_t)r;
	close(fd);
	free(path);
	return got == n && !memcmp(have, want, n);
}

static int start_reload(int pid)
{
	if (pid > 1 && !start_same(pid) && kill(pid, SIGUSR1) < 0)
		err(1, "process %d", pid);
	return pid <= 1;
}

int main(int argc, char **argv)
{
	bool reload = argc == 4 && !strcmp(argv[1], "--reload");
	const char *name = reload ? argv[2] : argc == 2 ? argv[1] : "";
	const struct start_daemon *d = start_daemons;
	char self[PATH_MAX] = "", *slash;

	while (d < start_daemons + START_DAEMONS && strcmp(d->name, name))
		d++;
	if (d == start_daemons + START_DAEMONS)
		errx(2, "usage: trifold-start [--reload] loaderd|symbolizerd|"
		     "exporterd|viewer [PID]");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(1, "/proc/self/exe");
	slash = strrchr(self, '/');
	start_environment();
	start_add(start_text("trifold-%s", name));
	start_add_fixed(d);
	start_add_words(d);
	if (reload)
		return start_reload(atoi(argv[3]));
	execv(start_text("%.*s/%s", (int)(slash - self), self, start_args[0]),
	      start_args);
	err(1, "%s cannot be run", start_args[0]);
}
