// SPDX-License-Identifier: Apache-2.0
#include "cli/top/display.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/config/confine.h"
#include "cli/top/control.h"
#include "cli/top/plain.h"
#include "cli/top/screen.h"
#include "cli/top/state.h"
#include "cli/top/text.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/hub_client.h"

#define DRAW_NS		NSEC_PER_SEC	/* at least this often */
#define LINE_NS		(10 * NSEC_PER_SEC)	/* a daemon's line is shown for this time */
#define PATIENCE_NS	(15 * NSEC_PER_SEC)	/* for the last batch */
#define DEAF_MAX	8		/* wake-ups without a key: the terminal
					 * has ended */

struct display {
	const struct top_display *d;
	struct top_state state;
	struct hub_client hub;
	struct screen_info info;
	bool suspended, quit;
	unsigned int deaf;
	uint64_t drawn_ns, line_ns, end_ns;	/* CLOCK_MONOTONIC */
	uint64_t lost_said;
};

/* --- input ---------------------------------------------------------------- */

static int top_display_take_batch(void *arg, const void *data, size_t len,
				  uint64_t samples)
{
	struct display *d = arg;

	return top_state_batch(&d->state, data, len, samples);
}

static void top_display_gap(void *arg)
{
	struct display *d = arg;

	top_model_gap(&d->state.model);
}

static void top_display_tell(struct display *d, enum top_word word)
{
	const struct top_msg m = { .word = word };

	(void)top_tell(d->d->control, &m, -1);
}

static void top_display_on_hub(struct display *d)
{
	int r = hub_client_read(&d->hub, now_ns());

	if (r == 0)
		return;
	if (r > 0)
		log_warn("invalid message from symbolizerd: %s",
			 msg_verdict_name(r));
	else if (r != -EPIPE)
		log_warn("symbolizerd's connection: %s", strerror(-r));
	top_display_tell(d, TOP_CONNECT);
}

static void display_show_line(struct display *d, const char *text, uint64_t now)
{
	/* one cell of ASCII for each character, at most four for a byte */
	const struct top_str s = { text, strlen(text) };

	top_text(s, false, sizeof(d->info.line) - 1, d->info.line,
		 sizeof(d->info.line));
	d->line_ns = now;
}

static void top_display_suspend(struct display *d)
{
	if (!d->d->plain)
		screen_end();
	d->suspended = true;
	top_display_tell(d, TOP_SUSPENDED);
}

static void top_display_on_control(struct display *d, uint64_t now)
{
	struct top_msg m;
	int fd, r = top_hear(d->d->control, &m, &fd);

	if (r == -EAGAIN)
		return;
	if (r) {
		d->quit = true;
	} else if (m.word == TOP_FEED && fd >= 0) {
		hub_client_take(&d->hub, fd, m.hub_uid);
		fd = -1;
	} else if (m.word == TOP_LINE) {
		display_show_line(d, m.text, now);
	} else if (m.word == TOP_SUSPEND) {
		top_display_suspend(d);
	} else if (m.word == TOP_RESUME) {
		d->suspended = false;
	} else if (m.word == TOP_QUIT) {
		d->quit = true;
	}
	if (fd >= 0)
		close(fd);
}

static void display_on_keys(struct display *d, short revents)
{
	int key = -1, n = 0;

	while (!d->quit && (key = screen_key()) >= 0) {
		n++;
		if (key)
			top_state_key(&d->state, key, clock_ns(CLOCK_REALTIME));
		d->quit = d->state.quit;
	}
	/* readable without data, again and again: it has ended */
	if (n || !(revents & POLLIN))
		d->deaf = 0;
	else
		d->deaf++;
	if ((revents & (POLLHUP | POLLERR)) || d->deaf > DEAF_MAX)
		d->quit = true;
}

/* --- interactively ----------------------------------------------------------------- */

/* For a part of the system it is not known how many CPUs it may use. */
static uint64_t top_display_cpus(const struct display *d)
{
	const struct status *st = &d->hub.status;

	if (d->hub.known && !st->partial)
		return st->loader.cpus;
	return 0;
}

static void display_draw(struct display *d)
{
	uint64_t real = clock_ns(CLOCK_REALTIME), now = now_ns();

	if (now - d->line_ns >= LINE_NS)
		d->info.line[0] = '\0';
	if (top_display_cpus(d))
		d->info.cpus = top_display_cpus(d);
	top_state_refresh(&d->state, real);
	screen_draw(&d->state, &d->info, real);
	d->drawn_ns = now;
}

static void top_display_serve(struct display *d, bool keys, int timeout)
{
	struct pollfd p[] = {
		{ .fd = -1, .events = POLLIN },
		{ .fd = d->d->control, .events = POLLIN },
		{ .fd = d->hub.conn.fd, .events = POLLIN },
	};
	int r;

	if (keys && !d->suspended)
		p[0].fd = STDIN_FILENO;
	/* a signal means that the size has changed: ncurses reports it as a
	 * key */
	r = poll(p, 3, timeout);
	if (r < 0 && errno != EINTR)
		d->quit = true;
	if (r < 0)
		memset(p, 0, sizeof(p));
	if (p[1].revents)
		top_display_on_control(d, now_ns());
	if (p[2].revents)
		top_display_on_hub(d);
	if (keys && !d->suspended)
		display_on_keys(d, p[0].revents);
}

