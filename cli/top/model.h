/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_model - the batches of the last minute, and tables made of them
 *
 * What is kept are the batches themselves, so that any view, window and
 * narrowing can be had at any time, of a paused display too.  Foreign strings
 * come through here as they are: whoever shows them escapes them (top_text.h).
 */
#ifndef CLI_TOP_MODEL_H
#define CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

#define TOP_SPAN_NS	60000000000ULL	/* a display needs no more */
#define TOP_BYTES_MAX	(192u << 20)	/* of all batches kept */
#define TOP_SLICES_MAX	1024
#define TOP_ROWS_MAX	(1u << 20)

enum top_view {
	TOP_FUNCTIONS,
	TOP_PROCESSES,
	TOP_CONTAINERS,
	TOP_THREADS,
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
	uint32_t pid, tid;
	uint64_t start_ns;	/* of the process */
	uint32_t kind;		/* enum batch_frame_kind, of a function */
	uint32_t role;		/* enum top_role */
	uint64_t self, total;	/* samples; functions: at the leaf, anywhere */
	double cpu_s;		/* CPU-seconds that `total` stands for */
	uint64_t id;		/* the same in every table of a model */
	uint64_t stamp;		/* of the building */
};

struct top_table {
	struct top_row *rows;
	uint32_t n, room;
	uint64_t events;	/* samples that were looked at */
	double cpu_s;		/* CPU-seconds that they stand for */
	double seconds;		/* time that they cover */
	uint32_t frequency;	/* Hz, the latest; 0: no batch */
	bool cut;		/* memory or TOP_ROWS_MAX: rows are missing */
};

struct top_query {
	enum top_view view;
	uint64_t window_ns;	/* 0: all that is kept */
	uint64_t now_ns;	/* CLOCK_REALTIME; old batches age by it; 0:
				 * they do not */
	bool of_process;	/* only samples of pid, start_ns */
	bool of_container;	/* only samples of this container */
	uint32_t pid;
	uint64_t start_ns;
	struct top_str container;
	/* the function of TOP_AROUND */
	struct top_str name, file;
	uint32_t kind;
};

struct top_slice {
	void *data;
	size_t len;
	struct batch b;
	uint64_t end_ns, span_ns;
	bool joined;		/* of the same interval as the one before */
};

struct top_model {
	uint64_t keep_ns;
	uint64_t seed;
	struct top_slice *v;	/* oldest first */
	size_t n, room;
	size_t bytes;
	uint64_t dropped;	/* slices that only TOP_BYTES_MAX drove out */
	bool gap;		/* the next one follows nothing */
};

/* Keep batches of the last keep_ns (0: all that fit). */
void top_model_init(struct top_model *m, uint64_t keep_ns);
void top_model_fini(struct top_model *m);

/*
 * Take in a copy of a batch of so many samples.  Returns 0; -EPROTO when it is
 * not one; -ENOMEM.  Rows of older tables may no more be used.
 */
int top_model_add(struct top_model *m, const void *data, size_t len,
		  uint64_t samples);

/* Batches are missing here: what comes next says itself how long it is. */
void top_model_gap(struct top_model *m);

/* Time that all kept batches cover, in ns. */
uint64_t top_model_span(const struct top_model *m);

/* Make a table; rows in no order.  They borrow from the model, until the next
 * top_model_add().  *t is 0 or of an earlier call. */
void top_model_table(const struct top_model *m, const struct top_query *q,
		     struct top_table *t);
void top_table_fini(struct top_table *t);

#endif /* CLI_TOP_MODEL_H */
