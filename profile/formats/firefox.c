// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/firefox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stop.h"
#include "common/clock.h"
#include "common/hash_table.h"
#include "common/json.h"
#include "common/vector.h"
#include "profile/texts.h"
#include "profile/timeline.h"

#define NONE	INDEX_NONE

struct firefox_node {
	uint32_t prefix, frame;
};

struct firefox_func {
	uint32_t name;		/* number of its text */
	uint32_t module;	/* the same, or NONE */
	uint32_t source;	/* number of its source file, or NONE */
	uint32_t line;		/* where it begins; 0: unknown */
};

/* A "look" is the first frame of the batch with the same name, module and kind (of a frame
 * also the same line and depth of inlining: timeline_frames()); after the frames of the
 * batch come the markers of stops.  Arrays of numbers have 0 for what has none yet, else
 * one more than the number. */
struct firefox_enc {
	const struct batch *b;
	struct json j;
	struct buffer text;	/* the string that is being made */
	struct timeline_event *events;
	size_t n_events;
	uint32_t *names;	/* of processes */
	uint32_t *nth;		/* by resource: how many before it have its pid */
	uint32_t *by_line, *by_name;	/* looks of frames, of functions */
	uint32_t *frame_id, *func_id;	/* by look */
	uint32_t *source_id;	/* by string of the batch */
	uint32_t *resource_id;	/* by function: NONE, or that of its module */
	uint32_t *stack_id;	/* by sample */
	VECTOR(uint32_t) frames;	/* looks */
	VECTOR(struct firefox_func) funcs;
	VECTOR(uint32_t) sources;	/* numbers of their texts */
	VECTOR(uint32_t) resources;	/* the same */
	VECTOR(struct firefox_node) nodes;
	struct hash_table node_set;	/* by (prefix, frame) */
	struct texts texts;
	uint64_t seed;
	size_t from, to;	/* events of the thread that is being written */
};

static void firefox_text(struct firefox_enc *e, const char *key)
{
	json_chars(&e->j, key, e->text.data, e->text.len);
	e->text.len = 0;
}

static void firefox_check(struct firefox_enc *e, bool ok)
{
	if (!ok)
		e->j.out->failed = true;
}

/* --- tables --------------------------------------------------------------- */

/* The number of a source file; string: of the batch, or 0. */
static uint32_t firefox_source_of(struct firefox_enc *e, uint32_t string)
{
	size_t at = e->texts.bytes.len, len;
	const char *s = batch_str(e->b, string, &len);

	if (!len)
		return NONE;
	if (!e->source_id[string]) {
		buffer_add(&e->texts.bytes, s, len);
		firefox_check(e, vector_push(&e->sources, texts_number(&e->texts, at)));
		e->source_id[string] = e->sources.n;
	}
	return e->source_id[string] - 1;
}

static void firefox_make_func(struct firefox_enc *e, uint32_t look, struct firefox_func *ret)
{
	uint32_t n = batch_n(e->b, BATCH_FRAMES);
	struct buffer *w = &e->texts.bytes;
	const struct batch_function *fn;
	size_t at = w->len;

	*ret = (struct firefox_func){ .module = NONE, .source = NONE };
	if (look >= n) {
		buffer_str(w, profile_stop_marker(look - n));
		ret->name = texts_number(&e->texts, at);
		return;
	}
	profile_frame_name(e->b, look, w);
	ret->name = texts_number(&e->texts, at);
	at = w->len;
	profile_frame_module(e->b, look, w);
	if (w->len > at)
		ret->module = texts_number(&e->texts, at);
	fn = &e->b->functions[e->b->frames[look].function];
	if (profile_is_nameless(&e->b->frames[look]))
		return;
	ret->source = firefox_source_of(e, fn->file);
	ret->line = fn->start_line;
}

/* The number of the function of a frame. */
static uint32_t firefox_func_of(struct firefox_enc *e, uint32_t frame)
{
	uint32_t look = frame;
	struct firefox_func f;

	if (frame < batch_n(e->b, BATCH_FRAMES))
		look = e->by_name[frame];
	if (!e->func_id[look]) {
		firefox_make_func(e, look, &f);
		firefox_check(e, vector_push(&e->funcs, f));
		e->func_id[look] = e->funcs.n;
	}
	return e->func_id[look] - 1;
}

