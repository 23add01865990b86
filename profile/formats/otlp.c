// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/otlp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/clock.h"
#include "common/protobuf.h"
#include "profile/formats/dictionary.h"

#define PROFILE_ID	16	/* bytes of Profile.profile_id */

#define PROCESS_ATTRS	4	/* of a sample, at most */

struct sample_key {
	uint32_t resource;	/* that of the group */
	uint32_t stack, attr, stop;
	uint32_t process;	/* resource of the batch; 0: its group is one process */
	uint32_t first, n;	/* its times */
};

/* What the samples of a process have, where the resource is no process; 0: no more. */
struct otlp_process {
	uint32_t attrs[PROCESS_ATTRS];
};

struct otlp_enc {
	const struct batch *b;
	struct otlp_range range;
	struct dict dict;
	struct sample_key *order;
	uint32_t *depth;	/* frames of each stack; 0: it is not used */
	uint32_t *group;	/* by resource: the one that stands for it; NULL: itself */
	struct otlp_process *processes;	/* by resource, if there are groups */
	enum otlp_per per;
	const char *const *only;
	const char *host_name;
	bool guesses;
	struct buffer out;
	struct buffer host;	/* attributes of extra, for every resource */
	bool host_named;	/* they include a service.name */
	uint8_t id[PROFILE_ID];	/* of the next profile; all 0: none yet */
	uint32_t profiles;	/* that were written */
};

static void otlp_key_text(struct buffer *w, const char *key, const char *s,
			  size_t n)
{
	size_t mark = pb_begin(w, 1);

	pb_text(w, 1, key, strlen(key));
	pb_any_text(w, 2, s, n);
	pb_end(w, mark);
}

static void otlp_key_string(struct otlp_enc *e, const char *key, uint32_t i)
{
	size_t n;
	const char *s = batch_str(e->b, i, &n);

	if (n)
		otlp_key_text(&e->out, key, s, n);
}

/* ISO 8601, as the conventions show it for process.creation.time. */
static void otlp_key_time(struct buffer *w, const char *key, uint64_t ns)
{
	time_t s = (time_t)(ns / NSEC_PER_SEC);
	unsigned int ms = (unsigned int)(ns % NSEC_PER_SEC / NSEC_PER_MSEC);
	char buf[64];
	struct tm tm;
	size_t n;

	if (!gmtime_r(&s, &tm))
		return;
	n = strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &tm);
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, ".%03uZ", ms);
	otlp_key_text(w, key, buf, n);
}

static const char pid_key[] = "process.pid";
static const char time_key[] = "process.creation.time";
static const char path_key[] = "process.executable.path";
static const char name_key[] = "process.executable.name";
static const char title_key[] = "process.title";
static const char container_key[] = "container.id";
static const char service_key[] = "service.name";

static bool otlp_is_identity(const char *key)
{
	return strcmp(key, pid_key) == 0 || strcmp(key, time_key) == 0 ||
	       strcmp(key, path_key) == 0 || strcmp(key, name_key) == 0 ||
	       strcmp(key, title_key) == 0 || strcmp(key, container_key) == 0;
}

static void otlp_host_attributes(struct otlp_enc *e,
				 const struct otlp_how *extra)
{
	if (!extra->pairs)
		return;
	for (const char *const *p = extra->pairs; p[0]; p += 2) {
		if (otlp_is_identity(p[0]))
			continue;
		if (strcmp(p[0], service_key) == 0)
			e->host_named = true;
		if (strcmp(p[0], "host.name") == 0)
			e->host_name = p[1];
		otlp_key_text(&e->host, p[0], p[1], strlen(p[1]));
	}
}

/* The string that is a process's service.name; 0: there is none. */
static uint32_t otlp_service_string(const struct batch_resource *r)
{
	if (r->kernel)
		return 0;
	if (r->unit)
		return r->unit;
	if (r->exe_name)
		return r->exe_name;
	return r->comm;
}

static const char *otlp_service(const struct batch *b, const struct batch_resource *r, size_t *n)
{
	uint32_t i = otlp_service_string(r);
	const char *s = r->kernel ? "kernel" : "unknown_service";

	if (i)
		return batch_str(b, i, n);
	*n = strlen(s);
	return s;
}

