// SPDX-License-Identifier: Apache-2.0
/*
 * exporterd - sends finished batches of symbolizerd over the network
 *
 * Unprivileged; the only one of the three daemons with network access, and the only
 * parser of data from there.  It receives batches and sees nothing else of its host:
 * see confine.h.
 */
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cost.h"
#include "common/log.h"
#include "common/service.h"
#include "common/signals.h"
#include "exporterd/confine.h"
#include "exporterd/debuginfod.h"
#include "exporterd/fanout.h"
#include "exporterd/hub_link.h"
#include "exporterd/metrics_sender.h"
#include "exporterd/recorder.h"
#include "ipc/sealed.h"

#define DRAIN_NS	(5 * NSEC_PER_SEC)
#define LEAVE_NS	(3 * NSEC_PER_SEC)	/* for the request under way */
#define LAST_METRICS_NS	NSEC_PER_SEC	/* after the rest was given up */
#define LEAVE_TICK_NS	(20 * NSEC_PER_MSEC)
#define IDLE_TICK_NS	(5 * NSEC_PER_SEC)	/* nothing to send, counters do not change */

struct exporter {
	struct exporter_config cfg;
	struct evloop loop;
	struct exporter_hub hub;
	struct fanout fanout;		/* no endpoints with no_network */
	struct metrics_sender metrics;
	struct debuginfod debuginfod;	/* if cfg.debuginfod.n */
	struct recorder recorder;	/* if recorder_fd >= 0 */
	bool recording;
	struct ev_source signals;
	struct timer tick, deadline;
	bool draining, given_up;
	bool leaving;		/* a successor follows: the hub keeps the rest */
	bool idle;		/* the tick's period is IDLE_TICK_NS */
	struct exporter_stats stats;
	int statm;
};

/* --- counters and status ------------------------------------------------------ */

static uint64_t exporterd_held(void *arg);

static void exporterd_collect(struct exporter *e)
{
	struct exporter_stats *s = &e->stats;
	struct cost cost;

	fanout_stats(&e->fanout, s);
	debug_cache_stats(&e->debuginfod.cache, s);
	s->queued = exporterd_held(e);
	s->offences = e->hub.offences;
	if (e->recording)
		s->offences += e->recorder.offences;
	cost_read(e->statm, &cost);
	s->cpu_ns = cost.cpu_ns;
	s->rss_bytes = cost.rss_bytes;
}

static void exporterd_on_status(void *arg, const struct status *st)
{
	struct exporter *e = arg;

	metrics_sender_status(&e->metrics, st);
}

static void exporterd_end_metrics(struct exporter *e)
{
	exporterd_collect(e);
	metrics_sender_end(&e->metrics);
}

/* --- batches ----------------------------------------------------------------- */

static uint64_t exporterd_held(void *arg)
{
	struct exporter *e = arg;

	if (e->cfg.n_endpoints)
		return fanout_samples(&e->fanout);
	if (e->recording)
		return e->recorder.samples;
	return 0;
}

static bool exporterd_is_drained(const struct exporter *e)
{
	if (e->leaving && !fanout_left(&e->fanout))
		return false;
	if (!e->leaving && !fanout_idle(&e->fanout))
		return false;
	if (e->recording && !recorder_idle(&e->recorder))
		return false;
	return exporter_hub_flushed(&e->hub);
}

static void exporterd_end_if_drained(void *arg)
{
	struct exporter *e = arg;

	if (!e->draining || !exporterd_is_drained(e))
		return;
	exporterd_end_metrics(e);
	if (metrics_sender_idle(&e->metrics))
		evloop_stop(&e->loop);
}

static void exporterd_on_sent(void *arg, uint64_t id, uint64_t samples,
			      enum batch_outcome o)
{
	struct exporter *e = arg;

	exporter_hub_done(&e->hub, id, samples, o);
}

static void exporterd_on_recorded(void *arg, uint64_t id, uint64_t samples,
				  enum batch_outcome o)
{
	struct exporter *e = arg;

	if (!e->cfg.n_endpoints)
		exporter_hub_done(&e->hub, id, samples, o);
	exporterd_end_if_drained(e);
}