static uint32_t firefox_frame_of(struct firefox_enc *e, uint32_t look)
{
	if (!e->frame_id[look]) {
		firefox_check(e, vector_push(&e->frames, look));
		e->frame_id[look] = e->frames.n;
		firefox_func_of(e, look);
	}
	return e->frame_id[look] - 1;
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

	if (profile_stop_marker(s->stop))
		at = firefox_node_of(e, at, firefox_frame_of(e, s->stop +
					batch_n(e->b, BATCH_FRAMES)));
	for (uint32_t i = stack->n; i-- > 0; ) {
		uint32_t frame = e->b->stack_frames[stack->first + i];
		uint32_t n = batch_inlined(e->b, frame, in);

		while (n-- > 0)
			at = firefox_node_of(e, at,
					     firefox_frame_of(e, e->by_line[in[n]]));
	}
	return at;
}

static void firefox_make_resources(struct firefox_enc *e)
{
	uint32_t *known = calloc((size_t)e->texts.v.n + 1, sizeof(*known));

	e->resource_id = calloc((size_t)e->funcs.n + 1, sizeof(*e->resource_id));
	firefox_check(e, known && e->resource_id);
	for (uint32_t i = 0; i < e->funcs.n && known && e->resource_id; i++) {
		uint32_t module = e->funcs.v[i].module;

		e->resource_id[i] = NONE;
		if (module == NONE)
			continue;
		if (!known[module]) {
			firefox_check(e, vector_push(&e->resources, module));
			known[module] = e->resources.n;
		}
		e->resource_id[i] = known[module] - 1;
	}
	free(known);
}

static void firefox_make_tables(struct firefox_enc *e)
{
	for (uint32_t i = 0; i < batch_n(e->b, BATCH_SAMPLES); i++) {
		if (e->j.out->failed)
			return;
		e->stack_id[i] = firefox_stack_of(e, i);
	}
	firefox_make_resources(e);
	if (e->texts.failed)
		e->j.out->failed = true;
}

/* --- columns ---------------------------------------------------------------- */

typedef void firefox_value(struct firefox_enc *e, uint32_t i);

static void firefox_column(struct firefox_enc *e, const char *key, size_t n,
			   firefox_value *put)
{
	json_line(&e->j);
	json_open(&e->j, key, '[');
	for (uint32_t i = 0; i < n && !e->j.out->failed; i++)
		put(e, i);
	json_close(&e->j, ']');
}

struct firefox_columns {
	const char *key;
	firefox_value *put;
};

/* A table of n rows; the last of the columns has no key. */
static void firefox_table(struct firefox_enc *e, const char *key, size_t n,
			  const struct firefox_columns *c)
{
	json_line(&e->j);
	json_open(&e->j, key, '{');
	json_num(&e->j, "length", n);
	for (; c->key; c++)
		firefox_column(e, c->key, n, c->put);
	json_close(&e->j, '}');
}

static void firefox_null(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_null(&e->j, NULL);
}

static void firefox_zero(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_num(&e->j, NULL, 0);
}

static void firefox_one(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_num(&e->j, NULL, 1);
}

static void firefox_minus_one(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_int(&e->j, NULL, -1);
}

static void firefox_false(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_bool(&e->j, NULL, false);
}

static void firefox_number_or_null(struct firefox_enc *e, uint32_t v, uint32_t null)
{
	if (v == null)
		json_null(&e->j, NULL);
	else
		json_num(&e->j, NULL, v);
}

static void firefox_node_frame(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, e->nodes.v[i].frame);
}

static void firefox_node_prefix(struct firefox_enc *e, uint32_t i)
{
	uint32_t prefix = e->nodes.v[i].prefix;

	json_num(&e->j, NULL, prefix == NONE ? 0 : i - prefix);
}

/* The frame of the batch; NULL: a marker. */
static const struct batch_frame *firefox_batch_frame(const struct firefox_enc *e, uint32_t i)
{
	uint32_t look = e->frames.v[i];

	if (look >= batch_n(e->b, BATCH_FRAMES))
		return NULL;
	return &e->b->frames[look];
}

static void firefox_frame_func(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, firefox_func_of(e, e->frames.v[i]));
}

static void firefox_frame_category(struct firefox_enc *e, uint32_t i)
{
	const struct batch_frame *f = firefox_batch_frame(e, i);

	json_num(&e->j, NULL, f ? f->kind : KIND_MARKER);
}

