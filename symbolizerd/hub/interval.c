// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/interval.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/hub.h"
#include "symbolizerd/hub/loader_files.h"
#include "symbolizerd/hub/symbolize.h"

/* A batch is closed when its estimate passes this; by far the largest event
 * adds less than the rest. */
#define COST_MAX	(BATCH_BYTES_MAX / 4)
#define COST_EVENT	(sizeof(struct batch_sample) + \
			 sizeof(struct batch_attr) + sizeof(uint64_t) + 16)
#define TRIM_BYTES	(1u << 20)	/* batch after which memory goes back */
#define BOOT_MOVED_NS	(10 * NSEC_PER_MSEC)	/* less is the clocks' reading */

/* From the clocks of records to CLOCK_REALTIME, ns to be added. */
struct clocks {
	uint64_t now_ns;		/* CLOCK_MONOTONIC */
	uint64_t monotonic, boottime;
};

/* The same for every batch, so that a process starts at the same time in each,
 * unless the clock was set. */
static uint64_t boot_time(struct hub *hub, uint64_t now)
{
	if (now - hub->boot_ns + BOOT_MOVED_NS > 2 * BOOT_MOVED_NS)
		hub->boot_ns = now;
	return hub->boot_ns;
}

static struct clocks clocks_now(struct hub *hub)
{
	uint64_t real = clock_ns(CLOCK_REALTIME);
	struct clocks c = { .now_ns = now_ns() };

	c.monotonic = real - c.now_ns;
	c.boottime = boot_time(hub, real - clock_ns(CLOCK_BOOTTIME));
	return c;
}

/* --- a batch ------------------------------------------------------------ */

static bool pass_begin(struct hub *hub, struct pass *p,
		       const struct clocks *clocks)
{
	*p = (struct pass){
		.builder = batch_builder_new(hub->frequency),
		.exes = &hub->exes,
		.ksyms = &hub->ksyms,
		.number = ++hub->pass,
		.interval = hub->interval,
		.now_ns = clocks->now_ns,
	};
	return p->builder != NULL;
}

static void hand_over(struct hub *hub, const struct pass *p, const void *data,
		      size_t len)
{
	struct iovec part = { .iov_base = (void *)data, .iov_len = len };
	uint64_t n = p->events;
	int fd = sealed_make("batch", &part, 1);

	if (fd < 0) {
		ledger_dropped(&hub->ledger, n);
		log_err("batch of %zu bytes: %s", len, strerror(-fd));
		return;
	}
	status_offer(hub, fd, hub->batches.next_id,
		     &(struct msg_batch){ .bytes = len, .samples = n });
	if (batches_add(&hub->batches, fd, len, n) < 0)
		log_err("no memory to keep a batch");
	hub->stats.batches++;
	hub->stats.frames_total += p->frames;
	hub->stats.frames_unsymbolized += p->unsymbolized;
	if (len > TRIM_BYTES)
		malloc_trim(0);
}

static void pass_end(struct hub *hub, struct pass *p,
		     const struct clocks *clocks)
{
	uint64_t n = p->events;
	void *data;
	size_t len;
	int r;

	if (n > 0) {
		r = batch_builder_finish(p->builder, hub->interval_start_ns,
					 clocks->now_ns + clocks->monotonic,
					 &data, &len);
		if (r < 0) {
			ledger_dropped(&hub->ledger, n);
			log_err("making a batch: %s", strerror(-r));
		} else {
			hand_over(hub, p, data, len);
			free(data);
		}
	}
	batch_builder_free(p->builder);
	pass_fini(p);
}

/* --- events ------------------------------------------------------------- */

static uint32_t string_of(struct pass *p, const char *s, size_t max)
{
	size_t len = strnlen(s, max);

	return len ? batch_string(p->builder, s, len) : 0;
}

static void find_path(const struct hub *hub, struct process *pr)
{
	const struct executable *e;

	if (pr->path || pr->exe == EXE_NONE)
		return;
	e = executables_number(&hub->exes, pr->exe);
	if (e && e->path)
		process_set_path(pr, e->path, strlen(e->path));
}

static uint32_t resource_of(struct hub *hub, struct pass *p,
			    struct process *pr, const struct clocks *clocks)
{
	struct batch_resource r = {
		.pid = pr->tgid,
		.kernel = !pr->user,
		.start_ns = pr->start_ns + clocks->boottime,
	};
	const char *container, *slash;

