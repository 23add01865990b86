// SPDX-License-Identifier: Apache-2.0
#include "ipc/counters.h"

#include "common/clock.h"

#define TOGETHER_NS	(60 * NSEC_PER_SEC)	/* daemons of one start */

void account_sum(const struct status *st, struct account *ret)
{
	const struct loader_stats *l = &st->loader;
	const struct hub_totals *t = &st->totals;
	uint64_t lost, in_bpf_ring, in_socket;
	int64_t under_way;

	lost = l->bpf[BPF_RING_FULL] + l->no_hub + l->bad_record +
	       t->former_lost + t->lost_hub + t->hub_bad + t->hub_dropped;
	for (int i = 0; i < BATCH__OUTCOMES; i++) {
		if (i != BATCH_DELIVERED)
			lost += t->outcomes.samples[i];
	}
	in_bpf_ring = l->bpf[BPF_SENT] - l->drained;
	in_socket = l->forwarded + t->former_forwarded - t->received -
		    t->lost_hub;
	under_way = (int64_t)(in_bpf_ring + in_socket + st->hub.pending +
			      st->hub.outstanding);

	ret->covered_ns = l->covered_ns + t->former_covered_ms * NSEC_PER_MSEC;
	ret->missed_ns = l->missed_ns + t->former_missed_ms * NSEC_PER_MSEC;
	ret->taken = l->bpf[BPF_TAKEN] + t->former_taken;
	ret->delivered = t->outcomes.samples[BATCH_DELIVERED];
	ret->own = t->own;
	ret->lost = lost;
	ret->under_way = under_way < 0 ? 0 : (uint64_t)under_way;
	ret->difference = (int64_t)(ret->taken - ret->delivered -
				    ret->own - lost - (uint64_t)under_way);
}

uint64_t status_cpu_ns(const struct status *st)
{
	return st->loader.bpf[BPF_RUN_NS] + st->loader.cpu_ns + st->loader.opener.cpu_ns +
	       st->hub.cpu_ns + st->hub.worker_cpu_ns + st->exporter.cpu_ns;
}

uint64_t status_host_ns(const struct status *st)
{
	if (st->hub.start_ns > st->loader.start_ns + TOGETHER_NS)
		return 0;
	return st->uptime_ns * st->loader.cpus;
}
