/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch - a few seconds of samples, with all that is needed to read them
 *
 * One sealed memfd: struct batch_hdr, then its tables, each at a
 * multiple of 8 bytes.  Every index is checked once, by batch_open().  Index
 * 0 of strings, executables, functions, attributes and resources is the empty
 * element; frames and stacks have none.
 */
#ifndef IPC_BATCH_H
#define IPC_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/stop.h"
#include "ipc/frame_kinds.h"
#include "ipc/message_hub.h"
#include "ipc/runtimes.h"

#define BATCH_VERSION	5
#define BATCH_MAGIC	0x62744674u	/* "tFtb", little endian */
#define BATCH_BYTES_MAX	(64u << 20)
#define BATCH_STRING_MAX	4096	/* bytes; as many as a symbol's name, or a path, can have */
#define BATCH_UNIT_MAX	64		/* bytes of a unit's name in it */
#define BATCH_INLINED_MAX	63	/* calls inlined into each other */

/* A sample that waits for its names comes in a batch at most so many intervals
 * after its own, and its own ends at most so long after it. */
#define BATCH_CARRIES	2
#define BATCH_CARRY_NS	10000000000ULL

enum batch_table {
	BATCH_STRINGS,		/* uint32_t offsets[n + 1] into BATCH_BYTES */
	BATCH_BYTES,		/* char; strings back to back, no NULs, UTF-8;
				 * each at most BATCH_STRING_MAX */
	BATCH_EXES,		/* struct batch_exe */
	BATCH_FUNCTIONS,	/* struct batch_function */
	BATCH_FRAMES,		/* struct batch_frame */
	BATCH_STACKS,		/* struct batch_stack */
	BATCH_STACK_FRAMES,	/* uint32_t: frames of stacks, leaf first */
	BATCH_ATTRS,		/* struct batch_attr */
	BATCH_RESOURCES,	/* struct batch_resource */
	BATCH_SAMPLES,		/* struct batch_sample */
	BATCH_TIMES,		/* uint64_t: CLOCK_REALTIME, ns */
	BATCH__TABLES
};

struct batch_hdr {
	uint32_t magic;
	uint32_t version;
	uint64_t bytes;			/* of the whole batch */
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME; every time is within
					 * [start_ns, end_ns) */
	uint32_t frequency;		/* Hz, per CPU; not 0 */
	uint32_t pad;
	struct {
		uint32_t off;		/* bytes from the start */
		uint32_t n;		/* elements (BATCH_STRINGS: strings) */
	} table[BATCH__TABLES];
};

struct batch_exe {
	uint32_t path;			/* string; as its process sees it */
	uint32_t build_id;		/* string, lower-case hex; 0: none */
	uint32_t runtime_id;		/* string: value of its .id_key; 0: none */
	uint32_t runtime;		/* enum runtime */
	uint8_t file_id[FILE_ID_LEN];	/* all 0: unknown */
};

struct batch_function {
	uint32_t name;			/* string, not 0: short (ipc/short_name.h) */
	uint32_t full_name;		/* string: with parameters and so on; 0: as
					 * name */
	uint32_t system_name;		/* string: what its file calls it, mangled;
					 * 0: as full_name */
	uint32_t file;			/* string; 0 unknown */
	uint32_t start_line;		/* 0 unknown */
	uint32_t unnamed;		/* 1: its name is not known; .name is made
					 * of the file and where it begins */
};

struct batch_frame {
	uint64_t address;		/* file offset; kernel: offset in the
					 * symbol; unknown: address */
	uint32_t exe;			/* 0 none */
	uint32_t function;		/* 0 none */
	uint32_t line;			/* 0 unknown */
	uint16_t kind;			/* enum batch_frame_kind, not NONE */
	uint16_t inlined;		/* 0: not; else one more than that of
					 * `into`, at most BATCH_INLINED_MAX */
	uint32_t into;			/* the frame this call is inlined into: of
					 * a lower number, and the same address,
					 * exe and kind; 0 if not inlined */
	uint32_t pad;
};

/* Of each address a stack has the innermost frame; the frames that this is inlined into
 * belong to it. */
struct batch_stack {
	uint32_t first, n;		/* in BATCH_STACK_FRAMES; n >= 1 */
};

struct batch_attr {			/* of a sample */
	uint32_t tid;
	uint32_t thread_name;		/* string */
	uint32_t cpu;
	uint32_t pad;
};

struct batch_resource {			/* a process */
	uint32_t pid;
	uint32_t exe_path;		/* string; 0 unknown */
	uint32_t exe_name;		/* string; 0 unknown */
	uint32_t container_id;		/* string; 0 none */
	uint32_t unit;			/* string: its systemd service, without
					 * ".service", or what a request calls
					 * its service; 0 none */
	uint32_t comm;			/* string: the name of its main thread, and what an
					 * interpreter runs: "interpreter job.x" */
	uint32_t kernel;		/* 1: a kernel thread */
	uint32_t pad;
	uint64_t start_ns;		/* CLOCK_REALTIME */
};

struct batch_sample {
	uint32_t stack;
	uint32_t attr;
	uint32_t resource;
	uint32_t first, n;		/* in BATCH_TIMES; n >= 1 */
	uint32_t stop;			/* enum stop_reason */
};

