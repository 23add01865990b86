// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "ipc/message.h"

#define REASONS	13

struct reason {
	const char *name;
	uint64_t lost;
};

static void reasons(const struct status *st, struct reason r[REASONS])
{
	const struct loader_stats *l = &st->loader;
	const struct hub_totals *t = &st->totals;
	const uint64_t *out = t->outcomes.samples;
	const struct reason all[REASONS] = {
		{ "ring_full", l->bpf[BPF_RING_FULL] },
		{ "no_hub", l->no_hub },
		{ "trace_full", l->trace_full },
		{ "bad_record", l->bad_record },
		{ "loader_died", t->former_lost },
		{ "hub_died", t->lost_hub },
		{ "hub_bad", t->hub_bad },
		{ "hub_dropped", t->hub_dropped },
		{ "no_receiver", out[BATCH_NO_RECEIVER] },
		{ "queue_full", out[BATCH_QUEUE_FULL] },
		{ "rejected", out[BATCH_REJECTED] },
		{ "gave_up", out[BATCH_GAVE_UP] },
		{ "invalid", out[BATCH_INVALID] },
	};

	memcpy(r, all, sizeof(all));
}

__attribute__((format(printf, 3, 4)))
static void add(char *out, size_t size, const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out + len, size - len, fmt, ap);
	va_end(ap);
}

void report_reasons(const struct status *st, char *out, size_t size)
{
	struct reason r[REASONS];

	out[0] = '\0';
	reasons(st, r);
	for (int i = 0; i < REASONS; i++) {
		if (r[i].lost)
			add(out, size, "%s%s %" PRIu64, *out ? ", " : "",
			    r[i].name, r[i].lost);
	}
}

void report_progress(const struct status *st, uint64_t elapsed, char *out,
		     size_t size)
{
	struct account a;

	account_sum(st, &a);
	snprintf(out, size, "%" PRIu64 " s  %" PRIu64 " samples, %" PRIu64
		 " delivered, %" PRIu64 " lost  %" PRIu64 " processes, %" PRIu64
		 " executables, %" PRIu64 " stacks", elapsed, a.taken,
		 a.delivered, a.lost, st->hub.processes, st->hub.exes,
		 st->hub.traces);
}

void report_summary(const struct status *st, char *out, size_t size)
{
	char why[512];
	struct account a;

	account_sum(st, &a);
	report_reasons(st, why, sizeof(why));
	snprintf(out, size, "%" PRIu64 " samples taken: %" PRIu64 " delivered, "
		 "%" PRIu64 " lost", a.taken, a.delivered, a.lost);
	if (*why)
		add(out, size, " (%s)", why);
	if (a.under_way)
		add(out, size, ", %" PRIu64 " under way", a.under_way);
	add(out, size, ", difference %" PRId64, a.difference);
}

void report_account(const struct status *st, struct profile_account *ret)
{
	struct account a;

	account_sum(st, &a);
	memset(ret, 0, sizeof(*ret));
	ret->taken = a.taken;
	ret->delivered = a.delivered;
	ret->lost = a.lost;
	ret->difference = a.difference;
	ret->known = 1;
	report_reasons(st, ret->reasons, sizeof(ret->reasons));
}

/* --- the table ------------------------------------------------------------- */

static void head(FILE *to, const char *name)
{
	fprintf(to, "\n%s\n", name);
}

static void row(FILE *to, const char *name, uint64_t v)
{
	fprintf(to, "  %-28s %14" PRIu64 "\n", name, v);
}

/* Only what should be nothing. */
static void rare(FILE *to, const char *name, uint64_t v)
{
	if (v)
		row(to, name, v);
}

static void share(FILE *to, const char *name, uint64_t v, uint64_t of)
{
	fprintf(to, "  %-28s %14" PRIu64 "  %6.2f %%\n", name, v,
		of ? 100.0 * (double)v / (double)of : 0.0);
}

static void accounts(const struct status *st, FILE *to)
{
	const struct loader_stats *l = &st->loader;
	const struct hub_totals *t = &st->totals;
	struct reason r[REASONS];
	struct account a;

	account_sum(st, &a);
	reasons(st, r);
	head(to, "Samples");
	row(to, "taken", a.taken);
	row(to, "sent by BPF", l->bpf[BPF_SENT]);
	row(to, "drained by loaderd", l->drained);
	row(to, "forwarded to symbolizerd", l->forwarded);
	row(to, "received by symbolizerd", t->received);
	row(to, "waiting for their batch", st->hub.pending);
	row(to, "handed to exporterd", t->handed);
	row(to, "not yet answered", st->hub.outstanding);
	row(to, "delivered", a.delivered);
	for (int i = 0; i < REASONS; i++) {
		char name[40];

		snprintf(name, sizeof(name), "lost: %s", r[i].name);
		rare(to, name, r[i].lost);
	}
	rare(to, "of former loaderds", t->former_taken);
	fprintf(to, "  taken %" PRIu64 " = delivered %" PRIu64 " + lost %" PRIu64
		" + under way %" PRIu64 ": %s", a.taken, a.delivered, a.lost,
		a.under_way, a.difference ? "difference " : "agrees\n");
	if (a.difference)
		fprintf(to, "%" PRId64 "\n", a.difference);
}

