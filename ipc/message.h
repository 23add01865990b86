/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message - every message that one process sends another
 *
 * A message is one SOCK_SEQPACKET datagram: struct msg_hdr, a payload of
 * exactly hdr.len bytes, and as many descriptors as its rule says.  The rules
 * (who may send it, in which state, how long, how many descriptors) are a
 * table in message.c, judged by msg_check() before any handler runs.
 * docs/PROTOCOL.md describes each; a test holds it against this table.
 */
#ifndef IPC_MESSAGE_H
#define IPC_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bpf/record.h"
#include "ipc/counters.h"

#define MSG_VERSION	1
#define MSG_LEN_MAX	4608	/* payload, bytes */
#define MSG_FDS_MAX	3
#define MSG_PATH_MAX	4096	/* bytes of a path, no NUL */

/* Who sits at the other end of a connection. */
enum peer {
	PEER_LOADERD = 1 << 0,
	PEER_OPENER = 1 << 1,
	PEER_HUB = 1 << 2,	/* symbolizerd's main process */
	PEER_ZYGOTE = 1 << 3,	/* forks symbolizerd's workers */
	PEER_WORKER = 1 << 4,
	PEER_EXPORTERD = 1 << 5,
	PEER_RECORDER = 1 << 6,	/* `trifold record`, fed by exporterd */
	PEER_STATUS = 1 << 7,	/* `trifold status`, `trifold top` */
};

enum conn_state {
	CONN_NEW = 1 << 0,	/* nothing but a hello is allowed */
	CONN_READY = 1 << 1,
	CONN_ENDING = 1 << 2,	/* a bye was seen: no new work */
};

/* sys/socket.h has an MSG_BATCH of its own (a flag inside the kernel). */
#undef MSG_BATCH
#define MSG_BATCH	MSG_BATCH_OF_SAMPLES

/* On the wire: values never change their meaning. */
enum msg_type {
	MSG_HELLO_LOADER = 1,	/* loaderd -> hub, 3 fds */
	MSG_HELLO_HUB = 2,	/* hub -> loaderd, exporterd, status client */
	MSG_HELLO_EXPORTER = 3,	/* exporterd -> hub */
	MSG_EXE = 4,		/* loaderd -> hub, 1 fd: a new executable */
	MSG_EXE_DROPPED = 5,	/* loaderd -> hub: number is retired */
	MSG_CGROUP = 6,		/* loaderd -> hub: path of a cgroup id */
	MSG_LOADER_STATS = 7,	/* loaderd -> hub, each second and at the end */
	MSG_BYE = 8,		/* loaderd -> hub: nothing more will come */
	MSG_TABLE = 9,		/* hub -> loaderd, 1 fd */
	MSG_TABLE_NONE = 10,	/* hub -> loaderd: there will be no table */
	MSG_CHECKPOINT = 11,	/* hub -> loaderd: keep this for my successor */
	MSG_JOB = 12,		/* hub -> worker, 1 fd: the file */
	MSG_JOB_DONE = 13,	/* worker -> hub, 2 fds: table, symbols */
	MSG_JOB_FAILED = 14,	/* worker -> hub */
	MSG_FORK = 15,		/* hub -> zygote: start a worker in a slot */
	MSG_KILL = 16,		/* hub -> zygote */
	MSG_EXITED = 17,	/* zygote -> hub */
	MSG_BATCH = 18,		/* hub -> exporterd -> recorder, 1 fd; hub ->
				 * subscriber */
	MSG_BATCH_DONE = 19,	/* recorder -> exporterd -> hub */
	MSG_EXPORTER_STATS = 20,/* exporterd -> hub */
	MSG_STATUS = 21,	/* hub -> status client, exporterd, each second */
	MSG_OPEN = 22,		/* loaderd -> opener */
	MSG_OPENED = 23,	/* opener -> loaderd, 1 fd */
	MSG_OPEN_FAILED = 24,	/* opener -> loaderd */
	MSG_DEBUG_WANTED = 25,	/* worker -> hub -> loaderd: a debug file */
	MSG_DEBUG_FILE = 26,	/* loaderd -> hub -> worker, 1 fd */
	MSG_DEBUG_NONE = 27,	/* loaderd -> hub -> worker */
	MSG_OPEN_DEBUG = 28,	/* loaderd -> opener; answered as MSG_OPEN */
	MSG_SUBSCRIBE = 29,	/* status client -> hub: so many batches, please */
	MSG_MISSED = 30,	/* hub -> subscriber: these were too many */
	MSG__MAX
};

