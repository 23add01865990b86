// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/speedscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stop.h"
#include "common/clock.h"
#include "common/json.h"
#include "profile/timeline.h"

#define SPEEDSCOPE_ALL	"all processes"

struct speedscope_enc {
	const struct batch *b;
	struct json j;
	struct buffer text;	/* the string that is being made */
	struct timeline_event *events;	/* by process, then time */
	struct timeline_event *all;	/* by time; NULL: there is one process */
	size_t n_events;
	uint64_t period;	/* ns */
	uint32_t *names;	/* of processes */
	uint32_t *same;		/* see timeline_frames() */
	uint32_t *ids;		/* by frame: its number in the file */
	uint32_t markers[STOP__MAX];
	uint32_t *processes;	/* by string: the number of the frame of the processes
				 * with this name, in the profile of all */
	uint32_t n_frames;
};

static void speedscope_text(struct speedscope_enc *e, const char *key)
{
	json_chars(&e->j, key, e->text.data, e->text.len);
	e->text.len = 0;
}

static void speedscope_put_frame(struct speedscope_enc *e, uint32_t frame)
{
	const struct batch_frame *f = &e->b->frames[frame];
	const struct batch_function *fn = &e->b->functions[f->function];
	uint32_t line = fn->start_line;
	const char *file;
	size_t len;

	if (!line)
		line = f->line;
	json_line(&e->j);
	json_open(&e->j, NULL, '{');
	profile_frame_name(e->b, frame, &e->text);
	speedscope_text(e, "name");
	file = batch_str(e->b, fn->file, &len);
	if (len)
		buffer_add(&e->text, file, len);
	else
		profile_frame_module(e->b, frame, &e->text);
	if (e->text.len)
		speedscope_text(e, "file");
	if (len && line)
		json_num(&e->j, "line", line);
	json_close(&e->j, '}');
}

/* A frame that is no function. */
static void speedscope_put_mark(struct speedscope_enc *e, const char *name, size_t len)
{
	e->n_frames++;
	json_line(&e->j);
	json_open(&e->j, NULL, '{');
	json_chars(&e->j, "name", name, len);
	json_close(&e->j, '}');
}

/* One for each name of processes: they are the roots in the profile of all. */
static void speedscope_put_processes(struct speedscope_enc *e)
{
	uint32_t *number = e->processes;

	for (size_t i = 0; i < e->n_events; i++) {
		uint32_t name = e->names[e->events[i].resource];
		size_t len;
		const char *s = batch_str(e->b, name, &len);

		if (number[name])
			continue;
		number[name] = e->n_frames;
		if (!len) {
			s = PROFILE_UNKNOWN_PROCESS;
			len = strlen(s);
		}
		speedscope_put_mark(e, s, len);
	}
}

static void speedscope_put_frames(struct speedscope_enc *e)
{
	json_open(&e->j, "shared", '{');
	json_open(&e->j, "frames", '[');
	for (uint32_t i = 0; i < batch_n(e->b, BATCH_FRAMES); i++) {
		if (e->same[i] != i) {
			e->ids[i] = e->ids[e->same[i]];
			continue;
		}
		e->ids[i] = e->n_frames;
		e->n_frames++;
		speedscope_put_frame(e, i);
	}
	for (uint32_t i = 0; i < STOP__MAX; i++) {
		const char *marker = profile_stop_marker(i);

		if (!marker)
			continue;
		e->markers[i] = e->n_frames;
		speedscope_put_mark(e, marker, strlen(marker));
	}
	if (e->all)
		speedscope_put_processes(e);
	json_line(&e->j);
	json_close(&e->j, ']');
	json_close(&e->j, '}');
}

static void speedscope_put_stack(struct speedscope_enc *e, const struct batch_sample *s,
				 bool all)
{
	const struct batch_stack *stack = &e->b->stacks[s->stack];
	uint32_t in[BATCH_INLINED_MAX + 1];

	json_open(&e->j, NULL, '[');
	if (all)
		json_num(&e->j, NULL, e->processes[e->names[s->resource]]);
	if (profile_stop_marker(s->stop))
		json_num(&e->j, NULL, e->markers[s->stop]);
	for (uint32_t i = stack->n; i-- > 0; ) {
		uint32_t frame = e->b->stack_frames[stack->first + i];
		uint32_t n = batch_inlined(e->b, frame, in);

		while (n-- > 0)
			json_num(&e->j, NULL, e->ids[in[n]]);
	}
	json_close(&e->j, ']');
}

static bool speedscope_same_stack(const struct speedscope_enc *e, size_t i, size_t k)
{
	const struct batch_sample *a = &e->b->samples[e->events[i].sample];
	const struct batch_sample *b = &e->b->samples[e->events[k].sample];

	return a->stack == b->stack && a->stop == b->stop &&
	       e->names[a->resource] == e->names[b->resource];
}

