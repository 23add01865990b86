// SPDX-License-Identifier: Apache-2.0
#include "ipc/counter_table.h"

#include "ipc/message_hub.h"

void counted_make(const struct status *st, struct counted *ret)
{
	ret->st = *st;
	account_sum(st, &ret->sum);
	ret->loader_up = st->loader_up;
	ret->exporter_up = st->exporter_up;
}

/* --- metrics that have more than one number ------------------------------- */

#define EXE_KEY		"process.executable.name"
#define LOADERD		"trifold-loaderd"
#define SYMBOLIZERD	"trifold-symbolizerd"
#define EXPORTERD	"trifold-exporterd"

static const struct metric up = {
	"trifold.up", "1", "Whether the process is connected to the others.",
	METRIC_GAUGE, { EXE_KEY },
};
static const struct metric cpu = {
	"process.cpu.time", "s", "CPU time of trifold's own processes.",
	METRIC_SUM, { EXE_KEY, "role" },
};
static const struct metric memory = {
	"process.memory.usage", "By",
	"Resident memory of trifold's own processes; of loaderd, its "
	"opener and workers the most that they had.",
	METRIC_LEVEL, { EXE_KEY, "role" },
};
static const struct metric deaths = {
	"trifold.deaths", "{process}",
	"Processes of trifold that ended without being told to.",
	METRIC_SUM, { EXE_KEY },
};
static const struct metric offences = {
	"trifold.offences", "{message}",
	"Messages that broke the protocol, by who received them.",
	METRIC_SUM, { EXE_KEY },
};
static const struct metric ended = {
	"trifold.samples", "{sample}",
	"Samples whose way has ended: delivered, left out as trifold's own, or "
	"lost and why.",
	METRIC_SUM, { "outcome", "reason" },
};
static const struct metric stacks = {
	"trifold.stacks", "{stack}", "User stacks, by what ended them.",
	METRIC_SUM, { "stop" },
};
static const struct metric refused = {
	"trifold.file.refused", "{file}",
	"Files that were met in a sample and not read.",
	METRIC_SUM, { "reason" },
};
static const struct metric dropped = {
	"trifold.file.dropped", "{file}",
	"Files that loaderd knew and dropped.", METRIC_SUM, { "reason" },
};
static const struct metric tables_refused = {
	"trifold.table.refused", "{table}",
	"Unwind tables that were not installed.", METRIC_SUM, { "reason" },
};

#define RECEIVER_KEYS	"receiver", "url.full"

static const struct metric receiver_samples = {
	"trifold.receiver.samples", "{sample}",
	"Samples whose way to a receiver has ended.",
	METRIC_SUM, { RECEIVER_KEYS, "outcome" },
};

/* --- the table ------------------------------------------------------------- */

/* One number, one metric of that name. */
#define ONE(kind, name, unit, help)					\
	.metric = &(const struct metric){				\
		"trifold." name, unit, help, METRIC_##kind, { NULL } }
#define OF(m, ...)	.metric = &(m), .value = { __VA_ARGS__ }

#define AT(member)	.at = offsetof(struct counted, member)
#define OUTCOME(o)	AT(st.totals.outcomes.samples[o])
#define IN(g, s)	.group = GROUP_##g, .section = SECTION_##s
#define LOADER(m, s)	AT(st.loader.m), .name = #m, IN(LOADERD, s)
#define OPENER(m, n, s)	AT(st.loader.opener.m), .name = n, IN(LOADERD, s)
/* who reads them knows them as loaderd's */
#define TABLES(m, s)	AT(st.tables.m), .name = #m, IN(LOADERD, s)
#define BPF(m, n, s)	AT(st.loader.bpf[m]), .name = n, IN(LOADERD, s)
#define TOTAL(m, s)	AT(st.totals.m), .name = #m, IN(TOTALS, s)
#define HUB(m, s)	AT(st.hub.m), .name = #m, IN(SYMBOLIZERD, s)
#define EXPORTER(m, s)	AT(st.exporter.m), .name = #m, IN(EXPORTERD, s)
#define SHOW(l)		.label = l
#define RARE(l)		.label = l, .rare = true
#define LOST(n, a)	{ a, .name = n, RARE("lost: " n), IN(LOST_BY, SAMPLES),\
			  OF(ended, "lost", n) }
