// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/firefox.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/stop.h"
#include "common/clock.h"
#include "common/hash_table.h"
#include "common/json.h"
#include "common/vector.h"
#include "profile/timeline.h"

#define NONE	INDEX_NONE

struct firefox_node {
	uint32_t prefix, frame;
};

/*
 * The tables of the thread that is being written; an entry of frame_id or stack_id is
 * valid if its thread is that one.  A frame is one of the batch; after those come the
 * markers of stops.
 */
struct firefox_enc {
	const struct batch *b;
	struct json j;
	struct buffer text;	/* the string that is being made */
	struct timeline_event *events;
	size_t n_events;
	uint32_t *names;	/* of processes */
	uint32_t *same;		/* see timeline_frames() */
	uint32_t *frame_id, *frame_thread;	/* by frame */
	uint32_t *stack_id, *stack_thread;	/* by sample */
	VECTOR(uint32_t) frames;
	VECTOR(struct firefox_node) nodes;
	struct hash_table node_set;	/* by (prefix, frame) */
	uint64_t seed;
	uint32_t thread;
};

static void firefox_text(struct firefox_enc *e, const char *key)
{
	json_chars(&e->j, key, e->text.data, e->text.len);
	e->text.len = 0;
}

/* The number of a frame in this thread's frameTable. */
static uint32_t firefox_frame_of(struct firefox_enc *e, uint32_t frame)
{
	if (e->frame_thread[frame] == e->thread)
		return e->frame_id[frame];
	e->frame_id[frame] = e->frames.n;
	e->frame_thread[frame] = e->thread;
	if (!vector_push(&e->frames, frame))
		e->j.out->failed = true;
	return e->frame_id[frame];
}

static uint32_t firefox_node_of(struct firefox_enc *e, uint32_t prefix, uint32_t frame)
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
		e->j.out->failed = true;
		return NONE;
	}
	return n;
}

static uint32_t firefox_stack_of(struct firefox_enc *e, uint32_t sample)
{
	const struct batch_sample *s = &e->b->samples[sample];
	const struct batch_stack *stack = &e->b->stacks[s->stack];
	uint32_t in[BATCH_INLINED_MAX + 1], at = NONE;

	if (e->stack_thread[sample] == e->thread)
		return e->stack_id[sample];
	if (profile_stop_marker(s->stop))
		at = firefox_node_of(e, at, firefox_frame_of(e, s->stop +
					batch_n(e->b, BATCH_FRAMES)));
	for (uint32_t i = stack->n; i-- > 0; ) {
		uint32_t frame = e->b->stack_frames[stack->first + i];
		uint32_t n = batch_inlined(e->b, frame, in);

		while (n-- > 0)
			at = firefox_node_of(e, at,
					     firefox_frame_of(e, e->same[in[n]]));
	}
	e->stack_id[sample] = at;
	e->stack_thread[sample] = e->thread;
	return at;
}

/* "key": {"schema": {names: 0, 1, ...}, "data": [ */
static void firefox_open_table(struct firefox_enc *e, const char *key,
			       const char *const *names)
{
	json_line(&e->j);
	json_open(&e->j, key, '{');
	json_open(&e->j, "schema", '{');
	for (uint64_t i = 0; names[i]; i++)
		json_num(&e->j, names[i], i);
	json_close(&e->j, '}');
	json_open(&e->j, "data", '[');
}

static void firefox_close_table(struct firefox_enc *e)
{
	json_close(&e->j, ']');
	json_close(&e->j, '}');
}

static void firefox_put_thread_head(struct firefox_enc *e,
				    const struct timeline_event *ev)
{
	const struct batch_sample *s = &e->b->samples[ev->sample];
	const char *name;
	size_t len;

	name = batch_str(e->b, e->b->attrs[s->attr].thread_name, &len);
	if (len)
		buffer_add(&e->text, name, len);
	else
		buffer_str(&e->text, PROFILE_UNKNOWN_THREAD);
	firefox_text(e, "name");
	timeline_process(e->b, e->names, ev->resource, &e->text);
	firefox_text(e, "processName");
	json_text(&e->j, "processType", "default");
	json_num(&e->j, "registerTime", 0);
	json_null(&e->j, "unregisterTime");
	json_num(&e->j, "pid", e->b->resources[ev->resource].pid);
	json_num(&e->j, "tid", ev->tid);
}

