// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/runtimes.h"
#include "symbolizerd/knowledge/record.h"

#define PASSES	64	/* names of 64 frames fit into a record */

static bool frames_has_names(const struct trace_rec *rec)
{
	for (uint32_t i = rec->n_kernel; i < (uint32_t)rec->n_kernel + rec->n_user;
	     i += frame_words(rec->words[i])) {
		if (FRAME_KIND(rec->words[i]) == FRAME_TEXT)
			return true;
	}
	return false;
}

static bool frames_managed(const struct managed *m, uint64_t word, struct snapshot *to)
{
	const struct managed_function *f = managed_find(m, FRAME_NUMBER(word));
	uint32_t runtime = OUR_RUNTIME(word);
	char *place = NULL, *name = NULL;

	if (asprintf(&place, "%s %" PRIu32,
		     runtime < RUNTIME__MAX ? runtime_info(runtime)->name : "kind",
		     f ? managed_line(f, OUR_AT(word)) : 0) < 0)
		place = NULL;
	if (f && asprintf(&name, *f->file ? "%s %s" : "%s", f->name, f->file) < 0)
		name = NULL;
	return snapshot_frame(to, place, name);
}

static bool frames_other(const struct walk *w, uint64_t word, struct snapshot *to)
{
	uint32_t file = walk_file_of(w, FRAME_NUMBER(word));
	char *place = NULL;
	int r;

	switch (FRAME_KIND(word)) {
	case FRAME_NATIVE:
		r = asprintf(&place, "native %" PRIx32 "+%" PRIx64, file,
			     (uint64_t)FRAME_PLACE(word));
		break;
	case FRAME_ANON:
		r = asprintf(&place, "anonymous %" PRIx64, (uint64_t)FRAME_ADDR(word));
		break;
	case FRAME_GUESS:
		r = asprintf(&place, "guess -");
		break;
	case FRAME_CUT:
		r = asprintf(&place, "cut -");
		break;
	default:
		r = asprintf(&place, "kind %" PRIx64, word);
	}
	return snapshot_frame(to, r < 0 ? NULL : place, NULL);
}

static int frames_add(struct walk *w, const struct managed *m,
		      const struct trace_rec *rec, struct snapshot *to)
{
	for (uint32_t i = rec->n_kernel; i < (uint32_t)rec->n_kernel + rec->n_user;
	     i += frame_words(rec->words[i])) {
		uint64_t word = rec->words[i];

		bool added;

		if (FRAME_KIND(word) == FRAME_MANAGED)
			added = frames_managed(m, word, to);
		else
			added = frames_other(w, word, to);
		if (!added)
			return -ENOMEM;
	}
	return 0;
}

int frames_walk(struct walk *w, struct managed *managed,
		const struct snapshot_thread *t, struct snapshot *to)
{
	struct snapshot_thread copy = *t;
	struct trace_rec *rec = NULL;
	bool names = true;

	for (int i = 0; i < PASSES && names; i++) {
		rec = walk_thread(w, t);
		if (!rec || record_check(rec, w->record_len) != RECORD_SAMPLE)
			return -EPROTO;
		names = frames_has_names(rec);
		managed_translate(managed, rec, 1);
	}
	copy.first = to->frames.n;
	copy.n = 0;
	copy.stop = rec->stop;
	if (to->threads.n == SNAPSHOT_THREADS_MAX || !vector_push(&to->threads, copy))
		return -ENOMEM;
	return frames_add(w, managed, rec, to);
}

bool frames_native(const char *place, uint32_t *file, uint64_t *off)
{
	return sscanf(place, "native %" SCNx32 "+%" SCNx64, file, off) == 2;
}
