// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ipc/sealed.h"
#include "symbolizerd/knowledge/record.h"

bool job_quarantine_has(const struct job_quarantine *q, const struct process_id *process,
			uint64_t now_ns)
{
	uint32_t n = q->n < JOBS_QUARANTINE ? q->n : JOBS_QUARANTINE;

	for (uint32_t i = 0; i < n; i++) {
		if (same_process(&q->v[i].process, process) &&
		    now_ns - q->v[i].since_ns < JOBS_QUARANTINE_NS)
			return true;
	}
	return false;
}

void job_quarantine_add(struct job_quarantine *q, const struct process_id *process,
			uint64_t now_ns)
{
	uint32_t i = q->n++ % JOBS_QUARANTINE;

	q->v[i].process = *process;
	q->v[i].since_ns = now_ns;
}

uint32_t job_process_frames(const struct visit_question *q)
{
	uint32_t frames = 0;
	size_t i = 0;

	if (q->n > JOB_WORDS_MAX)
		return 0;
	for (; i < q->n; i += frame_words(q->words[i]))
		frames++;
	if (i != q->n)
		return 0;
	return frames;
}

struct job_process *job_process_make(const struct visit_question *q, enum job_kind kind)
{
	struct job_process *p = malloc(sizeof(*p) + q->n * sizeof(*q->words));

	if (!p)
		return NULL;
	*p = (struct job_process){
		.kind = kind, .process = q->process, .runtime = q->runtime,
		.n_words = (uint32_t)q->n, .target = q->number, .given = q->fd >= 0,
	};
	if (kind == JOB_LINES)
		p->n_frames = p->n_words;
	else
		p->n_frames = job_process_frames(q);
	memcpy(p->words, q->words, q->n * sizeof(*q->words));
	return p;
}

int job_names_open(const struct job_process *p, int fd, struct job_names *ret)
{
	size_t least = sizeof(struct frame_names_hdr), most = FRAME_NAMES_BYTES_MAX;
	int r;

	if (p->kind == JOB_LINES) {
		least = sizeof(struct line_codes_hdr);
		most = LINE_CODES_BYTES_MAX;
	}
	if (sealed_map(fd, least, most, &ret->map, &ret->len) < 0)
		return -EPROTO;
	if (p->kind == JOB_LINES)
		r = line_codes_open(ret->map, ret->len, p->n_frames, &ret->codes);
	else
		r = frame_names_open(ret->map, ret->len, p->n_frames, &ret->names);
	if (r)
		job_names_close(ret);
	return r;
}

void job_names_close(struct job_names *n)
{
	munmap((void *)n->map, n->len);
}
