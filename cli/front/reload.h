/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload - apply a configuration that was read again
 *
 * Nothing changes if the file has a mistake.  For keys that only exporterd or
 * only loaderd uses, that daemon is replaced; others are named in the log and
 * wait for the next start.
 */
#ifndef CLI_FRONT_RELOAD_H
#define CLI_FRONT_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/config/config.h"
#include "cli/record/console.h"

/* Can this configuration be applied?  If not, logs why. */
bool reload_possible(const struct options *o, const struct config *fresh);

/*
 * Move fresh into *now, to which o points, and apply it to o.  Logs what
 * changed.  Returns the programs to replace: a sum of 1 << enum program.
 */
uint32_t reload(struct options *o, struct config *now, struct config *fresh,
		struct console *c);

#endif /* CLI_FRONT_RELOAD_H */
