// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-start - becomes one of the daemons, as systemd's units start them
 *
 *   trifold-start loaderd|symbolizerd|exporterd|viewer
 *   trifold-start --reload loaderd PID
 *
 * It has the unit's user and capabilities.  The daemon's words are what
 * trifold-config.service wrote (cli/unit/unit_config.h), and all must be listed in
 * program_table.c, which also has the paths of the sockets.  The users of the other
 * daemons are looked up in /etc/passwd.  Of the environment only systemd's own variables are
 * passed on.
 * --reload: end the process PID, which the unit starts again, if it would get other
 * arguments now.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
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

/* systemd's variables, which are not part of the configuration. */
static const char *const start_kept[] = {
	"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET",
	"WATCHDOG_PID", "WATCHDOG_USEC", "JOURNAL_STREAM",
};
#define START_KEPT	(sizeof(start_kept) / sizeof(start_kept[0]))

struct start_args {
	char *word[ARGS_MAX + 1];
	int n;
};

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

static void start_add(struct start_args *args, const char *word)
{
	if (args->n == ARGS_MAX)
		errx(1, "too many arguments");
	args->word[args->n] = (char *)word;
	args->n++;
}

static void start_environment(void)
{
	char *kept[START_KEPT];
	int n = 0;

	for (size_t i = 0; i < START_KEPT; i++) {
		const char *v = getenv(start_kept[i]);

		if (v) {
			kept[n] = start_text("%s=%s", start_kept[i], v);
			n++;
		}
	}
	clearenv();
	for (int i = 0; i < n; i++)
		putenv(kept[i]);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("LANG", "C.UTF-8", 1);
}

/* The numbers of the viewer's sockets, which systemd opened. */
static void start_add_sockets(struct start_args *args)
{
	const char *fds = getenv("LISTEN_FDS");
	int n = fds ? atoi(fds) : 0;

	for (int fd = 3; fd < 3 + n && fd < 5; fd++)
		start_add(args, start_text("--listen-fd=%d", fd));
}

static void start_add_uid(struct start_args *args, const char *option, const char *user)
{
	const struct passwd *pw = getpwnam(user);

	if (!pw || !pw->pw_uid)
		errx(1, "there is no user %s: systemd-sysusers makes it", user);
	start_add(args, start_text("%s=%u", option, pw->pw_uid));
}

static void start_add_fixed(struct start_args *args, const struct program_row *d)
{
	if (d->hub)
		start_add(args, start_text("--hub=%s", d->hub));
	for (int i = 0; d->uids[i].option; i++)
		start_add_uid(args, d->uids[i].option, program_table[d->uids[i].whose].name);
	if (d == &program_table[PROGRAM_HUB])
		start_add(args, "--readers");
	if (d == &program_table[PROGRAM_VIEWER])
		start_add_sockets(args);
}

/* Read from fd up to its end, or max bytes, and close it.  Returns how many; a failure ends
 * the program. */
static size_t start_read_all(int fd, char *text, size_t max, const char *path)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, max - len);
		if (n < 0)
			err(1, "%s", path);
		len += (size_t)n;
	} while (n > 0);
	close(fd);
	return len;
}

/* The words in the daemon's file, each with a newline. */
static char *start_read_words(const char *name, size_t *len)
{
	char *path = start_text(WORDS_DIR "/%s", name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	static char text[ASK_WORDS_MAX + 1];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		err(1, "%s: is trifold-config.service active?", path);
	if (!S_ISREG(st.st_mode))
		errx(1, "%s is not a file", path);
	*len = start_read_all(fd, text, sizeof(text), path);
	if (*len > ASK_WORDS_MAX || (*len && text[*len - 1] != '\n'))
		errx(1, "%s is too long, or not whole", path);
	return text;
}

static bool start_word_allowed(enum program id, const char *word)
{
	return ask_allows(id, word) && strncmp(word, "--own", 5) && !strstr(word, "-fd=");
}

static void start_add_words(struct start_args *args, enum program id)
{
	size_t len;
	char *word = start_read_words(PROGRAM_NAME(id), &len);
	const char *end = word + len;

	while (word < end) {
		char *newline = memchr(word, '\n', (size_t)(end - word));

		*newline = '\0';
		if (word + strlen(word) != newline || !start_word_allowed(id, word))
			errx(1, WORDS_DIR "/%s: a word that is not on the list",
			     PROGRAM_NAME(id));
		if (*word == '-')
			start_add(args, word);
		else
			putenv(word);
		word = newline + 1;
	}
}

/* Has the process these arguments, as /proc/PID/cmdline has them? */
static bool start_same(const struct start_args *args, int pid)
{
	static char have[SAME_MAX];
	char *path = start_text("/proc/%d/cmdline", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0, got;

	if (fd < 0)
		err(1, "%s", path);
	got = start_read_all(fd, have, sizeof(have), path);
	for (int i = 0; i < args->n; i++) {
		size_t len = strlen(args->word[i]) + 1;

		if (len > got - at || memcmp(have + at, args->word[i], len))
			return false;
		at += len;
	}
	return at == got;
}

static int start_reload(const struct start_args *args, int pid)
{
	if (pid <= 1)
		return 1;
	if (!start_same(args, pid) && kill(pid, SIGUSR1) < 0)
		err(1, "process %d", pid);
	return 0;
}

static enum program start_find(const char *name)
{
	for (enum program id = 0; id < PROGRAM_DAEMONS; id++) {
		if (!strcmp(PROGRAM_NAME(id), name))
			return id;
	}
	errx(2, "usage: trifold-start [--reload] loaderd|symbolizerd|"
	     "exporterd|viewer [PID]");
}

int main(int argc, char **argv)
{
	bool reload = argc == 4 && !strcmp(argv[1], "--reload");
	static struct start_args args;
	enum program id;
	const char *name = "";
	char self[PATH_MAX] = "", *file;

	if (reload)
		name = argv[2];
	else if (argc == 2)
		name = argv[1];
	id = start_find(name);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(1, "/proc/self/exe");
	start_environment();
	start_add(&args, program_table[id].name);
	start_add_fixed(&args, &program_table[id]);
	start_add_words(&args, id);
	if (reload)
		return start_reload(&args, atoi(argv[3]));
	file = start_text("%s/%s", dirname(self), args.word[0]);
	execv(file, args.word);
	err(1, "%s cannot be run", file);
}
