// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/run.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/service.h"
#include "common/signals.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/worker/confine.h"

#define TICK_NS		NSEC_PER_SEC
#define TICK_ENDING_NS	(50 * NSEC_PER_MSEC)
#define JITTER_PERCENT	20u
/* After so many ticks without anything to do there is one in five seconds only. */
#define IDLE_TICKS	5
#define TICK_IDLE_NS	(5 * NSEC_PER_SEC)

#define hub_of(src, member)						\
	((struct hub *)((char *)(src) - offsetof(struct hub, member)))

/* --- timers ---------------------------------------------------------------- */

static int hub_run_timer_set(int fd, uint64_t ns, bool again)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
	struct itimerspec its = { .it_value = t };

	if (again)
		its.it_interval = t;
	return timerfd_settime(fd, 0, &its, NULL) < 0 ? -errno : 0;
}

/* The interval +-20 %, so that hosts do not send in step. */
static int hub_run_interval_set(struct hub *hub)
{
	uint64_t ns = hub->config.interval_ns, r = 0;

	(void)!getrandom(&r, sizeof(r), GRND_NONBLOCK);
	ns -= ns / 100 * JITTER_PERCENT;
	ns += r % (hub->config.interval_ns / 100 * JITTER_PERCENT * 2);
	return hub_run_timer_set(hub->interval_timer.fd, ns, false);
}

static int hub_run_expired(struct ev_source *src)
{
	uint64_t n;

	return read(src->fd, &n, sizeof(n)) == (ssize_t)sizeof(n);
}

/* For `systemctl status`, once an interval. */
static void hub_run_say_status(struct hub *hub)
{
	struct account a;
	unsigned int clients;

	status_account(&hub->status, &a, &clients);
	service_status("taken %llu samples, delivered %llu, own %llu, lost %llu, under way %llu; "
		       "%s, %s, %u readers; %u processes, %u executables",
		       (unsigned long long)a.taken, (unsigned long long)a.delivered,
		       (unsigned long long)a.own, (unsigned long long)a.lost,
		       (unsigned long long)a.under_way,
		       loader_link_up(&hub->loader) ? "loaderd" : "no loaderd",
		       exporter_link_ready(&hub->exporter) ? "exporterd" : "no exporterd",
		       clients, hub->k.processes.n, hub->k.exes.n);
}

/* --- each second ------------------------------------------------------------- */

static bool hub_run_is_idle(struct hub *hub)
{
	const struct file_policy *f = &hub->k.files;
	bool told = hub->sent == f->tables.sent;

	hub->sent = f->tables.sent;
	return told && !f->sweep && !hub->k.samples.n && !hub->k.managed.visits.waiting &&
	       (hub->k.lines.late || !hub->k.lines.visits.waiting) &&
	       !hub->k.presume_end_ns && !hub->loader_files.n_held &&
	       jobs_idle(&hub->jobs) && !status_watched(&hub->status);
}

static void hub_run_on_heard(void *ctx)
{
	struct hub *hub = ctx;

	if (hub->idle_ticks >= IDLE_TICKS && hub->phase == HUB_RUNNING)
		(void)!hub_run_timer_set(hub->tick.fd, TICK_NS, true);
	hub->idle_ticks = 0;
}

/* Who records or looks has lines as soon as they can be had. */
static void hub_run_lines_late(struct hub *hub)
{
	source_lines_late(&hub->k.lines, hub->config.always_on && !status_watched(&hub->status));
}

static void hub_run_tick(struct hub *hub, uint64_t now)
{
	hub_run_lines_late(hub);
	loader_link_tick(&hub->loader);
	jobs_tick(&hub->jobs, now);
	loader_files_tick(&hub->loader_files);
	jit_tick(&hub->k.jit, now);
	visits_ask(&hub->k.managed.visits, true, now);
	if (hub->k.presume_end_ns && now >= hub->k.presume_end_ns) {
		ledger_presume_no_more(&hub->k.ledger);
		hub->k.presume_end_ns = 0;
	}
	if (hub->phase != HUB_RUNNING)
		return;
	exporter_link_flush(&hub->exporter);
	status_send(&hub->status);
	service_alive();
	if (!hub_run_is_idle(hub))
		hub_run_on_heard(hub);
	else if (++hub->idle_ticks == IDLE_TICKS)
		(void)!hub_run_timer_set(hub->tick.fd, TICK_IDLE_NS, true);
}

