// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_process.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizerd/knowledge/record.h"

uint32_t job_process_frames(const struct jit_question *q)
{
	uint32_t frames = 0;
	size_t i = 0;

	if (q->n > JOB_WORDS_MAX)
		return 0;
	for (; i < q->n; i += frame_words(q->words[i]))
		frames++;
	return i == q->n ? frames : 0;
}

struct job_process *job_process_make(const struct jit_question *q, enum job_kind kind,
				     uint32_t runtime)
{
	struct job_process *p = malloc(sizeof(*p) + q->n * sizeof(*q->words));

	if (!p)
		return NULL;
	*p = (struct job_process){
		.kind = kind, .start_ns = q->start_ns, .tgid = q->tgid, .runtime = runtime,
		.n_frames = kind == JOB_LINES ? (uint32_t)q->n : job_process_frames(q),
		.n_words = (uint32_t)q->n, .space = q->space, .given = q->fd >= 0,
	};
	memcpy(p->words, q->words, q->n * sizeof(*q->words));
	return p;
}
