// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/service.h"
#include "common/service_status.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/hub/loader_files.h"

#define TICK_NS		NSEC_PER_SEC
#define TICK_ENDING_NS	(50 * NSEC_PER_MSEC)
#define JITTER_PERCENT	20u

void hub_offence(struct hub *hub, const char *who, int verdict)
{
	hub->stats.offences++;
	if (log_limited(&hub->offence_log))
		log_warn("offence of %s: %s", who, msg_verdict_name(verdict));
}

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
static int interval_set(struct hub *hub)
{
	uint64_t ns = hub->config.interval_ns, r = 0;

	(void)!getrandom(&r, sizeof(r), GRND_NONBLOCK);
	ns -= ns / 100 * JITTER_PERCENT;
	ns += r % (hub->config.interval_ns / 100 * JITTER_PERCENT * 2);
	return hub_run_timer_set(hub->interval_timer.fd, ns, false);
}

static int expired(struct ev_source *src)
{
	uint64_t n;

	return read(src->fd, &n, sizeof(n)) == (ssize_t)sizeof(n);
}

static int on_interval(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, interval_timer);

	(void)events;
	if (!expired(src) || hub->phase >= HUB_WAIT_EXPORTER)
		return 0;
	loader_link_drain(hub);
	interval_end(hub, false);
	return interval_set(hub);
}

/* --- the end ---------------------------------------------------------------- */

static void hub_run_enter(struct hub *hub, enum hub_phase phase, uint64_t ns)
{
	hub->phase = phase;
	hub->phase_end_ns = now_ns() + ns;
}

static void hub_run_finish(struct hub *hub)
{
	bool restart = hub->ledger.life == LIFE_UP;

	loader_link_drain(hub);
	interval_end(hub, true);
	if (!restart)
		ledger_give_up(&hub->ledger);
	status_send(hub);
	hub->phase = HUB_ENDED;
	evloop_stop(&hub->loop);
}

static void step(struct hub *hub, uint64_t now)
{
	bool late = now >= hub->phase_end_ns;

	if (hub->phase == HUB_WAIT_BYE && hub->ledger.life == LIFE_UP) {
		if (late)
			hub_run_finish(hub);
		return;
	}
	if (hub->phase == HUB_WAIT_BYE) {
		hub_run_enter(hub, HUB_WAIT_JOBS, JOBS_NS);
		late = false;
	}
	if (hub->phase == HUB_WAIT_JOBS && (late || !interval_waits(hub))) {
		interval_end(hub, true);
		hub_run_enter(hub, HUB_WAIT_EXPORTER, EXPORTER_NS);
		late = false;
	}
	if (hub->phase == HUB_WAIT_EXPORTER &&
	    (late || !exporter_link_ready(hub) ||
	     ledger_outstanding(&hub->ledger) == 0))
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
	loader_link_stop_accepting(hub);
	exporter_link_stop_accepting(hub);
	status_stop_accepting(hub);
	hub_run_enter(hub, HUB_WAIT_BYE, BYE_NS);
	loader_link_drain(hub);
	step(hub, now_ns());
	return hub_run_timer_set(hub->tick.fd, TICK_ENDING_NS, true);
}

static void say_status(struct hub *hub)
{
	service_status("%s, %s, %u traces, %u processes, %u executables",
		       loader_link_up(&hub->loader) ? "loaderd is there" :
						      "no loaderd",
		       exporter_link_ready(hub) ? "exporterd is there" :
						  "no exporterd",
		       hub->traces.n, hub->processes.n, hub->exes.n);
}

static int hub_run_on_tick(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, tick);
	uint64_t now = now_ns();

	(void)events;
	if (!expired(src))
		return 0;
	loader_link_tick(hub);
	jobs_tick(&hub->jobs, now);
	if (hub->presume_end_ns && now >= hub->presume_end_ns) {
		ledger_presume_no_more(&hub->ledger);
		hub->presume_end_ns = 0;
	}
	if (hub->phase != HUB_RUNNING) {
		step(hub, now);
		return 0;
	}
	exporter_link_flush(hub);
	status_send(hub);
	say_status(hub);
	service_alive();
	return 0;
}

/* --- beginning ---------------------------------------------------------------- */

static int add_timer(struct hub *hub, struct ev_source *src,
		     int (*fn)(struct ev_source *src, uint32_t events))
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	*src = (struct ev_source){ fd, fn };
	return fd < 0 ? -errno : evloop_add(&hub->loop, src, EPOLLIN);
}

static int add_signals(struct hub *hub)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	hub->signals = (struct ev_source){
		signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		hub_run_on_signal,
	};
	return hub->signals.fd < 0 ? -errno :
				     evloop_add(&hub->loop, &hub->signals,
						EPOLLIN);
}

static int init_knowledge(struct hub *hub)
{
	uint64_t seed[4];

	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	traces_init(&hub->traces, seed[0]);
	processes_init(&hub->processes, seed[1]);
	executables_init(&hub->exes, seed[2]);
	files_init(&hub->files, seed[3], &loader_files_out, hub);
	samples_keep(&hub->samples, 0);
	hub->interval = 1;
	hub->frequency = 1;
	hub->start_ns = now_ns();
	hub->interval_start_ns = clock_ns(CLOCK_REALTIME);
	hub->stats.start_ns = hub->interval_start_ns;
	/* by the clock: no two hubs use the same ids */
	batches_init(&hub->batches, &hub->ledger, hub->interval_start_ns);
	return 0;
}

int hub_init(struct hub *hub, const struct hub_config *config,
	     const struct hub_sockets *sockets,
	     const struct zygote_ends *zygote)
{
	int r;

	memset(hub, 0, sizeof(*hub));
	hub->config = *config;
	r = evloop_init(&hub->loop);
	if (r == 0)
		r = init_knowledge(hub);
	if (r == 0)
		r = loader_link_init(hub, sockets->loader);
	if (r == 0)
		r = exporter_link_init(hub, sockets->exporter);
	if (r == 0)
		r = status_init(hub, sockets->status);
	if (r == 0)
		r = jobs_init(&hub->jobs, &hub->loop, &hub->stats,
			      &loader_files_jobs, hub, zygote);
	if (r == 0)
		r = add_timer(hub, &hub->tick, hub_run_on_tick);
	if (r == 0)
		r = add_timer(hub, &hub->interval_timer, on_interval);
	if (r == 0)
		r = add_signals(hub);
	if (r == 0)
		r = hub_run_timer_set(hub->tick.fd, TICK_NS, true);
	return r < 0 ? r : interval_set(hub);
}

int hub_run(struct hub *hub)
{
	return evloop_run(&hub->loop);
}

void hub_fini(struct hub *hub)
{
	loader_link_fini(hub);
	exporter_link_fini(hub);
	status_fini(hub);
	jobs_fini(&hub->jobs);
	batches_fini(&hub->batches);
	samples_fini(&hub->samples);
	traces_fini(&hub->traces);
	processes_fini(&hub->processes);
	files_fini(&hub->files);
	executables_fini(&hub->exes);
	ksyms_clear(&hub->ksyms);
	cgroups_fini(&hub->cgroups);
	evloop_fini(&hub->loop);
}