static int hub_run_on_interval(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, interval_timer);

	(void)events;
	if (!hub_run_expired(src) || hub->phase >= HUB_WAIT_EXPORTER)
		return 0;
	loader_link_drain(&hub->loader);
	hub_run_lines_late(hub);
	interval_end(&hub->k, false);
	hub_run_say_status(hub);
	return hub_run_interval_set(hub);
}

/* --- totals ----------------------------------------------------------------- */

/* The hub ends, all that it had is finished, and its loaderd has left.  The checkpoint that
 * loaderd keeps for the hub's successor is older than what the hub finished afterwards, as
 * at an upgrade: so the hub leaves its last totals in systemd's store
 * (sd_pid_notify_with_fds(3)), where there is one. */
static void hub_run_leave_totals(struct ledger *l)
{
	struct loader_stats unused;
	struct hub_totals t;
	struct iovec part = { &t, sizeof(t) };
	int fd;

	/* its account goes on with the next two */
	l->life = LIFE_UP;
	ledger_view(l, &t, &unused);
	fd = sealed_make(HUB_TOTALS, &part, 1);
	if (fd < 0)
		return;
	service_notify_fd("FDSTORE=1\nFDPOLL=0\nFDNAME=" HUB_TOTALS, fd);
	close(fd);
}

/* Take over what a former hub left in fd (owned; negative: nothing), and remove it from the
 * store.  False: nothing of use. */
static bool hub_run_take_totals(struct hub_totals *ret, int fd)
{
	const void *p;
	size_t len;
	bool there;

	if (fd < 0)
		return false;
	service_notify("FDSTOREREMOVE=1\nFDNAME=" HUB_TOTALS);
	there = !sealed_map(fd, sizeof(*ret), sizeof(*ret), &p, &len);
	close(fd);
	if (!there)
		return false;
	memcpy(ret, p, sizeof(*ret));
	munmap((void *)p, len);
	return true;
}

/* --- the end ---------------------------------------------------------------- */

static void hub_run_enter(struct hub *hub, enum hub_phase phase, uint64_t ns)
{
	hub->phase = phase;
	hub->phase_end_ns = now_ns() + ns;
}

static void hub_run_finish(struct hub *hub)
{
	bool restart = hub->k.ledger.life == LIFE_UP;

	loader_link_drain(&hub->loader);
	interval_end(&hub->k, true);
	if (!restart)
		ledger_give_up(&hub->k.ledger);
	status_send(&hub->status);
	if (hub->k.ledger.life == LIFE_GONE)
		hub_run_leave_totals(&hub->k.ledger);
	hub->phase = HUB_ENDED;
	evloop_stop(&hub->loop);
}

static void hub_run_step(struct hub *hub, uint64_t now)
{
	bool late = now >= hub->phase_end_ns;

	if (hub->phase == HUB_WAIT_BYE && hub->k.ledger.life == LIFE_UP) {
		if (late)
			hub_run_finish(hub);
		return;
	}
	if (hub->phase == HUB_WAIT_BYE) {
		hub_run_enter(hub, HUB_WAIT_JOBS, JOBS_NS);
		late = false;
	}
	if (hub->phase == HUB_WAIT_JOBS && (late || !interval_waits(&hub->k))) {
		interval_end(&hub->k, true);
		hub_run_enter(hub, HUB_WAIT_EXPORTER, EXPORTER_NS);
		late = false;
	}
	if (hub->phase == HUB_WAIT_EXPORTER &&
	    (late || !exporter_link_ready(&hub->exporter) ||
	     ledger_outstanding(&hub->k.ledger) == 0))
		hub_run_finish(hub);
}

static int hub_run_on_signal(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, signals);
	struct signalfd_siginfo si;

	(void)events;
	if (read(src->fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return 0;
	if (hub->phase != HUB_RUNNING) {
		/* a second signal: do not wait any longer */
		hub->phase_end_ns = 0;
		return 0;
	}
	service_stopping();
	hub->k.lines.visits.ending = true;
	loader_link_stop_accepting(&hub->loader);
	exporter_link_stop_accepting(&hub->exporter);
	status_stop_accepting(&hub->status);
	hub_run_enter(hub, HUB_WAIT_BYE, BYE_NS);
	loader_link_drain(&hub->loader);
	hub_run_step(hub, now_ns());
	return hub_run_timer_set(hub->tick.fd, TICK_ENDING_NS, true);
}

static int hub_run_on_tick(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, tick);
	uint64_t now = now_ns();

	(void)events;
	if (!hub_run_expired(src))
		return 0;
	hub_run_tick(hub, now);
	if (hub->phase != HUB_RUNNING)
		hub_run_step(hub, now);
	return 0;
}

