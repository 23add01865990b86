// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"

/* made of viewer/page/ by viewer/page.mk */
extern const unsigned char page_html[];
extern const unsigned long page_html_len;

static const char marker[] = "@DATA@";

static void member_str(struct buffer *w, const char *key, const char *s)
{
	buffer_printf(w, "\"%s\":", key);
	json_string(w, s, strlen(s));
	buffer_str(w, ",");
}

static void member_num(struct buffer *w, const char *key, uint64_t v)
{
	buffer_printf(w, "\"%s\":%llu,", key, (unsigned long long)v);
}

static void put_account(struct buffer *w, const struct profile_account *a)
{
	buffer_str(w, "\"account\":");
	if (!a->known) {
		buffer_str(w, "null");
		return;
	}
	buffer_str(w, "{");
	member_num(w, "taken", a->taken);
	member_num(w, "delivered", a->delivered);
	member_num(w, "lost", a->lost);
	buffer_printf(w, "\"difference\":%lld,", (long long)a->difference);
	buffer_str(w, "\"reasons\":");
	json_string(w, a->reasons, strnlen(a->reasons, sizeof(a->reasons)));
	buffer_str(w, "}");
}

static void put_base(struct buffer *w, const struct html_base *base)
{
	if (!base)
		return;
	buffer_printf(w, "\"base\":{\"start_ms\":%llu,\"duration_ms\":%llu,"
		    "\"samples\":%llu},",
		    (unsigned long long)(base->start_ns / NSEC_PER_MSEC),
		    (unsigned long long)((base->end_ns - base->start_ns) /
					 NSEC_PER_MSEC),
		    (unsigned long long)base->samples);
}

static void _html_put_info(struct buffer *w, const struct batch *b,
			   const struct profile_info *info,
			   const struct html_base *base)
{
	uint64_t start = b->hdr->start_ns, end = b->hdr->end_ns, samples = 0;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		samples += b->samples[i].n;
	if (!samples && info->account.start_ns) {
		/* a batch of nothing knows no time, the account does */
		start = info->account.start_ns;
		end = info->account.end_ns > start ? info->account.end_ns :
						     start;
	}
	buffer_str(w, "{");
	member_str(w, "host", info->host);
	member_str(w, "kernel", info->kernel);
	member_str(w, "machine", info->machine);
	member_str(w, "command", info->command);
	member_num(w, "start_ms", start / NSEC_PER_MSEC);
	member_num(w, "duration_ms", (end - start) / NSEC_PER_MSEC);
	member_num(w, "frequency", b->hdr->frequency);
	member_num(w, "samples", samples);
	put_base(w, base);
	put_account(w, &info->account);
	buffer_str(w, "}");
}

/* What the page shows beside a name: of processes, how many they are. */
static void put_module(struct buffer *w, const struct tree *t,
		       const struct tree_label *l)
{
	if (l->kind != KIND_PROCESS)
		json_string(w, t->text + l->module, l->module_len);
	else if (l->pids == 1)
		buffer_printf(w, "\"pid %u\"", l->pid);
	else
		buffer_printf(w, "\"%u processes\"", l->pids);
}

/*
 * String 2i is the name of label i, string 2i + 1 its module, unless it has
 * that of the label before, which is most common: modules[i] says whose.
 */
static void _html_put_labels(struct buffer *w, const struct tree *t)
{
	uint32_t *modules = calloc(t->n_labels + 1, sizeof(*modules));
	uint32_t n = 0;

	if (!modules) {
		w->failed = true;
		return;
	}
	buffer_str(w, ",\n\"strings\":[");
	for (uint32_t i = 0; i < t->n_labels; i++) {
		const struct tree_label *l = &t->labels[i], *p = l - 1;

		buffer_str(w, i ? "," : "");
		json_string(w, t->text + l->name, l->name_len);
		n++;
		if (i && l->kind == p->kind && l->kind != KIND_PROCESS &&
		    l->module_len == p->module_len &&
		    !memcmp(t->text + l->module, t->text + p->module,
			    l->module_len)) {
			modules[i] = modules[i - 1];
			continue;
		}
		buffer_str(w, ",");
		put_module(w, t, l);
		modules[i] = n++;
	}
	buffer_str(w, "],\n\"labels\":[");
	n = 0;
	for (uint32_t i = 0; i < t->n_labels; i++) {
		buffer_str(w, i ? "," : "");
		buffer_num(w, n);
		buffer_str(w, ",");
		buffer_num(w, modules[i]);
		buffer_str(w, ",");
		buffer_num(w, t->labels[i].kind);
		n += modules[i] > n ? 2 : 1;
	}
	buffer_str(w, "]");
	free(modules);
}

static void _html_put_rows(struct buffer *w, const struct tree *t, bool diff)
{
	uint32_t below = 0;	/* the depth under the row before */

	buffer_str(w, ",\n\"rows\":[");
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct tree_row *row = &t->rows[i];

		buffer_str(w, i ? "," : "");
		buffer_num(w, row->label);
		buffer_str(w, ",");
		buffer_num(w, below - row->depth);
		buffer_str(w, ",");
		buffer_num(w, row->self);
		if (diff) {
			buffer_str(w, ",");
			buffer_num(w, row->base);
		}
		below = row->depth + 1;
	}
	buffer_str(w, "]}");
}

int html_data(const struct batch *b, const struct profile_info *info,
	      const struct tree_how *how, const struct html_base *base,
	      struct buffer *out)
{
	struct tree t;
	int r;

	r = tree_build_as(&t, b, how);
	if (r)
		return r;
	buffer_str(out, "{\"info\":");
	_html_put_info(out, b, info, base);
	if (base)
		buffer_str(out, ",\"diff\":true");
	_html_put_labels(out, &t);
	_html_put_rows(out, &t, base);
	tree_fini(&t);
	return out->failed ? -ENOMEM : 0;
}

int html_page(int (*put)(const void *arg, struct buffer *out), const void *arg,
	      struct buffer *out)
{
	const unsigned char *place;
	int r;

	place = memmem(page_html, page_html_len, marker, strlen(marker));
	if (!place)
		return -EINVAL;
	buffer_add(out, page_html, (size_t)(place - page_html));
	r = put(arg, out);
	if (r)
		return r;
	place += strlen(marker);
	buffer_add(out, place, (size_t)(page_html + page_html_len - place));
	return out->failed ? -ENOMEM : 0;
}

struct recording {
	const struct batch *b;
	const struct profile_info *info;
};

static int put_recording(const void *arg, struct buffer *out)
{
	const struct recording *r = arg;

	return html_data(r->b, r->info, &(struct tree_how){ 0 }, NULL, out);
}

int html_encode(const struct batch *b, const struct profile_info *info,
		struct buffer *out)
{
	return html_page(put_recording, &(struct recording){ b, info }, out);
}
