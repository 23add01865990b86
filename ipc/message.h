/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message - the form of messages between processes, and how they are checked
 *
 * A message is one SOCK_SEQPACKET datagram: struct msg_hdr, a payload of
 * exactly hdr.len bytes, and as many descriptors as its rule requires.  The rules
 * (which peers may send it, in which state, how long, how many descriptors) are a
 * table, applied by msg_check() before any handler runs.  The payloads are in
 * message_loader.h (what loaderd and its opener send and receive) and message_hub.h
 * (all).  docs/PROTOCOL.md describes each; a test compares it with the table.
 */
#ifndef IPC_MESSAGE_H
#define IPC_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define MSG_VERSION	15
#define MSG_LEN_MAX	4608	/* payload, bytes */
#define MSG_FDS_MAX	2
#define MSG_PATH_MAX	4096	/* bytes of a path, no NUL */

/* What is at the other end of a connection. */
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

/* On the wire: values change their meaning with MSG_VERSION only.  These are
 * loaderd's and its opener's; the others are in message_hub.h. */
enum msg_type {
	MSG_HELLO_LOADER = 1,	/* loaderd -> hub, 2 fds: for samples,
				 * what BPF counts */
	MSG_HELLO_HUB = 2,	/* hub -> loaderd, exporterd, status client */
	MSG_EXE = 4,		/* loaderd -> hub, 1 fd: a new executable */
	MSG_MAPPED = 5,		/* loaderd -> hub, 1 fd: answer to MSG_LIST */
	MSG_CGROUP = 6,		/* loaderd -> hub: names of a cgroup id */
	MSG_LOADER_STATS = 7,	/* loaderd -> hub, each second and at the end */
	MSG_BYE = 8,		/* loaderd -> hub: nothing more will come */
	MSG_SLAB_WANTED = 9,	/* hub -> loaderd: make this slab */
	MSG_ENTRY = 10,		/* hub -> loaderd: the entry of a file */
	MSG_CHECKPOINT = 11,	/* hub -> loaderd: to keep for the next hub */
	MSG_OPEN = 22,		/* loaderd -> opener */
	MSG_OPENED = 23,	/* opener -> loaderd, 1 fd */
	MSG_OPEN_FAILED = 24,	/* opener -> loaderd */
	MSG_DEBUG_WANTED = 25,	/* worker -> hub -> loaderd -> opener: a debug
				 * file */
	MSG_WANTED_FILE = 26,	/* loaderd -> hub -> worker, 1 fd */
	MSG_WANTED_NONE = 27,	/* loaderd -> hub -> worker */
	MSG_MEM_WANTED = 28,	/* hub -> loaderd -> opener: memory to read */
	MSG_SLAB_DROP = 31,	/* hub -> loaderd: this slab is empty */
	MSG_DROP = 32,		/* hub -> loaderd: forget a file */
	MSG_LIST = 33,		/* hub -> loaderd: asks what is mapped */
	MSG_SLAB = 34,		/* loaderd -> hub, 1 fd: a slab to write */
	MSG_KNOWN = 35,		/* loaderd -> hub, 1 fd: all entries, left by a
				 * former hub */
	MSG_PERF_MAP_WANTED = 38,	/* hub -> loaderd -> opener: names of a JIT */
	MSG_RUNTIMES = 42,	/* hub -> loaderd: runtimes that the host has */
	MSG__MAX = 43,		/* above those of message_hub.h, too */
};

struct msg_hdr {
	uint16_t version;	/* MSG_VERSION */
	uint16_t type;		/* enum msg_type, or enum msg_type_hub */
	uint32_t len;		/* of the payload, header not counted */
	uint64_t id;		/* an answer carries the id of its question */
};
_Static_assert(sizeof(struct msg_hdr) == 16, "msg_hdr is wire format");

/* --- judging ----------------------------------------------------------- */

enum msg_verdict {
	MSG_OK = 0,
	MSG_BAD_VERSION,
	MSG_BAD_TYPE,
	MSG_BAD_SENDER,
	MSG_BAD_STATE,
	MSG_BAD_LEN,
	MSG_BAD_FDS,
	MSG_BAD_CONTENT,	/* found by a handler */
	MSG_TRUNCATED,		/* or descriptors were withheld, maybe by an LSM */
	MSG__VERDICTS
};

const char *msg_verdict_name(enum msg_verdict verdict);

/*
 * Check a received datagram before a handler gets it: `got` bytes of payload came
 * after the header, with nfds descriptors, from a connection to `from` in state
 * `state`.  Returns an enum msg_verdict.
 */
__attribute__((__warn_unused_result__))
int msg_check(enum peer from, enum conn_state state, const struct msg_hdr *hdr,
	      size_t got, unsigned int nfds);

struct msg_rule {
	uint32_t len_min, len_max;
	uint8_t nfds;
	uint8_t from;		/* mask of enum peer */
	uint8_t states;		/* mask of enum conn_state */
};

/* By type, of all messages of all programs (rules.c).  A receiver refuses what
 * it has no handler for: MSG_BAD_TYPE. */
extern const struct msg_rule msg_rules[MSG__MAX];

#endif /* IPC_MESSAGE_H */