/* --- beginning ---------------------------------------------------------------- */

static int hub_run_add_timer(struct hub *hub, struct ev_source *src,
		     int (*fn)(struct ev_source *src, uint32_t events))
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	*src = (struct ev_source){ fd, fn };
	if (fd < 0)
		return -errno;
	return evloop_add(&hub->loop, src, EPOLLIN);
}

static int hub_run_add_signals(struct hub *hub)
{
	static const int which[] = { SIGTERM, SIGINT, 0 };

	hub->signals = (struct ev_source){
		signals_open(which), hub_run_on_signal,
	};
	if (hub->signals.fd < 0)
		return hub->signals.fd;
	return evloop_add(&hub->loop, &hub->signals, EPOLLIN);
}

static void hub_run_on_batch(void *ctx, int fd, uint64_t id, const struct msg_batch *m)
{
	status_offer(&((struct hub *)ctx)->status, fd, id, m);
}

static void hub_run_on_interval_ended(void *ctx)
{
	exporter_link_flush(&((struct hub *)ctx)->exporter);
}

static void hub_run_on_wanted(void *ctx, struct executable *e)
{
	loader_files_wanted(&((struct hub *)ctx)->loader_files, e);
}

static int hub_run_on_process(void *ctx, const struct visit_question *q)
{
	return jobs_add_process(&((struct hub *)ctx)->jobs, q);
}

static int hub_run_on_lines(void *ctx, uint32_t i, const struct visit_question *q)
{
	struct hub *hub = ctx;

	return jobs_add_lines(&hub->jobs, q, executables_get(&hub->k.exes, i)->number, i);
}

/* loaderd is to send its descriptor again. */
static void hub_run_on_open(void *ctx, uint32_t i)
{
	struct hub *hub = ctx;
	const struct executable *e = executables_get(&hub->k.exes, i);

	if (executables_number(&hub->k.exes, e->number) == e)
		files_later(&hub->k.files, e->number);
}

/* Tell clients that wait for the first sample, to start their clock, at once. */
static void hub_run_on_sampling(void *ctx)
{
	struct hub *hub = ctx;

	interval_begin(&hub->k);
	status_send(&hub->status);
	hub_run_say_status(hub);
}

/* Once all that timers and signals concern is there. */
static int hub_run_init_timers(struct hub *hub)
{
	int r = hub_run_add_timer(hub, &hub->tick, hub_run_on_tick);

	if (r == 0)
		r = hub_run_add_timer(hub, &hub->interval_timer,
				      hub_run_on_interval);
	if (r == 0)
		r = hub_run_add_signals(hub);
	if (r == 0)
		r = hub_run_timer_set(hub->tick.fd, TICK_NS, true);
	if (r < 0)
		return r;
	return hub_run_interval_set(hub);
}

static int hub_run_init_links(struct hub *hub, const struct hub_sockets *sockets)
{
	const struct hub_config *c = &hub->config;
	int r = loader_link_init(&hub->loader, &hub->loop, &hub->k,
				 loader_files_on_message, &hub->loader_files,
				 c->loader_uid, sockets->loader);

	if (r == 0)
		r = exporter_link_init(&hub->exporter, &hub->loop, &hub->k,
				       &hub->loader, c->exporter_uid, c->debuginfod,
				       sockets->exporter);
	if (r < 0)
		return r;
	hub->status = (struct status_clients){
		.loop = &hub->loop,
		.k = &hub->k,
		.exporter = &hub->exporter,
		.viewer_uid = c->viewer_uid,
		.readers = c->readers,
		.statm = c->statm,
		.interval_ns = c->interval_ns,
	};
	return status_init(&hub->status, sockets->status);
}

static void hub_run_init_own(struct hub *hub, const struct zygote_ends *zygote)
{
	const struct hub_config *c = &hub->config;
	struct own *own = &hub->k.own;

	own->shown = c->include_self;
	hub->k.managed.show_loops = c->show_loops;
	own_note(own, OWN_HUB, getpid());
	own_note(own, OWN_ZYGOTE, zygote->pid);
	for (uint32_t i = 0; i < c->n_own; i++)
		own_note(own, OWN_FIRST_GIVEN + i, c->own[i]);
}

/* Of the descriptors that confine_hub() will leave, those beyond what the rest
 * needs. */
