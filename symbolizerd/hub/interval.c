// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/interval.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "ipc/batch.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/symbolize.h"
#include "symbolizerd/knowledge/knowledge.h"

/* A batch is closed when its estimate passes this.  The largest possible event
 * adds less than what is left. */
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
static uint64_t interval_boot_time(struct knowledge *k, uint64_t now)
{
	if (now - k->boot_ns + BOOT_MOVED_NS > 2 * BOOT_MOVED_NS)
		k->boot_ns = now;
	return k->boot_ns;
}

static struct clocks interval_clocks(struct knowledge *k)
{
	uint64_t real = clock_ns(CLOCK_REALTIME);
	struct clocks c = { .now_ns = now_ns() };

	c.monotonic = real - c.now_ns;
	c.boottime = interval_boot_time(k, real - clock_ns(CLOCK_BOOTTIME));
	return c;
}

/* --- a batch ------------------------------------------------------------ */

static bool interval_pass_begin(struct knowledge *k, struct pass *p,
				const struct clocks *clocks)
{
	*p = (struct pass){
		.builder = batch_builder_new(k->frequency),
		.exes = &k->exes,
		.ksyms = &k->ksyms,
		.managed = &k->managed,
		.jit = &k->jit,
		.lines = &k->lines,
		.number = ++k->pass,
		.interval = k->interval,
		.now_ns = clocks->now_ns,
	};
	return p->builder != NULL;
}

static void interval_hand_over(struct knowledge *k, const struct pass *p,
			       const void *data, size_t len)
{
	struct iovec part = { .iov_base = (void *)data, .iov_len = len };
	uint64_t n = p->events;
	int fd = sealed_make("batch", &part, 1);

	if (fd < 0) {
		ledger_dropped(&k->ledger, n);
		log_err("batch of %zu bytes: %s", len, strerror(-fd));
		return;
	}
	k->out->batch(k->ctx, fd, k->batches.next_id,
		      &(struct msg_batch){ .bytes = len, .samples = n });
	if (batches_add(&k->batches, fd, len, n) < 0)
		log_err("no memory to keep a batch");
	k->stats.batches++;
	k->stats.frames_total += p->frames;
	k->stats.frames_unsymbolized += p->unsymbolized;
	if (len > TRIM_BYTES)
		malloc_trim(0);
}

static void interval_pass_end(struct knowledge *k, struct pass *p,
			      const struct clocks *clocks)
{
	uint64_t n = p->events;
	void *data;
	size_t len;
	int r;

	if (n > 0) {
		r = batch_builder_finish(p->builder, k->interval_start_ns,
					 clocks->now_ns + clocks->monotonic,
					 &data, &len);
		if (r < 0) {
			ledger_dropped(&k->ledger, n);
			log_err("making a batch: %s", strerror(-r));
		} else {
			interval_hand_over(k, p, data, len);
			free(data);
		}
	}
	batch_builder_free(p->builder);
	pass_fini(p);
}

/* --- events ------------------------------------------------------------- */

static uint32_t interval_string(struct pass *p, const char *s, size_t max)
{
	size_t len = strnlen(s, max);

	return len ? batch_string(p->builder, s, len) : 0;
}

static void interval_find_path(const struct knowledge *k, struct process *pr)
{
	const struct executable *e;

	if (pr->host_path || pr->exe == EXE_NONE)
		return;
	e = executables_number(&k->exes, pr->exe);
	if (e && e->path)
		process_set_path(pr, e->path, strlen(e->path), e->host_path);
}

/* How a process is called: by its main thread's name, and what it runs if that is an
 * interpreter's. */
static uint32_t interval_process_name(struct pass *p, const struct process *pr)
{
	char name[sizeof(pr->comm) + SCRIPT_MAX + 1];
	int n;

	if (!pr->script || !process_has_exe_name(pr))
		return interval_string(p, pr->comm, sizeof(pr->comm));
	n = snprintf(name, sizeof(name), "%.*s %s", (int)sizeof(pr->comm), pr->comm, pr->script);
	return interval_string(p, name, (size_t)n);
}

static uint32_t interval_resource(struct knowledge *k, struct pass *p,
				  struct process *pr,
				  const struct clocks *clocks)
{
	struct batch_resource r = {
		.pid = pr->id.tgid,
		.kernel = !pr->user,
		.start_ns = pr->id.start_ns + clocks->boottime,
	};
	const char *container, *slash;

	if (pr->stamp == p->number)
		return pr->resource;
	interval_find_path(k, pr);
	if (pr->path && pr->path[0]) {
		slash = strrchr(pr->path, '/');
		r.exe_path = interval_string(p, pr->path, MSG_PATH_MAX);
		r.exe_name = interval_string(p, slash ? slash + 1 : pr->path,
					     MSG_PATH_MAX);
	}
	container = cgroups_container(&k->cgroups, pr->cgroup_id);
	r.container_id = interval_string(p, container, CONTAINER_ID_MAX);
	r.unit = interval_string(p, cgroups_unit(&k->cgroups, pr->cgroup_id),
				 BATCH_UNIT_MAX);
	r.comm = interval_process_name(p, pr);
	p->cost += sizeof(r) + 256;
	pr->resource = batch_resource(p->builder, &r);
	pr->stamp = p->number;
	return pr->resource;
}

