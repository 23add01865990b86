/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover - the last totals of a hub that is restarted together with loaderd
 *
 * loaderd keeps a checkpoint for the hub's successor.  When loaderd leaves first, as at an
 * upgrade, that is older than what the hub finishes afterwards.  So the hub leaves its last
 * totals in systemd's store (sd_pid_notify_with_fds(3)), where there is one.
 */
#ifndef SYMBOLIZERD_HUB_HANDOVER_H
#define SYMBOLIZERD_HUB_HANDOVER_H

#include <stdbool.h>

#include "symbolizerd/knowledge/ledger.h"

#define HANDOVER_NAME	"totals"	/* in the store */

/* The hub ends, all that it had is finished, and its loaderd has left. */
void handover_leave(struct ledger *l);

/* Take over what a former hub left in fd (owned; negative: nothing), and remove it from
 * the store.  False: nothing of use. */
bool handover_take(struct hub_totals *ret, int fd);

#endif /* SYMBOLIZERD_HUB_HANDOVER_H */
