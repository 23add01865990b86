// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/pprof.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/clock.h"
#include "common/protobuf.h"
#include "profile/texts.h"

enum {				/* fields of Profile */
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING_TABLE = 6,
	TIME_NANOS = 9,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	COMMENT = 13,
	DEFAULT_SAMPLE_TYPE = 14,
};

/* Strings of this encoder, which follow those of the batch. */
enum literal {
	S_SAMPLES, S_COUNT, S_CPU, S_NANOSECONDS, S_COMM, S_PID, S_THREAD,
	S_THREAD_ID, S_CONTAINER_ID, S_UNIT, S_STACK_END, S_KERNEL,
	S_UNKNOWN_PROCESS, S_COMMENT, S__LITERALS
};

static const char *const literals[S__LITERALS] = {
	"samples", "count", "cpu", "nanoseconds", "comm", "pid", "thread",
	"thread_id", "container_id", "unit", "stack_end", PROFILE_KERNEL,
	PROFILE_UNKNOWN_PROCESS, NULL,
};

static const char *const stop_names[] = { STOP_NAMES };

/* The symbols of a mapping; all but the last must be there for each frame. */
enum {
	PPROF_FUNCTIONS = 1, PPROF_FILES = 2, PPROF_LINES = 4,
	PPROF_INLINED = 8,
};

struct pprof_enc {
	const struct batch *b;
	const struct profile_info *info;
	struct buffer out;
	uint64_t period;	/* ns */
	uint32_t *names;	/* of processes */
	uint64_t *limits;	/* by executable: above every address */
	uint8_t *has;		/* by executable: PPROF_... */
	uint32_t *ids;		/* by frame in a stack: ID of its location */
	struct texts placeholders;	/* functions after those of the batch; their
					 * strings are the last */
	uint32_t *placeholder;	/* by nameless frame in a stack: number in them */
};

static uint32_t pprof_literal(const struct pprof_enc *e, enum literal s)
{
	return batch_n(e->b, BATCH_STRINGS) + s;
}

/* Mapping 1 is the kernel, executable i is mapping i + 1; 0 is none. */
#define KERNEL_MAPPING	1

static uint32_t pprof_mapping_of(const struct batch_frame *f)
{
	if (frame_kind_class(f->kind) == FRAMES_KERNEL)
		return KERNEL_MAPPING;
	if (!f->exe)
		return 0;
	return f->exe + 1;
}

static void pprof_value_type(struct pprof_enc *e, unsigned int field,
			     enum literal type, enum literal unit)
{
	size_t mark = pb_begin(&e->out, field);

	pb_uint(&e->out, 1, pprof_literal(e, type));
	pb_uint(&e->out, 2, pprof_literal(e, unit));
	pb_end(&e->out, mark);
}

static void pprof_label_str(struct pprof_enc *e, enum literal key, uint32_t str)
{
	size_t mark;

	if (!str)
		return;
	mark = pb_begin(&e->out, 3);
	pb_uint(&e->out, 1, pprof_literal(e, key));
	pb_uint(&e->out, 2, str);
	pb_end(&e->out, mark);
}

static void pprof_label_num(struct pprof_enc *e, enum literal key, uint64_t num)
{
	size_t mark = pb_begin(&e->out, 3);

	pb_uint(&e->out, 1, pprof_literal(e, key));
	pb_uint(&e->out, 3, num);
	pb_end(&e->out, mark);
}

static void pprof_put_sample(struct pprof_enc *e, const struct batch_sample *s)
{
	const struct batch_stack *stack = &e->b->stacks[s->stack];
	const struct batch_resource *res = &e->b->resources[s->resource];
	const struct batch_attr *attr = &e->b->attrs[s->attr];
	size_t mark = pb_begin(&e->out, SAMPLE), list;
	uint32_t name = e->names[s->resource];

	if (!name)
		name = pprof_literal(e, S_UNKNOWN_PROCESS);
	list = pb_begin(&e->out, 1);
	for (uint32_t i = 0; i < stack->n; i++)
		pb_varint(&e->out,
			  e->ids[e->b->stack_frames[stack->first + i]]);
	pb_end(&e->out, list);
	list = pb_begin(&e->out, 2);
	pb_varint(&e->out, s->n);
	pb_varint(&e->out, s->n * e->period);
	pb_end(&e->out, list);
	pprof_label_str(e, S_COMM, name);
	pprof_label_num(e, S_PID, res->pid);
	pprof_label_str(e, S_THREAD, attr->thread_name);
	pprof_label_num(e, S_THREAD_ID, attr->tid);
	pprof_label_str(e, S_CONTAINER_ID, res->container_id);
	pprof_label_str(e, S_UNIT, res->unit);
	if (profile_stop_marker(s->stop))
		pprof_label_str(e, S_STACK_END,
				pprof_literal(e, S__LITERALS) + s->stop);
	pb_end(&e->out, mark);
}