static void firefox_put_samples(struct firefox_enc *e, size_t from, size_t to)
{
	static const char *const names[] = {
		"stack", "time", "eventDelay", "threadCPUDelta", NULL,
	};

	firefox_open_table(e, "samples", names);
	for (size_t i = from; i < to && !e->j.out->failed; i++) {
		json_open(&e->j, NULL, '[');
		json_num(&e->j, NULL, firefox_stack_of(e, e->events[i].sample));
		json_millionths(&e->j, NULL,
				e->events[i].time - e->b->hdr->start_ns);
		json_num(&e->j, NULL, 0);
		/* a sample stands for a period of CPU time */
		json_num(&e->j, NULL, 1000000 / e->b->hdr->frequency);
		json_close(&e->j, ']');
	}
	firefox_close_table(e);
}

/* The string of a frame has the frame's number. */
static void firefox_put_frame(struct firefox_enc *e, uint32_t number)
{
	uint32_t frame = e->frames.v[number], kind = KIND_MARKER, line = 0;

	if (frame < batch_n(e->b, BATCH_FRAMES)) {
		kind = e->b->frames[frame].kind;
		line = e->b->frames[frame].line;
	}
	json_line(&e->j);
	json_open(&e->j, NULL, '[');
	json_num(&e->j, NULL, number);
	json_bool(&e->j, NULL, false);
	json_num(&e->j, NULL, 0);
	json_null(&e->j, NULL);
	if (line)
		json_num(&e->j, NULL, line);
	else
		json_null(&e->j, NULL);
	json_null(&e->j, NULL);
	json_num(&e->j, NULL, kind);
	json_num(&e->j, NULL, 0);
	json_close(&e->j, ']');
}

static void firefox_put_string(struct firefox_enc *e, uint32_t frame)
{
	uint32_t n = batch_n(e->b, BATCH_FRAMES);
	size_t len, mark;

	json_line(&e->j);
	if (frame >= n) {
		json_text(&e->j, NULL, profile_stop_marker(frame - n));
		return;
	}
	profile_frame_name(e->b, frame, &e->text);
	len = e->text.len;
	buffer_str(&e->text, " (in ");
	mark = e->text.len;
	profile_frame_module(e->b, frame, &e->text);
	if (e->text.len > mark)
		buffer_str(&e->text, ")");
	else
		e->text.len = len;
	firefox_text(e, NULL);
}

static void firefox_put_tables(struct firefox_enc *e)
{
	static const char *const frames[] = {
		"location", "relevantForJS", "innerWindowID", "implementation",
		"line", "column", "category", "subcategory", NULL,
	};
	static const char *const stacks[] = { "prefix", "frame", NULL };

	firefox_open_table(e, "frameTable", frames);
	for (uint32_t i = 0; i < e->frames.n; i++)
		firefox_put_frame(e, i);
	firefox_close_table(e);
	firefox_open_table(e, "stackTable", stacks);
	for (uint32_t i = 0; i < e->nodes.n; i++) {
		json_open(&e->j, NULL, '[');
		if (e->nodes.v[i].prefix == NONE)
			json_null(&e->j, NULL);
		else
			json_num(&e->j, NULL, e->nodes.v[i].prefix);
		json_num(&e->j, NULL, e->nodes.v[i].frame);
		json_close(&e->j, ']');
	}
	firefox_close_table(e);
	json_line(&e->j);
	json_open(&e->j, "stringTable", '[');
	for (uint32_t i = 0; i < e->frames.n; i++)
		firefox_put_string(e, e->frames.v[i]);
	json_close(&e->j, ']');
}

/* Events from <= i < to are those of one thread. */
static void firefox_put_thread(struct firefox_enc *e, size_t from, size_t to)
{
	static const char *const markers[] = {
		"name", "startTime", "endTime", "phase", "category", "data",
		NULL,
	};

	e->thread++;
	e->nodes.n = e->frames.n = 0;
	hash_clear(&e->node_set);
	json_line(&e->j);
	json_open(&e->j, NULL, '{');
	firefox_put_thread_head(e, &e->events[from]);
	firefox_open_table(e, "markers", markers);
	firefox_close_table(e);
	firefox_put_samples(e, from, to);
	firefox_put_tables(e);
	json_close(&e->j, '}');
}

