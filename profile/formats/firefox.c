// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/firefox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/record.h"
#include "common/clock.h"
#include "common/hash_table.h"
#include "common/json.h"
#include "common/vector.h"
#include "profile/timeline.h"

#define NONE	INDEX_NONE

struct firefox_node {
	uint32_t prefix, frame;
};

/* What one thread's tables hold so far; generation says whose an entry is. */
struct firefox_enc {
	const struct batch *b;
	struct buffer *out;
	struct timeline_event *events;
	size_t n_events;
	uint32_t *names;	/* of processes */
	uint32_t *same;		/* see timeline_frames() */
	uint32_t *frame_id, *frame_thread;	/* by frame; then by marker */
	uint32_t *stack_id, *stack_thread;	/* by sample */
	VECTOR(struct firefox_node) nodes;
	struct hash_table node_set;	/* by (prefix, frame) */
	uint64_t seed;
	uint32_t n_frames, thread;
	struct buffer strings, frames;
};

static void ms(struct buffer *w, uint64_t ns)
{
	buffer_printf(w, "%llu.%06llu", (unsigned long long)(ns / NSEC_PER_MSEC),
		    (unsigned long long)(ns % NSEC_PER_MSEC));
}

static void put_text(struct buffer *w, struct buffer *text)
{
	json_string(w, (const char *)text->data, text->len);
	w->failed |= text->failed;
	free(text->data);
}

/* A line of frameTable and its string; both have the same number. */
static uint32_t firefox_add_frame(struct firefox_enc *e, struct buffer *text,
				  uint32_t kind, uint32_t line)
{
	const char *comma = e->n_frames ? ",\n" : "\n";

	buffer_str(&e->strings, comma);
	put_text(&e->strings, text);
	buffer_printf(&e->frames, "%s[%u,false,0,null,", comma, e->n_frames);
	if (line)
		buffer_num(&e->frames, line);
	else
		buffer_str(&e->frames, "null");
	buffer_printf(&e->frames, ",null,%u,0]", kind);
	return e->n_frames++;
}

static uint32_t firefox_frame_of(struct firefox_enc *e, uint32_t frame)
{
	uint32_t f = e->same[frame];
	struct buffer text = { 0 };
	size_t len, mark;
	uint32_t kind;

	if (e->frame_thread[f] == e->thread)
		return e->frame_id[f];
	kind = profile_frame_name(e->b, f, &text);
	len = text.len;
	buffer_str(&text, " (in ");
	mark = text.len;
	profile_frame_module(e->b, f, &text);
	if (text.len > mark)
		buffer_str(&text, ")");
	else
		text.len = len;
	e->frame_id[f] = firefox_add_frame(e, &text, kind,
					   e->b->frames[f].line);
	e->frame_thread[f] = e->thread;
	return e->frame_id[f];
}

static uint32_t marker_of(struct firefox_enc *e, uint32_t stop)
{
	uint32_t at = batch_n(e->b, BATCH_FRAMES) + stop;
	struct buffer text = { 0 };

	if (e->frame_thread[at] != e->thread) {
		buffer_str(&text, profile_stop_marker(stop));
		e->frame_id[at] = firefox_add_frame(e, &text, KIND_MARKER, 0);
		e->frame_thread[at] = e->thread;
	}
	return e->frame_id[at];
}

static uint32_t node_of(struct firefox_enc *e, uint32_t prefix, uint32_t frame)
{
	const struct firefox_node want = { prefix, frame };
	uint64_t hash = hash_pair(e->seed, prefix, frame);
	uint32_t n = e->nodes.n;

	for (struct hash_slot *s = hash_find(&e->node_set, hash); s;
	     s = hash_next(&e->node_set, s)) {
		const struct firefox_node *have = &e->nodes.v[hash_index(s)];

		if (have->prefix == prefix && have->frame == frame)
			return hash_index(s);
	}
	if (!vector_push(&e->nodes, want) || !hash_add(&e->node_set, hash, n)) {
		e->out->failed = true;
		return NONE;
	}
	return n;
}