static void pprof_put_mapping(struct pprof_enc *e, uint32_t id, uint64_t limit,
			      uint32_t name, uint32_t build_id, unsigned int has)
{
	size_t mark = pb_begin(&e->out, MAPPING);

	pb_uint(&e->out, 1, id);
	pb_uint(&e->out, 3, limit);
	pb_uint(&e->out, 5, name);
	pb_uint(&e->out, 6, build_id);
	if (has & PPROF_FUNCTIONS)
		pb_uint(&e->out, 7, 1);
	if (has & PPROF_FILES)
		pb_uint(&e->out, 8, 1);
	if (has & PPROF_LINES)
		pb_uint(&e->out, 9, 1);
	if (has & PPROF_INLINED)
		pb_uint(&e->out, 10, 1);
	pb_end(&e->out, mark);
}

/* The executable of the processes with most samples, or 0: pprof shows the file of the
 * first mapping as the profiled program. */
static uint32_t pprof_main_exe(struct pprof_enc *e)
{
	const struct batch *b = e->b;
	uint64_t *weight = calloc(batch_n(b, BATCH_STRINGS), sizeof(*weight));
	uint64_t most = 0;
	uint32_t exe = 0;

	if (!weight) {
		e->out.failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];

		weight[b->resources[s->resource].exe_path] += s->n;
	}
	for (uint32_t i = 1; i < batch_n(b, BATCH_EXES); i++) {
		uint32_t path = b->exes[i].path;

		if (path && weight[path] > most) {
			most = weight[path];
			exe = i;
		}
	}
	free(weight);
	return exe;
}

/* `has` of a mapping after another one of its frames. */
static uint8_t pprof_has(const struct batch *b, const struct batch_frame *f,
			 uint8_t has)
{
	const struct batch_function *fn = &b->functions[f->function];

	if (profile_is_unnamed(b, f))
		has &= (uint8_t)~PPROF_FUNCTIONS;
	if (!fn->file)
		has &= (uint8_t)~PPROF_FILES;
	if (!f->line)
		has &= (uint8_t)~PPROF_LINES;
	if (f->inlined)
		has |= PPROF_INLINED;
	return has;
}

/* The only ID that a mapping has; 0: none. */
static uint32_t pprof_build_id(const struct batch_exe *x)
{
	return x->build_id ? x->build_id : x->runtime_id;
}

/* Mapping of executable i; 0: of the kernel. */
static void pprof_put_exe(struct pprof_enc *e, uint32_t i)
{
	const struct batch_exe *x = &e->b->exes[i];

	if (i == 0)
		pprof_put_mapping(e, KERNEL_MAPPING, e->limits[0],
				  pprof_literal(e, S_KERNEL), 0, PPROF_FUNCTIONS);
	else
		pprof_put_mapping(e, i + 1, e->limits[i], x->path,
				  pprof_build_id(x), e->has[i]);
}

static void pprof_put_mappings(struct pprof_enc *e)
{
	const struct batch *b = e->b;
	uint32_t first;

	memset(e->has, PPROF_FUNCTIONS | PPROF_FILES | PPROF_LINES,
	       batch_n(b, BATCH_EXES));
	for (uint32_t i = 0; i < batch_n(b, BATCH_FRAMES); i++) {
		const struct batch_frame *f = &b->frames[i];
		bool kernel = frame_kind_class(f->kind) == FRAMES_KERNEL;
		uint32_t x = kernel ? 0 : f->exe;

		if (f->address >= e->limits[x])
			e->limits[x] = (f->address | 0xfff) + 1;
		e->has[x] = pprof_has(b, f, e->has[x]);
	}
	first = pprof_main_exe(e);
	pprof_put_exe(e, first);
	for (uint32_t i = 0; i < batch_n(b, BATCH_EXES); i++) {
		if (i != first)
			pprof_put_exe(e, i);
	}
}

static void pprof_put_line(struct pprof_enc *e, uint32_t function,
			   uint32_t number)
{
	size_t line = pb_begin(&e->out, 4);

	pb_uint(&e->out, 1, function);
	pb_uint(&e->out, 2, number);
	pb_end(&e->out, line);
}

