// SPDX-License-Identifier: Apache-2.0
#include "cli/status/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "ipc/counter_table.h"
#include "profile/busy.h"

#define MISSED_SHOWN_S	0.05	/* less is shown as 0.0 */

__attribute__((format(printf, 3, 4))) static void
report_add(char *out, size_t size, const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out + len, size - len, fmt, ap);
	va_end(ap);
}

void report_reasons(const struct status *st, char *out, size_t size)
{
	struct counted c;

	out[0] = '\0';
	counted_make(st, &c);
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *row = &counter_table[i];
		uint64_t lost = counter_value(&c, row);

		if (row->group == GROUP_LOST_BY && lost)
			report_add(out, size, "%s%s %" PRIu64, *out ? ", " : "",
				   row->name, lost);
	}
}

void report_progress(const struct status *st, uint64_t elapsed, char *out,
		     size_t size)
{
	struct account a;

	account_sum(st, &a);
	snprintf(out, size, "%" PRIu64 " s  %" PRIu64 " samples, %" PRIu64
		 " lost, %" PRIu64 " processes, %" PRIu64 " files, %" PRIu64
		 " stacks", elapsed, a.taken, a.lost, st->hub.processes,
		 st->hub.exes, st->hub.traces);
}

void report_run_note(struct report_run *run, const struct status *st)
{
	/* not known while loaderd is restarted, and at the end */
	if (!st->frequency || !st->loader.cpus)
		return;
	run->mixed |= run->frequency && run->frequency != st->frequency;
	run->frequency = st->frequency;
	run->cpus = st->loader.cpus;
	run->partial = st->partial;
}

static void report_busy(const struct report_run *run, const struct account *a, char *out,
			size_t size)
{
	struct busy busy;

	if (!run->frequency || run->mixed || !a->covered_ns)
		return;
	busy = busy_of((double)busy_samples(a->taken, a->own) / run->frequency,
		       (double)a->covered_ns / NSEC_PER_SEC);
	if (run->partial)
		report_add(out, size, "; %.1f s of CPU time in %.1f s", busy.used_s,
			   busy_span_s(a->covered_ns, run->cpus));
	else
		report_add(out, size, "; %.1f of %.1f CPU-seconds busy (%.0f %%)",
			   busy.used_s, busy.all_s, 100 * busy.share);
}

/* What was lost by this status: of a recording that was not written, all. */
static void report_lost(const struct status *st, const struct report_run *run,
			const struct account *a, char *out, size_t size)
{
	char why[512];

	if (run->unwritten && !run->elsewhere) {
		report_add(out, size, "all lost: no recording was written");
		return;
	}
	report_reasons(st, why, sizeof(why));
	report_add(out, size, a->lost ? "%" PRIu64 " lost" : "none lost", a->lost);
	if (*why)
		report_add(out, size, " (%s)", why);
}

void report_summary(const struct status *st, const struct report_run *run,
		    char *out, size_t size)
{
	double missed_s;
	struct account a;

	account_sum(st, &a);
	missed_s = (double)a.missed_ns / NSEC_PER_SEC;
	snprintf(out, size, "%" PRIu64 " sample%s, ", a.taken,
		 a.taken == 1 ? "" : "s");
	report_lost(st, run, &a, out, size);
	if (a.own)
		report_add(out, size, ", %" PRIu64 " of trifold itself left out",
			   a.own);
	if (a.under_way && (run->elsewhere || !run->unwritten))
		report_add(out, size, ", %" PRIu64 " under way%s", a.under_way,
			   run->stopped ? " when it was stopped" : "");
	if (a.difference)
		report_add(out, size, ", difference %" PRId64, a.difference);
	if (run->unwritten && run->elsewhere)
		report_add(out, size, "; no recording was written");
	report_busy(run, &a, out, size);
	if (missed_s >= MISSED_SHOWN_S)
		report_add(out, size, "; %.1f CPU-seconds not sampled", missed_s);
}

