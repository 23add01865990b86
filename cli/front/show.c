// SPDX-License-Identifier: Apache-2.0
#include "cli/front/show.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/config/env.h"
#include "cli/config/transfer.h"
#include "cli/front/confine.h"
#include "cli/front/make_plan.h"
#include "cli/front/progress.h"
#include "cli/front/reload.h"
#include "cli/record/console.h"
#include "cli/record/recorder_link.h"
#include "cli/status/report.h"
#include "cli/supervisor/child.h"
#include "cli/supervisor/programs.h"
#include "common/clock.h"
#include "common/log.h"
#include "ipc/hub_client.h"

#define SUPERVISOR_FD	CHILD_FD_FIRST
#define LOG_FD		(CHILD_FD_FIRST + 1)
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
	int reader;		/* socket; -1: none */
	bool ready;		/* all daemons are: does loaderd sample? */
	bool running;
	uint64_t run_ns, shown_ns;
};

/* --- to the supervisor -------------------------------------------------------- */

static int show_send_plan(struct show *s, uint32_t replace)
{
	static struct plan_words w;
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(LISTEN_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &w.plan, 0 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t fds = (size_t)s->page.sockets.n * sizeof(int);
	int r = make_plan(&w, s->opt, s->target, &s->page, s->network);

	if (r)
		return r;
	w.plan.replace = replace;
	iov.iov_len = w.plan.bytes;
	if (fds && !s->run_ns) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(fds);
		memcpy(CMSG_DATA(&control.align), s->page.sockets.fd, fds);
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(fds);
	}
	if (sendmsg(SUPERVISOR_FD, &mh, MSG_NOSIGNAL) == (ssize_t)iov.iov_len)
		return 0;
	r = -errno;
	log_err("the supervisor cannot be told: %s", strerror(-r));
	return r;
}

static void show_tell(enum front_kind kind)
{
	const uint32_t word = kind;

	/* if nobody listens, the end of the socket is next */
	(void)!send(SUPERVISOR_FD, &word, sizeof(word), MSG_NOSIGNAL);
}

static void show_read(struct show *s, uint64_t now)
{
	int r = hub_client_read(&s->watch, now);

	if (r > 0)
		log_err("symbolizerd broke the protocol of its status: %s",
			msg_verdict_name(r));
}

/* --- what is shown ------------------------------------------------------------ */

static void show_running(struct show *s, uint64_t now)
{
	char address[80];

	s->running = true;
	s->run_ns = s->shown_ns = now;
	if (s->page.on)
		console_say(&s->console, "live page%s: %s", s->page.elsewhere ?
			    " (its usual port is taken)" : "",
			    live_page_address(&s->page, address));
	if (!s->opt->rest[0] && !s->opt->duration_ms &&
	    (s->plain || s->console.tty))
		console_say(&s->console, "profiling %s%suntil Ctrl-C",
			    s->target->what, *s->target->what ? " " : "");
}

static uint64_t show_every(const struct show *s)
{
	return s->console.tty ? NSEC_PER_SEC : PLAIN_NS;
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

/* When all that shall be recorded has ended, so has the recording. */
static void show_target(struct show *s)
{
	uint32_t pid;

	if (!s->running || s->target->kind != TARGET_PIDS)
		return;
	while ((pid = target_ended(s->target)))
		console_say(&s->console, "process %u has ended", pid);
	if (s->target->running)
		return;
	s->running = false;
	show_tell(FRONT_END);
}

static void show_last_word(struct show *s, bool failed)
{
	char text[768];

	show_read(s, now_ns());
	console_fini(&s->console);
	if (s->watch.known && s->run_ns) {
		report_summary(&s->watch.status, text, sizeof(text));
		log_info("%s", text);
	} else if (!failed) {
		log_warn("no account of the samples was received");
	}
}

/* --- what the supervisor says ------------------------------------------------- */

static void show_hub(struct show *s, const struct told *m, int fd)
{
	if (hub_client_take(&s->watch, fd, m->hub_uid))
		return;
	s->ready |= m->ready != 0;
}

static void show_write(struct show *s, const struct told *t)
{
	struct record_msg m = { .kind = RECORD_END };

	show_read(s, now_ns());
	if (s->watch.known)
		report_account(&s->watch.status, &m.account);
	m.account.start_ns = t->start_ns;
	m.account.end_ns = t->end_ns;
	if (recorder_link_tell(&s->recorder, &m, -1))
		console_say(&s->console, "the recorder does not listen");
	close(s->recorder.control);
	s->recorder.control = -1;
}

/* Takes over fd.  True: that was the last one. */
static bool show_told(struct show *s, const struct told *t, int fd, uint64_t now)
{
	const struct record_msg feed = { .kind = RECORD_FEED };
	int *keep = t->kind == TOLD_RECORDER ? &s->recorder.control :
		t->kind == TOLD_RELOAD ? &s->reader : NULL;

	if (keep && fd >= 0) {
		if (*keep >= 0)
			close(*keep);
		*keep = fd;
		fd = -1;
	} else if (t->kind == TOLD_HUB && fd >= 0) {
		show_hub(s, t, fd);
		fd = -1;
	} else if (t->kind == TOLD_FEED && fd >= 0) {
		if (recorder_link_tell(&s->recorder, &feed, fd))
			console_say(&s->console, "the recorder does not listen");
	} else if (t->kind == TOLD_RUNNING) {
		show_running(s, now);
	} else if (t->kind == TOLD_ENDING) {
		s->running = false;
	} else if (t->kind == TOLD_WRITE) {
		show_write(s, t);
	}
	if (fd >= 0)
		close(fd);
	return t->kind == TOLD_DONE;
}

/* 1: it is done, *failed says how; 0; or -EPIPE: the supervisor is gone. */
static int show_listen(struct show *s, bool *failed, uint64_t now)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	struct told t;
	struct iovec iov = { &t, sizeof(t) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(SUPERVISOR_FD, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c;
	int fd = -1;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != sizeof(t))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&mh);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	*failed = t.failed != 0;
	return show_told(s, &t, fd, now);
}

