/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims - does a HotSpot say of itself what bpf/hotspot.h has?
 *
 * The sampler goes by a layout of its own.  A file whose tables name all that this
 * layout uses, with the same numbers, has it; any other has none.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/runtimes/hotspot/self.h"

/* layout: below HOTSPOT_LAYOUTS. */
bool claims_agree(const struct self *s, uint32_t layout);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H */