#define STOP(n, s)	{ AT(st.loader.bpf[BPF_STOP + STOP_##s]), .name = n, RARE(n),\
			  IN(STOPS, STOPS), OF(stacks, n) }

const struct counter counter_table[] = {
	{ AT(loader_up), .name = "loaderd_up", IN(TOP, PROCESSES),
	  OF(up, LOADERD) },
	{ AT(exporter_up), .name = "exporterd_up", IN(TOP, PROCESSES),
	  OF(up, EXPORTERD) },
	{ AT(st.uptime_ns), .name = "uptime_ns", IN(TOP, PROCESSES),
	  SHOW("symbolizerd up, s"),
	  .metric = &(const struct metric){
		"process.uptime", "s", "How long the process runs.",
		METRIC_GAUGE, { EXE_KEY } }, .value = { SYMBOLIZERD } },

	{ AT(sum.taken), .name = "taken", IN(SAMPLES, SAMPLES), SHOW("taken"),
	  ONE(SUM, "sample.taken", "{sample}", "Samples that were taken.") },

	STOP("complete", COMPLETE),
	STOP("no_user", NO_USER),
	STOP("cut", CUT),
	STOP("no_mapping", NO_MAPPING),
	STOP("anonymous", ANON),
	STOP("file_unknown", NO_FILE),
	STOP("no_table", NO_TABLE),
	STOP("no_row", NO_ROW),
	STOP("unsupported", UNSUPPORTED),
	STOP("no_progress", NO_PROGRESS),
	STOP("stack_unreadable", READ),
	STOP("compat", COMPAT),
	STOP("internal", INTERNAL),
	STOP("guessed", GUESSED),

	{ BPF(BPF_TAKEN, "bpf_taken", SAMPLES),
	  ONE(SUM, "bpf.taken", "{sample}", "Samples taken since loaderd started.") },
	{ BPF(BPF_SENT, "bpf_sent", SAMPLES), SHOW("sent by BPF"),
	  ONE(SUM, "bpf.sent", "{sample}",
	      "Samples that found room in the ring to loaderd.") },
	{ BPF(BPF_RING_FULL, "bpf_ring_full", SAMPLES) },
	{ BPF(BPF_REQUEST_FULL, "bpf_request_full", EXECUTABLES), RARE("requests without room"),
	  ONE(SUM, "bpf.requests_dropped", "{request}",
	      "Requests that found no room in their ring or in the share of their process or user.") },
	{ BPF(BPF_RUN_NS, "bpf_run_ns", COSTS), SHOW("BPF, s"),
	  ONE(SUM, "bpf.time", "s",
	      "Time that the sampler ran, in the sampled processes.") },
	{ BPF(BPF_FRAMES, "bpf_frames", STACKS), SHOW("user frames unwound"),
	  ONE(SUM, "bpf.frames", "{frame}", "User frames that were unwound.") },
	{ BPF(BPF_MANAGED, "bpf_frames_managed", STACKS), SHOW("of them interpreted"),
	  ONE(SUM, "bpf.managed_frames", "{frame}",
	      "Frames that interpreters keep, of those that were unwound.") },
	{ BPF(BPF_MANAGED_NONE, "bpf_loops_unknown", STACKS),
	  RARE("interpreter loops without frames"),
	  ONE(SUM, "bpf.loops_unknown", "{frame}",
	      "Frames of an interpreter's loop whose own frames were not found.") },
	{ BPF(BPF_RUNTIME_UNKNOWN, "bpf_runtime_unknown", STACKS),
	  RARE("mappings of an unknown runtime"),
	  ONE(SUM, "bpf.unknown_runtimes", "{mapping}",
	      "Mappings that samples met, of a runtime that the sampler does not know.") },
	{ LOADER(drained, SAMPLES), SHOW("drained by loaderd"),
	  ONE(SUM, "sample.drained", "{sample}",
	      "Samples that loaderd took from the ring.") },
	{ LOADER(forwarded, SAMPLES), SHOW("forwarded to symbolizerd"),
	  ONE(SUM, "sample.forwarded", "{sample}",
	      "Samples that loaderd passed on to symbolizerd.") },
	{ LOADER(no_hub, SAMPLES) },
	{ LOADER(bad_record, SAMPLES) },
	{ LOADER(file_requests, EXECUTABLES), SHOW("file requests of BPF"),
	  ONE(SUM, "bpf.file_requests", "{request}",
	      "What BPF asked for: files, names of cgroups.") },
	{ TABLES(exes, EXECUTABLES), SHOW("met by loaderd"),
	  ONE(SUM, "file.met", "{file}",
	      "Files that loaderd gave a number, some of them again.") },
	{ TABLES(numbers, EXECUTABLES), SHOW("numbers in use, ever"),
	  ONE(LEVEL, "file.numbers", "{number}",
	      "Distinct numbers that were given to files.") },
	{ TABLES(files, EXECUTABLES), SHOW("known to loaderd"),
	  ONE(LEVEL, "files", "{file}", "Files that loaderd knows.") },
	{ TABLES(tables, EXECUTABLES), SHOW("unwind tables"),
	  ONE(LEVEL, "tables", "{table}", "Unwind tables in the kernel.") },
	{ TABLES(table_rows, EXECUTABLES), SHOW("rows"),
	  ONE(LEVEL, "table.rows", "{row}",
	      "Rows of the unwind tables in the kernel.") },
	{ TABLES(table_bytes, EXECUTABLES), SHOW("bytes in use"),
	  ONE(LEVEL, "table.size", "By", "Bytes of the unwind tables in the kernel.") },
	{ TABLES(rules, EXECUTABLES), SHOW("rules"),
	  ONE(LEVEL, "table.rules", "{rule}", "Rules that the unwind tables use.") },
	{ LOADER(slabs, EXECUTABLES), SHOW("slabs of a MiB"),
	  ONE(LEVEL, "table.slabs", "{slab}",
	      "Slabs of a MiB that hold tables and rules.") },
	{ TABLES(table_bad, EXECUTABLES), RARE("tables refused as bad"),
	  OF(tables_refused, "bad") },
	{ TABLES(table_full, EXECUTABLES), RARE("tables over the budget"),
	  OF(tables_refused, "budget") },
	{ TABLES(evicted, EXECUTABLES), RARE("evicted for room"),
	  OF(dropped, "evicted") },
	{ TABLES(forgotten, EXECUTABLES), RARE("forgotten as unused"),
	  OF(dropped, "unused") },
	{ LOADER(entry_unknown, EXECUTABLES), RARE("entries for files unknown"),
	  ONE(SUM, "loaderd.entries_unknown", "{entry}",
	      "Entries that symbolizerd sent for files that loaderd has not.") },
	{ LOADER(open_failed, EXECUTABLES), RARE("mappings not opened"),
	  OF(refused, "open_failed") },
	{ LOADER(open_killed, EXECUTABLES), RARE("openers killed"),
	  OF(refused, "open_killed") },
	{ OPENER(stuck, "open_stuck", EXECUTABLES), RARE("openers that hang"),
	  ONE(LEVEL, "opener.stuck", "{process}",
	      "Openers that were killed and still wait for a file system.") },
	{ LOADER(key_mismatch, EXECUTABLES), RARE("mappings changed meanwhile"),
	  OF(refused, "key_mismatch") },
	{ LOADER(fs_refused, EXECUTABLES), RARE("file systems avoided"),
	  OF(refused, "file_system") },
	{ LOADER(lists_put_off, EXECUTABLES), RARE("lists of mappings put off"),
	  ONE(SUM, "loaderd.lists_put_off", "{list}",
	      "Lists of a process's mappings that there was no time for.") },
	{ LOADER(ksyms, STACKS), SHOW("kernel symbols"),
	  ONE(LEVEL, "kernel_symbols", "{symbol}",
	      "Kernel symbols that loaderd has named.") },
	{ LOADER(cpus, STACKS), SHOW("CPUs"),
	  ONE(LEVEL, "cpus", "{cpu}", "CPUs that are sampled.") },
	{ LOADER(hub_connects, PROCESSES), SHOW("connections of loaderd"),
	  ONE(SUM, "loaderd.connections", "{connection}",
	      "Connections that loaderd made to symbolizerd.") },
	{ LOADER(offences, PROCESSES), RARE("offences seen by loaderd"),
	  OF(offences, LOADERD) },
	{ LOADER(map_bytes, EXECUTABLES), SHOW("bytes of kernel maps"),
	  ONE(LEVEL, "bpf.memory", "By",
	      "Room of all BPF maps: keys and values.") },
	{ LOADER(start_ns, PROCESSES) },
	{ LOADER(cpu_ns, COSTS), SHOW("loaderd CPU, s"),
	  OF(cpu, LOADERD, "main") },
	{ LOADER(sampling_ns, COSTS), SHOW("of it for samples, s"),
	  ONE(SUM, "loaderd.sampling.time", "s",
	      "CPU time that loaderd took to pass samples on.") },
	{ OPENER(cpu_ns, "opener_cpu_ns", COSTS), SHOW("openers CPU, s"),
	  OF(cpu, LOADERD, "opener") },
	{ LOADER(rss_bytes, COSTS), SHOW("loaderd, most memory, bytes"),
	  OF(memory, LOADERD, "main") },
	{ OPENER(rss_bytes, "opener_rss_bytes", COSTS), SHOW("opener, most memory, bytes"),
	  OF(memory, LOADERD, "opener") },

	{ TOTAL(received, SAMPLES), SHOW("received by symbolizerd"),
	  ONE(SUM, "sample.received", "{sample}",
	      "Samples that symbolizerd received.") },
	{ TOTAL(own, SAMPLES), SHOW("of trifold itself, left out"), OF(ended, "own") },
	{ TOTAL(hub_bad, SAMPLES) },
	{ TOTAL(hub_dropped, SAMPLES) },
	{ TOTAL(lost_hub, SAMPLES) },
	{ TOTAL(handed, SAMPLES), SHOW("handed to exporterd"),
	  ONE(SUM, "sample.handed", "{sample}",
	      "Samples in batches, handed to exporterd or to be.") },
	{ TOTAL(requeued, EXPORT), RARE("samples handed again"),
	  ONE(SUM, "sample.requeued", "{sample}",
	      "Samples handed again: an exporterd had ended.") },
	{ TOTAL(former_forwarded, SAMPLES), RARE("forwarded by former loaderds"),
	  ONE(SUM, "sample.former_forwarded", "{sample}",
	      "Samples that former loaderds passed on.") },
	{ TOTAL(former_taken, SAMPLES), RARE("of former loaderds"),
	  ONE(SUM, "sample.former_taken", "{sample}",
	      "Samples taken under former loaderds.") },
	{ TOTAL(former_lost, SAMPLES) },
	{ TOTAL(loader_deaths, PROCESSES), RARE("loaderd deaths"),
	  OF(deaths, LOADERD) },
	{ TOTAL(hub_deaths, PROCESSES), RARE("symbolizerd deaths"),
	  OF(deaths, SYMBOLIZERD) },
	{ TOTAL(exporter_deaths, PROCESSES), RARE("exporterd deaths"),
	  OF(deaths, EXPORTERD) },

	{ HUB(pending, SAMPLES), SHOW("waiting for their batch"),
	  ONE(LEVEL, "sample.pending", "{sample}",
	      "Samples that are in no batch yet.") },
	{ HUB(outstanding, SAMPLES), SHOW("not yet answered"),
	  ONE(LEVEL, "sample.outstanding", "{sample}",
	      "Samples in batches that are not finished.") },
	{ HUB(traces, STACKS), SHOW("distinct stacks"),
	  ONE(LEVEL, "stack.known", "{stack}",
	      "Distinct stacks that symbolizerd knows.") },
	{ HUB(exes, EXECUTABLES), SHOW("known to symbolizerd"),
	  ONE(LEVEL, "executables", "{file}", "Executables that symbolizerd knows.") },
	{ HUB(exes_waiting, EXECUTABLES), SHOW("waiting for a worker"),
	  ONE(LEVEL, "executable.waiting", "{file}",
	      "Executables that wait for a worker.") },
	{ HUB(exes_failed, EXECUTABLES), RARE("quarantined"),
	  ONE(LEVEL, "executable.quarantined", "{file}",
	      "Executables of which a worker died.") },
	{ HUB(processes, STACKS), SHOW("processes"),
	  ONE(LEVEL, "processes", "{process}", "Processes that symbolizerd knows.") },
	{ HUB(worker_jobs, EXECUTABLES), SHOW("worker jobs"),
	  ONE(SUM, "worker.jobs", "{job}", "Files given to a worker.") },
	{ HUB(worker_deaths, EXECUTABLES), RARE("worker deaths"),
	  ONE(SUM, "worker.deaths", "{process}",
	      "Workers that died or were killed in a job.") },
	{ HUB(versions_unknown, EXECUTABLES), RARE("of an interpreter's unknown version"),
	  ONE(SUM, "file.version_unknown", "{file}",
	      "Files of an interpreter in a version whose frames are not known.") },
	{ HUB(files_put_off, EXECUTABLES), RARE("put off: share of CPU used up"),
	  ONE(SUM, "file.put_off", "{file}",
	      "Files put off since the share of CPU time was used up, some of them again.") },
	{ HUB(managed_full, STACKS), RARE("interpreted functions without room"),
	  ONE(SUM, "function.no_room", "{function}",
	      "Names of interpreted functions that found no room.") },
	{ HUB(managed_visits, STACKS), RARE("visits to read names of functions"),
	  ONE(SUM, "function.visits", "{visit}",
	      "Visits to processes' memory to read names of functions.") },
	{ HUB(managed_read, STACKS), RARE("functions named by them"),
	  ONE(SUM, "function.read", "{function}",
	      "Functions whose names were read from their process's memory.") },
	{ HUB(jit_visits, STACKS), RARE("perf maps and jitdumps read"),
	  ONE(SUM, "jit.visits", "{file}",
	      "Files read in which JITs name their code: perf maps and jitdumps.") },
	{ HUB(jit_names, STACKS), RARE("JIT code named by them"),
	  ONE(SUM, "jit.names", "{address}",
	      "Addresses in JIT code that a perf map or a jitdump named.") },
	{ HUB(jit_gone, STACKS), RARE("JIT code whose process ended before"),
	  ONE(SUM, "jit.gone", "{address}",
	      "Addresses in JIT code whose process ended before its perf map was read.") },
	{ HUB(line_visits, STACKS), RARE("visits to files for lines"),
	  ONE(SUM, "line.visits", "{visit}",
	      "Visits to files to read lines and inlined calls from their DWARF.") },
	{ HUB(line_answers, STACKS), RARE("of them answered"),
	  ONE(SUM, "line.answers", "{visit}", "Of these visits, those that were answered.") },
	{ HUB(line_put_off, STACKS), RARE("put off: share for lines used up"),
	  ONE(SUM, "line.put_off", "{visit}",
	      "Visits put off since the share of CPU time for lines was used up.") },
	{ HUB(line_deaths, STACKS), RARE("workers lost in them"),
	  ONE(SUM, "line.deaths", "{process}",
	      "Workers that died or were killed as they read lines.") },
	{ HUB(frames_unsymbolized, STACKS),
	  ONE(SUM, "frame.unsymbolized", "{frame}",
	      "Distinct frames delivered without a symbol.") },
	{ HUB(frames_total, STACKS), SHOW("distinct frames"),
	  ONE(SUM, "frames", "{frame}", "Distinct frames delivered.") },
	{ HUB(batches, EXPORT), SHOW("batches"),
	  ONE(SUM, "batches", "{batch}", "Batches that symbolizerd made.") },
	{ HUB(offences, PROCESSES), RARE("offences seen by symbolizerd"),
	  OF(offences, SYMBOLIZERD) },
	{ HUB(complete, RECEIVED), SHOW("complete"),
	  ONE(SUM, "stack.complete", "{stack}", "Stacks received that are complete.") },
	{ HUB(complete_native, RECEIVED),
	  ONE(SUM, "stack.complete_native", "{stack}",
	      "Stacks received that are complete, all in files.") },
	{ HUB(native, RECEIVED), SHOW("all in files"),
	  ONE(SUM, "stack.native", "{stack}",
	      "Stacks received whose user frames are all in files.") },
	{ HUB(user, RECEIVED), SHOW("with a user stack"),
	  ONE(SUM, "stack.user", "{stack}",
	      "Samples received that have a user stack.") },
	{ HUB(start_ns, PROCESSES) },
	{ HUB(cpu_ns, COSTS), SHOW("symbolizerd CPU, s"),
	  OF(cpu, SYMBOLIZERD, "main") },
	{ HUB(files_cpu_ns, COSTS), SHOW("loaderd and symbolizerd for files, s"),
	  ONE(SUM, "file.time", "s",
	      "CPU time of loaderd and symbolizerd for files: what limits.cpu_share limits.") },
	{ HUB(worker_cpu_ns, COSTS), SHOW("workers CPU, s"),
	  OF(cpu, SYMBOLIZERD, "worker") },
	{ HUB(line_cpu_ns, COSTS), RARE("of it for lines, s"),
	  ONE(SUM, "line.time", "s",
	      "CPU time of workers that read lines: what limits.lines_share limits.") },
	{ HUB(rss_bytes, COSTS), SHOW("symbolizerd memory, bytes"),
	  OF(memory, SYMBOLIZERD, "main") },
	{ HUB(worker_rss_bytes, COSTS), SHOW("largest worker ever, bytes"),
	  ONE(GAUGE, "worker.memory.max", "By",
	      "The most memory that a worker has had.") },

	{ AT(sum.delivered), .name = "delivered", IN(SAMPLES, SAMPLES), SHOW("delivered"),
	  OF(ended, "delivered") },
	{ AT(sum.own), .name = "own", IN(SAMPLES, SAMPLES) },
	{ AT(sum.lost), .name = "lost", IN(SAMPLES, SAMPLES) },
	{ AT(sum.under_way), .name = "under_way", IN(SAMPLES, SAMPLES),
	  ONE(LEVEL, "sample.under_way", "{sample}",
	      "Samples that are neither delivered nor lost yet.") },
	{ AT(sum.difference), .name = "difference", IN(SAMPLES, SAMPLES),
	  ONE(GAUGE, "sample.difference", "{sample}",
	      "Samples taken that are nowhere in the accounts: 0.") },
	LOST("ring_full", AT(st.loader.bpf[BPF_RING_FULL])),
	LOST("no_hub", AT(st.loader.no_hub)),
	LOST("bad_record", AT(st.loader.bad_record)),
	LOST("loader_died", AT(st.totals.former_lost)),
	LOST("hub_died", AT(st.totals.lost_hub)),
	LOST("hub_bad", AT(st.totals.hub_bad)),
	LOST("hub_dropped", AT(st.totals.hub_dropped)),
	LOST("no_receiver", OUTCOME(BATCH_NO_RECEIVER)),
	LOST("queue_full", OUTCOME(BATCH_QUEUE_FULL)),
	LOST("rejected", OUTCOME(BATCH_REJECTED)),
	LOST("gave_up", OUTCOME(BATCH_GAVE_UP)),
	LOST("invalid", OUTCOME(BATCH_INVALID)),

	{ EXPORTER(queued, EXPORT), SHOW("samples queued"),
	  ONE(LEVEL, "export.queue.samples", "{sample}",
	      "Samples that wait to be sent.") },
	{ EXPORTER(queued_bytes, EXPORT), SHOW("bytes queued"),
	  ONE(LEVEL, "export.queue.size", "By", "Bytes that wait to be sent.") },
	{ EXPORTER(requests, EXPORT), SHOW("requests"),
	  ONE(SUM, "export.requests", "{request}", "HTTP requests with profiles.") },
	{ EXPORTER(request_bytes, EXPORT), SHOW("bytes before compression"),
	  ONE(SUM, "export.encoded", "By",
	      "Bytes of those requests before compression.") },
	{ EXPORTER(wire_bytes, EXPORT), SHOW("bytes sent"),
	  ONE(SUM, "export.sent", "By", "Bytes of those requests, as they were sent.") },
	{ EXPORTER(retries, EXPORT), RARE("retries"),
	  ONE(SUM, "export.retries", "{request}",
	      "Requests with profiles that were sent again.") },
	{ EXPORTER(http_status, EXPORT), RARE("last HTTP status"),
	  ONE(GAUGE, "export.status_code", "1",
	      "HTTP status of the last answer; 0: there was none.") },
	{ EXPORTER(partial_rejected, EXPORT), RARE("profiles refused in a 200"),
	  ONE(SUM, "export.profiles.rejected", "{profile}",
	      "Profiles refused by a receiver that took others.") },
	{ EXPORTER(offences, PROCESSES), RARE("offences seen by exporterd"),
	  OF(offences, EXPORTERD) },
	{ EXPORTER(metrics_requests, EXPORT), RARE("requests with metrics"),
	  ONE(SUM, "export.metrics.requests", "{request}",
	      "HTTP requests with metrics.") },
	{ EXPORTER(metrics_failed, EXPORT), RARE("of them not accepted"),
	  ONE(SUM, "export.metrics.failed", "{request}",
	      "Requests with metrics that were not accepted.") },
	{ EXPORTER(metrics_rejected, EXPORT), RARE("data points refused in a 200"),
	  ONE(SUM, "export.metrics.rejected", "{data_point}",
	      "Data points refused by a receiver that took others.") },
	{ EXPORTER(spool_samples, EXPORT), RARE("samples in the spool"),
	  ONE(LEVEL, "export.spool.samples", "{sample}",
	      "Samples that the spool holds.") },
	{ EXPORTER(spool_batches, EXPORT), RARE("batches in the spool"),
	  ONE(LEVEL, "export.spool.batches", "{batch}",
	      "Batches that the spool holds.") },
	{ EXPORTER(spool_bytes, EXPORT), RARE("bytes in the spool"),
	  ONE(LEVEL, "export.spool.size", "By", "Bytes of the spool's files.") },
	{ EXPORTER(spool_written, EXPORT), RARE("batches spooled"),
	  ONE(SUM, "export.spool.written", "{batch}",
	      "Batches that were stored in the spool.") },
	{ EXPORTER(spool_full, EXPORT), RARE("dropped: spool full"),
	  ONE(SUM, "export.spool.full", "{sample}",
	      "Samples that newer ones pushed out of the spool.") },
	{ EXPORTER(spool_old, EXPORT), RARE("dropped: too old in the spool"),
	  ONE(SUM, "export.spool.old", "{sample}",
	      "Samples in the spool that were given up as too old.") },
	{ EXPORTER(spool_damaged, EXPORT), RARE("dropped: spool damaged"),
	  ONE(SUM, "export.spool.damaged", "{sample}",
	      "Samples of damaged files in the spool.") },
	{ EXPORTER(spool_refused, EXPORT), RARE("foreign files in the spool"),
	  ONE(SUM, "export.spool.refused", "{file}",
	      "Files in the spool's directory that are not trifold's.") },
	{ EXPORTER(spool_errors, EXPORT), RARE("errors of the spool's disk"),
	  ONE(SUM, "export.spool.errors", "{error}",
	      "Failures of the disk to store or remove a batch.") },
	{ EXPORTER(debuginfod_asked, EXPORT), RARE("debug files asked for at debuginfod servers"),
	  ONE(SUM, "export.debuginfod.asked", "{file}",
	      "Debug files that debuginfod servers were to be asked for.") },
	{ EXPORTER(debuginfod_requests, EXPORT), RARE("requests to debuginfod servers"),
	  ONE(SUM, "export.debuginfod.requests", "{request}",
	      "HTTP requests to debuginfod servers.") },
	{ EXPORTER(debuginfod_found, EXPORT), RARE("debug files from debuginfod servers"),
	  ONE(SUM, "export.debuginfod.found", "{file}",
	      "Debug files that a debuginfod server sent.") },
	{ EXPORTER(debuginfod_not_found, EXPORT), RARE("debug files that no debuginfod server has"),
	  ONE(SUM, "export.debuginfod.not_found", "{file}",
	      "Debug files that no debuginfod server has.") },
	{ EXPORTER(debuginfod_failed, EXPORT), RARE("failed requests to debuginfod servers"),
	  ONE(SUM, "export.debuginfod.failed", "{request}",
	      "Requests to debuginfod servers that failed, or whose file was too large or too slow.") },
	{ EXPORTER(debuginfod_bytes, EXPORT), RARE("bytes from debuginfod servers"),
	  ONE(SUM, "export.debuginfod.received", "By",
	      "Bytes of debug files that debuginfod servers sent.") },
	{ EXPORTER(start_ns, PROCESSES) },
	{ EXPORTER(cpu_ns, COSTS), SHOW("exporterd CPU, s"),
	  OF(cpu, EXPORTERD, "main") },
	{ EXPORTER(rss_bytes, COSTS), SHOW("exporterd memory, bytes"),
	  OF(memory, EXPORTERD, "main") },
};