static void stops(const struct status *st, FILE *to)
{
	static const char *const names[] = { STOP_NAMES };
	const uint64_t *n = &st->loader.bpf[BPF_STOP];
	uint64_t sum = 0;

	for (int i = 0; i < STOP__MAX; i++)
		sum += n[i];
	head(to, "Where user stacks ended");
	for (int i = 1; i < STOP__MAX; i++) {
		if (n[i])
			share(to, names[i], n[i], sum);
	}
	share(to, "complete, all in files", st->hub.complete_native,
	      st->hub.native);
}

static void tables(const struct status *st, FILE *to)
{
	const struct loader_stats *l = &st->loader;
	const struct hub_stats *h = &st->hub;

	head(to, "Executables");
	row(to, "known to loaderd", l->files);
	row(to, "met by loaderd", l->exes);
	row(to, "known to symbolizerd", h->exes);
	row(to, "waiting for a worker", h->exes_waiting);
	rare(to, "quarantined", h->exes_failed);
	row(to, "unwind tables", l->tables);
	row(to, "rows", l->table_rows);
	row(to, "rules", l->rules);
	row(to, "bytes in use", l->table_bytes);
	row(to, "slabs of a MiB", l->slabs);
	row(to, "bytes of kernel maps", l->map_bytes);
	rare(to, "tables refused as bad", l->table_bad);
	rare(to, "tables over the budget", l->table_full);
	rare(to, "evicted for room", l->evicted);
	rare(to, "forgotten as unused", l->forgotten);
	rare(to, "mappings not opened", l->open_failed);
	rare(to, "openers killed", l->open_killed);
	rare(to, "mappings changed meanwhile", l->key_mismatch);
	rare(to, "file systems avoided", l->fs_refused);
	row(to, "worker jobs", h->worker_jobs);
	rare(to, "worker deaths", h->worker_deaths);
}

static void quarantine(const struct status *st, FILE *to)
{
	uint64_t more = st->hub.exes_failed;

	if (!more)
		return;
	head(to, "Quarantined: a worker died of these files");
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

static void costs(const struct status *st, FILE *to)
{
	const struct loader_stats *l = &st->loader;
	const struct hub_stats *h = &st->hub;
	uint64_t taken = l->bpf[BPF_TAKEN];

	head(to, "Stacks");
	row(to, "distinct stacks", h->traces);
	row(to, "processes", h->processes);
	row(to, "distinct frames", h->frames_total);
	share(to, "of them without a symbol", h->frames_unsymbolized,
	      h->frames_total);
	row(to, "kernel symbols", l->ksyms);
	row(to, "CPUs", l->cpus);
	row(to, "BPF ns a sample, mean", taken ? l->bpf[BPF_RUN_NS] / taken : 0);
	row(to, "user frames a sample, mean",
	    taken ? l->bpf[BPF_FRAMES] / taken : 0);
}

static void processes(const struct status *st, FILE *to)
{
	const struct exporter_stats *e = &st->exporter;
	const struct hub_totals *t = &st->totals;

	head(to, "Processes");
	fprintf(to, "  %-28s %14s\n", "loaderd", st->loader_up ? "up" : "DOWN");
	fprintf(to, "  %-28s %14s\n", "exporterd",
		st->exporter_up ? "up" : "DOWN");
	row(to, "symbolizerd up, s", st->uptime_ns / NSEC_PER_SEC);
	rare(to, "loaderd deaths", t->loader_deaths);
	rare(to, "symbolizerd deaths", t->hub_deaths);
	rare(to, "exporterd deaths", t->exporter_deaths);
	rare(to, "offences seen by loaderd", st->loader.offences);
	rare(to, "offences seen by symbolizerd", st->hub.offences);
	rare(to, "offences seen by exporterd", e->offences);
	head(to, "Export");
	row(to, "batches", st->hub.batches);
	rare(to, "samples handed again", t->requeued);
	row(to, "samples queued", e->queued);
	row(to, "bytes queued", e->queued_bytes);
	row(to, "requests", e->requests);
	row(to, "bytes before compression", e->request_bytes);
	row(to, "bytes sent", e->wire_bytes);
	rare(to, "retries", e->retries);
	rare(to, "last HTTP status", e->http_status);
	rare(to, "profiles refused in a 200", e->partial_rejected);
}

void report_table(const struct status *st, FILE *to)
{
	processes(st, to);
	accounts(st, to);
	stops(st, to);
	costs(st, to);
	tables(st, to);
	quarantine(st, to);
}