static void interval_add_event(struct knowledge *k, struct pass *p,
			       const struct event *ev,
			       const struct clocks *clocks)
{
	uint64_t time = clocks->now_ns;
	struct process *pr = processes_get(&k->processes, ev->process);
	struct batch_attr a = {
		.tid = ev->tid,
		.thread_name = interval_string(p, ev->comm, sizeof(ev->comm)),
		.cpu = ev->cpu,
	};
	uint32_t stack;

	if (ev->time_ns < time)		/* a sample is never later than now */
		time = ev->time_ns;
	p->cost += COST_EVENT;
	p->events++;
	stack = pass_stack(p, traces_get(&k->traces, ev->trace), ev->time_ns);
	batch_event(p->builder, stack, batch_attr(p->builder, &a),
		    interval_resource(k, p, pr, clocks), ev->stop,
		    time + clocks->monotonic);
}

static bool interval_event_waits(struct knowledge *k, struct pass *p,
				 const struct event *ev)
{
	struct trace *tr = traces_get(&k->traces, ev->trace);

	pass_trace(p, tr);
	return tr->waits && ev->carried < BATCH_CARRIES &&
	       p->now_ns - ev->time_ns < BATCH_CARRY_NS;
}

/* Hold an event back, and what it refers to. */
static void interval_carry(struct knowledge *k, struct event *to,
			   const struct event *ev)
{
	*to = *ev;
	to->carried++;
	traces_get(&k->traces, to->trace)->used = k->interval + 1;
	processes_get(&k->processes, to->process)->used = k->interval + 1;
}

static bool interval_own(const struct knowledge *k, const struct event *ev)
{
	const struct process *pr = processes_get(&k->processes, ev->process);

	return own_has(&k->own, pr->id.tgid, pr->id.start_ns);
}

/* Learn which programs run, before their processes are in the batch: then all samples of
 * this interval have that name. */
static void interval_find_scripts(struct knowledge *k, const struct pass *p)
{
	char script[SCRIPT_MAX];

	for (uint32_t i = 0; i < k->samples.n; i++) {
		struct process *pr = processes_get(&k->processes, k->samples.v[i].process);
		struct trace *tr = traces_get(&k->traces, k->samples.v[i].trace);

		if (pr->script)
			continue;
		pass_trace(p, tr);
		if (pass_script(p, tr, script))
			pr->script = strdup(script);
	}
}

static uint32_t interval_build(struct knowledge *k, bool all)
{
	struct clocks clocks = interval_clocks(k);
	struct samples *s = &k->samples;
	uint32_t kept = 0, i;
	struct pass p;

	if (!interval_pass_begin(k, &p, &clocks))
		return s->n;		/* tried again at the next interval */
	interval_find_scripts(k, &p);
	for (i = 0; i < s->n; i++) {
		struct event *ev = &s->v[i];

		if (interval_event_waits(k, &p, ev) && !all) {
			interval_carry(k, &s->v[kept++], ev);
			continue;
		}
		/* it may have been known as ours only later */
		if (interval_own(k, ev)) {
			ledger_own(&k->ledger, 1);
			continue;
		}
		interval_add_event(k, &p, ev, &clocks);
		if (p.cost < COST_MAX)
			continue;
		interval_pass_end(k, &p, &clocks);
		if (!interval_pass_begin(k, &p, &clocks)) {
			ledger_dropped(&k->ledger, s->n - i - 1);
			return kept;
		}
	}
	interval_pass_end(k, &p, &clocks);
	k->interval_start_ns = clocks.now_ns + clocks.monotonic;
	return kept;
}

/* What the batches of this interval showed stays in loaderd's tables. */
static void interval_files_used(struct knowledge *k)
{
	for (uint32_t n = EXE_VDSO; n < k->exes.numbers_cap; n++) {
		const struct executable *e = executables_number(&k->exes, n);

		if (e && e->used == k->interval)
			files_used(&k->files, n);
	}
}

/* Names that no sample met go, and BPF asks for the file again when the next one
 * does. */
static void interval_let_names_go(struct knowledge *k)
{
	uint32_t i = 0;

	while ((i = executables_let_names_go(&k->exes, i, k->interval)) != EXECUTABLE_NONE) {
		const struct executable *e = executables_get(&k->exes, i++);

		if (executables_number(&k->exes, e->number) == e)
			files_later(&k->files, e->number);
	}
}

void interval_end(struct knowledge *k, bool all)
{
	uint32_t kept = k->samples.n ? interval_build(k, all) : 0;

	if (k->samples.n == 0)
		k->interval_start_ns = clock_ns(CLOCK_REALTIME);
	interval_files_used(k);
	k->interval++;
	samples_keep(&k->samples, kept);
	traces_sweep(&k->traces, k->interval);
	ksym_sweep(&k->ksyms, &k->traces);
	managed_sweep(&k->managed, &k->traces, now_ns());
	jit_sweep(&k->jit, now_ns());
	source_lines_sweep(&k->lines, k->interval, now_ns());
	processes_sweep(&k->processes, k->interval);
	executables_sweep(&k->exes, k->interval);
	interval_let_names_go(k);
	k->out->interval_ended(k->ctx);
}

void interval_begin(struct knowledge *k)
{
	if (!k->samples.n)
		k->interval_start_ns = clock_ns(CLOCK_REALTIME);
}

bool interval_waits(struct knowledge *k)
{
	struct pass p = {
		.exes = &k->exes,
		.ksyms = &k->ksyms,
		.managed = &k->managed,
		.jit = &k->jit,
		.lines = &k->lines,
		.number = ++k->pass,
		.interval = k->interval,
		.now_ns = now_ns(),
	};

	for (uint32_t i = 0; i < k->samples.n; i++) {
		if (interval_event_waits(k, &p, &k->samples.v[i]))
			return true;
	}
	return false;
}
