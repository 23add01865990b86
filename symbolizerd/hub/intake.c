// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/intake.h"

#include <string.h>

#include "common/clock.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/knowledge/knowledge.h"
#include "symbolizerd/knowledge/record.h"

/* Fewer events than this do not end an interval for lack of memory. */
#define EVENTS_FEW	1024u

/* The first sample of a stack in this interval: files that it passes through are
 * wanted. */
static void intake_mention_files(struct knowledge *k,
				 const struct trace_rec *rec)
{
	size_t end = (size_t)rec->n_kernel + rec->n_user;
	uint64_t now = now_ns();

	for (size_t i = rec->n_kernel; i < end;
	     i += frame_words(rec->words[i])) {
		struct executable *e = NULL;
		struct file_key key;
		uint32_t x;

		if (FRAME_KIND(rec->words[i]) == FRAME_NATIVE) {
			e = executables_number(&k->exes,
					       FRAME_NUMBER(rec->words[i]));
		} else if (FRAME_KIND(rec->words[i]) == FRAME_FILE) {
			memcpy(&key, &rec->words[i + 1], sizeof(key));
			x = executables_mention(&k->exes, &key,
						k->interval);
			if (x != EXECUTABLE_NONE)
				e = executables_get(&k->exes, x);
		}
		if (e && executable_want(e, FRAME_PLACE(rec->words[i]), now) && k->out->wanted)
			k->out->wanted(k->ctx, e);
		if (e && source_lines_of(&k->lines, e))
			source_lines_want(&k->lines, e, FRAME_PLACE(rec->words[i]), 0,
					  k->interval, now);
	}
}

static void intake_count_shape(struct hub_stats *s, const struct trace_rec *rec)
{
	struct record_shape shape = record_shape(rec);
	bool complete = rec->stop == STOP_COMPLETE;

	if (rec->n_kernel == KERNEL_MAX)
		s->kernel_cut++;
	if (shape.user)
		s->user++;
	if (shape.native)
		s->native++;
	if (complete)
		s->complete++;
	if (complete && shape.native)
		s->complete_native++;
}

static bool intake_keep_event(struct knowledge *k, const struct trace_rec *rec)
{
	uint32_t trace, process, space;
	struct event *ev;
	int first;

	space = jit_space(&k->jit, rec, now_ns());
	trace = traces_add(&k->traces, rec, space, k->interval, &first);
	if (trace == TRACE_NONE)
		return false;
	process = processes_add(&k->processes, rec, k->interval);
	if (process == PROCESS_NONE)
		return false;
	ev = samples_add(&k->samples);
	if (!ev)
		return false;
	*ev = (struct event){
		.time_ns = rec->time_ns,
		.trace = trace,
		.process = process,
		.tid = rec->tid,
		.cpu = rec->cpu,
		.stop = rec->stop,
	};
	memcpy(ev->comm, rec->comm, sizeof(ev->comm));
	if (first)
		intake_mention_files(k, rec);
	if (first && space)
		jit_mention(&k->jit, space, (const uint64_t *)rec->words + rec->n_kernel, rec->n_user,
			    now_ns());
	return true;
}

static bool intake_wants_early_end(const struct knowledge *k)
{
	return k->samples.n >= k->samples.flush_at ||
	       (k->samples.n >= EVENTS_FEW &&
		(k->traces.bytes > k->traces.bytes_max / 4 * 3 ||
		 k->processes.n > PROCESSES_MAX / 4 * 3));
}

static bool intake_own(const struct knowledge *k, const struct trace_rec *rec)
{
	return own_has(&k->own, rec->process.tgid, rec->process.start_ns);
}

bool intake_record(struct knowledge *k, void *data, size_t len)
{
	enum record_verdict verdict = record_check(data, len);

	switch (verdict) {
	case RECORD_KSYM:
		/* without memory the symbol stays nameless */
		(void)!ksym_set(&k->ksyms, data);
		return true;
	case RECORD_BAD:
		return false;
	case RECORD_BAD_SAMPLE:
		ledger_received(&k->ledger);
		ledger_bad(&k->ledger);
		return true;
	case RECORD_SAMPLE:
		break;
	}
	ledger_received(&k->ledger);
	if (intake_own(k, data)) {
		ledger_own(&k->ledger, 1);
		return true;
	}
	intake_count_shape(&k->stats, data);
	ksym_translate(&k->ksyms, data);
	if (managed_has(data))
		managed_translate(&k->managed, data, now_ns());
	if (!intake_keep_event(k, data))
		ledger_dropped(&k->ledger, 1);
	else if (intake_wants_early_end(k))
		interval_end(k, false);
	return true;
}
