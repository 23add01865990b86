/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads - the threads of a batch's samples
 *
 * A thread is a process (its resource), a thread ID and a name: a thread that
 * was given another name is another one.
 */
#ifndef PROFILE_THREADS_H
#define PROFILE_THREADS_H

#include <stdint.h>

#include "ipc/batch.h"

struct threads {
	uint32_t n;
	uint32_t *sample;	/* of each thread one of its samples */
	uint32_t *of;		/* of each sample its thread */
};

/* Numbered by resource, thread ID, name.  0, or -ENOMEM: nothing to free. */
int threads_number(struct threads *t, const struct batch *b);
void threads_fini(struct threads *t);

#endif /* PROFILE_THREADS_H */