/* The first event after i with another stack, or `to`. */
static size_t speedscope_next(const struct speedscope_enc *e, size_t i,
			      size_t to)
{
	size_t next = i + 1;

	while (next < to && speedscope_same_stack(e, i, next))
		next++;
	return next;
}

/* Events from <= i < to are those of one process, or of all. */
static void speedscope_put_profile(struct speedscope_enc *e, size_t from,
				   size_t to, bool all)
{
	json_line(&e->j);
	json_open(&e->j, NULL, '{');
	json_text(&e->j, "type", "sampled");
	if (all)
		buffer_str(&e->text, SPEEDSCOPE_ALL);
	else
		timeline_process(e->b, e->names, e->events[from].resource, &e->text);
	speedscope_text(e, "name");
	json_text(&e->j, "unit", "nanoseconds");
	json_num(&e->j, "startValue", 0);
	json_num(&e->j, "endValue", (to - from) * e->period);
	json_line(&e->j);
	json_open(&e->j, "samples", '[');
	for (size_t i = from; i < to; i = speedscope_next(e, i, to))
		speedscope_put_stack(e, &e->b->samples[e->events[i].sample], all);
	json_close(&e->j, ']');
	json_line(&e->j);
	json_open(&e->j, "weights", '[');
	for (size_t i = from, next; i < to; i = next) {
		next = speedscope_next(e, i, to);
		json_num(&e->j, NULL, (next - i) * e->period);
	}
	json_close(&e->j, ']');
	json_close(&e->j, '}');
}

static size_t speedscope_end_of_process(const struct speedscope_enc *e, size_t i)
{
	size_t next = i + 1;

	while (next < e->n_events && e->events[next].resource == e->events[i].resource)
		next++;
	return next;
}

static int speedscope_by_time(const void *pa, const void *pb)
{
	const struct timeline_event *a = pa, *b = pb;
	int r = profile_order(a->time, b->time);

	if (!r)
		r = profile_order(a->resource, b->resource);
	if (!r)
		r = profile_order(a->sample, b->sample);
	return r;
}

static void speedscope_put_profiles(struct speedscope_enc *e)
{
	json_line(&e->j);
	json_open(&e->j, "profiles", '[');
	if (e->all) {
		struct timeline_event *by_process = e->events;

		e->events = e->all;
		speedscope_put_profile(e, 0, e->n_events, true);
		e->events = by_process;
	}
	for (size_t i = 0, next; i < e->n_events; i = next) {
		next = speedscope_end_of_process(e, i);
		speedscope_put_profile(e, i, next, false);
	}
	json_line(&e->j);
	json_close(&e->j, ']');
	if (!e->n_events)
		return;
	json_line(&e->j);
	json_num(&e->j, "activeProfileIndex", 0);
}

/* The events of several processes in the order of their times; false: no memory. */
static bool speedscope_sort_all(struct speedscope_enc *e)
{
	if (!e->n_events || speedscope_end_of_process(e, 0) == e->n_events)
		return true;
	e->all = calloc(e->n_events, sizeof(*e->all));
	if (!e->all)
		return false;
	memcpy(e->all, e->events, e->n_events * sizeof(*e->all));
	qsort(e->all, e->n_events, sizeof(*e->all), speedscope_by_time);
	return true;
}

static void speedscope_put(struct speedscope_enc *e,
			   const struct profile_info *info)
{
	json_open(&e->j, NULL, '{');
	json_text(&e->j, "$schema",
		  "https://www.speedscope.app/file-format-schema.json");
	json_line(&e->j);
	json_text(&e->j, "exporter", "trifold");
	json_text(&e->j, "name", info->host);
	json_line(&e->j);
	speedscope_put_frames(e);
	speedscope_put_profiles(e);
	json_close(&e->j, '}');
	buffer_str(e->j.out, "\n");
	if (e->text.failed)
		e->j.out->failed = true;
}

int speedscope_encode(const struct batch *b, const struct profile_info *info,
		      struct buffer *out)
{
	struct speedscope_enc e = {
		.b = b,
		.j = { .out = out },
		.period = NSEC_PER_SEC / b->hdr->frequency,
		.names = profile_process_names(b),
		.same = timeline_frames(b, false),
		.ids = calloc((size_t)batch_n(b, BATCH_FRAMES) + 1,
			      sizeof(uint32_t)),
		.processes = calloc((size_t)batch_n(b, BATCH_STRINGS) + 1,
				    sizeof(uint32_t)),
	};

	e.events = timeline_sort(b, false, &e.n_events);
	if (e.names && e.same && e.ids && e.processes && e.events &&
	    speedscope_sort_all(&e))
		speedscope_put(&e, info);
	else
		out->failed = true;
	free(e.events);
	free(e.names);
	free(e.same);
	free(e.ids);
	free(e.processes);
	free(e.all);
	free(e.text.data);
	return out->failed ? -ENOMEM : 0;
}