static void firefox_frame_line(struct firefox_enc *e, uint32_t i)
{
	const struct batch_frame *f = firefox_batch_frame(e, i);

	firefox_number_or_null(e, f ? f->line : 0, 0);
}

static void firefox_frame_depth(struct firefox_enc *e, uint32_t i)
{
	const struct batch_frame *f = firefox_batch_frame(e, i);

	json_num(&e->j, NULL, f ? f->inlined : 0);
}

static void firefox_func_name(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, e->funcs.v[i].name);
}

static void firefox_func_resource(struct firefox_enc *e, uint32_t i)
{
	if (e->resource_id[i] == NONE)
		json_int(&e->j, NULL, -1);
	else
		json_num(&e->j, NULL, e->resource_id[i]);
}

static void firefox_func_source(struct firefox_enc *e, uint32_t i)
{
	firefox_number_or_null(e, e->funcs.v[i].source, NONE);
}

static void firefox_func_line(struct firefox_enc *e, uint32_t i)
{
	firefox_number_or_null(e, e->funcs.v[i].line, 0);
}

static void firefox_resource_name(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, e->resources.v[i]);
}

static void firefox_source_name(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, e->sources.v[i]);
}

static void firefox_string(struct firefox_enc *e, uint32_t i)
{
	const struct text_place *t = &e->texts.v.v[i];

	json_line(&e->j);
	json_chars(&e->j, NULL, e->texts.bytes.data + t->at, t->len);
}

static void firefox_put_tables(struct firefox_enc *e)
{
	static const struct firefox_columns stacks[] = {
		{ "frame", firefox_node_frame }, { "prefixOffset", firefox_node_prefix },
		{ NULL, NULL },
	}, frames[] = {
		{ "address", firefox_minus_one }, { "lib", firefox_minus_one },
		{ "inlineDepth", firefox_frame_depth }, { "category", firefox_frame_category },
		{ "subcategory", firefox_zero }, { "func", firefox_frame_func },
		{ "nativeSymbol", firefox_null }, { "innerWindowID", firefox_zero },
		{ "line", firefox_frame_line }, { "column", firefox_null },
		{ "originalLocation", firefox_null }, { NULL, NULL },
	}, funcs[] = {
		{ "name", firefox_func_name }, { "isJS", firefox_false },
		{ "relevantForJS", firefox_false }, { "resource", firefox_func_resource },
		{ "source", firefox_func_source }, { "lineNumber", firefox_func_line },
		{ "columnNumber", firefox_null }, { "originalLocation", firefox_null },
		{ NULL, NULL },
	}, resources[] = {		/* type 1: a library */
		{ "name", firefox_resource_name }, { "host", firefox_null },
		{ "type", firefox_one }, { NULL, NULL },
	}, symbols[] = {
		{ "libIndex", firefox_null }, { "address", firefox_null },
		{ "name", firefox_null }, { "functionSize", firefox_null }, { NULL, NULL },
	}, sources[] = {
		{ "id", firefox_null }, { "filename", firefox_source_name },
		{ "startLine", firefox_one }, { "startColumn", firefox_one },
		{ "sourceMapURL", firefox_null }, { "content", firefox_null },
		{ NULL, NULL },
	}, places[] = {
		{ "source", firefox_null }, { "line", firefox_null },
		{ "column", firefox_null }, { NULL, NULL },
	};

	json_line(&e->j);
	json_open(&e->j, "shared", '{');
	firefox_table(e, "stackTable", e->nodes.n, stacks);
	firefox_table(e, "frameTable", e->frames.n, frames);
	firefox_table(e, "funcTable", e->funcs.n, funcs);
	firefox_table(e, "resourceTable", e->resources.n, resources);
	firefox_table(e, "nativeSymbols", 0, symbols);
	firefox_table(e, "sources", e->sources.n, sources);
	firefox_table(e, "sourceLocationTable", 0, places);
	firefox_column(e, "stringArray", e->texts.v.n, firefox_string);
	json_close(&e->j, '}');
}

/* --- threads ---------------------------------------------------------------- */

static int firefox_by_pid(const void *pa, const void *pb, void *arg)
{
	const struct batch_resource *v = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int r = profile_order(v[a].pid, v[b].pid);

	if (!r)
		r = profile_order(a, b);
	return r;
}

/* Number the resources with samples that have one pid: from 0, by resource; NULL: no
 * memory. */
