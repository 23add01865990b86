/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_hub - payloads of all processes but loaderd and its opener
 *
 * Every byte is defined, padding is 0.  Not for loaderd's code.
 */
#ifndef IPC_MESSAGE_HUB_H
#define IPC_MESSAGE_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/record.h"
#include "ipc/counters.h"
#include "ipc/message_loader.h"
#include "ipc/runtimes.h"

/* sys/socket.h has an MSG_BATCH of its own (a flag inside the kernel). */
#undef MSG_BATCH
#define MSG_BATCH	MSG_BATCH_OF_SAMPLES

/* Further values of enum msg_type: what loaderd neither sends nor receives. */
enum msg_type_hub {
	MSG_HELLO_EXPORTER = 3,	/* exporterd -> hub */
	MSG_JOB = 12,		/* hub -> worker, 1 fd: the file, or memory */
	MSG_JOB_DONE = 13,	/* worker -> hub, 1 fd: table or symbols */
	MSG_JOB_FAILED = 14,	/* worker -> hub */
	MSG_FORK = 15,		/* hub -> zygote: start a worker in a slot */
	MSG_KILL = 16,		/* hub -> zygote */
	MSG_EXITED = 17,	/* zygote -> hub */
	MSG_BATCH = 18,		/* hub -> exporterd -> recorder, 1 fd; hub ->
				 * subscriber */
	MSG_BATCH_DONE = 19,	/* recorder -> exporterd -> hub */
	MSG_EXPORTER_STATS = 20,/* exporterd -> hub */
	MSG_STATUS = 21,	/* hub -> status client, exporterd, each second */
	MSG_SUBSCRIBE = 29,	/* status client -> hub: wants so many batches */
	MSG_MISSED = 30,	/* hub -> subscriber: batches that it did not get */
	MSG_NAMES = 36,		/* worker -> hub, 1 fd: names of frames, or of code */
	MSG_FORKED = 37,	/* zygote -> hub: answer to MSG_FORK */
	MSG_DEBUGINFO_WANTED = 39,	/* hub -> exporterd: from a debuginfod server */
	MSG_DEBUGINFO = 40,	/* exporterd -> hub, 1 fd: what a server sent */
	MSG_DEBUGINFO_NONE = 41,	/* exporterd -> hub: no server has it */
};

struct msg_cgroup {			/* as BPF wrote it, not checked */
	struct request_cgroup request;
};

struct msg_loader_stats {
	struct loader_stats stats;
};

/* With the outcomes of batches since the last MSG_BATCH_DONE that got through. */
struct msg_hello_exporter {
	uint32_t batch_version;		/* BATCH_VERSION */
	uint16_t wants_status;		/* 1: wants MSG_STATUS; else 0 */
	uint16_t spools;		/* 1: it may hold batches of an earlier
					 * run; else 0 */
	uint32_t debuginfod;		/* 1: asks debuginfod servers; else 0 */
	uint32_t pad;
	uint64_t queued_samples;	/* still with this exporterd */
	struct export_outcomes unreported;
};

enum job_kind {
	JOB_FILE = 0,		/* a file: its table, symbols, or both */
	JOB_PROCESS,		/* a process's memory: names of frames */
	JOB_LINES,		/* a file: functions and lines at some offsets */
	JOB__KINDS
};

/* What is wanted of a file, bits.  If it is both, the table is answered first. */
enum job_part {
	JOB_TABLE = 1,
	JOB_SYMBOLS = 2,
};

/* MSG_JOB_DONE answers JOB_FILE, once for each part; MSG_NAMES the other kinds (of a process a
 * struct frame_names_hdr and so on: symbolizerd/symbols/frame_names.h; of lines a struct
 * line_codes_hdr: symbolizerd/symbols/line_codes.h), MSG_JOB_FAILED all. */
#define JOB_WORDS_MAX	512
struct msg_job {
	uint32_t kind;			/* enum job_kind */
	uint32_t exe;			/* file, lines: its number; else 0 */
	uint32_t runtime;		/* process: enum runtime; else 0 */
	uint32_t n_frames;		/* process, lines: at least 1; else 0 */
	uint32_t parts;			/* file: enum job_part; else 0 */
	uint32_t pad;
	/* uint64_t words[], at most JOB_WORDS_MAX: process: n_frames whole frames
	 * (bpf/frame.h); lines: as many file offsets; else none */
};

enum job_verdict {
	JOB_OK = 0,
	JOB_NOT_ELF,
	JOB_CORRUPT,		/* structures contradict themselves */
	JOB_TOO_LARGE,		/* a cap was reached */
	JOB_NO_MEMORY,
	JOB_KILLED,		/* deadline passed, or the worker died */
	JOB_NO_NAMES,		/* process: its runtime names no frames; lines: of a file
				 * with .symtab, no debug file with DWARF is there */
	JOB_CODE,		/* file: no ELF file, and it has no name in any folder */
	JOB__VERDICTS
};

#define FILE_ID_LEN	16

