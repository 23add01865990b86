// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/knowledge.h"

#include <errno.h>
#include <sys/random.h>

#include "common/clock.h"

int knowledge_init(struct knowledge *k, const struct knowledge_out *out,
		   void *ctx, const struct tables_out *files_out,
		   void *files_ctx)
{
	uint64_t seed[8];

	*k = (struct knowledge){
		.interval = 1, .frequency = 1, .out = out, .ctx = ctx,
	};
	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	traces_init(&k->traces, seed[0]);
	processes_init(&k->processes, seed[1]);
	executables_init(&k->exes, seed[2]);
	debug_files_init(&k->debug_files);
	files_init(&k->files, seed[3], files_out, files_ctx);
	managed_init(&k->managed, seed[4]);
	jit_init(&k->jit, seed[5], &k->stats);
	source_lines_init(&k->lines, seed[6], &k->exes);
	cgroups_init(&k->cgroups, seed[7]);
	samples_keep(&k->samples, 0);
	k->interval_start_ns = clock_ns(CLOCK_REALTIME);
	k->stats.start_ns = k->interval_start_ns;
	/* by the clock: no two hubs use the same ids */
	batches_init(&k->batches, &k->ledger, k->interval_start_ns);
	return 0;
}

void knowledge_fini(struct knowledge *k)
{
	batches_fini(&k->batches);
	samples_fini(&k->samples);
	traces_fini(&k->traces);
	processes_fini(&k->processes);
	files_fini(&k->files);
	executables_fini(&k->exes);
	debug_files_fini(&k->debug_files);
	ksym_clear(&k->ksyms);
	managed_fini(&k->managed);
	jit_fini(&k->jit);
	source_lines_fini(&k->lines);
	cgroups_fini(&k->cgroups);
}

void knowledge_heard(struct knowledge *k)
{
	if (k->out->heard)
		k->out->heard(k->ctx);
}

static void knowledge_charge_one(struct knowledge *k, uint64_t *was, uint64_t used)
{
	if (*was && used > *was)
		user_share_use_all(&k->workers, used - *was);
	*was = used;
}

void knowledge_charge(struct knowledge *k, const struct status *st)
{
	const struct loader_stats *l = &st->loader;
	uint64_t loader = l->bpf[BPF_RUN_NS] + l->cpu_ns + l->opener.cpu_ns - k->load_ns;

	if (!st->loader_up)
		loader = 0;
	knowledge_charge_one(k, &k->loader_ns, loader);
	knowledge_charge_one(k, &k->exporter_ns, st->exporter.cpu_ns);
	knowledge_charge_one(k, &k->hub_ns, st->hub.cpu_ns);
}

void knowledge_offence(struct knowledge *k, const char *who, int verdict)
{
	k->stats.offences++;
	if (log_limited(&k->offence_log))
		log_warn("offence of %s: %s", who, msg_verdict_name(verdict));
}
