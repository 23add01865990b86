/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames - the frames of a thread as text
 *
 * "native FILE+OFFSET", "anonymous ADDRESS", the runtime's name and a line for a
 * managed frame, whose name is the function's and its file, if it has one; "cut -"
 * where more are missing; "kind WORD" for what is none of these.
 */
#ifndef SYMBOLIZERD_SNAPSHOT_FRAMES_H
#define SYMBOLIZERD_SNAPSHOT_FRAMES_H

#include "symbolizerd/knowledge/managed.h"
#include "symbolizerd/snapshot/snapshot.h"
#include "symbolizerd/snapshot/walk.h"

/*
 * Walk thread t and append it, with its frames, to `to`; managed: names that were
 * met, of all threads of this process.  0; -ENOMEM; or -EPROTO: the sampler made what
 * the hub would refuse.
 */
int frames_walk(struct walk *w, struct managed *managed,
		const struct snapshot_thread *t, struct snapshot *to);

/* Of a native frame's place: file and offset.  False: it is none. */
bool frames_native(const char *place, uint32_t *file, uint64_t *off);

#endif /* SYMBOLIZERD_SNAPSHOT_FRAMES_H */