static void otlp_service_name(struct otlp_enc *e, const struct batch_resource *r)
{
	const char *s = e->host_name ? e->host_name : "host";
	size_t n = strlen(s);

	if (e->per != OTLP_PER_HOST)
		s = otlp_service(e->b, r, &n);
	otlp_key_text(&e->out, service_key, s, n);
}

/* Is this attribute of a process one of its resource? */
static bool otlp_wants(const struct otlp_enc *e, const char *key)
{
	if (e->per == OTLP_PER_HOST ||
	    (e->per == OTLP_PER_SERVICE && strcmp(key, container_key) != 0))
		return false;
	for (const char *const *k = e->only; k && *k; k++) {
		if (strcmp(*k, key) == 0)
			return true;
	}
	return !e->only;
}

static void otlp_wanted_string(struct otlp_enc *e, const char *key, uint32_t i)
{
	if (otlp_wants(e, key))
		otlp_key_string(e, key, i);
}

/* Has the process a name of its own, such as a script's, not that of its executable? */
static bool otlp_has_title(const struct otlp_enc *e, const struct batch_resource *r)
{
	size_t len, exe_len;
	const char *name = batch_str(e->b, r->comm, &len);
	const char *exe = batch_str(e->b, r->exe_name, &exe_len);

	return r->comm && r->comm != r->exe_name && !r->kernel &&
	       !profile_name_is_cut(name, len, exe, exe_len);
}

static void otlp_resource(struct otlp_enc *e, uint32_t i)
{
	const struct batch_resource *r = &e->b->resources[i];
	struct buffer *w = &e->out;
	size_t mark = pb_begin(w, 1), pid;

	buffer_add(w, e->host.data, e->host.len);
	if (!e->host_named)
		otlp_service_name(e, r);
	if (i && otlp_wants(e, pid_key)) {
		pid = pb_begin(w, 1);
		pb_text(w, 1, pid_key, strlen(pid_key));
		pb_any_int(w, 2, r->pid);
		pb_end(w, pid);
	}
	if (r->start_ns && otlp_wants(e, time_key))
		otlp_key_time(w, time_key, r->start_ns);
	otlp_wanted_string(e, path_key, r->exe_path);
	otlp_wanted_string(e, name_key, r->exe_name);
	if (otlp_has_title(e, r))
		otlp_wanted_string(e, title_key, r->comm);
	otlp_wanted_string(e, container_key, r->container_id);
	pb_end(w, mark);
}

/* Find the attributes of a sample that say which process it is of. */
static void otlp_process_attrs(struct otlp_enc *e, uint32_t i)
{
	const struct batch_resource *r = &e->b->resources[i];
	uint32_t *attrs = e->processes[i].attrs;
	unsigned int n = 0;
	const char *s;
	size_t len;

	if (!i || attrs[0])
		return;
	attrs[n++] = dict_attr_int(&e->dict, pid_key, r->pid);
	s = batch_str(e->b, r->exe_name, &len);
	if (len)
		attrs[n++] = dict_attr_text(&e->dict, name_key, s, len);
	s = batch_str(e->b, r->container_id, &len);
	if (len && !otlp_wants(e, container_key))
		attrs[n++] = dict_attr_text(&e->dict, container_key, s, len);
	s = otlp_service(e->b, r, &len);
	if (e->per == OTLP_PER_HOST && !e->host_named)
		attrs[n++] = dict_attr_text(&e->dict, service_key, s, len);
}

/* An order in which those are the same whose samples nothing tells apart: a pid that was
 * given again, an exec of another file with the same name. */
static int otlp_by_process(const struct otlp_enc *e, uint32_t a, uint32_t b)
{
	int r = 0;

	if (a == b)
		return 0;
	for (int i = 0; i < PROCESS_ATTRS && !r; i++)
		r = profile_order(e->processes[a].attrs[i], e->processes[b].attrs[i]);
	return r;
}

