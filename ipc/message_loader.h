/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_loader - payloads that loaderd and its opener send and receive
 *
 * Every byte is defined, padding is 0.
 */
#ifndef IPC_MESSAGE_LOADER_H
#define IPC_MESSAGE_LOADER_H

#include <stdint.h>

#include "bpf/request.h"
#include "bpf/runtime.h"
#include "bpf/slab.h"
#include "ipc/counters_loader.h"
#include "ipc/message.h"

#define BUILD_ID_MAX	32	/* bytes */

/* What a hub leaves for its successor (struct hub_totals).  loaderd keeps it without
 * reading it. */
#define CHECKPOINT_WORDS	21
struct msg_checkpoint {
	uint64_t word[CHECKPOINT_WORDS];
};

/*
 * The first fd is a connected SOCK_SEQPACKET socket; loaderd has its other end.
 * Each datagram is whole records (bpf/record.h), at most SAMPLES_BYTES of them,
 * with nothing before, between or after them.  The second is a map to read: struct
 * cpu_counts [cpus].
 */
#define SAMPLES_BYTES	65536u
#define COUNTS_CPUS_MAX	65536u
enum msg_account {
	ACCOUNT_NEW = 0,		/* a new one */
	ACCOUNT_SAME,			/* the former hub's, of the same map, with its
					 * checkpoint */
	ACCOUNT_NEXT,			/* a new one; numbers and tables stay as they are */
	ACCOUNT__MAX
};
struct msg_hello_loader {
	uint32_t record_version;	/* REC_VERSION */
	uint32_t frequency;		/* Hz, per CPU */
	uint32_t account;		/* enum msg_account */
	uint32_t partial;		/* 1: only named tasks are sampled */
	struct msg_checkpoint checkpoint;
	uint64_t table_budget;		/* bytes of elements, rules not counted */
	uint32_t idle_s;		/* without use until a file is forgotten */
	uint32_t cpus;			/* 1 to COUNTS_CPUS_MAX */
};

struct msg_hello_hub {
	uint32_t record_version;
};

/*
 * A file was met for the first time, or has FILE_ASK in its entry.  The id is
 * not 0; one MSG_ENTRY or MSG_DROP must carry it back, when the hub is done with the
 * file, or before if that takes long; later, if the hub has used up its share of CPU
 * time for files.  At most EXE_AHEAD are unanswered.
 */
#define EXE_AHEAD	24
struct msg_exe {
	struct file_key key;		/* confirmed by the kernel */
	struct process_id process;	/* one that maps it */
	uint32_t uid;			/* whose that is: as in trace_rec */
	/* no_room is 1 if the map `files` is full, so that the key has no entry until
	 * another one is dropped.  host is 1 if the path is the host's.  begins is 1 if
	 * its program has just been executed, before any sample.  Else 0. */
	uint8_t no_room, host, begins, pad;
	/* char path[]: as the target named it; not NUL-terminated */
};

/* MSG_MAPPED: a sealed memfd of MAPPED_BYTES; bit n % 64 of word n / 64 is 1
 * if a process maps the file whose entry has the number n. */
#define MAPPED_BYTES	((EXE_MAX + 1) / 8)

/* MSG_ENTRY: replaces the entry of a key, if it has one.  MSG_DROP is a struct
 * file_key. */
struct msg_entry {
	struct file_key key;
	struct file_entry entry;
};

/*
 * After MSG_HELLO_HUB loaderd sends what a former hub has left: each slab, then all
 * entries.  MSG_KNOWN is sent at every connection, before the first MSG_EXE; the
 * vDSO's key is always in it, since the hub has its image.
 */
struct msg_slab {			/* MSG_SLAB: fd: a map of struct slab_element
					 * [SLAB_ELEMENTS], to be mapped and written */
	uint32_t slab;			/* MSG_SLAB_DROP: not one of rules */
};
struct msg_known {			/* fd: sealed, struct msg_entry [n]; one
					 * of zeroes if n is 0 */
	uint32_t n;
};

/* Load the sampler with these runtimes, before any message that follows.  The next
 * MSG_LOADER_STATS says what came of it. */
#define RUNTIMES_ALL	((1ULL << RUNTIME__MAX) - 1)
struct msg_runtimes {
	uint64_t runtimes;		/* bits by enum runtime; bit 0 if there is any other */
};

/* MSG_OPEN is a struct request_file: the number of its process, start and end are used. */

struct msg_open_failed {		/* MSG_OPEN_FAILED, MSG_WANTED_NONE */
	uint32_t error;			/* errno */
};

/*
 * Of two files of an overlay for which stat(2) says the same device and the same upper
 * bits of the inode, the real ones are in one file system: the device is the layer's, or
 * it is the overlay's because all layers are in one, or because the upper bits number the
 * layers' file systems (xino; Documentation/filesystems/overlayfs.rst, "Inode
 * properties").  The executable's file system is one that the kernel itself serves: its
 * key shows that.
 */
#define MSG_LAYER(dev, ino)	((uint64_t)(dev) << 16 ^ (uint64_t)(ino) >> 48)

/* Each path below ends in one of these, or begins with DEBUG_ALTERNATES. */
#define DEBUG_SUFFIX	".debug"
#define PACKAGE_SUFFIX	".dwp"
#define DEBUG_ALTERNATES	"/usr/lib/debug/.dwz/"

/* MSG_DEBUG_WANTED: a debug file.  MSG_MEM_WANTED: memory of a process, to read.
 * MSG_PERF_MAP_WANTED: its perf map.
 * One MSG_WANTED_FILE or MSG_WANTED_NONE carries the id back. */
struct msg_wanted {
	struct process_id process;	/* debug: the number of one that ran the
					 * executable, from a worker 0; the rest 0 */
	uint64_t layer;			/* debug, to loaderd: MSG_LAYER() of the executable */
	uint8_t build_id[BUILD_ID_MAX];	/* debug, from a worker */
	uint32_t build_id_len;		/* likewise: bytes, 2 to BUILD_ID_MAX; 0: it has none */
	uint32_t alternate;		/* likewise: 1: its alternate file, 2: its package, else 0 */
	uint32_t ns_tgid, pad;		/* perf map: as in request_file; loaderd fills it in for
					 * the opener */
	/* debug: from a worker the name in .gnu_debuglink, or after DEBUG_ALTERNATES; to
	 * loaderd the names below a root to be tried, each with its NUL, then another
	 * NUL */
	char paths[1024];
};

#endif /* IPC_MESSAGE_LOADER_H */
