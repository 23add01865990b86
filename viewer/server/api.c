// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/api.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/protobuf.h"
#include "profile/formats/formats.h"
#include "profile/formats/html.h"
#include "profile/formats/otlp.h"
#include "viewer/server/decode.h"
#include "viewer/server/facets.h"
#include "viewer/server/lanes.h"

#define PREFIX		"/api/v1/"
#define FUTURE_NS	(60 * NSEC_PER_SEC)	/* clocks differ */

static const char json_type[] = "application/json";

void api_init(struct api *a, struct store *s, const struct feed *feed)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;

	*a = (struct api){ .store = s, .feed = feed, .cpus = 1 };
	if (cpus > 0)
		a->cpus = (uint32_t)cpus;
	a->info.cpus = a->cpus;
	if (uname(&u) < 0)
		return;
	snprintf(a->info.host, sizeof(a->info.host), "%s", u.nodename);
	snprintf(a->info.kernel, sizeof(a->info.kernel), "%s", u.release);
	snprintf(a->info.machine, sizeof(a->info.machine), "%s", u.machine);
}

void api_error(struct viewer_answer *ret, unsigned int status, const char *text)
{
	struct json j = { .out = &ret->body };

	free(ret->body.data);
	*ret = (struct viewer_answer){ .status = status, .type = json_type };
	json_open(&j, NULL, '{');
	json_text(&j, "error", text);
	json_close(&j, '}');
	buffer_str(&ret->body, "\n");
}

static void api_failed(struct viewer_answer *ret, int error)
{
	if (error == -E2BIG)
		api_error(ret, 413, "the selection is too large");
	else
		api_error(ret, 503, "not enough memory");
}

/* --- queries ---------------------------------------------------------------------- */

/* CPUs that are sampled now; until that is known, those that were online at the start. */
static void api_note_cpus(struct api *a)
{
	uint64_t cpus = 0;

	if (a->feed)
		cpus = a->feed->hub.status.loader.cpus;
	if (!cpus || cpus > UINT32_MAX)
		return;
	a->cpus = (uint32_t)cpus;
	a->info.cpus = a->cpus;
}

static int api_get_info(struct api *a, const struct viewer_request *q, uint64_t now,
			struct viewer_answer *ret)
{
	const struct store *s = a->store;
	uint64_t start = 0, end = 0, stacks = 0;
	struct json j = { .out = &ret->body };

	(void)q;
	api_note_cpus(a);
	if (s->n)
		start = s->v[0]->start_ns;
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->end_ns > end)
			end = s->v[i]->end_ns;
		stacks += batch_n(&s->v[i]->b, BATCH_STACKS);
	}
	json_open(&j, NULL, '{');
	json_text(&j, "version", TRIFOLD_VERSION);
	json_text(&j, "host", a->info.host);
	json_text(&j, "kernel", a->info.kernel);
	json_text(&j, "machine", a->info.machine);
	json_num(&j, "frequency", s->frequency);
	json_num(&j, "now_ms", now / NSEC_PER_MSEC);
	json_num(&j, "start_ms", start / NSEC_PER_MSEC);
	json_num(&j, "end_ms", end / NSEC_PER_MSEC);
	json_num(&j, "samples", s->samples);
	json_num(&j, "bytes", s->bytes);
	json_num(&j, "budget", s->budget);
	json_num(&j, "keep_ms", s->keep_ns / NSEC_PER_MSEC);
	json_num(&j, "segments", s->n);
	json_num(&j, "stacks", stacks);
	json_num(&j, "coarse_ms", store_coarse_ns(s, SEGMENT_MINUTE) /
		 NSEC_PER_MSEC);
	json_num(&j, "threadless_ms", store_coarse_ns(s, SEGMENT_LONG) /
		 NSEC_PER_MSEC);
	json_num(&j, "dropped", s->dropped);
	json_num(&j, "expired", s->expired);
	json_num(&j, "batches", s->batches);
	json_num(&j, "cpus", a->cpus);
	if (a->feed) {
		json_bool(&j, "sampling", feed_samples(a->feed));
		json_num(&j, "up_ms", a->feed->hub.status.uptime_ns /
			 NSEC_PER_MSEC);
		json_num(&j, "lost", hub_client_lost(&a->feed->hub));
		json_num(&j, "cpu_ns", status_cpu_ns(&a->feed->hub.status));
		json_num(&j, "host_ns", status_host_ns(&a->feed->hub.status));
	}
	json_close(&j, '}');
	buffer_str(&ret->body, "\n");
	return 0;
}