static int display_run_screen(struct display *d)
{
	display_draw(d);
	while (!d->quit) {
		uint64_t since = now_ns() - d->drawn_ns;
		int wait = 0;

		if (since < DRAW_NS)
			wait = (int)((DRAW_NS - since) / NSEC_PER_MSEC) + 1;
		top_display_serve(d, true, wait);
		if (!d->suspended && !d->quit)
			display_draw(d);
		else if (d->suspended)
			d->drawn_ns = now_ns();
		if (d->end_ns && now_ns() >= d->end_ns)
			d->quit = true;
	}
	if (!d->suspended)
		screen_end();
	return 0;
}

/* --- once ---------------------------------------------------------------------------- */

/* Print one table; samples lost since the last one are reported with it.  0 or
 * -errno. */
static int top_display_print(struct display *d)
{
	const struct options *o = d->d->opt;
	const struct top_head head = {
		.host = d->info.host, .cpus = top_display_cpus(d),
		.lost = hub_client_lost(&d->hub) - d->lost_said,
		.now = clock_ns(CLOCK_REALTIME),
	};
	uint32_t n = TOP_PLAIN_ROWS;
	int r;

	if (o->limit)
		n = o->limit;
	top_state_refresh(&d->state, 0);
	d->lost_said += head.lost;
	if (o->json)
		r = top_json(&d->state, &head, n, stdout);
	else
		r = top_plain(&d->state, &head, n, stdout);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	return r;
}

static int display_run_once(struct display *d)
{
	const struct options *o = d->d->opt;
	uint64_t want = TOP_PLAIN_MS * NSEC_PER_MSEC;
	int r;

	if (o->duration_ms)
		want = o->duration_ms * NSEC_PER_MSEC;
	d->end_ns = now_ns() + want + PATIENCE_NS;
	while (!d->quit && now_ns() < d->end_ns &&
	       top_model_span(&d->state.model) < want)
		top_display_serve(d, false, 200);
	r = top_display_print(d);
	if (d->state.model.dropped)
		log_warn("only the last %.1f s are shown: more did not fit "
			 "into %u MiB", d->state.table.seconds,
			 TOP_BYTES_MAX >> 20);
	if (!r && d->state.model.n == 0)
		log_err("no samples arrived");
	return r || d->state.model.n == 0;
}

static bool top_display_has_ended(const struct display *d, bool any)
{
	/* an interval may be longer than --duration: the first line is due */
	uint64_t more = PATIENCE_NS;

	if (any)
		more = 0;
	return d->quit || (d->end_ns && now_ns() >= d->end_ns + more);
}

/* Print a line for each interval, until asked to end. */
static int display_run_lines(struct display *d)
{
	bool any = false, ended = false;
	int r = 0;

	while (!r && !ended) {
		size_t n = d->state.model.n;

		top_display_serve(d, false, 200);
		ended = top_display_has_ended(d, any);
		/* batches of one interval arrive together */
		if (!d->state.model.n || (d->state.model.n != n && !ended))
			continue;
		any = true;
		r = top_display_print(d);
		top_model_clear(&d->state.model);
	}
	if (!any)
		log_err("no samples arrived");
	return r || !any;
}

static int display_run_plain(struct display *d)
{
	const struct options *o = d->d->opt;

	if (o->json && !o->once)
		return display_run_lines(d);
	return display_run_once(d);
}

/* --- begin ---------------------------------------------------------------------------- */

static void display_ignore_signals(void)
{
	static const int which[] = {
		SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGPIPE,
	};
	sigset_t none;

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		signal(which[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int top_display_prepare(struct display *d)
{
	const struct top_display *t = d->d;
	const int keep[] = { 0, 1, 2, t->control };
	uint64_t keep_ns = TOP_SPAN_NS;
	struct utsname u;
	bool utf8;

	if (dup2(t->log_fd, STDERR_FILENO) < 0)
		return -errno;
	display_ignore_signals();
	utf8 = top_text_locale();
	tzset();
	if (uname(&u) == 0)
		snprintf(d->info.host, sizeof(d->info.host), "%s", u.nodename);
	sandbox_close_fds(keep, 4);
	if (t->plain)
		keep_ns = 0;	/* all */
	top_state_init(&d->state, t->view, utf8, keep_ns);
	d->state.model.names = t->opt->names;
	if (!t->plain && screen_init()) {
		log_err("the terminal cannot be used");
		return -ENOTTY;
	}
	confine_display(t->seal_uid);
	return 0;
}

int top_display(const struct top_display *t)
{
	static const struct hub_client_ops ops = {
		.batch = top_display_take_batch, .gap = top_display_gap,
	};
	struct display d = { .d = t };
	int r;

	hub_client_init(&d.hub, NULL, 0, &ops, &d);
	d.info.hub = &d.hub;
	if (top_display_prepare(&d))
		return 1;
	if (t->opt->duration_ms)
		d.end_ns = now_ns() + t->opt->duration_ms * NSEC_PER_MSEC;
	if (t->plain)
		r = display_run_plain(&d);
	else
		r = display_run_screen(&d);
	hub_client_fini(&d.hub);
	top_state_fini(&d.state);
	return r;
}
