// SPDX-License-Identifier: Apache-2.0
#include "cli/front/show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/config/env.h"
#include "cli/config/libexec.h"
#include "cli/config/transfer.h"
#include "cli/config/confine.h"
#include "cli/front/make_plan.h"
#include "cli/front/phases.h"
#include "cli/front/progress.h"
#include "cli/front/reload.h"
#include "cli/record/console.h"
#include "cli/record/recorder_link.h"
#include "cli/record/signals.h"
#include "cli/status/report.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/hub_client.h"

#define PLAIN_NS	(10 * NSEC_PER_SEC)	/* between lines, when not on a
						 * terminal */

struct show {
	struct options *opt;
	struct target *target;
	struct config *config;	/* of opt; NULL: none */
	bool plain;
	bool network;
	struct live_page page;
	struct console console;
	struct progress progress;
	struct hub_client watch;
	struct recorder_link recorder;
	struct plan plan;
	struct orders orders;
	struct phases phases;
	bool ready;		/* all daemons are; waits for loaderd to
				 * sample */
	bool running;
	uint64_t run_ns, shown_ns;
	struct report_run run;
};

void show_note_terminal(struct show_terminal *ret)
{
	*ret = (struct show_terminal){ .tty = -1, .nohup = signals_nohup() };
	if (!ret->nohup)
		ret->tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

static void show_read(struct show *s, uint64_t now)
{
	int r = hub_client_read(&s->watch, now);

	if (r > 0)
		log_err("invalid status message from symbolizerd: %s",
			msg_verdict_name(r));
	if (s->running && s->watch.known)
		report_run_note(&s->run, &s->watch.status);
}

/* --- what is shown ------------------------------------------------------------ */

static void show_running(void *arg, uint64_t now)
{
	const char *blank = "", *elsewhere = "";
	struct show *s = arg;
	char address[80];

	s->running = true;
	s->run_ns = s->shown_ns = now;
	report_run_note(&s->run, &s->watch.status);
	if (s->page.elsewhere)
		elsewhere = " (its usual port is taken)";
	if (s->page.on)
		console_say(&s->console, "live page%s: %s", elsewhere,
			    live_page_address(&s->page, address));
	if (*s->target->what)
		blank = " ";
	if (!s->opt->rest[0] && !s->opt->duration_ms &&
	    (s->plain || s->console.tty))
		console_say(&s->console, "profiling %s%suntil Ctrl-C",
			    s->target->what, blank);
}

static uint64_t show_every(const struct show *s)
{
	if (s->console.tty)
		return NSEC_PER_SEC;
	return PLAIN_NS;
}

static void show_progress(struct show *s, uint64_t now)
{
	uint64_t every = show_every(s);
	char text[256];

	if (!s->running || !s->watch.known || (!s->console.tty && !s->plain) ||
	    now - s->shown_ns < every)
		return;
	s->shown_ns += (now - s->shown_ns) / every * every;
	if (s->plain)
		report_progress(&s->watch.status,
				(now - s->run_ns) / NSEC_PER_SEC, text,
				sizeof(text));
	else
		progress_line(&s->progress, &s->watch.status, now - s->run_ns,
			      s->opt->duration_ms * NSEC_PER_MSEC, text,
			      sizeof(text));
	if (s->console.tty)
		console_progress(&s->console, text);
	else
		console_say(&s->console, "%s", text);
}

/* When the last recorded process has ended, so has the recording. */
static void show_target(struct show *s, uint64_t now)
{
	uint32_t pid;

	if (!s->running || s->target->kind != TARGET_PIDS)
		return;
	while ((pid = target_ended(s->target)))
		console_say(&s->console, "process %u has ended", pid);
	if (s->target->running)
		return;
	phases_end(&s->phases, now);
}

static void show_last_word(struct show *s, bool failed)
{
	char text[768];

	show_read(s, now_ns());
	console_fini(&s->console);
	s->run.stopped = s->phases.quick;
	s->run.unwritten = s->phases.unwritten;
	s->run.elsewhere = s->page.on || s->network;
	if (s->watch.known && s->run_ns) {
		report_summary(&s->watch.status, &s->run, text, sizeof(text));
		log_info("%s", text);
	} else if (!failed) {
		log_warn("no account of the samples was received");
	}
}

/* --- callbacks of the phases ---------------------------------------------- */

static void show_hub(void *arg, int fd, uid_t hub_uid, bool ready)
{
	struct show *s = arg;

	hub_client_take(&s->watch, fd, hub_uid);
	s->ready |= ready;
}

static void show_recorder(void *arg, int fd)
{
	struct show *s = arg;

	s->recorder.control = fd;
}

static void show_feed(void *arg, int fd)
{
	const struct record_msg feed = { .kind = RECORD_FEED };
	struct show *s = arg;

	if (recorder_link_tell(&s->recorder, &feed, fd))
		console_say(&s->console, "the recorder does not respond");
}

static void show_ending(void *arg)
{
	struct show *s = arg;

	show_read(s, now_ns());
	s->running = false;
}

static int show_write(void *arg, uint64_t start_ns, uint64_t end_ns)
{
	struct record_msg m = { .kind = RECORD_END };
	struct show *s = arg;
	int r;

	show_read(s, now_ns());
	if (s->watch.known)
		report_account(&s->watch.status, &m.account);
	m.account.start_ns = start_ns;
	m.account.end_ns = end_ns;
	r = recorder_link_tell(&s->recorder, &m, -1);
	if (r)
		console_say(&s->console, "the recorder does not respond");
	close(s->recorder.control);
	s->recorder.control = -1;
	return r;
}

static const struct phases_ops show_ops = {
	.hub = show_hub, .recorder = show_recorder, .feed = show_feed,
	.running = show_running, .ending = show_ending, .write = show_write,
};

/* 0, or -EPIPE: the supervisor is gone. */
static int show_listen(struct show *s, uint64_t now)
{
	struct tell t;
	int r;

	while ((r = orders_next(&s->orders, &t)) > 0)
		phases_tell(&s->phases, &t, now);
	return r;
}

static void show_reload(struct show *s, uint64_t now)
{
	static struct config fresh;
	uint32_t which;
	int r = config_receive(&fresh, s->phases.reader);

	if (r == -EAGAIN)
		return;
	close(s->phases.reader);
	s->phases.reader = -1;
	console_pump(&s->console);
	console_clear(&s->console);
	if (!r && !reload_possible(s->opt, &fresh)) {
		config_fini(&fresh);
		r = -EINVAL;
	}
	if (r || !s->config) {
		console_say(&s->console, "Not reloaded: the configuration stays as it was.");
		return;
	}
	which = reload(s->opt, s->config, &fresh, &s->console);
	s->network = config_env_export(s->config);
	if (!make_plan(&s->plan, s->opt, s->target, &s->page, s->network))
		phases_replace(&s->phases, which, now);
}

/* Before the first sample. */
static void show_reading(struct show *s)
{
	const struct status *st = &s->watch.status;
	char text[64];

	if (!s->console.tty || !st->loader_up || st->loader.cpus || !st->hub.exes)
		return;
	snprintf(text, sizeof(text), "reading %" PRIu64 " files",
		 st->hub.exes);
	console_progress(&s->console, text);
}

static void show_status(struct show *s, uint64_t now)
{
	show_read(s, now);
	if (s->ready && s->watch.statuses)
		show_reading(s);
	/* sampling starts when the tables of running programs are there, or
	 * soon */
	if (!s->ready || !s->watch.statuses || !s->watch.status.loader_up ||
	    !s->watch.status.loader.cpus)
		return;
	s->ready = false;
	phases_run(&s->phases, now);
}

static int show_timeout_ms(const struct show *s, uint64_t now)
{
	int wait = phases_timeout_ms(&s->phases, now), line;

	if (s->orders.n)
		return 0;
	if (!s->running || !(s->console.tty || s->plain))
		return wait;
	if (s->shown_ns + show_every(s) <= now)
		line = 0;
	else
		line =
			(int)((s->shown_ns + show_every(s) - now) / NSEC_PER_MSEC) + 1;
	if (line < wait)
		return line;
	return wait;
}

/* 0 or -errno: the supervisor is gone. */
static int show_loop(struct show *s)
{
	while (s->phases.phase != PHASE_ENDED) {
		struct pollfd p[] = {
			{ .fd = s->orders.fd, .events = POLLIN },
			{ .fd = s->console.read_fd, .events = POLLIN },
			{ .fd = s->watch.conn.fd, .events = POLLIN },
			{ .fd = -1, .events = POLLIN },
			{ .fd = s->phases.reader, .events = POLLIN },
			{ .fd = s->phases.notify, .events = POLLIN },
		};
		uint64_t now = now_ns();

		if (s->running)
			p[3].fd = s->target->ended;
		if (poll(p, 6, show_timeout_ms(s, now)) < 0 && errno != EINTR)
			return -errno;
		now = now_ns();
		if (p[1].revents)
			console_pump(&s->console);
		if (p[2].revents)
			show_status(s, now);
		if (p[4].revents)
			show_reload(s, now);
		if (p[5].revents)
			phases_notify(&s->phases);
		if ((p[0].revents || s->orders.n) && show_listen(s, now))
			return -EPIPE;
		show_target(s, now);
		show_progress(s, now);
		phases_advance(&s->phases, now);
	}
	return 0;
}

/* Console, page, runtime directory: before the front is confined.  0, or another
 * value after a message. */
static int show_open(struct show *s, const struct options *o, bool plain)
{
	char programs[PATH_MAX];
	int r = console_init(&s->console, o->verbose);

	if (r) {
		log_err("cannot begin: %s", strerror(-r));
		return r;
	}
	r = libexec_find(o->libexec, programs);
	if (!r && plain)
		r = live_page_open(&s->page, o, programs);
	if (!r)
		r = make_plan(&s->plan, o, s->target, &s->page, s->network);
	if (r)
		return r;
	s->phases.notify = orders_open(&s->orders, s->console.write_fd);
	close(s->console.write_fd);
	s->console.write_fd = -1;
	if (s->phases.notify < 0)
		return s->phases.notify;
	return setsockopt(s->phases.notify, SOL_SOCKET, SO_PASSCRED, &(int){ 1 },
			  sizeof(int));
}

int show(struct options *o, struct target *target, struct config *c, bool plain,
	 const struct show_terminal *terminal)
{
	static struct show s;
	struct phases *p = &s.phases;

	s = (struct show){
		.opt = o, .target = target, .config = c, .plain = plain,
		.recorder.control = -1, .orders.fd = SHOW_SUPERVISOR_FD,
		/* `record` does not send: only `run` has an endpoint */
		.network = plain && config_env_export(c),
	};
	hub_client_init(&s.watch, NULL, 0, NULL, NULL);
	if (show_open(&s, o, plain))
		return 1;
	alarm(0);
	confine_front();
	p->plan = &s.plan;
	p->orders = &s.orders;
	p->console = &s.console;
	p->ops = &show_ops;
	p->arg = &s;
	p->tty = terminal->tty;
	p->nohup = terminal->nohup;
	p->n_page = s.page.sockets.n;
	memcpy(p->page, s.page.sockets.fd, sizeof(p->page));
	phases_begin(p, now_ns());
	if (show_loop(&s))
		return 1;
	show_last_word(&s, p->failed);
	if (p->failed)
		return 1;
	return p->status;
}
