// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-start - becomes one of the daemons, as systemd's units start them
 *
 *   trifold-start loaderd|symbolizerd|exporterd|viewer
 *   trifold-start --reload loaderd PID
 *
 * It has the unit's user and capabilities.  The daemon's words are what
 * trifold-config.service wrote (cli/unit/unit_config.h), if program_table.c lists
 * them.  The uids of other daemons are from /etc/passwd, sockets from that table.
 * Of the environment only systemd's own variables are passed on.
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

#define WORDS_DIR	"/run/trifold-config"
#define ARGS_MAX	320	/* PLAN_WORDS_MAX, and ours */
#define SAME_MAX	(ASK_WORDS_MAX + 4096)

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

static void start_add_fixed(enum program id)
{
	const struct program_row *d = &program_table[id];

	if (d->hub) {
		start_add((char *)"--hub");
		start_add((char *)d->hub);
	}
	for (int i = 0; d->uids[i].option; i++) {
		const struct passwd *pw = getpwnam(program_table[d->uids[i].whose].name);

		if (!pw || !pw->pw_uid)
			errx(1, "there is no user %s: systemd-sysusers makes it",
			     program_table[d->uids[i].whose].name);
		start_add((char *)d->uids[i].option);
		start_add(start_text("%u", pw->pw_uid));
	}
	if (id == PROGRAM_HUB)
		start_add((char *)"--readers");
	if (id == PROGRAM_VIEWER)
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

static void start_add_words(enum program id)
{
	size_t len;
	char *word = start_read(PROGRAM_NAME(id), &len), *end = word + len, *next;

	for (; word < end; word = next + 1) {
		next = memchr(word, '\n', (size_t)(end - word));
		*next = '\0';
		if (strlen(word) != (size_t)(next - word) ||
		    !ask_allows(id, word) || !strncmp(word, "--own", 5) ||
		    strstr(word, "-fd="))
			errx(1, WORDS_DIR "/%s: a word that is not on the list",
			     PROGRAM_NAME(id));
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
	enum program id = 0;
	char self[PATH_MAX] = "", *slash;

	while (id < PROGRAM_DAEMONS && strcmp(PROGRAM_NAME(id), name))
		id++;
	if (id == PROGRAM_DAEMONS)
		errx(2, "usage: trifold-start [--reload] loaderd|symbolizerd|"
		     "exporterd|viewer [PID]");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(1, "/proc/self/exe");
	slash = strrchr(self, '/');
	start_environment();
	start_add((char *)program_table[id].name);
	start_add_fixed(id);
	start_add_words(id);
	if (reload)
		return start_reload(atoi(argv[3]));
	execv(start_text("%.*s/%s", (int)(slash - self), self, start_args[0]),
	      start_args);
	err(1, "%s cannot be run", start_args[0]);
}
