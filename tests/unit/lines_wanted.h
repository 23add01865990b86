/* SPDX-License-Identifier: Apache-2.0 */
/* lines_wanted - files whose lines are wanted, the questions, and what workers answer */
#ifndef TESTS_LINES_WANTED_H
#define TESTS_LINES_WANTED_H

#include "symbolizerd/knowledge/source_lines.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <unistd.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/line_codes.h"

#define SECOND	1000000000ULL
#define OFF	0x1000ULL

static struct source_lines l;
static struct executables x;
static uint64_t now;
static uint32_t interval;

/* Questions that were not looked at yet. */
static struct {
	uint32_t n, exe[2 * LINES_AT_ONCE];
	struct visit_question q[2 * LINES_AT_ONCE];
	uint64_t words[2 * LINES_AT_ONCE][LINES_ASK], taken[LINES_ASK];
} heard;

static inline int hear(void *ctx, uint32_t i, const struct visit_question *q)
{
	(void)ctx;
	CHECK(heard.n < 2 * LINES_AT_ONCE && q->n <= LINES_ASK);
	heard.exe[heard.n] = i;
	heard.q[heard.n] = *q;
	if (q->n)
		memcpy(heard.words[heard.n], q->words, q->n * sizeof(*q->words));
	heard.n++;
	return 0;
}

static inline void hear_open(void *ctx, uint32_t i)
{
	CHECK_EQ(hear(ctx, i, &(struct visit_question){ .fd = -1 }), 0);
}

static inline void begin(void)
{
	executables_init(&x, 1);
	x.kept_max = 1000;
	source_lines_init(&l, 2, &x);
	l.visit = hear;
	l.open = hear_open;
	heard.n = 0;
	source_lines_share(&l, 50, SECOND);
	now = SECOND;
	interval = 1;
}

static inline void end(void)
{
	source_lines_fini(&l);
	executables_fini(&x);
	CHECK(!l.store.codes.bytes.total && !l.places.v && !l.store.functions.v && !l.store.codes.v && !l.visits.v);
}

/* A file that has DWARF, with a descriptor. */
static inline struct executable *add(uint64_t ino, uint32_t owner)
{
	struct file_key key = { .ino = ino };
	uint32_t i = executables_mention(&x, &key, interval);
	struct executable *e;

	CHECK(i != EXECUTABLE_NONE);
	e = executables_get(&x, i);
	e->owner = owner;
	e->lines = true;
	CHECK(executables_keep(&x, i, dup(STDOUT_FILENO), now));
	return e;
}

static inline void want(struct executable *e, uint64_t off)
{
	CHECK(source_lines_of(&l, e));
	source_lines_want(&l, e, off, 1, interval, now);
}

/* The next question that is due: its file or NULL; of a file that has no descriptor: with
 * q->fd -1. */
static inline struct executable *next(struct visit_question *q)
{
	uint32_t i;

	if (!heard.n)
		visits_ask(&l.visits, true, now);
	if (!heard.n)
		return NULL;
	i = heard.exe[0];
	*q = heard.q[0];
	memcpy(heard.taken, heard.words[0], sizeof(heard.taken));
	q->words = heard.taken;
	heard.n--;
	memmove(heard.exe, heard.exe + 1, heard.n * sizeof(*heard.exe));
	memmove(heard.q, heard.q + 1, heard.n * sizeof(*heard.q));
	memmove(heard.words, heard.words + 1, heard.n * sizeof(heard.words[0]));
	return executables_get(&x, i);
}

static struct line_codes_build b;
static uint32_t left;		/* in the next answers */

/* What was built is the answer to a question. */
static inline void say(const struct visit_question *q)
{
	static char data[LINE_CODES_BYTES_MAX] __attribute__((__aligned__(8)));
	struct iovec parts[LINE_CODES_PARTS];
	struct line_codes codes;
	size_t n = 0;

	b.hdr.left = left;
	line_codes_end(&b, parts);
	for (int i = 0; i < LINE_CODES_PARTS; i++) {
		memcpy(data + n, parts[i].iov_base, parts[i].iov_len);
		n += parts[i].iov_len;
	}
	CHECK_EQ(line_codes_open(data, n, (uint32_t)q->n, &codes), 0);
	source_lines_answer(&l, q->number, &codes, now);
}

/* All words, which are done, are in a function of this name, at the line of their number, in a
 * piece of their own; if deep, something is inlined there. */
static inline void answer(const struct visit_question *q, const char *name, bool deep)
{
	line_codes_begin(&b, (uint32_t)q->n);
	for (uint32_t i = 0; i + left < q->n; i++) {
		struct symbol_place at[] = {
			{ "inlined", "a.h", 3, 4, "_Z7inlinedv", 0 },
			{ name, "a.c", 10, 100 + i, NULL, 0 },
		};

		CHECK(line_codes_add(&b, q->words[i], 1));
		CHECK(line_codes_add_segment(&b, 0, deep ? at : at + 1, deep ? 2 : 1));
	}
	say(q);
}

/* A function of this name has so many bytes from an offset on, each at a line of its own. */
static inline void answer_function(const struct visit_question *q, const char *name, uint64_t off,
			    uint32_t len)
{
	line_codes_begin(&b, (uint32_t)q->n);
	CHECK(line_codes_add(&b, off, len));
	for (uint32_t i = 0; i < len; i++) {
		struct symbol_place at = { name, "a.c", 10, 100 + i, NULL, 0 };

		CHECK(line_codes_add_segment(&b, i, &at, 1));
	}
	say(q);
}

#endif /* TESTS_LINES_WANTED_H */