/* Is there no function, because a tool can find one? */
static bool pprof_leaves_name(const struct pprof_enc *e, const struct batch_frame *f)
{
	return e->info->nameless && profile_is_unnamed(e->b, f) &&
	       profile_can_be_looked_up(f, pprof_build_id(&e->b->exes[f->exe]) != 0);
}

/* Innermost line first (profile.proto, message Location). */
static void pprof_put_location(struct pprof_enc *e, uint32_t i)
{
	uint32_t in[BATCH_INLINED_MAX + 1], n = batch_inlined(e->b, i, in);
	const struct batch_frame *f = &e->b->frames[i];
	size_t mark = pb_begin(&e->out, LOCATION);

	pb_uint(&e->out, 1, e->ids[i]);
	pb_uint(&e->out, 2, pprof_mapping_of(f));
	pb_uint(&e->out, 3, f->address);
	if (pprof_leaves_name(e, f)) {
		n = 0;
	} else if (profile_is_nameless(f)) {
		pprof_put_line(e, batch_n(e->b, BATCH_FUNCTIONS) + e->placeholder[i], 0);
		n = 0;
	}
	for (uint32_t k = 0; k < n; k++) {
		f = &e->b->frames[in[k]];
		pprof_put_line(e, f->function, f->line);
	}
	pb_end(&e->out, mark);
}

/* pprof's own tool believes that a name which is its system name, too, is mangled: of
 * "<module>" it would leave nothing. */
static void pprof_put_function(struct pprof_enc *e, uint32_t id,
			       const struct batch_function *f)
{
	size_t mark = pb_begin(&e->out, FUNCTION);
	uint32_t system_name = batch_system_name(f);

	if (system_name == f->name)
		system_name = 0;
	pb_uint(&e->out, 1, id);
	pb_uint(&e->out, 2, f->name);
	pb_uint(&e->out, 3, system_name);
	pb_uint(&e->out, 4, f->file);
	pb_uint(&e->out, 5, f->start_line);
	pb_end(&e->out, mark);
}

/* The string of placeholder i. */
static uint32_t pprof_placeholder_string(const struct pprof_enc *e, uint32_t i)
{
	return pprof_literal(e, S__LITERALS) + STOP__MAX + i;
}

static void pprof_put_strings(struct pprof_enc *e)
{
	const struct profile_account *a = &e->info->account;
	struct buffer comment = { 0 };

	for (uint32_t i = 0; i < batch_n(e->b, BATCH_STRINGS); i++) {
		size_t len;
		const char *s = batch_str(e->b, i, &len);

		pb_text(&e->out, STRING_TABLE, s, len);
	}
	for (int i = 0; i < S_COMMENT; i++)
		pb_text(&e->out, STRING_TABLE, literals[i],
			strlen(literals[i]));
	buffer_printf(&comment, "trifold on %s, Linux %s %s", e->info->host,
		    e->info->kernel, e->info->machine);
	if (a->known)
		buffer_printf(&comment, "; samples taken %llu, delivered %llu, "
			    "of trifold itself %llu, lost %llu%s%s, difference %lld",
			    (unsigned long long)a->taken,
			    (unsigned long long)a->delivered,
			    (unsigned long long)a->own,
			    (unsigned long long)a->lost,
			    a->reasons[0] ? ": " : "", a->reasons,
			    (long long)a->difference);
	pb_text(&e->out, STRING_TABLE, (const char *)comment.data, comment.len);
	if (comment.failed)
		e->out.failed = true;
	free(comment.data);
	for (int i = 0; i < STOP__MAX; i++)
		pb_text(&e->out, STRING_TABLE, stop_names[i],
			strlen(stop_names[i]));
	for (uint32_t i = 0; i < e->placeholders.v.n; i++) {
		const struct text_place *t = &e->placeholders.v.v[i];

		pb_text(&e->out, STRING_TABLE,
			(const char *)e->placeholders.bytes.data + t->at, t->len);
	}
}

/* Frames that calls are inlined into belong to the locations of the calls. */
static void pprof_number_locations(struct pprof_enc *e)
{
	const struct batch *b = e->b;
	uint32_t n = 0;

	for (uint32_t i = 0; i < batch_n(b, BATCH_STACK_FRAMES); i++)
		e->ids[b->stack_frames[i]] = 1;
	for (uint32_t i = 0; i < batch_n(b, BATCH_FRAMES); i++) {
		if (e->ids[i])
			e->ids[i] = ++n;
	}
}