/* One Sample of the n batch samples that share its identity. */
static void otlp_write_sample(struct otlp_enc *e, const struct sample_key *k, size_t n)
{
	struct buffer *w = &e->out;
	size_t mark = pb_begin(w, 2), times;
	uint32_t attrs[DICT_SAMPLE_ATTRS + PROCESS_ATTRS];
	unsigned int n_attrs = dict_sample_attrs(&e->dict, k->attr, k->stop, attrs);

	for (int i = 0; k->process && i < PROCESS_ATTRS; i++) {
		if (e->processes[k->process].attrs[i])
			attrs[n_attrs++] = e->processes[k->process].attrs[i];
	}
	pb_uint(w, 1, k->stack);
	pb_packed(w, 2, attrs, n_attrs);
	times = pb_begin(w, 5);
	for (size_t i = 0; i < n; i++)
		buffer_add(w, e->b->times + k[i].first,
			   k[i].n * sizeof(uint64_t));
	pb_end(w, times);
	pb_end(w, mark);
}

static int otlp_by_identity(const void *a, const void *b, void *arg)
{
	const struct sample_key *x = a, *y = b;
	int r = profile_order(x->resource, y->resource);

	if (!r)
		r = otlp_by_process(arg, x->process, y->process);
	if (!r)
		r = profile_order(x->stack, y->stack);
	if (!r)
		r = profile_order(x->attr, y->attr);
	if (!r)
		r = profile_order(x->stop, y->stop);
	if (!r)
		r = profile_order(x->first, y->first);
	return r;
}

static void otlp_value_type(struct otlp_enc *e, unsigned int field,
			    const char *type, const char *unit)
{
	uint32_t t = dict_literal(&e->dict, type), u = dict_literal(&e->dict, unit);
	size_t mark = pb_begin(&e->out, field);

	pb_uint(&e->out, 1, t);
	pb_uint(&e->out, 2, u);
	pb_end(&e->out, mark);
}

/*
 * The IDs of a request's profiles: 12 random bytes that they share, so that each takes 4
 * bytes of a compressed request, and a number that starts at random and is counted up.
 */
static void otlp_write_profile_id(struct otlp_enc *e)
{
	static const uint8_t none[PROFILE_ID];
	uint32_t n;

	if (memcmp(e->id, none, sizeof(none)) == 0 &&
	    getrandom(e->id, sizeof(e->id), 0) != (ssize_t)sizeof(e->id))
		return;
	pb_bytes(&e->out, 7, e->id, sizeof(e->id));
	memcpy(&n, e->id + sizeof(e->id) - sizeof(n), sizeof(n));
	n++;
	memcpy(e->id + sizeof(e->id) - sizeof(n), &n, sizeof(n));
}

static bool otlp_same_sample(const struct otlp_enc *e, const struct sample_key *a,
			     const struct sample_key *b)
{
	return a->stack == b->stack && a->attr == b->attr && a->stop == b->stop &&
	       otlp_by_process(e, a->process, b->process) == 0;
}

static void otlp_write_profile(struct otlp_enc *e, const struct sample_key *k, size_t n)
{
	const struct batch_hdr *h = e->b->hdr;
	struct buffer *w = &e->out;
	size_t mark = pb_begin(w, 2), i, run;

	otlp_value_type(e, 1, "samples", "count");
	for (i = 0; i < n; i += run) {
		run = 1;
		while (i + run < n && otlp_same_sample(e, &k[i + run], &k[i]))
			run++;
		otlp_write_sample(e, k + i, run);
	}
	pb_fixed64(w, 3, h->start_ns);
	pb_uint(w, 4, h->end_ns - h->start_ns);
	otlp_value_type(e, 5, "cpu", "nanoseconds");
	pb_uint(w, 6, NSEC_PER_SEC / (h->frequency ? h->frequency : 1));
	otlp_write_profile_id(e);
	pb_end(w, mark);
	e->profiles++;
}

static void otlp_write_resource_profiles(struct otlp_enc *e, const struct sample_key *k,
					 size_t n)
{
	struct buffer *w = &e->out;
	size_t mark = pb_begin(w, 1), scopes, scope;

	otlp_resource(e, k->resource);
	scopes = pb_begin(w, 2);
	scope = pb_begin(w, 1);
	pb_text(w, 1, "trifold", 7);
	pb_text(w, 2, TRIFOLD_VERSION, strlen(TRIFOLD_VERSION));
	pb_end(w, scope);
	otlp_write_profile(e, k, n);
	pb_text(w, 3, OTLP_SCHEMA_URL, strlen(OTLP_SCHEMA_URL));
	pb_end(w, scopes);
	pb_text(w, 3, OTLP_SCHEMA_URL, strlen(OTLP_SCHEMA_URL));
	pb_end(w, mark);
}