static uint32_t hub_run_fds_kept(void)
{
	struct rlimit rl = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0 || rl.rlim_max <= HUB_FDS)
		return 0;
	if (rl.rlim_max - HUB_FDS >= HUB_FDS_KEPT)
		return HUB_FDS_KEPT;
	return (uint32_t)(rl.rlim_max - HUB_FDS);
}

/* ctx: its loader_files, as for all of debug_ops */
static bool hub_run_on_debug_missing(void *ctx, const struct build_id *id, uint32_t owner,
				     bool useless)
{
	struct hub *hub = (struct hub *)((char *)ctx - offsetof(struct hub, loader_files));

	return exporter_link_debug_missing(&hub->exporter, id, owner, useless);
}

/* Hub and loaderd have half of the share for files.  Workers have what all leave of it, at
 * least a quarter: names give way to tables, and lines to both. */
static void hub_run_init_share(struct hub *hub)
{
	struct visits *const visits[] = { &hub->k.managed.visits, &hub->k.jit.visits,
					  &hub->k.lines.visits };
	uint32_t share = hub->config.cpu_share, percent;
	struct job_queue *q = &hub->jobs.queues[JOB_FILE];

	if (!hub->config.always_on)
		share *= RECORDS_SHARE;
	if (share > 100)
		share = 100;
	percent = share * hub->config.cpus;	/* of one CPU */
	cpu_share_init(&hub->k.share, percent * 10 / 2, now_ns());
	user_share_init(&hub->k.workers, percent, now_ns());
	hub->jobs.share = &hub->k.share;
	q->share = &hub->k.workers;
	q->put_off = &hub->k.stats.jobs_put_off;
	for (size_t i = 0; i < sizeof(visits) / sizeof(visits[0]); i++) {
		visits[i]->share = &hub->k.workers;
		visits[i]->put_off = &hub->k.stats.jobs_put_off;
		visits[i]->reserve = 4;
	}
	hub->k.lines.visits.reserve = 2;
}

int hub_init(struct hub *hub, const struct hub_config *config,
	     const struct hub_sockets *sockets,
	     const struct zygote_ends *zygote)
{
	static const struct knowledge_out out = {
		.batch = hub_run_on_batch,
		.interval_ended = hub_run_on_interval_ended,
		.wanted = hub_run_on_wanted,
		.sampling = hub_run_on_sampling,
		.heard = hub_run_on_heard,
	};
	int r;

	memset(hub, 0, sizeof(*hub));
	hub->config = *config;
	hub->loader_files = (struct loader_files){
		.k = &hub->k, .jobs = &hub->jobs, .link = &hub->loader,
	};
	r = evloop_init(&hub->loop);
	if (r == 0)
		r = knowledge_init(&hub->k, &out, hub, &loader_files_out,
				   &hub->loader_files);
	if (r == 0)
		r = hub_run_init_links(hub, sockets);
	hub->loader_files.hangs.by_owner.seed = hub->k.jit.seed;
	hub->loader.left_valid = hub_run_take_totals(&hub->loader.left, sockets->totals);
	hub->debug_ops = loader_files_debug_ops;
	hub->debug_ops.missing = hub_run_on_debug_missing;
	hub->k.debug_files.ops = &hub->debug_ops;
	hub->k.debug_files.ctx = &hub->loader_files;
	hub->k.jit.visit = hub_run_on_process;
	hub->k.jit.ctx = hub;
	hub->k.managed.visit = hub_run_on_process;
	hub->k.managed.ctx = hub;
	hub->k.lines.visit = hub_run_on_lines;
	hub->k.lines.open = hub_run_on_open;
	hub->k.lines.ctx = hub;
	hub->k.exes.kept_max = hub_run_fds_kept();
	hub_run_init_own(hub, zygote);
	hub_run_init_share(hub);
	source_lines_share(&hub->k.lines, config->lines_share, now_ns());
	source_lines_late(&hub->k.lines, config->always_on);
	hub->jobs.deadline_ns = config->job_deadline_ns;
	if (r == 0)
		r = jobs_init(&hub->jobs, &hub->loop, &hub->k.stats,
			      &loader_files_jobs, &hub->loader_files, zygote);
	if (r < 0)
		return r;
	return hub_run_init_timers(hub);
}

int hub_run(struct hub *hub)
{
	return evloop_run(&hub->loop);
}

void hub_fini(struct hub *hub)
{
	loader_link_fini(&hub->loader);
	loader_files_fini(&hub->loader_files);
	exporter_link_fini(&hub->exporter);
	status_fini(&hub->status);
	jobs_fini(&hub->jobs);
	knowledge_fini(&hub->k);
	evloop_fini(&hub->loop);
}