/* Have only exporterd's own costs changed? */
static bool exporterd_no_news(const struct exporter_stats *s, struct exporter_stats before)
{
	before.cpu_ns = s->cpu_ns;
	before.rss_bytes = s->rss_bytes;
	return !memcmp(s, &before, sizeof(before));
}

static void exporterd_set_tick(struct exporter *e, bool idle)
{
	uint64_t ns = idle ? IDLE_TICK_NS : NSEC_PER_SEC;

	if (idle != e->idle)
		timer_set(&e->tick, ns, ns);
	e->idle = idle;
}

/* Returns an outcome; -1: a callback will report it. */
static int exporterd_pass_on(struct exporter *e, uint64_t id, int fd,
			     const struct msg_batch *m, const struct batch *b)
{
	if (e->recording)
		recorder_add(&e->recorder, id, fd, m);
	if (e->cfg.n_endpoints) {
		fanout_add(&e->fanout, id, fd, b);
		return -1;
	}
	if (e->recording)
		return -1;
	return BATCH_NO_RECEIVER;
}

static int exporterd_on_batch(void *arg, uint64_t id, int fd,
			      const struct msg_batch *m)
{
	struct exporter *e = arg;
	struct batch b = { 0 };
	const void *data;
	size_t len = 0;
	int r, outcome = BATCH_INVALID;

	if (!e->leaving)
		exporterd_set_tick(e, false);
	r = sealed_map(fd, sizeof(struct batch_hdr), BATCH_BYTES_MAX, &data,
		       &len);
	if (r == 0) {
		if (m->bytes == len && batch_open(data, len, &b) == 0 &&
		    batch_n(&b, BATCH_TIMES) == m->samples)
			outcome = exporterd_pass_on(e, id, fd, m, &b);
		munmap((void *)data, len);
	} else if (r != -EPROTO) {
		log_err("cannot map a batch: %s", strerror(-r));
		outcome = BATCH_GAVE_UP;
	}
	if (outcome >= 0)
		exporter_hub_done(&e->hub, id, m->samples, outcome);
	if (outcome == BATCH_INVALID)
		return MSG_BAD_CONTENT;
	return MSG_OK;
}

/* --- debug files ------------------------------------------------------------- */

static bool exporterd_on_debuginfo(void *arg, uint64_t id,
				   const struct msg_debuginfo_wanted *m)
{
	struct exporter *e = arg;

	if (!e->leaving)
		exporterd_set_tick(e, false);
	return debuginfod_ask(&e->debuginfod, id, m);
}

static void exporterd_on_debug_file(void *arg, uint64_t id, int fd)
{
	exporter_hub_debuginfo(&((struct exporter *)arg)->hub, id, fd);
}

static void exporterd_hub_gone(void *arg)
{
	struct exporter *e = arg;

	if (e->cfg.debuginfod.n)
		debuginfod_forget(&e->debuginfod);
}

/* --- once a second, and at the end ------------------------------------------- */

/* The account of the samples is that of the first receiver. */
static void exporterd_say_status(const struct exporter_stats *s)
{
	const struct receiver *first = &s->receivers[0];
	char answer[32] = "none yet";
	unsigned int n = 0;

	while (n < RECEIVERS_MAX && s->receivers[n].url[0])
		n++;
	if (first->http_status)
		snprintf(answer, sizeof(answer), "%llu",
			 (unsigned long long)first->http_status);
	if (!n)
		service_status("sends nothing: no receiver is configured");
	else
		service_status("delivered %llu samples, lost %llu, %llu wait; %llu requests, "
			       "%llu retries, last answer: %s; to %s and %u others",
			       (unsigned long long)first->delivered,
			       (unsigned long long)(first->rejected + first->queue_full +
						    first->gave_up),
			       (unsigned long long)s->queued,
			       (unsigned long long)first->requests,
			       (unsigned long long)first->retries, answer, first->url, n - 1);
}

static void exporterd_on_tick(void *arg)
{
	struct exporter *e = arg;
	struct exporter_stats *s = &e->stats, before = *s;

	if (e->leaving) {
		exporterd_end_if_drained(e);
		return;
	}
	fanout_feed(&e->fanout);
	exporterd_collect(e);
	exporterd_set_tick(e, !s->queued && exporterd_no_news(s, before));
	exporter_hub_stats(&e->hub, s);
	service_alive();
	exporterd_say_status(s);
}

