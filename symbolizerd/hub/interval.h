/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval - from the events of some seconds to a batch
 *
 * An event is carried over to the next interval when its stack has a frame in
 * an executable that a worker is parsing or that loaderd is opening: at most
 * BATCH_CARRIES times, and not beyond BATCH_CARRY_NS (ipc/batch.h).  So it gets
 * its names, a little later, and other events do not wait for it.
 */
#ifndef SYMBOLIZERD_HUB_INTERVAL_H
#define SYMBOLIZERD_HUB_INTERVAL_H

#include <stdbool.h>

struct knowledge;

/* Sampling begins now: no time before belongs to the interval, unless it has
 * samples of it. */
void interval_begin(struct knowledge *k);

/* End the interval: symbolized batches of all events (but those carried over,
 * unless all) are made and told to k->out; what was not used lately is
 * forgotten. */
void interval_end(struct knowledge *k, bool all);

/* True when interval_end(k, false) would carry something over now. */
bool interval_waits(struct knowledge *k);

#endif /* SYMBOLIZERD_HUB_INTERVAL_H */