static uint32_t stack_of(struct firefox_enc *e, uint32_t sample)
{
	const struct batch_sample *s = &e->b->samples[sample];
	const struct batch_stack *stack = &e->b->stacks[s->stack];
	uint32_t in[BATCH_INLINED_MAX + 1], at = NONE;

	if (e->stack_thread[sample] == e->thread)
		return e->stack_id[sample];
	if (profile_stop_marker(s->stop))
		at = node_of(e, at, marker_of(e, s->stop));
	for (uint32_t i = stack->n; i-- > 0; ) {
		uint32_t frame = e->b->stack_frames[stack->first + i];
		uint32_t n = batch_inlined(e->b, frame, in);

		while (n-- > 0)
			at = node_of(e, at, firefox_frame_of(e, in[n]));
	}
	e->stack_id[sample] = at;
	e->stack_thread[sample] = e->thread;
	return at;
}

static void put_thread_head(struct firefox_enc *e,
			    const struct timeline_event *ev)
{
	const struct batch_sample *s = &e->b->samples[ev->sample];
	const char *name;
	struct buffer text = { 0 };
	size_t len;

	name = batch_str(e->b, e->b->attrs[s->attr].thread_name, &len);
	if (len)
		buffer_add(&text, name, len);
	else
		buffer_printf(&text, "thread %u", ev->tid);
	buffer_str(e->out, "{\"name\":");
	put_text(e->out, &text);
	text = (struct buffer){ 0 };
	timeline_process(e->b, e->names, ev->resource, &text);
	buffer_str(e->out, ",\"processName\":");
	put_text(e->out, &text);
	buffer_printf(e->out, ",\"processType\":\"default\",\"registerTime\":0,"
		    "\"unregisterTime\":null,\"pid\":%u,\"tid\":%u,\n",
		    e->b->resources[ev->resource].pid, ev->tid);
	buffer_str(e->out, "\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,"
		 "\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5},"
		 "\"data\":[]},\n\"samples\":{\"schema\":{\"stack\":0,"
		 "\"time\":1,\"eventDelay\":2,\"threadCPUDelta\":3},"
		 "\"data\":[");
}

static void put_tables(struct firefox_enc *e)
{
	buffer_str(e->out, "]},\n\"frameTable\":{\"schema\":{\"location\":0,"
		 "\"relevantForJS\":1,\"innerWindowID\":2,"
		 "\"implementation\":3,\"line\":4,\"column\":5,"
		 "\"category\":6,\"subcategory\":7},\"data\":[");
	buffer_add(e->out, e->frames.data, e->frames.len);
	buffer_str(e->out, "]},\n\"stackTable\":{\"schema\":{\"prefix\":0,"
		 "\"frame\":1},\"data\":[");
	for (uint32_t i = 0; i < e->nodes.n; i++) {
		buffer_str(e->out, i ? ",[" : "[");
		if (e->nodes.v[i].prefix == NONE)
			buffer_str(e->out, "null");
		else
			buffer_num(e->out, e->nodes.v[i].prefix);
		buffer_str(e->out, ",");
		buffer_num(e->out, e->nodes.v[i].frame);
		buffer_str(e->out, "]");
	}
	buffer_str(e->out, "]},\n\"stringTable\":[");
	buffer_add(e->out, e->strings.data, e->strings.len);
	buffer_str(e->out, "]}");
	e->out->failed |= e->frames.failed | e->strings.failed;
}

/* Events from..to are those of one thread. */
static void put_thread(struct firefox_enc *e, size_t from, size_t to)
{
	e->thread++;
	e->nodes.n = e->n_frames = 0;
	e->strings.len = e->frames.len = 0;
	hash_clear(&e->node_set);
	put_thread_head(e, &e->events[from]);
	for (size_t i = from; i < to && !e->out->failed; i++) {
		buffer_str(e->out, i > from ? ",[" : "[");
		buffer_num(e->out, stack_of(e, e->events[i].sample));
		buffer_str(e->out, ",");
		ms(e->out, e->events[i].time - e->b->hdr->start_ns);
		/* a sample stands for a period of CPU time */
		buffer_str(e->out, ",0,");
		buffer_num(e->out, 1000000 / e->b->hdr->frequency);
		buffer_str(e->out, "]");
	}
	put_tables(e);
}

