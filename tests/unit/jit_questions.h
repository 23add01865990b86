/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_questions - a struct jit whose questions are kept, and answered by the test
 */
#ifndef TESTS_JIT_QUESTIONS_H
#define TESTS_JIT_QUESTIONS_H

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/jit.h"
#include "symbolizerd/symbols/jit_names.h"
#include "tests/unit/harness.h"

#define SEC	1000000000ULL
#define ADDR	0x7f0000001000ULL

static struct jit j;
static struct hub_stats stats;
static uint64_t now;
static uint32_t user;	/* who runs the processes that are sampled */

/* The last question. */
static struct visit_question asked;
static struct visit_question seven;	/* the last one about process 7 */
static uint64_t asked_words[JIT_ASK];
static uint32_t questions;
static int refusal;

static inline int on_visit(void *ctx, const struct visit_question *q)
{
	(void)ctx;
	questions++;
	asked = *q;
	if (q->process.tgid == 7)
		seven = *q;
	memcpy(asked_words, q->words, q->n * sizeof(*q->words));
	asked.words = asked_words;
	return refusal;
}

static inline void begin(void)
{
	jit_init(&j, 1, &stats);
	stats = (struct hub_stats){ 0 };
	j.visit = on_visit;
	now = 100 * SEC;
	questions = 0;
	refusal = 0;
	user = 0;
}

static inline struct trace_rec rec_of(uint32_t tgid, uint64_t start_ns)
{
	return (struct trace_rec){ .flags = REC_HAS_ANON, .uid = user,
				   .process = { start_ns, tgid, 0 } };
}

/* A sample of this process with n addresses from `first` on, 16 bytes apart. */
static inline uint32_t sample(uint32_t tgid, uint64_t first, uint32_t n)
{
	static uint64_t words[8200];
	struct trace_rec rec = rec_of(tgid, 1);
	uint32_t space = jit_space(&j, &rec, now);

	CHECK(n <= sizeof(words) / sizeof(*words));

	for (uint32_t i = 0; i < n; i++)
		words[i] = FRAME_ANON_WORD(first + i * 16);
	jit_mention(&j, space, words, n, now);
	visits_ask(&j.visits, false, now);
	return space;
}

/* The process of sample() maps this jitdump. */
static inline void dump_of(uint32_t tgid, int fd)
{
	struct process_id process = { 1, tgid, 0 };

	jit_dump(&j, &process, fd, now);
}

static inline int map_of(const char *text)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	CHECK(fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

/* A worker's answer from this file; -1: none, for this reason. */
static inline void answer(int fd, int reason)
{
	static struct frame_names_build b;
	static uint8_t data[FRAME_NAMES_BYTES_MAX + 8];
	struct frame_names names;
	struct iovec parts[3];
	size_t len = 0;

	if (fd < 0) {
		visits_answer(&j.visits, asked.number, NULL, reason, now);
		return;
	}
	frame_names_begin(&b, (uint32_t)asked.n);
	CHECK_EQ(jit_names(fd, asked_words, asked.n, &b), 0);
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(data + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	CHECK_EQ(frame_names_open(data, len, (uint32_t)asked.n, &names), 0);
	visits_answer(&j.visits, asked.number, &names, 0, now);
}

static inline const char *name_of(uint32_t space, uint64_t addr)
{
	const struct jit_place *a = jit_find(&j, space, addr);

	return a && a->is.name ? a->is.name : "";
}

#endif /* TESTS_JIT_QUESTIONS_H */