/* --- a request ---------------------------------------------------------- */

/* The number of sample i's times within the range; *first: the first of them. */
static uint32_t otlp_within(const struct batch *b, struct otlp_range r,
			    uint32_t i, uint32_t *first)
{
	uint32_t from = b->samples[i].first, to = from + b->samples[i].n;

	if (from < r.first)
		from = r.first;
	if (to > r.first + r.n)
		to = r.first + r.n;
	*first = from;
	if (to <= from)
		return 0;
	return to - from;
}

/* The number of frames of a stack that are sent: up to the first guessed caller, unless
 * guesses are wanted. */
static uint32_t otlp_depth(const struct otlp_enc *e, uint32_t stack)
{
	const struct batch_stack *s = &e->b->stacks[stack];
	const uint32_t *frames = e->b->stack_frames + s->first;
	uint32_t n = 0;

	while (n < s->n && (e->guesses ||
			    e->b->frames[frames[n]].kind != BATCH_FRAME_GUESS))
		n++;
	return n;
}

/* Why a stack ended early, also where guesses are cut off; 0: it did not. */
static uint32_t otlp_stop(const struct otlp_enc *e, const struct batch_sample *s)
{
	const struct batch_stack *st = &e->b->stacks[s->stack];
	uint32_t n = e->depth[s->stack], stop = s->stop;

	/* the address of a mark is the stop that it stands for */
	if (n < st->n)
		stop = (uint32_t)e->b->frames[e->b->stack_frames[st->first + n]].address;
	if (!batch_early_end(stop))
		return 0;
	return stop;
}

static int otlp_by_service(const void *a, const void *b, void *arg)
{
	const struct otlp_enc *e = arg;
	const struct batch_resource *x = &e->b->resources[*(const uint32_t *)a];
	const struct batch_resource *y = &e->b->resources[*(const uint32_t *)b];
	int r = 0;

	if (!e->host_named)
		r = profile_order(x->kernel, y->kernel);
	if (!r && !e->host_named)
		r = profile_order(otlp_service_string(x), otlp_service_string(y));
	if (!r && otlp_wants(e, container_key))
		r = profile_order(x->container_id, y->container_id);
	return r;
}

/* Find which processes are one resource.  False: no memory. */
static bool otlp_group(struct otlp_enc *e)
{
	uint32_t n = batch_n(e->b, BATCH_RESOURCES), *v;

	if (e->per == OTLP_PER_PROCESS)
		return true;
	e->group = calloc(n + 1, sizeof(*e->group));
	e->processes = calloc(n + 1, sizeof(*e->processes));
	if (!e->group || !e->processes)
		return false;
	if (e->per == OTLP_PER_HOST)
		return true;
	v = malloc((n + 1) * sizeof(*v));
	if (!v)
		return false;
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	qsort_r(v, n, sizeof(*v), otlp_by_service, e);
	for (uint32_t i = 0, first = 0; i < n; i++) {
		if (otlp_by_service(&v[first], &v[i], e))
			first = i;
		e->group[v[i]] = v[first];
	}
	free(v);
	return true;
}

/* Put the locations of the range's stacks into the dictionary. */
static void otlp_locations(struct otlp_enc *e)
{
	for (uint32_t i = 0, first; i < batch_n(e->b, BATCH_SAMPLES); i++) {
		uint32_t stack = e->b->samples[i].stack;

		if (!e->depth[stack] && otlp_within(e->b, e->range, i, &first))
			e->depth[stack] = otlp_depth(e, stack);
	}
	dict_locations(&e->dict, e->depth);
}

