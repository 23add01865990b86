/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - the hub's life: timers, signals, and an orderly end
 *
 * On SIGTERM no new connection is accepted.  If loaderd is still there, it gets
 * BYE_NS to say good-bye.  Without a bye only the hub is being restarted: it
 * sends what it has at once, and exporterd will tell the next hub the outcomes.
 * Otherwise the last samples wait JOBS_NS for workers, and the last batches
 * EXPORTER_NS for their outcomes; the rest is BATCH_GAVE_UP.
 */
#ifndef SYMBOLIZERD_HUB_RUN_H
#define SYMBOLIZERD_HUB_RUN_H

#include "symbolizerd/hub/hub.h"
#include "symbolizerd/worker/zygote.h"

#define BYE_NS		2000000000ULL
#define JOBS_NS		3000000000ULL
#define EXPORTER_NS	12000000000ULL

#define HUB_TOTALS	"totals"	/* of a hub that was ended with loaderd: in systemd's store */

struct hub_sockets {		/* listening */
	int loader, exporter, status;
	int totals;		/* of a former hub; negative: none */
};

/* Everything that must be done before confinement.  0; or -errno, and then the
 * caller just ends. */
int hub_init(struct hub *hub, const struct hub_config *config,
	     const struct hub_sockets *sockets,
	     const struct zygote_ends *zygote);

/* Returns 0 after an orderly end, or -errno. */
int hub_run(struct hub *hub);
void hub_fini(struct hub *hub);

#endif /* SYMBOLIZERD_HUB_RUN_H */