static void pprof_number_placeholders(struct pprof_enc *e)
{
	struct texts *t = &e->placeholders;

	for (uint32_t i = 0; i < batch_n(e->b, BATCH_FRAMES); i++) {
		const struct batch_frame *f = &e->b->frames[i];
		size_t at = t->bytes.len;

		if (!e->ids[i] || !profile_is_nameless(f) || pprof_leaves_name(e, f))
			continue;
		profile_frame_name(e->b, i, &t->bytes);
		e->placeholder[i] = texts_number(t, at);
	}
	if (t->failed)
		e->out.failed = true;
}

static void pprof_put_functions(struct pprof_enc *e)
{
	uint32_t n = batch_n(e->b, BATCH_FUNCTIONS);

	for (uint32_t i = 1; i < n; i++)
		pprof_put_function(e, i, &e->b->functions[i]);
	for (uint32_t i = 0; i < e->placeholders.v.n; i++)
		pprof_put_function(e, n + i, &(struct batch_function){
			.name = pprof_placeholder_string(e, i) });
}

static void pprof_put_profile(struct pprof_enc *e)
{
	const struct batch *b = e->b;

	pprof_number_locations(e);
	pprof_number_placeholders(e);
	pprof_value_type(e, SAMPLE_TYPE, S_SAMPLES, S_COUNT);
	pprof_value_type(e, SAMPLE_TYPE, S_CPU, S_NANOSECONDS);
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		pprof_put_sample(e, &b->samples[i]);
	pprof_put_mappings(e);
	for (uint32_t i = 0; i < batch_n(b, BATCH_FRAMES); i++) {
		if (e->ids[i])
			pprof_put_location(e, i);
	}
	pprof_put_functions(e);
	pprof_put_strings(e);
	pb_uint(&e->out, TIME_NANOS, b->hdr->start_ns);
	pb_uint(&e->out, DURATION_NANOS, b->hdr->end_ns - b->hdr->start_ns);
	pprof_value_type(e, PERIOD_TYPE, S_CPU, S_NANOSECONDS);
	pb_uint(&e->out, PERIOD, e->period);
	pb_uint(&e->out, COMMENT, pprof_literal(e, S_COMMENT));
	pb_uint(&e->out, DEFAULT_SAMPLE_TYPE, pprof_literal(e, S_CPU));
}

static int pprof_gzip(const struct buffer *in, struct buffer *out)
{
	z_stream z = { .next_in = in->data, .avail_in = (uInt)in->len };
	uint8_t buf[16384];
	int r;

	if (in->len > UINT32_MAX)
		return -EIO;
	/* 16 + window bits: with a gzip header, without a time in it */
	if (deflateInit2(&z, 6, Z_DEFLATED, 16 + 15, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = buf;
		z.avail_out = sizeof(buf);
		r = deflate(&z, Z_FINISH);
		buffer_add(out, buf, sizeof(buf) - z.avail_out);
	} while (r == Z_OK);
	deflateEnd(&z);
	if (r != Z_STREAM_END)
		return -EIO;
	return out->failed ? -ENOMEM : 0;
}

int pprof_encode(const struct batch *b, const struct profile_info *info,
		 struct buffer *out)
{
	struct pprof_enc e = {
		.b = b,
		.info = info,
		.period = NSEC_PER_SEC / b->hdr->frequency,
		.names = profile_process_names(b),
		.limits = calloc(batch_n(b, BATCH_EXES) + 1, sizeof(uint64_t)),
		.has = calloc(batch_n(b, BATCH_EXES) + 1, sizeof(uint8_t)),
		.ids = calloc(batch_n(b, BATCH_FRAMES) + 1, sizeof(uint32_t)),
		.placeholders = { .seed = hash_seed() },
		.placeholder = calloc(batch_n(b, BATCH_FRAMES) + 1, sizeof(uint32_t)),
	};
	int r = -ENOMEM;

	if (e.names && e.limits && e.has && e.ids && e.placeholder)
		pprof_put_profile(&e);
	else
		e.out.failed = true;
	if (!e.out.failed)
		r = pprof_gzip(&e.out, out);
	free(e.out.data);
	free(e.names);
	free(e.limits);
	free(e.has);
	free(e.ids);
	free(e.placeholder);
	texts_fini(&e.placeholders);
	return r;
}
