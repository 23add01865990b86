/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_table - queries of `trifold top`, and their rows
 */
#ifndef CLI_TOP_TABLE_H
#define CLI_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

#define TOP_ROWS_MAX	(1u << 20)

enum top_view {
	TOP_FUNCTIONS,
	TOP_PROCESSES,
	TOP_CONTAINERS,
	TOP_THREADS,
	TOP_LINES,		/* functions, each line a row */
	TOP__VIEWS,
	TOP_AROUND = TOP__VIEWS,	/* callers and callees of a function */
};

enum top_role {			/* of a row of TOP_AROUND */
	TOP_CALLER,
	TOP_ITSELF,
	TOP_CALLEE,
};

struct top_str {		/* UTF-8 without NUL, not terminated */
	const char *s;
	size_t len;
};

struct top_row {
	struct top_str name;	/* function, process, container ("": none) or
				 * thread */
	struct top_str file;	/* functions: path; threads: process's name */
	struct top_str container;	/* its id; processes */
	struct top_str source;	/* functions: path of it; "": not known */
	uint32_t line;		/* where the function begins, or else one of its
				 * lines; TOP_LINES: that line; 0: not known */
	uint32_t marks;		/* enum profile_mark: those that all its frames
				 * have */
	uint32_t pid, tid;
	uint64_t start_ns;	/* of the process */
	uint32_t kind;		/* enum batch_frame_kind, of a function */
	uint32_t role;		/* enum top_role */
	uint64_t self, total;	/* samples; functions: at the leaf, anywhere */
	double cpu_s;		/* CPU-seconds that `total` stands for */
	uint64_t id;		/* equal in all tables of a model */
	uint64_t stamp;		/* of the counting */
};

struct top_table {
	struct top_row *rows;
	uint32_t n, room;
	uint64_t events;	/* samples that were counted */
	double cpu_s;		/* CPU-seconds that they stand for */
	double busy_s;		/* likewise, of those that were taken in `seconds` */
	double seconds;		/* time that they cover */
	uint32_t frequency;	/* Hz, the latest; 0: no batch */
	bool cut;		/* memory or TOP_ROWS_MAX: rows are missing */
};

struct top_query {
	enum top_view view;
	uint64_t window_ns;	/* 0: all kept batches */
	uint64_t now_ns;	/* CLOCK_REALTIME; for the age of batches; 0:
				 * ignore it */
	bool of_process;	/* only samples of pid, start_ns */
	bool of_container;	/* only samples of this container */
	uint32_t pid;
	uint64_t start_ns;
	struct top_str container;
	/* the function of TOP_AROUND */
	struct top_str name, file;
	uint32_t kind;
};

/* A kept batch, and its length in time. */
struct top_slice {
	void *data;
	size_t len;
	struct batch b;
	uint64_t end_ns, span_ns;
	bool joined;		/* of the same interval as the one before; not asked of the first */
};

/* Is a row a function, or a line of one? */
static inline bool top_of_functions(enum top_view v)
{
	return v == TOP_FUNCTIONS || v == TOP_LINES || v == TOP_AROUND;
}

void top_table_fini(struct top_table *t);

#endif /* CLI_TOP_TABLE_H */
