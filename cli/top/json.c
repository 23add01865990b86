// SPDX-License-Identifier: Apache-2.0
#include "cli/top/json.h"

#include <errno.h>

#include "common/clock.h"
#include "common/json.h"
#include "profile/profile.h"

static void top_json_str(struct json *j, const char *key, struct top_str s)
{
	json_chars(j, key, s.s, s.len);
}

static void top_json_seconds(struct json *j, const char *key, double s)
{
	json_millionths(j, key, (uint64_t)(s * 1e6 + 0.5));
}

static void top_json_row(struct json *j, enum top_view view,
			 const struct top_row *r)
{
	char buf[TOP_NO_NAME_MAX];

	json_open(j, NULL, '{');
	top_json_str(j, view == TOP_CONTAINERS ? "container" : "name",
		     view == TOP_CONTAINERS ? r->name : top_row_name(r, buf));
	if (top_of_functions(view)) {
		top_json_str(j, "file", r->file);
		json_text(j, "kind", frame_kind_info(r->kind)->name);
		top_json_str(j, "source", r->source);
		json_num(j, "line", r->line);
		json_bool(j, "inlined", r->marks & PROFILE_INLINED);
		json_num(j, "self", r->self);
	} else if (view != TOP_CONTAINERS) {
		json_num(j, "pid", r->pid);
	}
	if (view == TOP_PROCESSES)
		top_json_str(j, "container", r->container);
	if (view == TOP_THREADS) {
		json_num(j, "tid", r->tid);
		top_json_str(j, "process", top_row_process(r));
	}
	json_num(j, "samples", r->total);
	top_json_seconds(j, "cpu_seconds", r->cpu_s);
	json_close(j, '}');
}

int top_json(const struct top_state *st, const struct top_head *head, uint32_t n,
	     FILE *to)
{
	const struct top_table *t = &st->table;
	enum top_view view = top_level(st)->view;
	struct buffer out = { 0 };
	struct json j = { .out = &out };
	int r;

	json_open(&j, NULL, '{');
	json_text(&j, "host", head->host);
	json_num(&j, "time_ms", head->now / NSEC_PER_MSEC);
	json_text(&j, "view", top_layout(view)->title);
	top_json_seconds(&j, "seconds", t->seconds);
	json_num(&j, "frequency", t->frequency);
	json_num(&j, "cpus", head->cpus);
	json_num(&j, "samples", t->events);
	json_num(&j, "lost", head->lost);
	top_json_seconds(&j, "cpu_seconds", t->cpu_s);
	json_num(&j, "rows_in_all", t->n);
	json_open(&j, "rows", '[');
	for (uint32_t i = 0; i < n && i < t->n; i++)
		top_json_row(&j, view, &t->rows[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	r = json_finish(&j, to);
	return r ? r : fflush(to) ? -EIO : 0;
}