/* May f be inlined into `in`?  Their places in the table are not compared. */
static inline bool batch_is_into(const struct batch_frame *f,
				 const struct batch_frame *in)
{
	return f->inlined == in->inlined + 1 && f->function && in->function &&
	       f->address == in->address && f->exe == in->exe &&
	       f->kind == in->kind;
}

static inline uint32_t batch_full_name(const struct batch_function *f)
{
	return f->full_name ? f->full_name : f->name;
}

static inline uint32_t batch_system_name(const struct batch_function *f)
{
	return f->system_name ? f->system_name : batch_full_name(f);
}

extern const uint8_t batch_elem_size[BATCH__TABLES];	/* bytes */

/* --- reading ------------------------------------------------------------ */

struct batch {
	const struct batch_hdr *hdr;
	const uint32_t *strings;
	const char *bytes;
	const struct batch_exe *exes;
	const struct batch_function *functions;
	const struct batch_frame *frames;
	const struct batch_stack *stacks;
	const uint32_t *stack_frames;
	const struct batch_attr *attrs;
	const struct batch_resource *resources;
	const struct batch_sample *samples;
	const uint64_t *times;
};

/*
 * Validate len bytes at data (aligned to 8) in one pass and fill *ret, which
 * borrows them.  Returns 0, or -EPROTO and leaves *ret alone.  Tables lie in
 * the order of enum batch_table, each right after the one before; empty
 * elements are all 0; the samples' times follow each other, so there are as many
 * events as times; all padding is 0.
 */
int batch_open(const void *data, size_t len, struct batch *ret);

/* The frames of an address, from the one in a stack to the one that is not inlined.
 * Returns how many. */
uint32_t batch_inlined(const struct batch *b, uint32_t frame,
		       uint32_t ret[BATCH_INLINED_MAX + 1]);

static inline uint32_t batch_n(const struct batch *b, enum batch_table t)
{
	return b->hdr->table[t].n;
}

/* String i, not NUL-terminated. */
static inline const char *batch_str(const struct batch *b, uint32_t i,
				    size_t *len)
{
	*len = b->strings[i + 1] - b->strings[i];
	return b->bytes + b->strings[i];
}

/* --- building: ipc/batch_build.c ---------------------------------------- */

struct batch_builder;

/* NULL when memory is short.  frequency in Hz. */
struct batch_builder *batch_builder_new(uint32_t frequency);
void batch_builder_free(struct batch_builder *b);

/*
 * Each interns a value and returns its index; equal values share one.  Invalid
 * UTF-8 and NULs in a string become U+FFFD; what is beyond BATCH_STRING_MAX bytes is cut
 * before a character; a function with an empty name is
 * function 0.  When memory or a limit runs out, or a value names an index that
 * does not exist, they return 0 and batch_builder_finish() fails.
 */
uint32_t batch_string(struct batch_builder *b, const char *s, size_t len);
uint32_t batch_exe(struct batch_builder *b, const struct batch_exe *e);
uint32_t batch_function(struct batch_builder *b,
			const struct batch_function *f);
uint32_t batch_frame(struct batch_builder *b, const struct batch_frame *f);
uint32_t batch_stack(struct batch_builder *b, const uint32_t *frames,
		     uint32_t n);
uint32_t batch_attr(struct batch_builder *b, const struct batch_attr *a);
uint32_t batch_resource(struct batch_builder *b,
			const struct batch_resource *r);

/*
 * What ended a stack too early, as STOP_NAMES calls it; NULL: nothing is
 * missing (it is complete, or has no user part), or a frame of it says so.
 * And the reverse, of a name of len bytes: STOP_COMPLETE for any other name.
 */
const char *batch_early_end(uint32_t stop);
uint32_t batch_early_end_of(const char *name, size_t len);

/* One event; equal (stack, attr, resource, stop) share a sample. */
void batch_event(struct batch_builder *b, uint32_t stack, uint32_t attr,
		 uint32_t resource, uint32_t stop, uint64_t time_ns);

/*
 * The two steps of batch_event(): the number of the sample, counted from 0 in the
 * order of first calls, or UINT32_MAX on failure; and n more events of it.  Every
 * sample must have an event in the end.
 */
uint32_t batch_sample(struct batch_builder *b, uint32_t stack, uint32_t attr,
		      uint32_t resource, uint32_t stop);
void batch_sample_times(struct batch_builder *b, uint32_t sample,
			const uint64_t *times, uint32_t n);

/* Add all of another batch (already opened) to this one.  Its frequency, start and end
 * are ignored. */
void batch_merge(struct batch_builder *b, const struct batch *from);

/* Events added so far. */
uint64_t batch_events(const struct batch_builder *b);

/*
 * Lay the batch out; [start_ns, end_ns) is widened to hold every time.
 * Returns 0 and malloc'ed bytes; or -ENOMEM, -E2BIG (more than BATCH_BYTES_MAX),
 * -EINVAL (a value was invalid).  The builder stays valid.
 */
int batch_builder_finish(struct batch_builder *b, uint64_t start_ns,
			 uint64_t end_ns, void **ret, size_t *len);

#endif /* IPC_BATCH_H */