void report_account(const struct status *st, struct profile_account *ret)
{
	struct account a;

	account_sum(st, &a);
	memset(ret, 0, sizeof(*ret));
	ret->taken = a.taken;
	ret->delivered = a.delivered;
	ret->lost = a.lost;
	ret->own = a.own;
	ret->difference = a.difference;
	ret->covered_ns = a.covered_ns;
	ret->missed_ns = a.missed_ns;
	ret->known = 1;
	report_reasons(st, ret->reasons, sizeof(ret->reasons));
}

/* --- the table ------------------------------------------------------------- */

static void report_head(FILE *to, const char *name)
{
	fprintf(to, "\n%s\n", name);
}

static void report_row(FILE *to, const char *name, uint64_t v)
{
	fprintf(to, "  %-28s %14" PRIu64 "\n", name, v);
}

static void report_share(FILE *to, const char *name, uint64_t v, uint64_t of)
{
	fprintf(to, "  %-28s %14" PRIu64 "  %6.2f %%\n", name, v,
		of ? 100.0 * (double)v / (double)of : 0.0);
}

static bool report_in_seconds(const struct counter *row)
{
	return row->metric && strcmp(row->metric->unit, "s") == 0;
}

/* The rows of the table that are under this heading. */
static void report_section(const struct counted *c, FILE *to,
			   enum counter_section s)
{
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *r = &counter_table[i];
		uint64_t v = counter_value(c, r);

		if (r->section != s || !r->label || (r->rare && !v))
			continue;
		if (report_in_seconds(r))
			fprintf(to, "  %-28s %14.3f\n", r->label,
				(double)v / NSEC_PER_SEC);
		else
			report_row(to, r->label, v);
	}
}

static void report_samples(const struct counted *c, FILE *to)
{
	const struct account *a = &c->sum;

	report_head(to, "Samples");
	report_section(c, to, SECTION_SAMPLES);
	fprintf(to, "  taken %" PRIu64 " = delivered %" PRIu64
		" + trifold's own %" PRIu64 " + lost %" PRIu64
		" + under way %" PRIu64 ": %s", a->taken, a->delivered, a->own,
		a->lost, a->under_way, a->difference ? "difference " : "agrees\n");
	if (a->difference)
		fprintf(to, "%" PRId64 "\n", a->difference);
}

static void report_stops(const struct counted *c, FILE *to)
{
	const uint64_t *n = &c->st.loader.bpf[BPF_STOP];
	uint64_t sum = 0;

	for (int i = 0; i < STOP__MAX; i++)
		sum += n[i];
	report_head(to, "Where user stacks ended");
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *r = &counter_table[i];
		uint64_t v = counter_value(c, r);

		if (r->group == GROUP_STOPS && v)
			report_share(to, r->label, v, sum);
	}
	report_head(to, "Stacks that symbolizerd received");
	report_section(c, to, SECTION_RECEIVED);
	report_share(to, "complete, all in files", c->st.hub.complete_native,
		     c->st.hub.native);
}

static void report_stacks(const struct counted *c, FILE *to)
{
	const uint64_t *bpf = c->st.loader.bpf;
	uint64_t taken = bpf[BPF_TAKEN];

	report_head(to, "Stacks");
	report_section(c, to, SECTION_STACKS);
	report_share(to, "frames without a symbol",
		     c->st.hub.frames_unsymbolized, c->st.hub.frames_total);
	report_row(to, "user frames a sample, mean",
		   taken ? bpf[BPF_FRAMES] / taken : 0);
}