/* Put the samples of the range into .order; returns their number. */
static size_t otlp_choose(struct otlp_enc *e)
{
	size_t n = 0;

	for (uint32_t i = 0; i < batch_n(e->b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &e->b->samples[i];
		uint32_t first, times = otlp_within(e->b, e->range, i, &first);

		if (!times)
			continue;
		if (e->group)
			otlp_process_attrs(e, s->resource);
		e->order[n++] = (struct sample_key){
			.resource = e->group ? e->group[s->resource] : s->resource,
			.process = e->group ? s->resource : 0,
			.stack = dict_stack(&e->dict, s->stack, e->depth[s->stack]),
			.attr = s->attr,
			.stop = otlp_stop(e, s),
			.first = first, .n = times,
		};
	}
	return n;
}

static void otlp_write_request(struct otlp_enc *e)
{
	size_t n, i, run, mark;

	otlp_locations(e);
	n = otlp_choose(e);
	qsort_r(e->order, n, sizeof(*e->order), otlp_by_identity, e);
	for (i = 0; i < n; i += run) {
		run = 1;
		while (i + run < n && e->order[i + run].resource == e->order[i].resource)
			run++;
		otlp_write_resource_profiles(e, e->order + i, run);
	}
	mark = pb_begin(&e->out, 2);
	dict_write(&e->dict, &e->out);
	pb_end(&e->out, mark);
}

static void otlp_find_cuts(const struct otlp_enc *e, struct otlp_cuts *cuts)
{
	size_t at = e->out.len;

	for (unsigned int t = DICT__MAX - 1; t >= DICT_MAPPING; t--) {
		at -= dict_bytes(&e->dict, t);
		cuts->at[t - DICT_MAPPING] = at;
	}
}

static void otlp_begin(struct otlp_enc *e, const struct otlp_how *how)
{
	if (!how)
		return;
	e->guesses = how->guesses;
	e->per = how->per;
	e->only = how->only;
	e->host_name = how->host_name;
	otlp_host_attributes(e, how);
}

int otlp_encode_range(const struct batch *b, struct otlp_range range,
		      const struct otlp_how *extra, uint8_t **ret,
		      size_t *len, struct otlp_made *made)
{
	struct otlp_enc e = { .b = b, .range = range };
	bool grouped;
	int r;

	if (range.n == 0)
		return -ENODATA;
	otlp_begin(&e, extra);
	e.order = calloc(batch_n(b, BATCH_SAMPLES), sizeof(*e.order));
	e.depth = calloc(batch_n(b, BATCH_STACKS) + 1, sizeof(*e.depth));
	r = dict_init(&e.dict, b);
	e.dict.bare = extra && extra->bare;
	e.dict.nameless = extra && (extra->nameless || extra->bare);
	grouped = otlp_group(&e);
	if (r == 0 && e.order && e.depth && grouped)
		otlp_write_request(&e);
	if (!e.order || !e.depth || !grouped || e.dict.failed || e.out.failed || e.host.failed)
		r = -ENOMEM;
	if (r == 0 && made) {
		otlp_find_cuts(&e, &made->cuts);
		made->profiles = e.profiles;
	}
	if (r == 0) {
		*ret = e.out.data;
		*len = e.out.len;
		e.out.data = NULL;
	}
	dict_fini(&e.dict);
	free(e.order);
	free(e.depth);
	free(e.group);
	free(e.processes);
	free(e.out.data);
	free(e.host.data);
	return r;
}

int otlp_encode(const struct batch *b, const struct otlp_how *extra,
		uint8_t **ret, size_t *len)
{
	return otlp_encode_range(b, otlp_all(b), extra, ret, len,
				 NULL);
}

int otlp_encode_file(const struct batch *b, const struct profile_info *info,
		     struct buffer *out)
{
	const char *pairs[] = {
		"host.name", info->host, "os.type", "linux",
		"os.version", info->kernel, NULL,
	};
	const struct otlp_how extra = { .pairs = pairs, .nameless = info->nameless };
	uint8_t *bytes;
	size_t len;
	int r = otlp_encode(b, &extra, &bytes, &len);

	if (r == -ENODATA)	/* a request without profiles has no bytes */
		return 0;
	if (r)
		return r;
	buffer_add(out, bytes, len);
	free(bytes);
	return out->failed ? -ENOMEM : 0;
}
