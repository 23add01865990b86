// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/speedscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/record.h"
#include "common/clock.h"
#include "common/json.h"
#include "profile/timeline.h"

struct speedscope_enc {
	const struct batch *b;
	struct buffer *out;
	struct timeline_event *events;
	size_t n_events;
	uint64_t period;	/* ns */
	uint32_t *names;	/* of processes */
	uint32_t *same;		/* see timeline_frames() */
	uint32_t *ids;		/* of frames: in the file */
	uint32_t markers[STOP__MAX];
	uint32_t most;		/* the profile with most events */
};

static void put_name(struct buffer *w, struct buffer *text)
{
	json_string(w, (const char *)text->data, text->len);
	w->failed |= text->failed;
	text->len = 0;
}

static void put_frame(struct speedscope_enc *e, uint32_t frame,
		      struct buffer *text)
{
	const struct batch_function *fn;
	const char *file;
	size_t len;

	fn = &e->b->functions[e->b->frames[frame].function];
	profile_frame_name(e->b, frame, text);
	buffer_str(e->out, "{\"name\":");
	put_name(e->out, text);
	file = batch_str(e->b, fn->file, &len);
	if (len)
		buffer_add(text, file, len);
	else
		profile_frame_module(e->b, frame, text);
	if (text->len) {
		buffer_str(e->out, ",\"file\":");
		put_name(e->out, text);
	}
	if (fn->start_line)
		buffer_printf(e->out, ",\"line\":%u", fn->start_line);
	buffer_str(e->out, "}");
}

static void put_frames(struct speedscope_enc *e)
{
	struct buffer text = { 0 };
	uint32_t n = 0;

	buffer_str(e->out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < batch_n(e->b, BATCH_FRAMES); i++) {
		if (e->same[i] != i) {
			e->ids[i] = e->ids[e->same[i]];
			continue;
		}
		e->ids[i] = n;
		buffer_str(e->out, n++ ? ",\n" : "\n");
		put_frame(e, i, &text);
	}
	for (uint32_t i = 0; i < STOP__MAX; i++) {
		const char *marker = profile_stop_marker(i);

		if (!marker)
			continue;
		e->markers[i] = n;
		buffer_printf(e->out, "%s\n{\"name\":\"%s\"}", n++ ? "," : "",
			    marker);
	}
	buffer_str(e->out, "\n]}");
	free(text.data);
}

static void put_stack(struct speedscope_enc *e, const struct batch_sample *s)
{
	const struct batch_stack *stack = &e->b->stacks[s->stack];
	uint32_t in[BATCH_INLINED_MAX + 1];
	const char *comma = "";

	buffer_str(e->out, "[");
	if (profile_stop_marker(s->stop)) {
		buffer_num(e->out, e->markers[s->stop]);
		comma = ",";
	}
	for (uint32_t i = stack->n; i-- > 0; ) {
		uint32_t frame = e->b->stack_frames[stack->first + i];
		uint32_t n = batch_inlined(e->b, frame, in);

		while (n-- > 0) {
			buffer_str(e->out, comma);
			buffer_num(e->out, e->ids[in[n]]);
			comma = ",";
		}
	}
	buffer_str(e->out, "]");
}

static bool same_stack(const struct speedscope_enc *e, size_t i, size_t k)
{
	const struct batch_sample *a = &e->b->samples[e->events[i].sample];
	const struct batch_sample *b = &e->b->samples[e->events[k].sample];

	return a->stack == b->stack && a->stop == b->stop;
}

/* Events from..to are those of one process. */
static void speedscope_put_profile(struct speedscope_enc *e, size_t from,
				   size_t to)
{
	struct buffer text = { 0 }, weights = { 0 };
	size_t next;

	buffer_str(e->out, "{\"type\":\"sampled\",\"name\":");
	timeline_process(e->b, e->names, e->events[from].resource, &text);
	put_name(e->out, &text);
	buffer_printf(e->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,"
		    "\"endValue\":%llu,\n\"samples\":[",
		    (unsigned long long)((to - from) * e->period));
	for (size_t i = from; i < to; i = next) {
		for (next = i + 1; next < to && same_stack(e, i, next); next++)
			;
		buffer_str(e->out, i > from ? "," : "");
		put_stack(e, &e->b->samples[e->events[i].sample]);
		buffer_str(&weights, i > from ? "," : "");
		buffer_num(&weights, (next - i) * e->period);
	}
	buffer_str(e->out, "],\n\"weights\":[");
	buffer_add(e->out, weights.data, weights.len);
	buffer_str(e->out, "]}");
	e->out->failed |= weights.failed;
	free(weights.data);
	free(text.data);
}

static void put_profiles(struct speedscope_enc *e)
{
	size_t next, most = 0;
	uint32_t n = 0;

	buffer_str(e->out, ",\n\"profiles\":[");
	for (size_t i = 0; i < e->n_events; i = next) {
		for (next = i + 1; next < e->n_events &&
		     e->events[next].resource == e->events[i].resource; next++)
			;
		buffer_str(e->out, n ? ",\n" : "\n");
		speedscope_put_profile(e, i, next);
		if (next - i > most) {
			most = next - i;
			e->most = n;
		}
		n++;
	}
	buffer_str(e->out, "\n]");
	if (n)
		buffer_printf(e->out, ",\n\"activeProfileIndex\":%u", e->most);
}

int speedscope_encode(const struct batch *b, const struct profile_info *info,
		      struct buffer *out)
{
	struct speedscope_enc e = {
		.b = b,
		.out = out,
		.period = NSEC_PER_SEC / b->hdr->frequency,
		.names = profile_process_names(b),
		.same = timeline_frames(b, false),
		.ids = calloc((size_t)batch_n(b, BATCH_FRAMES) + 1,
			      sizeof(uint32_t)),
	};

	e.events = timeline_sort(b, false, &e.n_events);
	if (e.names && e.same && e.ids && e.events) {
		buffer_str(out, "{\"$schema\":\"https://www.speedscope.app/"
			 "file-format-schema.json\",\n"
			 "\"exporter\":\"trifold\",\"name\":");
		json_string(out, info->host, strlen(info->host));
		buffer_str(out, ",\n");
		put_frames(&e);
		put_profiles(&e);
		buffer_str(out, "}\n");
	} else {
		out->failed = true;
	}
	free(e.events);
	free(e.names);
	free(e.same);
	free(e.ids);
	return out->failed ? -ENOMEM : 0;
}