static uint32_t *firefox_count_pids(const struct batch *b)
{
	uint32_t resources = batch_n(b, BATCH_RESOURCES), n = 0;
	uint32_t *v = calloc((size_t)resources + 1, sizeof(*v));
	uint32_t *nth = calloc((size_t)resources + 1, sizeof(*nth));

	if (!v || !nth) {
		free(v);
		free(nth);
		return NULL;
	}
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		nth[b->samples[i].resource] = 1;
	for (uint32_t i = 0; i < resources; i++) {
		if (nth[i])
			v[n++] = i;
		nth[i] = 0;
	}
	qsort_r(v, n, sizeof(*v), firefox_by_pid, (void *)b->resources);
	for (uint32_t i = 1; i < n; i++) {
		if (b->resources[v[i]].pid == b->resources[v[i - 1]].pid)
			nth[v[i]] = nth[v[i - 1]] + 1;
	}
	free(v);
	return nth;
}

/*
 * Of the main threads with one "pid" the Firefox Profiler shows the last
 * (src/profile-logic/tracks.ts), and two resources can have one: after an exec, or when
 * a number is given again.  So the first is "10", the others "10.1", "10.2"; pids are
 * strings in order to be unique (src/types/profile.ts).
 */
static void firefox_put_pid(struct firefox_enc *e, uint32_t resource)
{
	buffer_num(&e->text, e->b->resources[resource].pid);
	if (e->nth[resource]) {
		buffer_str(&e->text, ".");
		buffer_num(&e->text, e->nth[resource]);
	}
	firefox_text(e, "pid");
}

static void firefox_put_thread_head(struct firefox_enc *e)
{
	const struct timeline_event *ev = &e->events[e->from];
	const struct batch_sample *s = &e->b->samples[ev->sample];
	uint32_t pid = e->b->resources[ev->resource].pid;
	const char *name;
	size_t len;

	name = batch_str(e->b, e->b->attrs[s->attr].thread_name, &len);
	if (len)
		buffer_add(&e->text, name, len);
	else
		buffer_str(&e->text, PROFILE_UNKNOWN_THREAD);
	firefox_text(e, "name");
	json_bool(&e->j, "isMainThread", ev->tid == pid);
	timeline_process(e->b, e->names, ev->resource, &e->text);
	firefox_text(e, "processName");
	json_text(&e->j, "processType", "default");
	json_num(&e->j, "processStartupTime", 0);
	json_null(&e->j, "processShutdownTime");
	json_num(&e->j, "registerTime", 0);
	json_null(&e->j, "unregisterTime");
	json_open(&e->j, "pausedRanges", '[');
	json_close(&e->j, ']');
	firefox_put_pid(e, ev->resource);
	json_num(&e->j, "tid", ev->tid);
}

static void firefox_sample_stack(struct firefox_enc *e, uint32_t i)
{
	json_num(&e->j, NULL, e->stack_id[e->events[e->from + i].sample]);
}

static void firefox_sample_time(struct firefox_enc *e, uint32_t i)
{
	json_millionths(&e->j, NULL, e->events[e->from + i].time - e->b->hdr->start_ns);
}

/* A sample stands for a period of CPU time. */
static void firefox_sample_cpu(struct firefox_enc *e, uint32_t i)
{
	(void)i;
	json_num(&e->j, NULL, 1000000 / e->b->hdr->frequency);
}

static void firefox_put_samples(struct firefox_enc *e)
{
	size_t n = e->to - e->from;

	json_line(&e->j);
	json_open(&e->j, "samples", '{');
	json_num(&e->j, "length", n);
	json_null(&e->j, "weight");
	json_text(&e->j, "weightType", "samples");
	firefox_column(e, "stack", n, firefox_sample_stack);
	firefox_column(e, "time", n, firefox_sample_time);
	firefox_column(e, "threadCPUDelta", n, firefox_sample_cpu);
	json_close(&e->j, '}');
}

/* Events from <= i < to are those of one thread. */
static void firefox_put_thread(struct firefox_enc *e)
{
	static const struct firefox_columns markers[] = {
		{ "data", firefox_null }, { "name", firefox_null },
		{ "startTime", firefox_null }, { "endTime", firefox_null },
		{ "phase", firefox_null }, { "category", firefox_null }, { NULL, NULL },
	};

	json_line(&e->j);
	json_open(&e->j, NULL, '{');
	firefox_put_thread_head(e);
	firefox_put_samples(e);
	firefox_table(e, "markers", 0, markers);
	json_close(&e->j, '}');
}