static void put_meta(struct firefox_enc *e, const struct profile_info *info)
{
	const struct batch_hdr *hdr = e->b->hdr;

	buffer_str(e->out, "{\"meta\":{\"version\":24,\"interval\":");
	ms(e->out, NSEC_PER_SEC / hdr->frequency);
	buffer_str(e->out, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":"
		 "\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"},\"startTime\":");
	ms(e->out, hdr->start_ns);
	buffer_str(e->out, ",\"shutdownTime\":null,\"profilingStartTime\":0,"
		 "\"profilingEndTime\":");
	ms(e->out, hdr->end_ns - hdr->start_ns);
	buffer_str(e->out, ",\"processType\":0,\"stackwalk\":1,\"debug\":0,"
		 "\"gcpoison\":0,\"asyncstack\":0,\"presymbolicated\":true,"
		 "\"product\":\"trifold\",\"platform\":\"Linux\",\"oscpu\":");
	json_string(e->out, info->kernel, strlen(info->kernel));
	buffer_str(e->out, ",\"abi\":");
	json_string(e->out, info->machine, strlen(info->machine));
	buffer_str(e->out, ",\"misc\":");
	json_string(e->out, info->host, strlen(info->host));
	buffer_str(e->out, ",\"markerSchema\":[],\"categories\":[");
	for (uint32_t i = 0; i < BATCH_FRAME__KINDS; i++) {
		const struct frame_kind_info *kind = frame_kind_info(i);

		buffer_printf(e->out,
			    "%s{\"name\":\"%s\",\"color\":\"%s\","
			    "\"subcategories\":[\"Other\"]}",
			    i ? "," : "", kind->title, kind->colour);
	}
	buffer_str(e->out, "]},\n\"libs\":[],\"pausedRanges\":[],"
		 "\"processes\":[],\"threads\":[");
}

static void put_threads(struct firefox_enc *e)
{
	const struct timeline_event *v = e->events;
	size_t next;

	for (size_t i = 0; i < e->n_events; i = next) {
		for (next = i + 1; next < e->n_events &&
		     v[next].resource == v[i].resource &&
		     v[next].tid == v[i].tid; next++)
			;
		buffer_str(e->out, i ? ",\n" : "\n");
		put_thread(e, i, next);
	}
	buffer_str(e->out, "\n]}\n");
}

int firefox_encode(const struct batch *b, const struct profile_info *info,
		   struct buffer *out)
{
	size_t frames = (size_t)batch_n(b, BATCH_FRAMES) + STOP__MAX;
	size_t samples = (size_t)batch_n(b, BATCH_SAMPLES) + 1;
	struct firefox_enc e = {
		.b = b,
		.out = out,
		.seed = hash_seed(),
		.names = profile_process_names(b),
		.same = timeline_frames(b, true),
		.frame_id = calloc(frames, sizeof(uint32_t)),
		.frame_thread = calloc(frames, sizeof(uint32_t)),
		.stack_id = calloc(samples, sizeof(uint32_t)),
		.stack_thread = calloc(samples, sizeof(uint32_t)),
	};

	e.events = timeline_sort(b, true, &e.n_events);
	if (e.names && e.same && e.frame_id && e.frame_thread && e.stack_id &&
	    e.stack_thread && e.events) {
		put_meta(&e, info);
		put_threads(&e);
	} else {
		out->failed = true;
	}
	free(e.events);
	free(e.names);
	free(e.same);
	free(e.frame_id);
	free(e.frame_thread);
	free(e.stack_id);
	free(e.stack_thread);
	free(e.nodes.v);
	hash_free(&e.node_set);
	free(e.strings.data);
	free(e.frames.data);
	return out->failed ? -ENOMEM : 0;
}
