/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval - from the events of some seconds to a batch
 *
 * An event is carried over to the next interval when its stack has a frame in
 * an executable that a worker is parsing or that loaderd is opening: at most
 * CARRY_MAX times, and not beyond CARRY_NS.  So it gets its names, a little
 * later, and other events do not wait for it.
 */
#ifndef SYMBOLIZERD_HUB_INTERVAL_H
#define SYMBOLIZERD_HUB_INTERVAL_H

#include <stdbool.h>

#define CARRY_MAX	2
#define CARRY_NS	10000000000ULL

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
