// SPDX-License-Identifier: Apache-2.0
#include "cli/status/report_json.h"

#include <string.h>

#include "common/json.h"
#include "ipc/counter_table.h"

/* As many members as there are rows of the group. */
static void report_json_members(struct json *j, const struct counted *c,
				enum counter_group group)
{
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct counter *row = &counter_table[i];
		uint64_t v = counter_value(c, row);

		if (row->group != group)
			continue;
		if (row->metric && row->metric->kind == METRIC_GAUGE)
			json_int(j, row->name, (int64_t)v);
		else
			json_num(j, row->name, v);
	}
}

static void report_json_object(struct json *j, const struct counted *c,
			       const char *key, enum counter_group group)
{
	json_open(j, key, '{');
	report_json_members(j, c, group);
	json_close(j, '}');
}

static void report_json_samples(struct json *j, const struct counted *c)
{
	json_open(j, "samples", '{');
	report_json_members(j, c, GROUP_SAMPLES);
	report_json_object(j, c, "lost_by", GROUP_LOST_BY);
	json_close(j, '}');
}

static void report_json_quarantine(struct json *j, const struct status *st)
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

static void report_json_receivers(struct json *j,
				  const struct exporter_stats *x)
{
	json_open(j, "receivers", '[');
	for (int k = 0; k < RECEIVERS_MAX && x->receivers[k].url[0]; k++) {
		const struct receiver *r = &x->receivers[k];
		char url[RECEIVER_URL + 1] = "";

		memcpy(url, r->url, RECEIVER_URL);
		json_open(j, NULL, '{');
		json_num(j, "number", r->number);
		json_text(j, "url", url);
		for (size_t i = 0; i < receiver_table_n; i++)
			json_num(j, receiver_table[i].name,
				 receiver_value(r, &receiver_table[i]));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void report_json_processes(struct json *j,
				  const struct own_processes *list)
{
	json_open(j, "processes", '[');
	for (size_t i = 0; i < list->n; i++) {
		const struct own_process *p = &list->v[i];

		json_open(j, NULL, '{');
		json_text(j, "name", p->name);
		json_num(j, "pid", (uint64_t)p->pid);
		json_num(j, "parent", (uint64_t)p->parent);
		json_num(j, "cpu_ns", p->cpu_ns);
		json_num(j, "rss_bytes", p->rss_bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

int report_json(const struct status *st, const struct own_processes *list,
		FILE *to)
{
	struct buffer out = { 0 };
	struct json j = { .out = &out };
	struct counted c;

	counted_make(st, &c);
	json_open(&j, NULL, '{');
	json_bool(&j, "loaderd_up", st->loader_up);
	json_bool(&j, "exporterd_up", st->exporter_up);
	json_num(&j, "uptime_ns", st->uptime_ns);
	json_num(&j, "cpu_ns", status_cpu_ns(st) + processes_silent_ns(list));
	report_json_samples(&j, &c);
	report_json_object(&j, &c, "stops", GROUP_STOPS);
	json_num(&j, "quarantined", st->hub.exes_failed);
	report_json_quarantine(&j, st);
	report_json_object(&j, &c, "loaderd", GROUP_LOADERD);
	report_json_object(&j, &c, "totals", GROUP_TOTALS);
	report_json_object(&j, &c, "symbolizerd", GROUP_SYMBOLIZERD);
	report_json_object(&j, &c, "exporterd", GROUP_EXPORTERD);
	report_json_receivers(&j, &st->exporter);
	report_json_processes(&j, list);
	json_close(&j, '}');
	return json_finish(&j, to);
}
