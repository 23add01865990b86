/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads - the threads of a batch's samples
 *
 * A thread is identified by its process (resource), thread ID and name: renamed, it
 * counts as another one.
 */
#ifndef PROFILE_THREADS_H
#define PROFILE_THREADS_H

#include <stdint.h>

#include "ipc/batch.h"

struct threads {
	uint32_t n;
	uint32_t *sample;	/* for each thread, one of its samples */
	uint32_t *of;		/* for each sample, its thread */
};

/* Numbered by resource, thread ID, name.  0, or -ENOMEM: nothing to free. */
int threads_number(struct threads *t, const struct batch *b);
void threads_fini(struct threads *t);

#endif /* PROFILE_THREADS_H */