static void report_quarantine(const struct status *st, FILE *to)
{
	uint64_t more = st->hub.exes_failed;

	if (!more)
		return;
	report_head(to, "Quarantined: a worker died of these files");
	for (int i = 0; i < QUARANTINE_SHOWN; i++) {
		const char *path = st->quarantine.path[i];
		size_t len = strnlen(path, QUARANTINE_PATH);
		char out[4 * QUARANTINE_PATH + 1];

		if (!len)
			break;
		log_quote(path, len, out, sizeof(out));
		fprintf(to, "  %s%s\n", *path == '/' ? "" : "...", out);
		more -= more > 0;
	}
	if (more)
		fprintf(to, "  and %" PRIu64 " more\n", more);
}

static void report_each_process(const struct own_processes *list, FILE *to)
{
	if (list->n)
		fprintf(to, "  %-28s %14s %14s\n", "as the kernel counts",
			"CPU, s", "memory, bytes");
	for (size_t i = 0; i < list->n; i++) {
		const struct own_process *p = &list->v[i];
		char quoted[4 * sizeof(p->name)], name[sizeof(quoted) + 32];

		log_quote(p->name, strlen(p->name), quoted, sizeof(quoted));
		snprintf(name, sizeof(name), "%*s%s %d", 2 * (int)p->depth, "",
			 quoted, (int)p->pid);
		fprintf(to, "    %-26s %14.3f %14" PRIu64 "\n", name,
			(double)p->cpu_ns / NSEC_PER_SEC, p->rss_bytes);
	}
}

static void report_costs(const struct counted *c,
			 const struct own_processes *list, FILE *to)
{
	const uint64_t *bpf = c->st.loader.bpf;
	uint64_t taken = bpf[BPF_TAKEN];

	uint64_t all_ns = status_cpu_ns(&c->st) + processes_silent_ns(list);
	uint64_t host_ns = status_host_ns(&c->st);

	report_head(to, "Costs");
	fprintf(to, "  %-28s %14.3f", "all of trifold: CPU, s", (double)all_ns / NSEC_PER_SEC);
	if (all_ns < host_ns)
		fprintf(to, "  %6.2f %% of this host", 100 * (double)all_ns / (double)host_ns);
	fprintf(to, "\n");
	report_section(c, to, SECTION_COSTS);
	report_row(to, "BPF ns a sample, mean",
		   taken ? bpf[BPF_RUN_NS] / taken : 0);
	report_each_process(list, to);
}

static void report_processes(const struct counted *c, FILE *to)
{
	report_head(to, "Processes");
	fprintf(to, "  %-28s %14s\n", "loaderd", c->loader_up ? "up" : "DOWN");
	fprintf(to, "  %-28s %14s\n", "exporterd",
		c->exporter_up ? "up" : "DOWN");
	report_section(c, to, SECTION_PROCESSES);
}

static void report_receivers(const struct exporter_stats *x, FILE *to)
{
	for (int k = 0; k < RECEIVERS_MAX && x->receivers[k].url[0]; k++) {
		const struct receiver *r = &x->receivers[k];
		char url[4 * RECEIVER_URL + 1];

		log_quote(r->url, strnlen(r->url, RECEIVER_URL), url,
			  sizeof(url));
		fprintf(to, "\nReceiver %" PRIu64 ": %s\n", r->number, url);
		for (size_t i = 0; i < receiver_table_n; i++) {
			const struct counter *c = &receiver_table[i];
			uint64_t v = receiver_value(r, c);

			if (v || !c->rare)
				report_row(to, c->label, v);
		}
	}
}

void report_table(const struct status *st, const struct own_processes *list,
		  FILE *to)
{
	struct counted c;

	counted_make(st, &c);
	fprintf(to, "trifold status\n");
	report_processes(&c, to);
	report_costs(&c, list, to);
	report_head(to, "Export");
	report_section(&c, to, SECTION_EXPORT);
	report_receivers(&st->exporter, to);
	report_samples(&c, to);
	report_stops(&c, to);
	report_stacks(&c, to);
	report_head(to, "Executables");
	report_section(&c, to, SECTION_EXECUTABLES);
	report_quarantine(st, to);
}
