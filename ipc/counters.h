/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters - the accounts: a counter for every way to lose a sample
 *
 * A sample goes  BPF -> loaderd -> hub -> exporterd -> receiver.  At each
 * stage, what came in is what was passed on, plus what is on its way, plus what
 * was lost for each reason.  account_sum() checks the sums.
 *
 *	taken     = sent to the BPF ring + ring_full
 *	sent      = drained + (in the BPF ring)
 *	drained   = forwarded + no_hub + bad_record
 *	forwarded = received + lost_hub + (in the socket)
 *	received  = pending + handed + own + hub_bad + hub_dropped
 *	handed    = with exporterd + one of the outcomes
 *
 * Numbers count samples unless the name shows something else, and only grow.
 */
#ifndef IPC_COUNTERS_H
#define IPC_COUNTERS_H

#include <stdint.h>

#include "bpf/count.h"
#include "ipc/counters_loader.h"

enum batch_outcome {
	BATCH_DELIVERED = 0,	/* receiver took all of it */
	BATCH_NO_RECEIVER,	/* no receiver is configured */
	BATCH_QUEUE_FULL,	/* replaced by newer ones */
	BATCH_REJECTED,		/* by an answer that forbids another try */
	BATCH_GAVE_UP,		/* retried for too long, or at exit */
	BATCH_INVALID,		/* did not pass validation */
	BATCH__OUTCOMES
};

/* What became of samples that exporterd got. */
struct export_outcomes {
	uint64_t samples[BATCH__OUTCOMES];
};

/* What a hub must know of former ones: loaderd keeps it (msg_checkpoint). */
struct hub_totals {
	uint64_t received;
	uint64_t own;			/* of trifold's own processes: left out */
	uint64_t hub_bad;		/* in invalid records */
	uint64_t hub_dropped;		/* memory cap reached */
	uint64_t lost_hub;		/* lost when a hub died */
	uint64_t handed;		/* given to exporterd */
	uint64_t requeued;		/* of them, given again: exporterd died */
	struct export_outcomes outcomes;
	/* of former loaderds, when the hub outlived them */
	uint64_t former_forwarded;
	uint64_t former_taken;
	uint64_t former_lost;		/* taken, never forwarded, by their last report */
	uint64_t former_covered_ms;	/* CPU time that they sampled */
	uint64_t former_missed_ms;	/* ... and that they, or nobody, did */
	uint64_t loader_deaths;
	uint64_t hub_deaths;
	uint64_t exporter_deaths;
};

/* Of the files that the hub has told loaderd of. */
struct table_stats {
	uint64_t exes;			/* numbers given, some of them again */
	uint64_t numbers;		/* distinct ones */
	uint64_t files;			/* known now */
	uint64_t tables;		/* tables installed now */
	uint64_t table_rows;		/* rows in them */
	uint64_t table_bytes;		/* elements in use, bytes */
	uint64_t rules;			/* rules in use */
	uint64_t table_bad;		/* tables that did not pass the checks */
	uint64_t table_full;		/* budget or a limit refused a table */
	uint64_t evicted;		/* files dropped to make room for others */
	uint64_t forgotten;		/* ... since no process maps or uses them */
};