	if (pr->stamp == p->number)
		return pr->resource;
	find_path(hub, pr);
	if (pr->path && pr->path[0]) {
		slash = strrchr(pr->path, '/');
		r.exe_path = string_of(p, pr->path, MSG_PATH_MAX);
		r.exe_name = string_of(p, slash ? slash + 1 : pr->path,
				       MSG_PATH_MAX);
	}
	container = cgroups_container(&hub->cgroups, pr->cgroup_id);
	r.container_id = string_of(p, container, CONTAINER_ID_MAX);
	r.comm = string_of(p, pr->comm, sizeof(pr->comm));
	p->cost += sizeof(r) + 256;
	pr->resource = batch_resource(p->builder, &r);
	pr->stamp = p->number;
	return pr->resource;
}

static void add_event(struct hub *hub, struct pass *p, const struct event *ev,
		      const struct clocks *clocks)
{
	/* nobody samples the future */
	uint64_t time = ev->time_ns < clocks->now_ns ? ev->time_ns :
						       clocks->now_ns;
	struct process *pr = processes_get(&hub->processes, ev->process);
	struct batch_attr a = {
		.tid = ev->tid,
		.thread_name = string_of(p, ev->comm, sizeof(ev->comm)),
		.cpu = ev->cpu,
	};

	p->cost += COST_EVENT;
	p->events++;
	batch_event(p->builder,
		    pass_stack(p, traces_get(&hub->traces, ev->trace)),
		    batch_attr(p->builder, &a), resource_of(hub, p, pr, clocks),
		    ev->stop, time + clocks->monotonic);
}

static bool event_waits(struct hub *hub, struct pass *p,
			const struct event *ev)
{
	struct trace *tr = traces_get(&hub->traces, ev->trace);

	if (tr->stamp != p->number) {
		tr->stamp = p->number;
		tr->stack = UINT32_MAX;
		tr->waits = pass_trace_waits(p, tr);
	}
	return tr->waits && ev->carried < CARRY_MAX &&
	       p->now_ns - ev->time_ns < CARRY_NS;
}

/* Hold an event back, and what it refers to. */
static void carry(struct hub *hub, struct event *to, const struct event *ev)
{
	*to = *ev;
	to->carried++;
	traces_get(&hub->traces, to->trace)->used = hub->interval + 1;
	processes_get(&hub->processes, to->process)->used = hub->interval + 1;
}

static size_t interval_build(struct hub *hub, bool all)
{
	struct clocks clocks = clocks_now(hub);
	struct samples *s = &hub->samples;
	size_t kept = 0, i;
	struct pass p;

	if (!pass_begin(hub, &p, &clocks))
		return s->n;		/* again in a while, or full by then */
	for (i = 0; i < s->n; i++) {
		struct event *ev = &s->v[i];

		if (event_waits(hub, &p, ev) && !all) {
			carry(hub, &s->v[kept++], ev);
			continue;
		}
		add_event(hub, &p, ev, &clocks);
		if (p.cost < COST_MAX)
			continue;
		pass_end(hub, &p, &clocks);
		if (!pass_begin(hub, &p, &clocks)) {
			ledger_dropped(&hub->ledger, s->n - i - 1);
			return kept;
		}
	}
	pass_end(hub, &p, &clocks);
	hub->interval_start_ns = clocks.now_ns + clocks.monotonic;
	return kept;
}

void interval_end(struct hub *hub, bool all)
{
	size_t kept = hub->samples.n ? interval_build(hub, all) : 0;

	if (hub->samples.n == 0)
		hub->interval_start_ns = clock_ns(CLOCK_REALTIME);
	loader_files_used(hub);
	hub->interval++;
	samples_keep(&hub->samples, kept);
	traces_sweep(&hub->traces, hub->interval);
	processes_sweep(&hub->processes, hub->interval);
	executables_sweep(&hub->exes, hub->interval);
	exporter_link_flush(hub);
}

bool interval_waits(struct hub *hub)
{
	struct pass p = {
		.exes = &hub->exes,
		.ksyms = &hub->ksyms,
		.number = ++hub->pass,
		.now_ns = now_ns(),
	};

	for (size_t i = 0; i < hub->samples.n; i++) {
		if (event_waits(hub, &p, &hub->samples.v[i]))
			return true;
	}
	return false;
}
