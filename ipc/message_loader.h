/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_loader - payloads that loaderd and its opener send and receive
 *
 * Every byte is defined, padding is 0.
 */
#ifndef IPC_MESSAGE_LOADER_H
#define IPC_MESSAGE_LOADER_H

#include <stdint.h>

#include "bpf/record.h"
#include "ipc/counters_loader.h"
#include "ipc/message.h"

#define BUILD_ID_MAX	32	/* bytes */

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

struct msg_open {
	uint32_t tgid;
	uint32_t pad;
	uint64_t start, end;		/* range in map_files */
};

struct msg_opened {
	uint32_t path_len;
	uint32_t pad;
	/* char path[path_len] */
};

struct msg_open_failed {
	uint32_t error;			/* errno */
	uint32_t pad;
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

#endif /* IPC_MESSAGE_LOADER_H */
