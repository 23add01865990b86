// SPDX-License-Identifier: Apache-2.0
#include "cli/record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/config/confine.h"
#include "cli/record/record_watch.h"
#include "cli/config/sudo_caller.h"
#include "common/log.h"
#include "common/service.h"
#include "common/utf8.h"
#include "ipc/conn.h"
#include "ipc/fdpass.h"
#include "ipc/message_hub.h"
#include "ipc/sealed.h"
#include "profile/collect.h"
#include "profile/formats/formats.h"
#include "profile/names.h"
#include "profile/outfile.h"


/* --- the writer ------------------------------------------------------------ */

struct writer {
	const struct options *opt;
	struct collect collect;
	struct profile_info info;
	struct conn feed;
	struct record_watch watch;
	int control;
	int out;
	bool end;
};

static enum batch_outcome record_recorder_take_batch(struct writer *w,
						     const struct msg *m)
{
	const struct msg_batch *mb = (const void *)m->buf;
	enum batch_outcome outcome;
	bool was_full = w->collect.refused != 0;
	const void *data;
	size_t len;

	if (sealed_map(m->fds[0], sizeof(struct batch_hdr), BATCH_BYTES_MAX,
		       &data, &len))
		return BATCH_INVALID;
	if (len == mb->bytes)
		outcome = collect_add(&w->collect, data, len, mb->samples);
	else
		outcome = BATCH_INVALID;
	munmap((void *)data, len);
	if (w->collect.refused && !was_full)
		log_warn("the profile has reached its largest size (%u MiB): "
			 "from now on samples are counted, not kept",
			 BATCH_BYTES_MAX >> 20);
	return outcome;
}

/* Wait until an answer fits into the socket; exporterd reads, or ends. */
static int record_recorder_answer(struct conn *c, uint64_t id,
				  const struct msg_batch_done *d)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	int r;

	while ((r = conn_send(c, MSG_BATCH_DONE, id, d, sizeof(*d), NULL, 0,
			      NULL, 0)) == -EAGAIN) {
		if (poll(&p, 1, 10000) <= 0)
			return -EPIPE;
	}
	return r;
}

/* Take all messages of exporterd; closes the feed when exporterd is gone. */
static void recorder_drain_feed(struct writer *w)
{
	struct msg_batch_done done = { 0 };
	struct msg m;
	int r = 0;

	while (w->feed.fd >= 0 && r == 0) {
		r = conn_recv(&w->feed, &m);
		if (r)
			break;
		if (m.hdr.type == MSG_BATCH) {
			done.samples = ((struct msg_batch *)m.buf)->samples;
			done.outcome = record_recorder_take_batch(w, &m);
			r = record_recorder_answer(&w->feed, m.hdr.id, &done);
		} else {
			r = MSG_BAD_TYPE;
		}
		msg_close_fds(&m);
	}
	if (r > 0)
		log_err("invalid message from exporterd: %s",
			msg_verdict_name(r));
	if (r && r != -EAGAIN)
		conn_close(&w->feed);
}

static void recorder_open_feed(struct writer *w, int fd)
{
	recorder_drain_feed(w);
	conn_close(&w->feed);
	conn_init(&w->feed, fd, PEER_EXPORTERD, CONN_READY);
}

/* 0; -EPIPE when the supervisor is gone; or another -errno. */
static int record_recorder_on_control(struct writer *w)
{
	struct record_msg m;
	int fd;
	ssize_t n = fdpass_recv(w->control, &m, sizeof(m), 0, &fd);

	if (n < 0)
		return n == -EINTR ? 0 : (int)n;
	if (n == 0)
		return -EPIPE;
	if (n != sizeof(m))
		return -EPROTO;
	if (m.kind == RECORD_FEED && fd >= 0) {
		recorder_open_feed(w, fd);
		return 0;
	}
	if (m.kind == RECORD_WATCH && fd >= 0) {
		record_watch_open(&w->watch, fd, m.hub_uid);
		return 0;
	}
	if (m.kind == RECORD_RANGE) {
		record_watch_range(&w->watch, &m.range);
		return 0;
	}
	if (m.kind != RECORD_END)
		return -EPROTO;
	w->info.account = m.account;
	w->info.account.reasons[sizeof(m.account.reasons) - 1] = '\0';
	w->end = true;
	return 0;
}

/* Print the last line: what was written, and why it may be empty. */
static void recorder_summary(const struct writer *w, const struct batch *b,
			     size_t bytes)
{
	uint32_t n = batch_n(b, BATCH_TIMES), stacks = batch_n(b, BATCH_STACKS);
	char name[256];

	log_info("%s: %u sample%s, %u distinct stack%s, %zu KiB",
		 outfile_shown(w->opt->output, name, sizeof(name)), n,
		 n == 1 ? "" : "s", stacks, stacks == 1 ? "" : "s",
		 bytes / 1024);
	if (!n)
		log_info("No samples: the target used no CPU. Only running code "
			 "is sampled.");
}