struct msg_hdr {
	uint16_t version;	/* MSG_VERSION */
	uint16_t type;		/* enum msg_type */
	uint32_t len;		/* of the payload, header not counted */
	uint64_t id;		/* an answer carries the id of its question */
};
_Static_assert(sizeof(struct msg_hdr) == 16, "msg_hdr is wire format");

/* --- payloads; every byte is defined, padding is 0 --------------------- */

/* fds: trace ring data, trace ring position page, eventfd (trace_ring.h). */
struct msg_hello_loader {
	uint32_t record_version;	/* REC_VERSION */
	uint32_t frequency;		/* Hz, per CPU */
	uint64_t ring_bytes;		/* of the data area */
	uint32_t checkpoint_valid;	/* 0 or 1 */
	uint32_t partial;		/* 1: only named tasks are sampled */
	struct hub_totals checkpoint;	/* what a former hub left */
};

struct msg_hello_hub {
	uint32_t record_version;
	uint32_t pad;
};

/* What became of batches since the last MSG_BATCH_DONE that got through. */
struct msg_hello_exporter {
	uint32_t batch_version;		/* BATCH_VERSION */
	uint32_t wants_status;		/* 1: send me MSG_STATUS; else 0 */
	uint64_t queued_samples;	/* still with this exporterd */
	struct export_outcomes unreported;
};

struct msg_exe {
	uint32_t exe;			/* EXE_VDSO or more */
	uint32_t path_len;		/* bytes behind; <= MSG_PATH_MAX */
	struct file_key key;
	/* char path[path_len]: as the target named it; not NUL-terminated */
};

struct msg_exe_dropped {
	uint32_t exe;
	uint32_t pad;
};

struct msg_cgroup {
	uint64_t cgroup_id;
	uint32_t path_len;		/* bytes behind */
	uint32_t pad;
	/* char path[path_len]: "/a/b", possibly without its first levels */
};

struct msg_loader_stats {
	struct loader_stats stats;
};

struct msg_table {			/* the fd is a memfd: bpf/table.h */
	uint32_t exe;
	uint32_t pad;
};

struct msg_table_none {
	uint32_t exe;
	uint32_t reason;		/* enum job_verdict */
};

struct msg_checkpoint {
	struct hub_totals totals;
};

struct msg_job {
	uint32_t exe;
	uint32_t pad;
};

enum job_verdict {
	JOB_OK = 0,
	JOB_NOT_ELF,
	JOB_CORRUPT,		/* structures contradict themselves */
	JOB_TOO_LARGE,		/* a cap was reached */
	JOB_NO_MEMORY,
	JOB_KILLED,		/* deadline passed, or the worker died */
	JOB__VERDICTS
};

#define BUILD_ID_MAX	32	/* bytes */
#define FILE_ID_LEN	16

struct msg_job_done {			/* fds: table, symbols */
	uint32_t exe;
	uint32_t build_id_len;		/* bytes, <= BUILD_ID_MAX; 0: none */
	uint8_t build_id[BUILD_ID_MAX];	/* GNU build ID note */
	uint8_t file_id[FILE_ID_LEN];	/* htlhash: docs/PROTOCOL.md */
	uint32_t go;			/* 1: built by Go */
	uint32_t pad;
	char go_build_id[128];		/* NUL-padded; "" without one */
};

struct msg_job_failed {
	uint32_t exe;
	uint32_t verdict;		/* enum job_verdict, not JOB_OK */
};

#define WORKER_SLOTS	2

