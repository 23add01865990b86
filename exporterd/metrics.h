/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - the accounts as an OTLP ExportMetricsServiceRequest (proto 1.10)
 *
 * One resource, service.name "trifold"; one metric for each struct metric of
 * ipc/counter_table.h; all values cumulative (metrics data model, 1.60
 * specification).  A point's start time is that of the process that counts it,
 * so a receiver also sees by it when counting began anew.  A value that no running
 * process counts has no point.
 */
#ifndef EXPORTERD_METRICS_H
#define EXPORTERD_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "common/pairs.h"
#include "ipc/counter_table.h"

#define METRICS_SCHEMA_URL	"https://opentelemetry.io/schemas/1.44.0"

/* Zeroed by the caller, except for .resource. */
struct metrics {
	const struct pairs *resource;	/* of the host; overrides the attributes below */
	char instance[40];		/* service.instance.id; "": none */
	/* of the totals, which a restart of a process does not reset */
	uint64_t totals_start_ns, last_taken;
};

/* service.instance.id: the kernel's boot ID, which is unique to a host and changes
 * when all counters restart (proc(5), random/boot_id).  Call before
 * exporter_confine(). */
void metrics_find_instance(struct metrics *m);

/*
 * Encode.  st: the hub's last status, NULL when there is no hub; own replaces
 * exporterd's part of it; now_ns: CLOCK_REALTIME.  Returns 0 and malloc'ed bytes,
 * or -ENOMEM.
 */
int metrics_encode(struct metrics *m, const struct status *st,
		   const struct exporter_stats *own, uint64_t now_ns,
		   uint8_t **ret, size_t *len);

#endif /* EXPORTERD_METRICS_H */