/* Gauges and costs of the hub itself. */
struct hub_stats {
	uint64_t pending;		/* samples not yet in a batch */
	uint64_t outstanding;		/* samples with exporterd, unfinished */
	uint64_t traces;		/* distinct stacks known */
	uint64_t exes;			/* executables known */
	uint64_t exes_waiting;		/* of them, waiting for a worker */
	uint64_t exes_failed;		/* quarantined */
	uint64_t exes_full;		/* forgotten early, or not noted: too many; or they lost
					 * their descriptor */
	uint64_t symbols_let_go;	/* tables of symbols that went but for what samples
					 * met: nothing new was met for a while */
	uint64_t symbols_full;		/* ... that went so early, or were not taken: no room */
	uint64_t symbols_lost;		/* files that lost what samples met, too: no room */
	uint64_t symbols_again;		/* files whose symbols were read again, or in vain */
	uint64_t symbols_put_off;	/* of which that had to wait: the pause, or the share */
	uint64_t processes;		/* known */
	uint64_t cgroups_full;		/* cgroups whose names were forgotten: too many */
	uint64_t ksyms_full;		/* kernel symbols that got no name: too many */
	uint64_t worker_jobs;
	uint64_t worker_deaths;		/* died or killed in a job */
	uint64_t too_large;		/* jobs without an answer, or without symbols, since
					 * their file exceeds a limit */
	uint64_t jobs_full;		/* files and visits for which there was no place in
					 * their user's part of the queue */
	uint64_t versions_unknown;	/* files of a runtime's unknown version */
	uint64_t files_put_off;		/* the share was used up; some again */
	uint64_t managed_full;		/* names of interpreted functions that were dropped
					 * or put off: no room */
	uint64_t managed_visits;	/* to processes' memory, for names */
	uint64_t managed_read;		/* functions named so */
	uint64_t jit_full;		/* likewise, of JIT code, with files of theirs that
					 * were closed */
	uint64_t jit_visits;		/* perf maps and jitdumps read */
	uint64_t jit_names;		/* addresses named in them */
	uint64_t jit_gone;		/* addresses whose process ended before */
	uint64_t jit_refused;		/* perf maps that others than their owner may write */
	uint64_t hang_refused;		/* perf maps, debug files and processes' memory that were
					 * not read where a user's file systems hung */
	uint64_t workers_stuck;		/* now: killed, and they wait for a file system */
	uint64_t asks_put_off;		/* visits that waited: their user asked for so many
					 * processes' memory and perf maps in a second */
	uint64_t jobs_put_off;		/* jobs of workers: their user's part of the share was
					 * used up */
	uint64_t line_full;		/* as jit_full, of places in files */
	uint64_t line_visits;		/* to files, for lines of code in them */
	uint64_t line_answers;		/* of them, with at least one line */
	uint64_t line_put_off;		/* the share for lines was used up */
	uint64_t line_deaths;		/* visits that killed their worker */
	uint64_t frames_unsymbolized;	/* delivered without a name */
	uint64_t frames_total;		/* distinct frames delivered */
	uint64_t batches;
	uint64_t offences;
	uint64_t complete;		/* samples by how their stack ended: */
	uint64_t complete_native;	/* ... all frames in files */
	uint64_t native;		/* samples whose user frames are all in
					 * files (complete or not) */
	uint64_t user;			/* samples with a user stack */
	uint64_t kernel_cut;		/* samples with as many kernel frames as there is room
					 * for: outer ones may be missing */
	uint64_t clients_refused;	/* status clients that found no place, or lost it to
					 * another user's */
	/* costs */
	uint64_t start_ns;		/* of the hub: CLOCK_REALTIME */
	uint64_t cpu_ns;
	uint64_t files_cpu_ns;		/* of hub and loaderd, for files: what
					 * counts against the share */
	uint64_t rss_bytes;
	uint64_t worker_cpu_ns;		/* of all workers that ended, and of
					 * the zygote that forks them */
	uint64_t line_cpu_ns;		/* of it for lines, and the hub's for their answers: what
					 * counts against their share */
	uint64_t worker_rss_bytes;	/* the most that one of them had */
};

/* Where exporterd sends to.  The outcomes of the first one are in the totals, too; those of
 * the others are only here.  Counted since exporterd started. */
#define RECEIVERS_MAX		8
#define RECEIVER_URL		96
struct receiver {
	char url[RECEIVER_URL];		/* without credentials and query, padded
					 * with NULs unless it was cut; "": no
					 * receiver */
	uint64_t number;		/* 1, or that of TRIFOLD_EXPORTER_<N>_* */
	/* samples */
	uint64_t queued;
	uint64_t delivered;
	uint64_t rejected;
	uint64_t queue_full;
	uint64_t gave_up;
	uint64_t requests;
	uint64_t retries;
	uint64_t http_status;		/* of the last answer; 0: none */
};