const size_t counter_table_n = sizeof(counter_table) / sizeof(counter_table[0]);

/* --- of each receiver ------------------------------------------------------- */

#define AT_RECEIVER(m)	.at = offsetof(struct receiver, m), .name = #m
#define EACH(kind, name, unit, help)					\
	.metric = &(const struct metric){				\
		"trifold.receiver." name, unit, help, METRIC_##kind,	\
		{ RECEIVER_KEYS } }
#define ENDED(o)	.metric = &receiver_samples, .value = { NULL, NULL, o }

const struct counter receiver_table[] = {
	{ AT_RECEIVER(delivered), SHOW("samples delivered"), ENDED("delivered") },
	{ AT_RECEIVER(queued), SHOW("samples queued"),
	  EACH(LEVEL, "queue.samples", "{sample}",
	       "Samples that wait to be sent to a receiver.") },
	{ AT_RECEIVER(rejected), RARE("lost: rejected"), ENDED("rejected") },
	{ AT_RECEIVER(queue_full), RARE("lost: queue_full"), ENDED("queue_full") },
	{ AT_RECEIVER(gave_up), RARE("lost: gave_up"), ENDED("gave_up") },
	{ AT_RECEIVER(requests), SHOW("requests"),
	  EACH(SUM, "requests", "{request}",
	       "HTTP requests with profiles to a receiver.") },
	{ AT_RECEIVER(retries), RARE("retries"),
	  EACH(SUM, "retries", "{request}",
	       "Requests with profiles that were sent to a receiver again.") },
	{ AT_RECEIVER(http_status), RARE("last HTTP status"),
	  EACH(GAUGE, "status_code", "1",
	       "HTTP status of a receiver's last answer; 0: there was none.") },
};

const size_t receiver_table_n =
	sizeof(receiver_table) / sizeof(receiver_table[0]);