static void firefox_put_categories(struct firefox_enc *e)
{
	json_open(&e->j, "categories", '[');
	for (uint32_t i = 0; i < BATCH_FRAME__KINDS; i++) {
		const struct frame_kind_info *kind = frame_kind_info(i);

		json_open(&e->j, NULL, '{');
		json_text(&e->j, "name", kind->title);
		json_text(&e->j, "color", kind->colour);
		json_open(&e->j, "subcategories", '[');
		json_text(&e->j, NULL, "Other");
		json_close(&e->j, ']');
		json_close(&e->j, '}');
	}
	json_close(&e->j, ']');
}

static void firefox_put_meta(struct firefox_enc *e, const struct profile_info *info)
{
	const struct batch_hdr *hdr = e->b->hdr;
	struct json *j = &e->j;

	json_open(j, "meta", '{');
	json_num(j, "version", 24);
	json_millionths(j, "interval", NSEC_PER_SEC / hdr->frequency);
	json_open(j, "sampleUnits", '{');
	json_text(j, "time", "ms");
	json_text(j, "eventDelay", "ms");
	json_text(j, "threadCPUDelta", "\xc2\xb5s");
	json_close(j, '}');
	json_millionths(j, "startTime", hdr->start_ns);
	json_null(j, "shutdownTime");
	json_num(j, "profilingStartTime", 0);
	json_millionths(j, "profilingEndTime", hdr->end_ns - hdr->start_ns);
	json_num(j, "processType", 0);
	json_num(j, "stackwalk", 1);
	json_num(j, "debug", 0);
	json_num(j, "gcpoison", 0);
	json_num(j, "asyncstack", 0);
	json_bool(j, "presymbolicated", true);
	json_text(j, "product", "trifold");
	json_text(j, "platform", "Linux");
	json_text(j, "oscpu", info->kernel);
	json_text(j, "abi", info->machine);
	json_text(j, "misc", info->host);
	json_open(j, "markerSchema", '[');
	json_close(j, ']');
	firefox_put_categories(e);
	json_close(j, '}');
}

static void firefox_put_threads(struct firefox_enc *e)
{
	const struct timeline_event *v = e->events;
	size_t next;

	json_open(&e->j, "threads", '[');
	for (size_t i = 0; i < e->n_events; i = next) {
		next = i + 1;
		while (next < e->n_events && v[next].resource == v[i].resource &&
		       v[next].tid == v[i].tid)
			next++;
		firefox_put_thread(e, i, next);
	}
	json_line(&e->j);
	json_close(&e->j, ']');
}

static void firefox_put(struct firefox_enc *e, const struct profile_info *info)
{
	static const char *const empty[] = {
		"libs", "pausedRanges", "processes", NULL,
	};

	json_open(&e->j, NULL, '{');
	firefox_put_meta(e, info);
	json_line(&e->j);
	for (const char *const *key = empty; *key; key++) {
		json_open(&e->j, *key, '[');
		json_close(&e->j, ']');
	}
	firefox_put_threads(e);
	json_close(&e->j, '}');
	buffer_str(e->j.out, "\n");
	if (e->text.failed)
		e->j.out->failed = true;
}

int firefox_encode(const struct batch *b, const struct profile_info *info,
		   struct buffer *out)
{
	size_t frames = (size_t)batch_n(b, BATCH_FRAMES) + STOP__MAX;
	size_t samples = (size_t)batch_n(b, BATCH_SAMPLES) + 1;
	struct firefox_enc e = {
		.b = b,
		.j = { .out = out },
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
	    e.stack_thread && e.events)
		firefox_put(&e, info);
	else
		out->failed = true;
	free(e.events);
	free(e.names);
	free(e.same);
	free(e.frame_id);
	free(e.frame_thread);
	free(e.stack_id);
	free(e.stack_thread);
	free(e.frames.v);
	free(e.nodes.v);
	hash_free(&e.node_set);
	free(e.text.data);
	return out->failed ? -ENOMEM : 0;
}
