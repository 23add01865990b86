/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * record - what a sample looks like, from the BPF ring to symbolizerd
 *
 * Shared by bpf/, loaderd/, symbolizerd/ and the tests: plain data, no
 * pointers, no implicit padding.  The same bytes travel through the BPF ring
 * and through the trace ring (ipc/trace_ring.h), with one difference: in the
 * BPF ring the kernel part holds raw addresses, in the trace ring it holds
 * FRAME_KERNEL words.  No raw kernel address leaves loaderd.
 */
#ifndef BPF_RECORD_H
#define BPF_RECORD_H

#include <linux/types.h>

#define REC_VERSION	2
#define FRAMES_MAX	1024		/* user frames a sample */
#define KERNEL_MAX	127		/* kernel.perf_event_max_stack */
#define KEY_WORDS	5		/* sizeof(struct file_key) / 8 */
#define COMM_LEN	16
#define REC_WORDS	2048		/* power of two; all words of a record */

/*
 * The identity of a file's content, read from the inode of a mapping.  Only
 * ever compared with another key that was read from a mapping.
 */
struct file_key {
	__u64 ino;
	__u64 size;		/* bytes */
	__s64 ctime;		/* seconds; no user can set it */
	__u32 ctime_ns;		/* bit 31, a flag of multigrain stamps, is 0 */
	__u32 dev;		/* of the superblock, kernel encoding */
	__u32 generation;
	__u32 magic;		/* s_magic of the superblock */
};
_Static_assert(sizeof(struct file_key) == KEY_WORDS * 8, "file_key: layout");

/* The vDSO has no file: its key is {.ino = 0, .size = 1}, all else 0. */

/*
 * A frame is a word and 0 to 15 more behind it.  Bits 63..60 of the word are
 * its kind; 59..56 say how many words follow, so that a record can be walked by
 * who does not know the kind; then number (20 bits) and place (36: files of up
 * to 64 GiB), or an address (56: user space of all machines).  Leaf first.  For all frames but the first, signal frames and the
 * first one above these, the place is the return address minus one.
 */
enum frame_kind {
	FRAME_NONE = 0,		/* never sent */
	FRAME_KERNEL = 1,	/* number: kernel symbol; place: offset in it */
	FRAME_NATIVE = 2,	/* number: executable; place: file offset */
	FRAME_FILE = 3,		/* file without a number yet; place: file
				 * offset; then KEY_WORDS of struct file_key */
	FRAME_ANON = 4,		/* address: in memory of no file */
	FRAME_CUT = 5,		/* FRAMES_MAX reached: what follows is missing */
	FRAME__KINDS
};
_Static_assert(FRAME__KINDS <= 16, "kinds: 4 bits");
#define FRAME_KIND_SHIFT	60
#define FRAME_MORE_SHIFT	56
#define FRAME_MORE_MAX		15	/* words behind the first */
#define FRAME_NUMBER_SHIFT	36
#define FRAME_NUMBER_MASK	0xfffffULL
#define FRAME_PLACE_MASK	0xfffffffffULL
#define FRAME_ADDR_MASK		0xffffffffffffffULL
#define FRAME_WORD(kind, number, place)					\
	(((__u64)(kind) << FRAME_KIND_SHIFT) |				\
	 (((__u64)(number) & FRAME_NUMBER_MASK) << FRAME_NUMBER_SHIFT) | \
	 ((__u64)(place) & FRAME_PLACE_MASK))
#define FRAME_WITH_MORE(word, more)					\
	((word) | ((__u64)(more) << FRAME_MORE_SHIFT))
#define FRAME_FILE_WORD(place)						\
	FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, place), KEY_WORDS)
#define FRAME_ANON_WORD(addr)						\
	(((__u64)FRAME_ANON << FRAME_KIND_SHIFT) |			\
	 ((__u64)(addr) & FRAME_ADDR_MASK))
#define FRAME_KIND(w)		((__u32)((w) >> FRAME_KIND_SHIFT))
#define FRAME_MORE(w)							\
	((__u32)((w) >> FRAME_MORE_SHIFT) & FRAME_MORE_MAX)
#define FRAME_NUMBER(w)							\
	((__u32)(((w) >> FRAME_NUMBER_SHIFT) & FRAME_NUMBER_MASK))
#define FRAME_PLACE(w)		((w) & FRAME_PLACE_MASK)
#define FRAME_ADDR(w)		((w) & FRAME_ADDR_MASK)

/* Numbers of executables: 0 unknown, 1 the vDSO, then as loaderd meets them. */
#define EXE_NONE	0
#define EXE_VDSO	1
#define EXE_FIRST	2
#define EXE_MAX		FRAME_NUMBER_MASK

/* Whose runtime a file is or contains: in file_entry.runtime, messages, batches.
 * Values never change their meaning. */
enum runtime {
	RUNTIME_NONE = 0,
	RUNTIME_GO = 1,
	RUNTIME__MAX
};