static void exporterd_give_up(void *arg)
{
	struct exporter *e = arg;

	fanout_give_up(&e->fanout, e->leaving);
	if (e->recording && !e->leaving)
		recorder_give_up(&e->recorder);
	if (!e->given_up && !e->leaving &&
	    !metrics_sender_idle(&e->metrics)) {
		e->given_up = true;
		exporterd_end_metrics(e);
		timer_set(&e->deadline, LAST_METRICS_NS, 0);
		return;
	}
	metrics_sender_give_up(&e->metrics);
	evloop_stop(&e->loop);
}

/*
 * Another exporterd takes over: batches that are not answered by then are not given up,
 * the hub sends them to that one.
 */
static void exporterd_leave(struct exporter *e)
{
	e->leaving = true;
	timer_set(&e->deadline, LEAVE_NS, 0);
	timer_set(&e->tick, LEAVE_TICK_NS, LEAVE_TICK_NS);
	fanout_leave(&e->fanout, now_ns() + LEAVE_NS);
}

static int exporterd_on_signal(struct ev_source *src, uint32_t events)
{
	struct exporter *e = (struct exporter *)((char *)src -
						 offsetof(struct exporter, signals));
	struct signalfd_siginfo si;

	(void)events;
	if (read(src->fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return 0;
	if (e->draining) {
		if (si.ssi_signo != SIGHUP)
			exporterd_give_up(e);
		return 0;
	}
	service_stopping();
	e->draining = true;
	exporter_hub_close(&e->hub);
	timer_set(&e->deadline, DRAIN_NS, 0);
	if (si.ssi_signo == SIGHUP)
		exporterd_leave(e);
	else
		fanout_drain(&e->fanout, now_ns() + DRAIN_NS);
	exporterd_end_if_drained(e);
	return 0;
}

/* --- memory ------------------------------------------------------------------ */

/*
 * exporterd is idle most of the time, and should be small then.  Before anything is
 * allocated: one heap for all threads, and large blocks that go back to the system
 * when they are freed.
 */
static void exporterd_init_memory(void)
{
	/* glibc would reserve 64 MiB for curl's resolver thread */
	mallopt(M_ARENA_MAX, 1);
	/* and would raise this threshold with every large block */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

/* Pages of code that the dynamic loader has changed must not be dropped. */
static bool exporterd_has_text_relocations(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const ElfW(Dyn) *d;

		if (p->p_type != PT_DYNAMIC)
			continue;
		d = (const void *)(info->dlpi_addr + p->p_vaddr);
		for (; d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_TEXTREL ||
			    (d->d_tag == DT_FLAGS &&
			     (d->d_un.d_val & DF_TEXTREL)))
				return true;
		}
		return false;
	}
	return true;
}

static int exporterd_trim_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)arg;
	if (exporterd_has_text_relocations(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr, end;

		if (p->p_type != PT_LOAD || (p->p_flags & PF_W))
			continue;
		/* whole pages only: a last one may be shared with data */
		end = (start + p->p_filesz) & ~(page - 1);
		start = (start + page - 1) & ~(page - 1);
		if (start < end)
			madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

/*
 * After the start: unmap the pages of code and constants that the start of some 35
 * libraries (those of libcurl's) has touched.  What is needed later comes back from the
 * page cache.
 */
static void exporterd_trim_memory(void)
{
	malloc_trim(0);
	dl_iterate_phdr(exporterd_trim_object, NULL);
}

/* --- life -------------------------------------------------------------------- */

static int exporterd_catch_signals(struct exporter *e)
{
	static const int which[] = { SIGTERM, SIGINT, SIGHUP, 0 };

	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	e->signals = (struct ev_source){
		signals_open(which), exporterd_on_signal,
	};
	if (e->signals.fd < 0)
		return e->signals.fd;
	return evloop_add(&e->loop, &e->signals, EPOLLIN);
}

static int exporterd_start(struct exporter *e)
{
	static const struct exporter_hub_ops ops = {
		.batch = exporterd_on_batch,
		.status = exporterd_on_status,
		.debuginfo = exporterd_on_debuginfo,
		.gone = exporterd_hub_gone,
		.held = exporterd_held,
		.flushed = exporterd_end_if_drained,
	};
	int r = evloop_init(&e->loop);

	if (r == 0)
		r = exporterd_catch_signals(e);
	if (r == 0)
		r = service_init();
	if (r == 0)
		r = timer_init(&e->tick, &e->loop, exporterd_on_tick, e);
	if (r == 0)
		r = timer_init(&e->deadline, &e->loop, exporterd_give_up, e);
	if (r == 0)
		r = exporter_hub_init(&e->hub, &e->loop, e->cfg.hub, e->cfg.hub_uid,
				      &ops, e);
	if (r)
		return r;
	service_scrub_env();
	e->statm = cost_open();
	e->stats.start_ns = clock_ns(CLOCK_REALTIME);
	e->fanout.outcome = exporterd_on_sent;
	e->fanout.ended = exporterd_end_if_drained;
	e->fanout.arg = e;
	r = fanout_init(&e->fanout, &e->loop, &e->cfg);
	if (r < 0)
		return r;
	r = metrics_sender_init(&e->metrics, &e->loop, &e->cfg.metrics,
				&e->cfg.resource.pairs, &e->stats, exporterd_end_if_drained, e);
	if (r < 0)
		return r;
	e->hub.wants_status = metrics_sender_on(&e->metrics);
	e->hub.debuginfod = e->cfg.debuginfod.n > 0;
	debug_cache_init(&e->debuginfod.cache);
	if (e->hub.debuginfod) {
		r = debuginfod_init(&e->debuginfod, &e->loop, &e->cfg.debuginfod, &e->stats,
				    exporterd_on_debug_file, e);
		if (r < 0)
			return r;
	}
	if (e->cfg.recorder_fd >= 0) {
		r = recorder_init(&e->recorder, &e->loop, e->cfg.recorder_fd,
				  exporterd_on_recorded, e);
		if (r < 0)
			return r;
		e->recording = true;
	}
	return 0;
}

static int exporterd_run(struct exporter *e)
{
	uint64_t untold;
	int r;

	if (e->cfg.no_receiver)
		log_info("not sending: --no-%s", e->cfg.no_network ? "network" : "receiver");
	for (unsigned int i = 0; i < e->cfg.n_endpoints; i++)
		log_info("sending to %s", e->cfg.endpoints[i].shown_url);
	if (e->cfg.debuginfod.n)
		log_info("requesting debug files from %u debuginfod servers: build IDs leave this "
			 "host", e->cfg.debuginfod.n);
	e->hub.spools = e->fanout.spool.dir >= 0;
	fanout_start(&e->fanout);
	debug_cache_scan(&e->debuginfod.cache);
	exporterd_collect(e);
	metrics_sender_start(&e->metrics);
	timer_set(&e->tick, NSEC_PER_SEC, NSEC_PER_SEC);
	exporter_hub_start(&e->hub);
	service_ready();
	r = evloop_run(&e->loop);
	fanout_say_outcomes(&e->fanout);
	untold = exporter_hub_untold(&e->hub);
	if (untold)
		log_warn("could not report the outcome of %llu samples to symbolizerd",
			 (unsigned long long)untold);
	return r;
}

int main(int argc, char **argv)
{
	static struct exporter e;
	int r;

	exporterd_init_memory();
	log_init("trifold-exporterd", false);
	r = exporter_config_load(&e.cfg, argc, argv);
	if (r) {
		exporter_config_fini(&e.cfg);
		return r < 0 ? 0 : r;
	}
	log_init("trifold-exporterd", e.cfg.debug);
	r = exporterd_start(&e);
	if (r < 0) {
		log_err("cannot start: %s", strerror(-r));
	} else {
		exporter_confine(&e.cfg, &e.fanout.spool, &e.debuginfod.cache);
		exporterd_trim_memory();
		r = exporterd_run(&e);
	}
	/* the kernel frees the rest */
	return r < 0 ? 1 : 0;
}
