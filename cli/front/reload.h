/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload - the configuration was read again while trifold runs
 *
 * Nothing changes unless all of the file is right.  What only exporterd or
 * only loaderd obeys takes effect by another one in its place; the rest is
 * named in the log and waits for the next start.
 */
#ifndef CLI_FRONT_RELOAD_H
#define CLI_FRONT_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/config/config.h"
#include "cli/record/console.h"

/* Would there be something to do with this configuration?  If not, says so. */
bool reload_possible(const struct options *o, const struct config *fresh);

/*
 * Take fresh, whose contents move into *now, to which o points, and apply it
 * to o.  Says what changed.  Returns what must be replaced: a sum of
 * 1 << enum program.
 */
uint32_t reload(struct options *o, struct config *now, struct config *fresh,
		struct console *c);

#endif /* CLI_FRONT_RELOAD_H */