struct msg_slot {			/* MSG_FORK, MSG_KILL, MSG_EXITED */
	uint32_t slot;			/* below WORKER_SLOTS */
	/* MSG_EXITED; else 0 */
	int32_t status;			/* as from waitpid */
	uint64_t cpu_ns;		/* of the worker, and of the zygote since
					 * it last said so */
	uint64_t rss_bytes;		/* of the worker: the most it had */
};

struct msg_batch {			/* the fd is a memfd: ipc/batch.h */
	uint64_t bytes;
	uint64_t samples;		/* events (timestamps) in it */
};

enum batch_outcome {
	BATCH_DELIVERED = 0,	/* receiver took all of it */
	BATCH_NO_RECEIVER,	/* nowhere to send it is configured */
	BATCH_QUEUE_FULL,	/* pushed out by newer ones */
	BATCH_REJECTED,		/* receiver's answer forbids another try */
	BATCH_GAVE_UP,		/* retried for too long, or at exit */
	BATCH_INVALID,		/* did not pass validation */
	BATCH__OUTCOMES
};

struct msg_batch_done {
	uint64_t samples;
	uint32_t outcome;		/* enum batch_outcome */
	uint32_t pad;
};

struct msg_exporter_stats {
	struct exporter_stats stats;
};

struct msg_status {
	struct status status;
};

struct msg_open {
	uint32_t tgid;
	uint32_t pad;
	uint64_t start_ns;		/* of the process; for the record only */
	uint64_t start, end;		/* range in map_files */
};

struct opener_cost {
	uint64_t cpu_ns;		/* since the opener's last answer */
	uint64_t rss_bytes;		/* now; 0: not known */
};

struct msg_opened {
	uint32_t path_len;
	uint32_t pad;
	struct opener_cost cost;
	/* char path[path_len] */
};

struct msg_open_failed {
	uint32_t error;			/* errno */
	uint32_t pad;
	struct opener_cost cost;
};

struct msg_debug_wanted {
	uint32_t exe;
	uint32_t build_id_len;		/* bytes, 2 to BUILD_ID_MAX */
	uint8_t build_id[BUILD_ID_MAX];
};

struct msg_debug {			/* MSG_DEBUG_FILE, MSG_DEBUG_NONE */
	uint32_t exe;
	uint32_t pad;
};

struct msg_open_debug {
	uint32_t tgid;
	uint32_t build_id_len;		/* as above */
	uint8_t build_id[BUILD_ID_MAX];
};

#define SUBSCRIBE_MAX	4	/* batches a subscriber may ask for ahead */

struct msg_subscribe {
	uint32_t batch_version;		/* BATCH_VERSION */
	uint32_t batches;		/* more of them, 1 to SUBSCRIBE_MAX */
};

struct msg_missed {			/* since the last of these */
	uint64_t batches;
	uint64_t samples;		/* events in them */
};

/* --- judging ----------------------------------------------------------- */

enum msg_verdict {
	MSG_OK = 0,
	MSG_BAD_VERSION,
	MSG_BAD_TYPE,
	MSG_BAD_SENDER,
	MSG_BAD_STATE,
	MSG_BAD_LEN,
	MSG_BAD_FDS,
	MSG_BAD_CONTENT,	/* a handler's judgement */
	MSG_TRUNCATED,		/* or descriptors withheld, by an LSM perhaps */
	MSG__VERDICTS
};

const char *msg_verdict_name(int verdict);
const char *msg_type_name(unsigned int type);	/* "EXE", or "?" */

/*
 * Judge a received datagram before any handler sees it: `got` bytes of
 * payload came after the header and nfds descriptors beside it, from a
 * connection to `from` in state `state`.  Returns an enum msg_verdict.
 */
__attribute__((__warn_unused_result__))
int msg_check(enum peer from, enum conn_state state, const struct msg_hdr *hdr,
	      size_t got, unsigned int nfds);

/* The rule of a type, for the test that compares it with the document. */
struct msg_rule {
	uint32_t len_min, len_max;
	uint8_t nfds;
	uint8_t from;		/* mask of enum peer */
	uint8_t states;		/* mask of enum conn_state */
};
const struct msg_rule *msg_rule(unsigned int type);	/* NULL: no such */

#endif /* IPC_MESSAGE_H */
