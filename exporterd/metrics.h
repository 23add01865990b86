/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - the accounts as an OTLP ExportMetricsServiceRequest (proto 1.10)
 *
 * One resource, service.name "trifold"; one metric for each struct metric of
 * ipc/counter_table.h; all values cumulative (metrics data model, 1.60
 * specification).  A point starts when the process started that counts it,
 * so that a receiver sees by the start time, too, when counting began anew.
 * A value that no process counts at present has no point.
 */
#ifndef EXPORTERD_METRICS_H
#define EXPORTERD_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "common/pairs.h"
#include "ipc/counter_table.h"

#define METRICS_SCHEMA_URL	"https://opentelemetry.io/schemas/1.44.0"

/* Zero-initialised by the caller, but for what it fills in. */
struct metrics {
	const struct pairs *resource;	/* of the host; wins over what follows */
	char instance[40];		/* service.instance.id; "": none */
	/* of the totals, which outlive the processes that count them */
	uint64_t totals_start_ns, last_taken;
};

/* service.instance.id: the kernel's boot ID, which tells hosts apart and is
 * new when all counters are (proc(5), random/boot_id).  To be called before
 * confinement. */
void metrics_find_instance(struct metrics *m);

/*
 * Encode. st is the hub's last status, NULL when there is no hub; own replaces
 * exporterd's part of it; now_ns is of CLOCK_REALTIME.  Returns 0 and
 * malloc'ed bytes, or -ENOMEM.
 */
int metrics_encode(struct metrics *m, const struct status *st,
		   const struct exporter_stats *own, uint64_t now_ns,
		   uint8_t **ret, size_t *len);

#endif /* EXPORTERD_METRICS_H */