static void firefox_put_threads(struct firefox_enc *e)
{
	const struct timeline_event *v = e->events;

	json_line(&e->j);
	json_open(&e->j, "threads", '[');
	for (e->from = 0; e->from < e->n_events; e->from = e->to) {
		e->to = e->from + 1;
		while (e->to < e->n_events &&
		       v[e->to].resource == v[e->from].resource &&
		       v[e->to].tid == v[e->from].tid)
			e->to++;
		firefox_put_thread(e);
	}
	json_line(&e->j);
	json_close(&e->j, ']');
}

/* --- the file --------------------------------------------------------------- */

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
	json_num(j, "version", FIREFOX_GECKO_VERSION);
	json_num(j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_millionths(j, "interval", NSEC_PER_SEC / hdr->frequency);
	json_open(j, "sampleUnits", '{');
	json_text(j, "time", "ms");
	json_text(j, "eventDelay", "ms");
	json_text(j, "threadCPUDelta", "\xc2\xb5s");
	json_close(j, '}');
	json_millionths(j, "startTime", hdr->start_ns);
	json_num(j, "profilingStartTime", 0);
	json_millionths(j, "profilingEndTime", hdr->end_ns - hdr->start_ns);
	json_num(j, "processType", 0);
	json_num(j, "stackwalk", 1);
	json_bool(j, "debug", false);
	json_bool(j, "symbolicated", true);
	json_bool(j, "symbolicationNotSupported", true);
	json_bool(j, "sourceCodeIsNotOnSearchfox", true);
	json_bool(j, "usesOnlyOneStackType", true);
	json_text(j, "product", "trifold");
	json_text(j, "platform", "Linux");
	json_text(j, "oscpu", info->kernel);
	json_text(j, "abi", info->machine);
	json_text(j, "misc", info->host);
	if (info->cpus)
		json_num(j, "logicalCPUs", info->cpus);
	if (info->command[0])
		json_text(j, "arguments", info->command);
	json_open(j, "markerSchema", '[');
	json_close(j, ']');
	firefox_put_categories(e);
	json_close(j, '}');
}

static void firefox_put(struct firefox_enc *e, const struct profile_info *info)
{
	firefox_make_tables(e);
	json_open(&e->j, NULL, '{');
	firefox_put_meta(e, info);
	json_open(&e->j, "libs", '[');
	json_close(&e->j, ']');
	firefox_put_tables(e);
	firefox_put_threads(e);
	json_close(&e->j, '}');
	buffer_str(e->j.out, "\n");
	if (e->text.failed)
		e->j.out->failed = true;
}

static void firefox_fini(struct firefox_enc *e)
{
	free(e->events);
	free(e->names);
	free(e->nth);
	free(e->by_line);
	free(e->by_name);
	free(e->frame_id);
	free(e->func_id);
	free(e->source_id);
	free(e->resource_id);
	free(e->stack_id);
	free(e->frames.v);
	free(e->funcs.v);
	free(e->sources.v);
	free(e->resources.v);
	free(e->nodes.v);
	hash_free(&e->node_set);
	texts_fini(&e->texts);
	free(e->text.data);
}

int firefox_encode(const struct batch *b, const struct profile_info *info,
		   struct buffer *out)
{
	size_t frames = (size_t)batch_n(b, BATCH_FRAMES) + STOP__MAX;
	struct firefox_enc e = {
		.b = b,
		.j = { .out = out },
		.seed = hash_seed(),
		.texts = { .seed = hash_seed() },
		.names = profile_process_names(b),
		.nth = firefox_count_pids(b),
		.by_line = timeline_frames(b, true),
		.by_name = timeline_frames(b, false),
		.frame_id = calloc(frames, sizeof(uint32_t)),
		.func_id = calloc(frames, sizeof(uint32_t)),
		.source_id = calloc((size_t)batch_n(b, BATCH_STRINGS) + 1, sizeof(uint32_t)),
		.stack_id = calloc((size_t)batch_n(b, BATCH_SAMPLES) + 1, sizeof(uint32_t)),
	};

	e.events = timeline_sort(b, true, &e.n_events);
	if (e.names && e.nth && e.by_line && e.by_name && e.frame_id && e.func_id &&
	    e.source_id && e.stack_id && e.events)
		firefox_put(&e, info);
	else
		out->failed = true;
	firefox_fini(&e);
	return out->failed ? -ENOMEM : 0;
}
