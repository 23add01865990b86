/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top - `trifold top`: two processes, or more with daemons of its own
 *
 * - The parent (root, which the socket of symbolizerd asks for) connects, passes
 *   the connection on, and restores the terminal: modes and screen are as before
 *   at the end, even if the display dies.  It reads nothing that symbolizerd
 *   sends.
 * - The display (top_display.h) reads batches, confined.
 */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/config/options.h"

/* The subcommand: view, once, limit, duration_ms, frequency, libexec.  Returns
 * the exit status. */
int run_top(const struct options *o);

#endif /* CLI_TOP_TOP_H */
