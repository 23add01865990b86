// SPDX-License-Identifier: Apache-2.0
#include "cli/report_json.h"

#include <stddef.h>
#include <string.h>

#include "cli/json.h"
#include "ipc/message.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define AT(m)		offsetof(struct status, m)
#define LOADER(m)	{ #m, AT(loader.m) }
#define TOTAL(m)	{ #m, AT(totals.m) }
#define HUB(m)		{ #m, AT(hub.m) }
#define EXPORTER(m)	{ #m, AT(exporter.m) }

struct member {
	const char *name;
	size_t at;		/* a uint64_t in struct status */
};

static const struct member reasons[] = {
	{ "ring_full", AT(loader.bpf[BPF_RING_FULL]) },
	{ "no_hub", AT(loader.no_hub) },
	{ "trace_full", AT(loader.trace_full) },
	{ "bad_record", AT(loader.bad_record) },
	{ "loader_died", AT(totals.former_lost) },
	{ "hub_died", AT(totals.lost_hub) },
	{ "hub_bad", AT(totals.hub_bad) },
	{ "hub_dropped", AT(totals.hub_dropped) },
	{ "no_receiver", AT(totals.outcomes.samples[BATCH_NO_RECEIVER]) },
	{ "queue_full", AT(totals.outcomes.samples[BATCH_QUEUE_FULL]) },
	{ "rejected", AT(totals.outcomes.samples[BATCH_REJECTED]) },
	{ "gave_up", AT(totals.outcomes.samples[BATCH_GAVE_UP]) },
	{ "invalid", AT(totals.outcomes.samples[BATCH_INVALID]) },
};

static const struct member loader[] = {
	{ "bpf_taken", AT(loader.bpf[BPF_TAKEN]) },
	{ "bpf_sent", AT(loader.bpf[BPF_SENT]) },
	{ "bpf_ring_full", AT(loader.bpf[BPF_RING_FULL]) },
	{ "bpf_need_full", AT(loader.bpf[BPF_NEED_FULL]) },
	{ "bpf_run_ns", AT(loader.bpf[BPF_RUN_NS]) },
	{ "bpf_frames", AT(loader.bpf[BPF_FRAMES]) },
	LOADER(drained),
	LOADER(forwarded),
	LOADER(no_hub),
	LOADER(trace_full),
	LOADER(bad_record),
	LOADER(needs),
	LOADER(exes),
	LOADER(numbers),
	LOADER(files),
	LOADER(tables),
	LOADER(table_rows),
	LOADER(table_bytes),
	LOADER(rules),
	LOADER(slabs),
	LOADER(table_bad),
	LOADER(table_full),
	LOADER(evicted),
	LOADER(forgotten),
	LOADER(open_failed),
	LOADER(open_killed),
	LOADER(key_mismatch),
	LOADER(fs_refused),
	LOADER(ksyms),
	LOADER(cpus),
	LOADER(hub_connects),
	LOADER(offences),
	LOADER(map_bytes),
};

static const struct member totals[] = {
	TOTAL(received),
	TOTAL(hub_bad),
	TOTAL(hub_dropped),
	TOTAL(lost_hub),
	TOTAL(handed),
	TOTAL(requeued),
	TOTAL(former_forwarded),
	TOTAL(former_taken),
	TOTAL(former_lost),
	TOTAL(loader_deaths),
	TOTAL(hub_deaths),
	TOTAL(exporter_deaths),
};

static const struct member hub[] = {
	HUB(pending),
	HUB(outstanding),
	HUB(traces),
	HUB(exes),
	HUB(exes_waiting),
	HUB(exes_failed),
	HUB(processes),
	HUB(worker_jobs),
	HUB(worker_deaths),
	HUB(frames_unsymbolized),
	HUB(frames_total),
	HUB(batches),
	HUB(offences),
	HUB(complete),
	HUB(complete_native),
	HUB(native),
	HUB(user),
};

static const struct member exporter[] = {
	EXPORTER(queued),
	EXPORTER(queued_bytes),
	EXPORTER(requests),
	EXPORTER(request_bytes),
	EXPORTER(wire_bytes),
	EXPORTER(retries),
	EXPORTER(http_status),
	EXPORTER(partial_rejected),
	EXPORTER(offences),
};

static void members(struct json *j, const struct status *st, const char *key,
		    const struct member *m, size_t n)
{
	json_open(j, key, '{');
	for (size_t i = 0; i < n; i++)
		json_num(j, m[i].name,
			 *(const uint64_t *)((const char *)st + m[i].at));
	json_close(j, '}');
}

static void samples(struct json *j, const struct status *st)
{
	struct account a;

	account_sum(st, &a);
	json_open(j, "samples", '{');
	json_num(j, "taken", a.taken);
	json_num(j, "delivered", a.delivered);
	json_num(j, "lost", a.lost);
	json_num(j, "under_way", a.under_way);
	json_int(j, "difference", a.difference);
	members(j, st, "lost_by", reasons, COUNT(reasons));
	json_close(j, '}');
}

static void stops(struct json *j, const struct status *st)
{
	static const char *const names[] = { STOP_NAMES };

	json_open(j, "stops", '{');
	for (int i = 1; i < STOP__MAX; i++)
		json_num(j, names[i], st->loader.bpf[BPF_STOP + i]);
	json_close(j, '}');
}

static void quarantine(struct json *j, const struct status *st)
{
	json_open(j, "quarantine", '[');
	for (int i = 0; i < QUARANTINE_SHOWN; i++) {
		char path[QUARANTINE_PATH + 1] = "";

		memcpy(path, st->quarantine.path[i], QUARANTINE_PATH);
		if (*path)
			json_text(j, NULL, path);
	}
	json_close(j, ']');
}

int report_json(const struct status *st, FILE *to)
{
	struct json j = { .more = false };

	json_open(&j, NULL, '{');
	json_bool(&j, "loaderd_up", st->loader_up);
	json_bool(&j, "exporterd_up", st->exporter_up);
	json_num(&j, "uptime_ns", st->uptime_ns);
	samples(&j, st);
	stops(&j, st);
	json_num(&j, "quarantined", st->hub.exes_failed);
	quarantine(&j, st);
	members(&j, st, "loaderd", loader, COUNT(loader));
	members(&j, st, "totals", totals, COUNT(totals));
	members(&j, st, "symbolizerd", hub, COUNT(hub));
	members(&j, st, "exporterd", exporter, COUNT(exporter));
	json_close(&j, '}');
	return json_finish(&j, to);
}
