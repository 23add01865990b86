// SPDX-License-Identifier: Apache-2.0
#include "cli/top/term.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "common/log.h"

/* Of a whole file, since tputs(3) passes only a character. */
static struct top_term *into;

static int top_term_put(int c)
{
	if (into->len < sizeof(into->leave))
		into->leave[into->len++] = (char)c;
	return c;
}

static const char *term_capability(const char *name)
{
	const char *s = tigetstr(name);

	if (s == (const char *)-1 || (s && !*s))
		return NULL;
	return s;
}

static void top_term_describe(struct top_term *t)
{
	static const char *const names[] = {
		"sgr0", "op", "rmkx", "rmcup", "cnorm",
	};

	into = t;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *s = term_capability(names[i]);

		if (s)
			tputs(s, 1, top_term_put);
		else if (!strcmp(names[i], "rmcup"))
			top_term_put('\n');
	}
}

int top_term_save(struct top_term *t)
{
	const char *name = getenv("TERM");
	char quoted[64];
	int err;

	*t = (struct top_term){ .len = 0 };
	if (tcgetattr(STDIN_FILENO, &t->saved) < 0)
		return -errno;
	if (!name || setupterm(name, STDOUT_FILENO, &err) != OK) {
		log_err("TERM is %s: that is no terminal known here (is it in "
			"ncurses-term?); --once needs none", name ?
			log_quote(name, strlen(name), quoted, sizeof(quoted)) :
			"not set");
		return -ENOENT;
	}
	if (!term_capability("cup") || !term_capability("clear") ||
	    tigetflag("hc") > 0) {
		log_err("TERM is %s: its cursor cannot be moved; --once needs "
			"no such terminal", log_quote(name, strlen(name),
						      quoted, sizeof(quoted)));
		return -ENOTTY;
	}
	top_term_describe(t);
	del_curterm(cur_term);
	return 0;
}

void top_term_restore(const struct top_term *t, bool death)
{
	/* works from the background, too */
	signal(SIGTTOU, SIG_IGN);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &t->saved);
	if (death)
		(void)!write(STDOUT_FILENO, t->leave, t->len);
	signal(SIGTTOU, SIG_DFL);
}