/* Why a user stack ended; also the outcome of one unwinding step. */
enum stop_reason {
	STOP_NOT = 0,		/* step: go on; record: never */
	STOP_COMPLETE,		/* the outermost frame was reached */
	STOP_NO_USER,		/* kernel thread, or no user memory any more */
	STOP_CUT,		/* more than FRAMES_MAX frames */
	STOP_NO_MAPPING,	/* address in no mapping */
	STOP_ANON,		/* code in memory of no file, no sound FP */
	STOP_NO_FILE,		/* file not known to loaderd yet */
	STOP_NO_TABLE,		/* file known, table not there (yet) */
	STOP_NO_ROW,		/* table says nothing about this address */
	STOP_UNSUPPORTED,	/* rule that rows cannot express */
	STOP_NO_PROGRESS,	/* caller's frame not above this one */
	STOP_READ,		/* stack not readable */
	STOP_COMPAT,		/* 32-bit process: not unwound */
	STOP_INTERNAL,		/* map entry missing: our own fault */
	STOP__MAX
};
#define STOP_NAMES							\
	"-", "complete", "no_user", "cut", "no_mapping", "anonymous",	\
	"file_unknown", "no_table", "no_row", "unsupported",		\
	"no_progress", "stack_unreadable", "compat", "internal"

enum rec_kind {
	REC_SAMPLE = 1,
	REC_KSYM = 2,		/* trace ring only, see struct ksym_rec */
};

enum rec_flags {
	REC_FRAME_POINTER = 1,	/* at least one frame found by frame pointer */
	REC_HAS_ANON = 2,	/* passed through memory of no file */
};

struct trace_rec {
	__u32 len;		/* of the whole record, bytes; multiple of 8 */
	__u8 kind;		/* enum rec_kind; must stay at this place */
	__u8 stop;		/* enum stop_reason */
	__u8 flags;		/* enum rec_flags */
	__u8 version;		/* REC_VERSION */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u32 tgid;		/* in the initial PID namespace */
	__u32 tid;
	__u64 start_ns;		/* of the process, CLOCK_BOOTTIME */
	__u64 exec_id;		/* changes at each exec */
	__u64 cgroup_id;	/* in the v2 hierarchy */
	__u32 exe;		/* number of the main executable, or EXE_NONE */
	__u16 n_kernel;		/* words of kernel stack, leaf first */
	__u16 n_user;		/* words (not frames) behind them */
	__u32 run_ns;		/* run time of the BPF program so far */
	__u32 cpu;
	char comm[COMM_LEN];	/* of the thread; NUL-padded */
	__u64 words[];		/* n_kernel, then n_user */
};
_Static_assert(sizeof(struct trace_rec) == 80, "trace_rec: layout");

/* Says, before the first record that uses it, what a kernel symbol is. */
#define KSYM_NAME_MAX	128
struct ksym_rec {
	__u32 len;		/* sizeof(struct ksym_rec) */
	__u8 kind;		/* REC_KSYM */
	__u8 pad[3];
	__u32 number;		/* as in FRAME_NUMBER of FRAME_KERNEL */
	__u32 pad2;
	char name[KSYM_NAME_MAX];	/* "tcp_sendmsg", "ext4_map [ext4]" */
};
_Static_assert(sizeof(struct ksym_rec) == 144, "ksym_rec: layout");

/*
 * Needs: what BPF asks of loaderd, through a ring of its own, at most once a
 * thing and second.
 */
enum request_kind {
	REQUEST_FILE = 1,		/* no number or no table for this file */
	REQUEST_CGROUP = 2,	/* no name for this cgroup */
};

struct request_file {
	__u32 kind;		/* REQUEST_FILE */
	__u32 tgid;
	__u64 start_ns;		/* of the process: as in trace_rec */
	__u64 start, end;	/* the mapping; end is 0 from the file list */
	struct file_key key;
};

#define CGROUP_LEVELS	8	/* from the leaf towards the root */
#define CGROUP_NAME	96	/* bytes of a level's name, NUL included */
struct request_cgroup {
	__u32 kind;		/* REQUEST_CGROUP */
	__u32 levels;		/* used below */
	__u64 cgroup_id;
	char name[CGROUP_LEVELS][CGROUP_NAME];	/* [0] is the leaf */
};

/* Which tasks are sampled; loaderd writes it before the programs are loaded. */
#define FILTER_MAX	32
enum filter_kind {
	FILTER_ALL = 0,		/* every task */
	FILTER_PID,		/* the processes id[0..n-1] */
	FILTER_BELOW,		/* descendants of process id[0], without it */
	FILTER_CGROUP,		/* in cgroup id[0] (v2) or one below it */
	FILTER__MAX
};
struct task_filter {
	__u32 kind;
	__u32 n;
	__u64 before_ns;	/* FILTER_PID: a process that began after this,
				 * CLOCK_BOOTTIME, has only the number of one */
	__u64 id[FILTER_MAX];
};

/* Counters kept by BPF, one slot each in the map `counts`, per CPU. */
enum bpf_count {
	BPF_TAKEN = 0,		/* samples that the program decided to record */
	BPF_SENT,		/* of them, put into the ring */
	BPF_RING_FULL,		/* of them, lost: ring full */
	BPF_REQUEST_FULL,		/* requests that did not fit their ring */
	BPF_RUN_NS,		/* sum of run_ns */
	BPF_FRAMES,		/* user frames unwound */
	BPF_RUNTIME_UNKNOWN,	/* mappings that samples met, of files of a runtime
				 * that the sampler does not know */
	BPF_STOP,		/* + enum stop_reason */
	BPF_COUNT__MAX = BPF_STOP + STOP__MAX
};

#endif /* BPF_RECORD_H */