/* 0 or -errno; *done: so many bytes were taken. */
static int recorder_write_bytes(const struct writer *w, const struct buffer *out, size_t *done)
{
	while (*done < out->len) {
		ssize_t n = write(w->out, out->data + *done, out->len - *done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO;
		if (n > 0)
			*done += (size_t)n;
	}
	return 0;
}

/* Who reads standard output may have had enough of it, such as head(1): that is no loss. */
static int recorder_closed(const struct writer *w, size_t done, size_t all)
{
	char name[256];

	outfile_shown(w->opt->output, name, sizeof(name));
	if (!done) {
		log_err("%s is closed: nothing was written", name);
		return -EPIPE;
	}
	log_info("%s: its reader closed it after %zu of %zu bytes", name, done, all);
	return 0;
}

static int recorder_write_out(struct writer *w)
{
	struct buffer out = { 0 };
	struct batch b;
	void *data;
	size_t len, done = 0;
	int r;

	r = collect_finish(&w->collect, &data, &len);
	if (r)
		return r;
	r = batch_open(data, len, &b);
	if (!r)
		names_choose(&b, data, w->opt->names);
	if (!r)
		r = format_at(w->opt->format)->encode(&b, &w->info, &out);
	if (!r)
		r = recorder_write_bytes(w, &out, &done);
	if (!r)
		recorder_summary(w, &b, out.len);
	else if (r == -EPIPE)
		r = recorder_closed(w, done, out.len);
	free(out.data);
	free(data);
	return r;
}

static int recorder_collect_until_end(struct writer *w)
{
	int r = 0;

	while (!w->end && !r) {
		struct pollfd p[] = {
			{ .fd = w->control, .events = POLLIN },
			{ .fd = w->feed.fd, .events = POLLIN },
			{ .fd = w->watch.hub.conn.fd, .events = POLLIN },
		};

		if (w->watch.on)
			record_watch_say(&w->watch);
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return -errno;
		if (p[2].revents)
			record_watch_read(&w->watch);
		if (p[1].revents)
			recorder_drain_feed(w);
		if (p[0].revents)
			r = record_recorder_on_control(w);
	}
	recorder_drain_feed(w);
	if (w->watch.on) {
		record_watch_say(&w->watch);
		record_watch_account(&w->watch, &w->info.account);
	}
	return r;
}

static void recorder_describe(struct profile_info *info,
			      const struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;

	/* for a part of the system it is not known how busy the rest was */
	if (!o->part && cpus > 0)
		info->cpus = (uint32_t)cpus;
	else
		info->cpus = 0;
	if (uname(&u) == 0) {
		snprintf(info->host, sizeof(info->host), "%s", u.nodename);
		snprintf(info->kernel, sizeof(info->kernel), "%s", u.release);
		snprintf(info->machine, sizeof(info->machine), "%s", u.machine);
	}
	if (o->command)
		snprintf(info->command, sizeof(info->command), "%.*s",
			 (int)utf8_fit(o->command, sizeof(info->command) - 1), o->command);
	info->lines = o->lines;
	info->inlined = o->inlined;
	info->nameless = o->no_placeholders;
}

static int writer_run(const struct options *o, int out, pid_t file_owner)
{
	struct writer w = {
		.opt = o, .control = (int)o->control_fd, .out = out,
		.feed.fd = -1,
	};
	const int keep[] = { 0, 1, 2, w.control, out };
	int r;

	recorder_describe(&w.info, o);
	sandbox_close_fds(keep, 5);
	if (collect_init(&w.collect, o->frequency))
		return 1;
	record_watch_init(&w.watch, &w.collect, o->frequency, w.control);
	confine_recorder(o->seal_uid);
	if (getppid() != file_owner)
		return 1;
	r = recorder_collect_until_end(&w);
	if (!r)
		r = recorder_write_out(&w);
	if (r && r != -EPIPE)
		log_err("cannot write the profile: %s", strerror(-r));
	return r ? 1 : 0;
}

/* --- the file owner --------------------------------------------------------- */

/* Wait for the writer; on SIGTERM kill it.  Returns its status. */
static int recorder_wait_writer(pid_t pid, const sigset_t *set)
{
	int status, sig;

	for (;;) {
		if (sigwait(set, &sig))
			continue;
		if (sig == SIGTERM)
			kill(pid, SIGKILL);
		else if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
	}
}

static int recorder_keep(const struct options *o, struct outfile *f)
{
	pid_t self = getpid(), pid;
	sigset_t set, old;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		_exit(writer_run(o, f->fd, self));
	}
	close((int)o->control_fd);
	service_status(RECORDER_WRITER "%d", (int)pid);
	service_ready();
	if (pid < 0)
		status = -1;
	else
		status = recorder_wait_writer(pid, &set);
	if (status == 0)
		return outfile_commit(f) ? 1 : 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		log_err("the recorder was stopped by its system call filter");
	outfile_abandon(f);
	return 1;
}

int recorder_run(const struct options *o)
{
	struct outfile f;
	pid_t parent = getppid();

	if (!o->output || !o->format || !o->control_fd || !o->seal_uid)
		return EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	/* a process that executed /proc/self/exe is called "exe" */
	prctl(PR_SET_NAME, "trifold-record");
	service_init();
	service_scrub_env();
	if (sudo_caller_become())
		return 1;
	/* the change of uid cleared the signal that the supervisor had set */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		return 1;
	if (outfile_open(&f, o->output, format_at(o->format)->looks & FORMAT_FOR_PEOPLE))
		return 1;
	/* who reads the batches has no other way to a terminal than the log */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return 1;
	return recorder_keep(o, &f);
}