static int api_put_tree(struct api *a, const struct viewer_request *q,
			const struct query *base, struct viewer_answer *ret)
{
	struct tree_how how = { .reversed = q->reverse };
	unsigned int with = 0;
	struct html_base b;
	struct selection s;
	int r;

	if (q->first && !base)
		with = SELECT_FIRST;
	r = select_batch(a->store, &q->q, base, with, &s);
	if (r)
		return r;
	how.base = s.base;
	if (base) {
		b = (struct html_base){ base->from_ns, base->to_ns, s.base_samples };
		r = html_data(&s.b, &a->info, &how, &b, HTML_COUNTS, &ret->body);
	} else if (with) {
		r = html_data(&s.b, &a->info, &how, NULL, HTML_FIRST, &ret->body);
	} else {
		r = html_data(&s.b, &a->info, &how, NULL, HTML_COUNTS, &ret->body);
	}
	selection_fini(&s);
	return r;
}

static int api_get_profile(struct api *a, const struct viewer_request *q,
			   uint64_t now, struct viewer_answer *ret)
{
	(void)now;
	return api_put_tree(a, q, NULL, ret);
}

static int api_get_diff(struct api *a, const struct viewer_request *q, uint64_t now,
			struct viewer_answer *ret)
{
	(void)now;
	if (q->has_base)
		return api_put_tree(a, q, &q->base, ret);
	api_error(ret, 400, "base_from and base_to say what to compare with");
	return 0;
}