struct exporter_stats {
	uint64_t queued;		/* samples waiting */
	uint64_t queued_bytes;
	uint64_t requests;		/* HTTP requests made */
	uint64_t request_bytes;		/* before compression */
	uint64_t wire_bytes;		/* after */
	uint64_t retries;
	uint64_t http_status;		/* of the last answer; 0: none */
	uint64_t partial_rejected;	/* profiles refused in a 200 */
	uint64_t offences;
	uint64_t metrics_requests;	/* HTTP requests with metrics */
	uint64_t metrics_failed;	/* of them, not accepted */
	uint64_t metrics_rejected;	/* data points refused in a 200 */
	/* of the spool (exporterd/spool.h); all 0 without one */
	uint64_t spool_samples;		/* in it now */
	uint64_t spool_batches;		/* likewise */
	uint64_t spool_bytes;		/* likewise */
	uint64_t spool_written;		/* batches stored */
	uint64_t spool_full;		/* samples replaced by newer ones */
	uint64_t spool_old;		/* samples given up: too old */
	uint64_t spool_damaged;		/* samples given up: of damaged files */
	uint64_t spool_refused;		/* files that were not ours */
	uint64_t spool_errors;		/* failed operations of the disk */
	/* of debuginfod servers (exporterd/debuginfod.h); all 0 without one */
	uint64_t debuginfod_asked;	/* build IDs that the hub asked for */
	uint64_t debuginfod_requests;	/* HTTP requests for them */
	uint64_t debuginfod_found;	/* debug files that came from them */
	uint64_t debuginfod_not_found;	/* build IDs that no server has */
	uint64_t debuginfod_failed;	/* requests without a useful answer */
	uint64_t debuginfod_bytes;	/* received, of debug files */
	uint64_t debuginfod_cached;	/* debug files handed to the hub, from the cache */
	uint64_t debuginfod_cache_files;	/* in it now */
	uint64_t debuginfod_cache_bytes;	/* of them */
	uint64_t debuginfod_cache_evicted;	/* files that made room for others */
	uint64_t debuginfod_cache_errors;	/* failed operations of the disk */
	/* costs */
	uint64_t start_ns;		/* of exporterd: CLOCK_REALTIME */
	uint64_t cpu_ns;
	uint64_t rss_bytes;
	struct receiver receivers[RECEIVERS_MAX];
};

/* Paths of files that killed a worker; of a longer path the last bytes.  No more than
 * QUARANTINE_SHOWN are named. */
#define QUARANTINE_SHOWN	8
#define QUARANTINE_PATH		160
struct quarantine {
	char path[QUARANTINE_SHOWN][QUARANTINE_PATH];	/* NUL-terminated; "":
							 * none, not known */
};

struct status {
	uint32_t version;		/* MSG_VERSION */
	uint8_t loader_up, exporter_up;
	uint8_t partial;		/* 1: loaderd samples named tasks only */
	uint8_t pad;
	uint64_t uptime_ns;		/* of the hub */
	uint32_t frequency;		/* Hz, per CPU; 0: no loaderd is there */
	uint32_t interval_ms;		/* between batches, about */
	struct loader_stats loader;	/* last report of the present loaderd */
	struct table_stats tables;
	struct hub_totals totals;
	struct hub_stats hub;
	struct exporter_stats exporter;	/* last report */
	struct quarantine quarantine;
};

/*
 * How the accounts stand.  taken and forwarded include those of former
 * loaderds.  under_way is
 *
 *	(sent - drained)			in the BPF ring
 *	+ (forwarded - received - lost_hub)	in the socket
 *	+ hub.pending + hub.outstanding
 *
 * and difference is taken - delivered - own - lost - under_way.  Written out, it is
 * the sum of what each stage has forgotten (or, negative, counted twice):
 *
 *	  (taken - ring_full - sent)
 *	+ (drained - forwarded - no_hub - bad_record)
 *	+ (former_taken - former_forwarded - former_lost)
 *	+ (received - pending - handed - own - hub_bad - hub_dropped)
 *	+ (handed - outstanding - all outcomes)
 *
 * The ring and the socket are the only places where a loss would not show as a
 * difference, since what is in them is not counted: it would stay in under_way for
 * ever.  So when sampling has ended and all is sent, both must be 0.  loaderd's report
 * may be a second older than what the hub knows: then under_way is too low (but not
 * below 0) while the difference is right.
 *
 * Time has an account, too: what passed of CPUs that were online is covered_ns, in which
 * their events counted (by the kernel), plus missed_ns.  A second in which a CPU came or
 * lost its event is missed as a whole, and so is the time from a loaderd's last report
 * to its successor's first sample.
 */
struct account {
	uint64_t covered_ns;		/* CPU time that was sampled ... */
	uint64_t missed_ns;		/* ... and that passed without, at most */
	uint64_t taken;
	uint64_t delivered;
	uint64_t own;			/* of trifold itself, left out */
	uint64_t lost;			/* sum of all reasons */
	uint64_t under_way;
	int64_t difference;		/* not 0: something is not counted */
};
void account_sum(const struct status *st, struct account *ret);

/* CPU time (ns) of BPF and of the processes that report theirs: loaderd and its openers, the
 * hub, exporterd, and all workers that ended.  Each since it started. */
uint64_t status_cpu_ns(const struct status *st);

/* Time (ns) of all CPUs since the hub started: what status_cpu_ns() is a share of.  0: loaderd
 * started long before it, or is not there. */
uint64_t status_host_ns(const struct status *st);

#endif /* IPC_COUNTERS_H */