/* Where the names of a file are. */
enum job_debug {
	JOB_DEBUG_OWN = 0,	/* in its .symtab; or it has no build ID to look for */
	JOB_DEBUG_FILE,		/* in its debug file */
	JOB_DEBUG_INSIDE,	/* in its .gnu_debugdata: a debug file would have more */
	JOB_DEBUG_MISSING,	/* in a debug file that was not found */
	JOB_DEBUG_LINES,	/* in its .symtab; its lines may be in a debug file, which was
				 * not looked for */
	JOB_DEBUG__MAX
};

/* The id of MSG_WANTED_FILE to a worker: where the debug file comes from. */
enum debug_source {
	DEBUG_LOCAL = 0,	/* opened below a root that any user may have made: it
				 * depends on its owner whether it is used */
	DEBUG_SERVER,		/* exporterd asked a server for this build ID: its owner
				 * does not matter */
};

#define DEBUG_ALTERNATE	1	/* msg_wanted.alternate */
#define DEBUG_PACKAGE	2

/* May a worker say that an alternate file of dwz has this name?  It cannot leave
 * DEBUG_ALTERNATES. */
static inline bool msg_debug_alternate(const char *name)
{
	return name[0] != '/' && strncmp(name, "..", 2) && !strstr(name, "/..");
}

/* May a worker say that .gnu_debuglink has this?  A name without a path, with the usual
 * ending. */
static inline bool msg_debug_link(const char *name)
{
	size_t n = strlen(name), suffix = strlen(DEBUG_SUFFIX);

	return n > suffix && !strchr(name, '/') && !strcmp(name + n - suffix, DEBUG_SUFFIX);
}

struct msg_job_done {			/* fd: the part */
	uint32_t exe;
	uint32_t build_id_len;		/* bytes, <= BUILD_ID_MAX; 0: none */
	uint8_t build_id[BUILD_ID_MAX];	/* GNU build ID note */
	uint8_t file_id[FILE_ID_LEN];	/* htlhash: docs/PROTOCOL.md */
	uint32_t runtime;		/* enum runtime */
	uint32_t part;			/* enum job_part: one of them */
	uint32_t unknown;		/* 1: this version of the runtime is not
					 * known; else 0 */
	uint32_t debug;			/* enum job_debug */
	uint32_t lines;			/* 1: JOB_LINES may find lines; else 0 */
	uint32_t too_large;		/* 1: there are no symbols, since they exceed a limit;
					 * else 0 */
	char runtime_id[RUNTIME_ID_MAX];	/* NUL-padded; "" without one */
};

struct msg_job_failed {
	uint32_t exe;			/* as in msg_job */
	uint32_t verdict;		/* enum job_verdict, not JOB_OK */
};

#define WORKERS		2	/* at a time */
#define WORKER_SLOTS	8	/* and as many more as cannot be killed */

struct msg_slot {			/* MSG_FORK, MSG_FORKED, MSG_KILL,
					 * MSG_EXITED */
	uint32_t slot;			/* below WORKER_SLOTS */
	int32_t status;			/* MSG_EXITED: as from waitpid;
					 * MSG_FORKED: its pid; MSG_FORK: seconds of
					 * CPU time that it has, 0: the most; else 0 */
	/* MSG_EXITED; else 0 */
	uint64_t cpu_ns;		/* of the worker, and of the zygote since
					 * its last MSG_EXITED */
	uint64_t rss_bytes;		/* of the worker: the most it had */
};

struct msg_batch {			/* the fd is a memfd: ipc/batch.h */
	uint64_t bytes;
	uint64_t samples;		/* events (timestamps) in it */
};

struct msg_batch_done {
	uint64_t samples;
	uint32_t outcome;		/* enum batch_outcome */
	uint32_t pad;
};

#define DEBUGINFO_ID_MIN	8	/* bytes; shorter build IDs are ignored */
struct msg_debuginfo_wanted {
	uint32_t build_id_len;		/* DEBUGINFO_ID_MIN to BUILD_ID_MAX */
	uint32_t useless;		/* 1: the last file for it was of no use; else 0 */
	uint8_t build_id[BUILD_ID_MAX];	/* 0 after build_id_len */
	uint32_t owner;			/* whose program it is: any number of the hub's choice */
};

struct msg_debuginfo {			/* the fd is a sealed memfd, or a file to read: ELF, or not */
	uint64_t bytes;
};

struct msg_exporter_stats {
	struct exporter_stats stats;
};

struct msg_status {
	struct status status;
};

#define SUBSCRIBE_MAX	4	/* batches a subscriber may ask for ahead */

struct msg_subscribe {
	uint32_t batch_version;		/* BATCH_VERSION */
	uint32_t batches;		/* more of them, 1 to SUBSCRIBE_MAX */
};

struct msg_missed {			/* since the last MSG_MISSED */
	uint64_t batches;
	uint64_t samples;		/* events in them */
};

#endif /* IPC_MESSAGE_HUB_H */