static int api_get_timeline(struct api *a, const struct viewer_request *q,
			    uint64_t now, struct viewer_answer *ret)
{
	struct query_bins bin = query_bins(&q->q, q->bins);
	uint64_t *bins = calloc(bin.n, sizeof(*bins));
	struct json j = { .out = &ret->body };
	int r = 0;

	(void)now;
	if (!bins)
		return -ENOMEM;
	for (size_t i = 0; i < a->store->n && r == 0; i++) {
		struct match m;

		if (!select_overlaps(a->store->v[i], &q->q))
			continue;
		r = match_init(&m, a->store->v[i], &q->q);
		if (r == 0)
			match_timeline(&m, bin.ms * NSEC_PER_MSEC, bins, bin.n);
		match_fini(&m);
	}
	json_open(&j, NULL, '{');
	json_num(&j, "from", bin.from_ms);
	json_num(&j, "to", bin.to_ms);
	json_num(&j, "bin_ms", bin.ms);
	json_open(&j, "counts", '[');
	for (size_t i = 0; i < bin.n; i++)
		json_num(&j, NULL, bins[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	buffer_str(&ret->body, "\n");
	free(bins);
	return r;
}

static int api_get_facets(struct api *a, const struct viewer_request *q,
			  uint64_t now, struct viewer_answer *ret)
{
	(void)now;
	return facets_encode(a->store, &q->q, q->limit, &ret->body);
}

static int api_get_lanes(struct api *a, const struct viewer_request *q,
			 uint64_t now, struct viewer_answer *ret)
{
	(void)now;
	if ((uint64_t)q->bins * q->limit > LANES_CELLS_MAX) {
		api_error(ret, 400, "bins times limit: at most 100000");
		return 0;
	}
	return lanes_encode(a->store, &q->q, q->bins, q->limit, &ret->body);
}

static void api_name_file(const struct api *a, const struct viewer_request *q,
			  const char *ending, struct viewer_answer *ret)
{
	time_t s = (time_t)(q->q.from_ns / NSEC_PER_SEC);
	char host[33] = "", when[32] = "";
	struct tm tm;

	for (size_t i = 0; i + 1 < sizeof(host) && a->info.host[i]; i++) {
		host[i] = a->info.host[i];
		if (!isalnum((unsigned char)host[i]))
			host[i] = '-';
	}
	if (gmtime_r(&s, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(ret->file, sizeof(ret->file), "trifold-%s-%s%s", host, when,
		 ending);
}

static int api_get_download(struct api *a, const struct viewer_request *q,
			    uint64_t now, struct viewer_answer *ret)
{
	const struct format *f;
	struct selection s;
	char name[16], names[64], text[80];
	unsigned int with = 0;
	int r;

	(void)now;
	snprintf(name, sizeof(name), "%.*s", (int)q->format.len, q->format.s);
	f = format_at(format_named(name));
	if (!f) {
		snprintf(text, sizeof(text), "format: %s",
			 format_names(names, sizeof(names)));
		api_error(ret, 400, text);
		return 0;
	}
	if (f->looks & FORMAT_USES_THREADS)
		with |= SELECT_THREADS;
	if (f->looks & FORMAT_USES_TIMES)
		with |= SELECT_TIMES;
	r = select_batch(a->store, &q->q, NULL, with, &s);
	if (r)
		return r;
	r = f->encode(&s.b, &a->info, &ret->body);
	ret->type = f->type;
	api_name_file(a, q, f->endings[0], ret);
	selection_fini(&s);
	return r;
}

static const struct {
	const char *path;
	int (*get)(struct api *a, const struct viewer_request *q, uint64_t now,
		   struct viewer_answer *ret);
} paths[] = {
	{ PREFIX "info", api_get_info }, { PREFIX "profile", api_get_profile },
	{ PREFIX "diff", api_get_diff }, { PREFIX "timeline", api_get_timeline },
	{ PREFIX "facets", api_get_facets }, { PREFIX "download", api_get_download },
	{ PREFIX "lanes", api_get_lanes },
};
#define PATHS	(sizeof(paths) / sizeof(paths[0]))

bool api_knows(const char *path)
{
	for (size_t i = 0; i < PATHS; i++) {
		if (!strcmp(path, paths[i].path))
			return true;
	}
	return false;
}

void api_get(struct api *a, const char *path, const struct params *p,
	     uint64_t now, struct viewer_answer *ret)
{
	struct viewer_request q;
	const char *error = params_read(p, now, &q);
	int r = 0;

	*ret = (struct viewer_answer){ .status = 200, .type = json_type };
	if (error) {
		api_error(ret, 400, error);
		return;
	}
	store_expire(a->store, now);
	for (size_t i = 0; i < PATHS; i++) {
		if (!strcmp(path, paths[i].path))
			r = paths[i].get(a, &q, now, ret);
	}
	if (r == 0 && ret->body.failed)
		r = -ENOMEM;
	if (r)
		api_failed(ret, r);
}

/* --- samples ---------------------------------------------------------------------------- */

/* An ExportProfilesServiceResponse; empty if all samples were accepted. */
static void api_accepted(const struct decoded *d, struct viewer_answer *ret)
{
	static const char why[] = "samples older than what is kept, or of the future";
	size_t mark;

	ret->status = 200;
	ret->type = "application/x-protobuf";
	if (!d->rejected)
		return;
	mark = pb_begin(&ret->body, 1);
	if (!d->events)
		pb_uint(&ret->body, 1, 1);
	pb_text(&ret->body, 2, why, strlen(why));
	pb_end(&ret->body, mark);
}

void api_post(struct api *a, const void *data, size_t len, uint64_t now,
	      struct viewer_answer *ret)
{
	struct store *s = a->store;
	const struct decode_in in = {
		.data = data, .len = len,
		.oldest_ns = store_ago(now, s->keep_ns),
		.newest_ns = now + FUTURE_NS, .names = &s->names,
		.limits = DECODE_LIMITS,
	};
	struct decoded d;
	int r = decode_request(&in, &d);

	*ret = (struct viewer_answer){ .status = 200 };
	if (r == 0) {
		if (d.frequency)
			s->frequency = d.frequency;
		r = store_add(s, d.data, d.len, now);
	}
	if (r == -EPROTO)
		api_error(ret, 400, "no ExportProfilesServiceRequest, or an index in it leads nowhere");
	else if (r == -E2BIG)
		api_error(ret, 413, "the request is too large");
	else if (r)
		api_error(ret, 503, "not enough memory");
	else
		api_accepted(&d, ret);
}
