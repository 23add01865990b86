/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims - do a HotSpot's own tables agree with bpf/hotspot.h?
 *
 * The sampler has layouts of its own.  A file has a layout if its tables name every
 * member that the layout uses, with the same numbers.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/runtimes/hotspot/self.h"

/* layout: below HOTSPOT_LAYOUTS. */
bool claims_agree(const struct self *s, uint32_t layout);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_CLAIMS_H */