static void show_reload(struct show *s)
{
	static struct config fresh;
	uint32_t which;
	int r = config_receive(&fresh, s->reader);

	if (r == -EAGAIN)
		return;
	close(s->reader);
	s->reader = -1;
	console_pump(&s->console);
	console_clear(&s->console);
	if (!r && !reload_possible(s->opt, &fresh)) {
		config_fini(&fresh);
		r = -EINVAL;
	}
	if (r || !s->config) {
		console_say(&s->console, "the configuration stays as it was");
		return;
	}
	which = reload(s->opt, s->config, &fresh, &s->console);
	s->network = config_env_export(s->config);
	show_send_plan(s, which);
}

static void show_status(struct show *s, uint64_t now)
{
	show_read(s, now);
	/* no CPU is sampled until the tables of what runs are there, or soon */
	if (!s->ready || !s->watch.statuses || !s->watch.status.loader_up ||
	    !s->watch.status.loader.cpus)
		return;
	s->ready = false;
	show_tell(FRONT_BEGIN);
}

static int show_loop(struct show *s, bool *failed)
{
	int r = 0;

	while (!r) {
		struct pollfd p[] = {
			{ .fd = SUPERVISOR_FD, .events = POLLIN },
			{ .fd = s->console.read_fd, .events = POLLIN },
			{ .fd = s->watch.conn.fd, .events = POLLIN },
			{ .fd = s->running ? s->target->ended : -1,
			  .events = POLLIN },
			{ .fd = s->reader, .events = POLLIN },
		};
		uint64_t now = now_ns(), every = show_every(s);
		int wait = -1;

		if (s->running && (s->console.tty || s->plain))
			wait = s->shown_ns + every <= now ? 0 :
				(int)((s->shown_ns + every - now) /
				      NSEC_PER_MSEC) + 1;
		if (poll(p, 5, wait) < 0 && errno != EINTR)
			return -errno;
		now = now_ns();
		if (p[1].revents)
			console_pump(&s->console);
		if (p[2].revents)
			show_status(s, now);
		if (p[4].revents)
			show_reload(s);
		if (p[0].revents)
			r = show_listen(s, failed, now);
		show_target(s);
		show_progress(s, now);
	}
	return r;
}

int show(struct options *o, struct target *target, struct config *c, bool plain)
{
	struct show s = {
		.opt = o, .target = target, .config = c, .plain = plain,
		.recorder.control = -1, .reader = -1,
		/* to record is not to send: only `run` has an endpoint */
		.network = plain && config_env_export(c),
	};
	char programs[PATH_MAX];
	bool failed = false;
	int r;

	hub_client_init(&s.watch, NULL, 0, NULL, NULL);
	r = console_open(&s.console, o->verbose, LOG_FD);
	if (!r && plain)
		r = programs_find(o->libexec, programs) ? -ENOENT :
			live_page_open(&s.page, o, programs);
	if (r)
		return 1;
	if (show_send_plan(&s, 0))
		return 1;
	listen_close(&s.page.sockets);
	if (front_confine())
		return 1;
	r = show_loop(&s, &failed);
	if (r > 0)
		show_last_word(&s, failed);
	return r < 0;
}
