// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of HotSpot whose names BPF could not read: a number of their own, names when a
 * visit has read them or BPF has sent them after all, and no more visits than may be.
 */
#include "symbolizerd/knowledge/managed.h"
#include "bpf/hotspot.h"
#include "tests/unit/managed_record.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/frame_names.h"

#define A		0x7f0000001000ULL	/* methods */
#define COOKIE		0x2bcdefu
#define SECOND		1000000000ULL
#define OWNER		1000

static struct managed m;
static uint64_t now;
static uint32_t owner = OWNER;		/* of what frame() makes */

/* The last question, and how many there were. */
static struct {
	uint32_t n_visits, others, number, n, tgid, runtime;
	uint64_t words[JOB_WORDS_MAX];
	int result;		/* of the next ones */
} asked;

static int visit(void *ctx, const struct visit_question *q)
{
	CHECK(ctx == &asked && q->fd == -1 && q->n && q->n <= JOB_WORDS_MAX);
	asked.n_visits++;
	asked.number = q->number;
	asked.tgid = q->process.tgid;
	if (q->process.tgid >= 10000)
		asked.others++;
	asked.runtime = q->runtime;
	asked.n = (uint32_t)q->n;
	memcpy(asked.words, q->words, q->n * sizeof(*q->words));
	return asked.result;
}

static void begin(void)
{
	managed_init(&m, 42);
	m.visit = visit;
	m.ctx = &asked;
	memset(&asked, 0, sizeof(asked));
	now = SECOND;
}

static void end(void)
{
	managed_fini(&m);
	CHECK(!m.functions.v && !m.functions.bytes.total && !m.frames.bytes.total && !m.visits.v);
}

static void text(uint32_t which, const char *s)
{
	if (s)
		made_text(which, FORM_MUTF8, 0, s, strlen(s));
}

/* Our number of a frame of Java's; texts that are NULL are missing. */
static uint32_t frame(uint32_t tgid, uint64_t method, const char *class, const char *name,
		      const char *signature, bool lines)
{
	made_begin(tgid);
	made_owner(owner);
	text(TEXT_CLASS, class);
	text(TEXT_NAME, name);
	text(TEXT_SIGNATURE, signature);
	if (lines)
		made_text(TEXT_LINES, LINES_JAVA, 0, "\xff\x00\x28\x21", 5);
	made_word(MANAGED_WORD(RUNTIME_HOTSPOT, COOKIE, 4));
	made_word(method);
	managed_translate(&m, &made_record.rec, now);
	CHECK_EQ(made_record.rec.n_user, 1);
	return FRAME_NUMBER(made_record.words[0]);
}

/* The answer to the last question: for frame i this name and full name. */
static void answer(const char *name, const char *full, const char *file)
{
	static struct frame_names_build b;
	static char data[FRAME_NAMES_BYTES_MAX] __attribute__((__aligned__(8)));
	struct frame_names names;
	struct iovec parts[3];
	size_t n = 0;

	frame_names_begin(&b, asked.n / 2);
	for (uint32_t i = 0; name && i < asked.n / 2; i++) {
		CHECK(frame_names_add(&b, i, &(struct symbol_place){ .name = name, .file = file }));
		if (full)
			CHECK(frame_names_add(&b, i, &(struct symbol_place){ .name = full,
									     .file = "" }));
	}
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(data + n, parts[i].iov_base, parts[i].iov_len);
		n += parts[i].iov_len;
	}
	CHECK_EQ(frame_names_open(data, n, asked.n / 2, &names), 0);
	visits_answer(&m.visits, asked.number, &names, 0, now);
}

static void fail(int result)
{
	visits_answer(&m.visits, asked.number, NULL, result, now);
}

/* --- names -------------------------------------------------------------------------------- */

TEST(visits_name_what_waited)
{
	const struct managed_function *f;
	uint32_t n;

	begin();
	n = frame(7, A, NULL, NULL, NULL, true);
	CHECK(n != MANAGED_UNKNOWN && managed_waits(&m, n) && !managed_find(&m, n));
	CHECK_EQ(frame(7, A, NULL, NULL, NULL, false), n);
	visits_ask(&m.visits, false, now);
	CHECK(asked.n_visits == 1 && asked.n == 2 && asked.tgid == 7);
	CHECK_EQ(asked.runtime, RUNTIME_HOTSPOT);
	CHECK_EQ(MANAGED_COOKIE_OF(asked.words[0]), COOKIE);
	CHECK_EQ(asked.words[1], A);
	answer("a.C.run", "a.C.run(int)", "C.java");
	CHECK(!managed_waits(&m, n));
	f = managed_find(&m, n);
	CHECK(f);
	CHECK_STR(f->name, "a.C.run");
	CHECK_STR(f->full, "a.C.run(int)");
	CHECK_STR(f->file, "C.java");
	/* BPF has sent the lines */
	CHECK_EQ(f->line, 20);
	CHECK_EQ(managed_line(f, 4), 21);
	CHECK_EQ(m.read, 1);
	/* from now on it is known, and what BPF cannot read changes nothing */
	CHECK(managed_find(&m, frame(7, A, NULL, NULL, NULL, false)) == f);
	CHECK(managed_find(&m, frame(7, A, NULL, "run", "(I)V", false)) == f);
	visits_ask(&m.visits, true, now + 100 * SECOND);
	CHECK_EQ(asked.n_visits, 1);
	end();
}

TEST(visits_are_for_half_a_name_too)
{
	uint32_t n;

	begin();
	n = frame(7, A, NULL, "run", "(I)V", true);
	CHECK(managed_waits(&m, n));
	visits_ask(&m.visits, false, now);
	answer("a.C.run", "a.C.run(int)", "C.java");
	CHECK_STR(managed_find(&m, n)->name, "a.C.run");
	/* without an answer the half is all there is */
	n = frame(8, A, NULL, "run", "(I)V", true);
	visits_ask(&m.visits, false, now);
	fail(-ESRCH);
	CHECK_STR(managed_find(&m, n)->name, "run");
	CHECK_EQ(m.read, 1);
	end();
}

/* What had no room in a record comes with the next: it names the samples before. */
TEST(visits_are_not_needed_where_bpf_sends_names)
{
	const struct managed_function *f;
	uint32_t n;

	begin();
	n = frame(7, A, NULL, NULL, NULL, false);
	visits_ask(&m.visits, false, now);
	visits_ask(&m.visits, true, now + MANAGED_LATE_NS - 1);
	CHECK_EQ(asked.n_visits, 0);
	f = managed_find(&m, frame(7, A, "a/C", "run", "(I)V", true));
	CHECK_STR(f->name, "a.C.run");
	CHECK(managed_find(&m, n) == f);
	/* a visit for it that is under way changes nothing */
	visits_ask(&m.visits, true, now + MANAGED_LATE_NS);
	CHECK_EQ(asked.n_visits, 1);
	answer("b.D.other", NULL, "");
	CHECK(managed_find(&m, n) == f && m.read == 0);
	end();
}

TEST(visits_leave_room_for_lines_that_come_later)
{
	uint32_t n, before;

	begin();
	n = frame(7, A, NULL, NULL, "(I)V", false);
	before = frame(7, A, NULL, NULL, "(I)V", true);
	CHECK(before != n && managed_waits(&m, n) && managed_waits(&m, before));
	visits_ask(&m.visits, false, now);
	answer("a.C.run", "a.C.run(int)", "C.java");
	CHECK(managed_find(&m, n) == managed_find(&m, before));
	CHECK_EQ(managed_line(managed_find(&m, n), 4), 21);
	/* or behind the answer */
	n = frame(8, A, NULL, NULL, "(I)V", false);
	visits_ask(&m.visits, false, now);
	answer("a.C.run", "a.C.run(int)", "C.java");
	CHECK_EQ(managed_line(managed_find(&m, n), 4), 0);
	n = frame(8, A, NULL, NULL, NULL, true);
	CHECK_EQ(managed_line(managed_find(&m, n), 4), 21);
	CHECK_STR(managed_find(&m, n)->full, "a.C.run(int)");
	end();
}

/* Other runtimes, and code of the VM's own, have nothing that could be read. */
TEST(visits_are_for_methods_alone)
{
	begin();
	made_begin(1);
	made_frame(A, COOKIE, 0);
	made_word(MANAGED_WORD(RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX));
	made_word(1);
	managed_translate(&m, &made_record.rec, now);
	CHECK_EQ(FRAME_NUMBER(made_record.words[0]), MANAGED_UNKNOWN);
	CHECK_STR(managed_find(&m, FRAME_NUMBER(made_record.words[1]))->name, "[JVM stub]");
	CHECK_EQ(m.visits.waiting, 0);
	/* and where nobody reads memory all is as without this */
	m.visit = NULL;
	CHECK_EQ(frame(7, A, NULL, NULL, NULL, true), MANAGED_UNKNOWN);
	CHECK_STR(managed_find(&m, frame(7, A, NULL, "run", NULL, true))->name, "run");
	end();
}

/* --- no names ----------------------------------------------------------------------------- */

TEST(visits_that_find_nothing_are_not_repeated)
{
	uint32_t n;

	begin();
	n = frame(7, A, NULL, NULL, NULL, true);
	visits_ask(&m.visits, false, now);
	answer(NULL, NULL, NULL);
	CHECK(!managed_waits(&m, n) && !managed_find(&m, n));
	CHECK_EQ(frame(7, A, NULL, NULL, NULL, true), n);
	visits_ask(&m.visits, true, now + 100 * SECOND);
	CHECK_EQ(asked.n_visits, 1);
	/* BPF may find them later */
	CHECK_STR(managed_find(&m, frame(7, A, "a/C", "run", "()V", true))->name, "a.C.run");
	end();
}

TEST(visits_end_with_the_process)
{
	static const int results[] = { -ESRCH, -EPERM, -EACCES, 3 };

	for (int i = 0; i < 4; i++) {
		uint32_t n;

		begin();
		n = frame(7, A, NULL, NULL, NULL, true);
		visits_ask(&m.visits, false, now);
		fail(results[i]);
		CHECK(!managed_waits(&m, n));
		CHECK_EQ(frame(7, A + 8, NULL, NULL, NULL, true), MANAGED_UNKNOWN);
		CHECK_STR(managed_find(&m, frame(7, A + 8, NULL, "run", NULL, true))->name, "run");
		visits_ask(&m.visits, true, now + 100 * SECOND);
		CHECK_EQ(asked.n_visits, 1);
		end();
	}
}

/* What killed a worker was perhaps only slow: while its process is sampled it is visited
 * again, ten minutes later, and then has its names. */
TEST(visits_that_failed_come_again_much_later)
{
	static const int results[] = { -EPERM, -EACCES, JOB_KILLED };

	for (int i = 0; i < 3; i++) {
		struct traces none = { .n = 0 };
		uint64_t until;

		begin();
		frame(7, A, NULL, NULL, NULL, true);
		visits_ask(&m.visits, false, now);
		fail(results[i]);
		for (until = now + VISITS_CLOSED_NS; now < until; now += 10 * SECOND) {
			CHECK(!managed_find(&m, frame(7, A, NULL, NULL, NULL, true)));
			visits_ask(&m.visits, true, now);
			managed_sweep(&m, &none, now);
			CHECK_EQ(asked.n_visits, 1);
		}
		now = until;
		frame(7, A, NULL, NULL, NULL, true);
		visits_ask(&m.visits, true, now);
		CHECK_EQ(asked.n_visits, 2);
		answer("a.C.run", "", "");
		CHECK_STR(managed_find(&m, frame(7, A, NULL, NULL, NULL, true))->name, "a.C.run");
		end();
	}
}

TEST(visits_that_are_only_delayed_come_again)
{
	uint32_t n;

	begin();
	n = frame(7, A, NULL, NULL, NULL, true);
	asked.result = -ENOSPC;		/* the queue is full */
	visits_ask(&m.visits, false, now);
	CHECK(asked.n_visits == 1 && managed_waits(&m, n));
	asked.result = 0;
	visits_ask(&m.visits, true, now + MANAGED_GAP_NS - 1);
	CHECK_EQ(asked.n_visits, 1);
	visits_ask(&m.visits, true, now + MANAGED_GAP_NS);
	CHECK_EQ(asked.n_visits, 2);
	fail(-EAGAIN);
	CHECK(managed_waits(&m, n));
	visits_ask(&m.visits, true, now + 100 * SECOND);
	CHECK_EQ(asked.n_visits, 3);
	answer("a.C.run", "", "");
	CHECK(managed_find(&m, n));
	/* an answer that nobody waits for any more */
	answer("b.D.other", NULL, "");
	CHECK_STR(managed_find(&m, n)->name, "a.C.run");
	end();
}

/* A worker in an attacker's hand: names longer than there can be. */
TEST(visits_take_no_name_that_cannot_be)
{
	static char large[4096];
	uint32_t n;

	memset(large, 'x', sizeof(large) - 1);
	for (int i = 0; i < 3; i++) {
		begin();
		n = frame(7, A, NULL, NULL, NULL, true);
		visits_ask(&m.visits, false, now);
		answer(i == 0 ? large : "f", i == 1 ? large : "f()", i == 2 ? large : "F");
		CHECK(!managed_find(&m, n) && !managed_waits(&m, n));
		end();
	}
}

/* --- bounds ------------------------------------------------------------------------------- */

/* A process that always has new frames without names, for an hour. */
TEST(visits_of_a_process_are_few)
{
	uint64_t method = A, first = SECOND;

	begin();
	for (now = first; now < first + 3600 * SECOND; now += SECOND / 10) {
		for (int i = 0; i < 100; i++)
			frame(7, method += 8, NULL, NULL, NULL, true);
		visits_ask(&m.visits, false, now);
		CHECK(m.visits.waiting <= MANAGED_ASK);
		if (m.visits.v->asked)
			answer("a.C.run", "a.C.run()", "");
		if (now % (5 * SECOND) == 0)
			managed_sweep(&m, &(struct traces){ 0 }, now);
	}
	printf("# %u visits, %u functions\n", asked.n_visits, m.functions.n);
	CHECK_EQ(m.visits.asked, asked.n_visits);
	CHECK(asked.n_visits > 100 && asked.n_visits < 3600 / 8 + 10);
	CHECK(m.functions.n < 100000);
	end();
}

TEST(visits_of_many_processes_are_bounded)
{
	uint32_t n;
	struct traces t;

	traces_init(&t, 1);
	begin();
	for (uint32_t tgid = 2; tgid < 4 * MANAGED_TARGETS; tgid++) {
		owner = OWNER + tgid % 4;
		now++;
		for (uint64_t i = 0; i < 20; i++)
			frame(tgid, A + 8 * i, NULL, NULL, NULL, true);
	}
	owner = OWNER;
	CHECK(m.visits.waiting <= MANAGED_WAITING && m.visits.waiting > MANAGED_WAITING - 20);
	CHECK(m.visits.lost > 0);
	visits_ask(&m.visits, false, now);
	CHECK_EQ(asked.n_visits, MANAGED_AT_ONCE);
	/* one more for each that is answered, of those that wait */
	n = m.visits.waiting;
	answer("a.C.run", NULL, "");
	CHECK(m.visits.waiting < n && m.visits.waiting >= n - 20);
	visits_ask(&m.visits, false, now);
	CHECK_EQ(asked.n_visits, MANAGED_AT_ONCE + 1);
	/* the others are delayed without end: they are forgotten, and so is what waited */
	for (uint32_t i = 0; i < MANAGED_TARGETS; i++)
		visits_answer(&m.visits, m.visits.v[i].number, NULL, -EAGAIN, now);
	now += MANAGED_KEPT_NS;
	managed_sweep(&m, &t, now);
	CHECK_EQ(m.visits.waiting, 0);
	CHECK_EQ(owner_cache_used(&m.frames), 0);
	/* there is room again */
	CHECK(managed_waits(&m, frame(7, A, NULL, NULL, NULL, true)));
	end();
	traces_fini(&t);
}

/* One user's processes, with many frames or with one each, leave room for others: who
 * comes gets it from him. */
TEST(visits_of_a_user_leave_room_for_others)
{
	for (int each = 1; each <= 100; each += 99) {
		begin();
		for (uint32_t tgid = 2; tgid < 4 * MANAGED_TARGETS; tgid++) {
			now++;
			for (int i = 0; i < each; i++)
				frame(tgid, A + 8 * (uint64_t)i, NULL, NULL, NULL, true);
		}
		CHECK_EQ(m.visits.waiting, each == 1 ? MANAGED_TARGETS : MANAGED_WAITING);
		owner = OWNER + 1;
		for (uint32_t tgid = 10000; tgid < 10020; tgid++) {
			now++;
			CHECK(managed_waits(&m, frame(tgid, A, NULL, NULL, NULL, true)));
		}
		owner = OWNER;
		/* and their turn is not the last */
		visits_ask(&m.visits, false, now);
		CHECK_EQ(asked.others, 20);
		CHECK(asked.n_visits > 20 && asked.n_visits <= MANAGED_AT_ONCE / 2 + 20);
		end();
	}
}

/* Whose process it is may be known later, or change. */
TEST(visits_are_of_the_owner_who_was_said_last)
{
	begin();
	CHECK(managed_waits(&m, frame(7, A, NULL, NULL, NULL, true)));
	CHECK_EQ(m.visits.v[0].owner, OWNER);
	owner = OWNER + 1;
	CHECK(managed_waits(&m, frame(7, A + 8, NULL, NULL, NULL, true)));
	CHECK_EQ(m.visits.v[0].owner, OWNER + 1);
	owner = OWNER;
	end();
}

/* What had to go for want of room is wanted again when it is met again. */
TEST(visits_that_are_lost_come_again)
{
	uint32_t n;

	begin();
	n = frame(7, A, NULL, NULL, NULL, true);
	CHECK(managed_waits(&m, n));
	now += MANAGED_KEPT_NS;
	visits_sweep(&m.visits, now);
	CHECK(!managed_waits(&m, n) && m.visits.lost == 1);
	n = frame(7, A, NULL, NULL, NULL, true);
	CHECK(managed_waits(&m, n));
	visits_ask(&m.visits, false, now);
	answer("a.C.run", NULL, "");
	CHECK_STR(managed_find(&m, n)->name, "a.C.run");
	end();
}

/* The room of names is shared, of those that are wanted, too. */
TEST(visits_have_no_room_of_their_own)
{
	char name[20], class[121];
	uint32_t n = 1, mine;

	begin();
	owner = OWNER + 1;
	memset(class, 'c', sizeof(class) - 1);
	class[sizeof(class) - 1] = '\0';
	while (!m.functions.lost) {
		snprintf(name, sizeof(name), "m%u", n);
		CHECK(frame(8, A + 8 * (uint64_t)n++, class, name, "()V", true));
	}
	CHECK(n > 10000);
	owner = OWNER;
	mine = frame(7, A + 8, NULL, NULL, NULL, true);
	CHECK(managed_waits(&m, mine));
	visits_ask(&m.visits, false, now);
	answer("a.C.run", NULL, "");
	CHECK_STR(managed_find(&m, mine)->name, "a.C.run");
	CHECK(m.functions.bytes.total <= MANAGED_NAMES_BYTES);
	end();
}

TEST(visits_sweep_keeps_what_a_trace_has)
{
	struct traces t;
	uint32_t n;
	int first;

	traces_init(&t, 1);
	begin();
	n = frame(7, A, NULL, NULL, NULL, false);
	CHECK(traces_add(&t, &made_record.rec, 0, 1, &first) != TRACE_NONE);
	CHECK(frame(7, A, NULL, NULL, NULL, true) != n);
	managed_sweep(&m, &t, now);
	CHECK(managed_waits(&m, n));
	visits_ask(&m.visits, true, now + MANAGED_LATE_NS);
	answer("a.C.run", NULL, "");
	/* the frame is forgotten, the trace is not */
	now += MANAGED_KEPT_NS;
	managed_sweep(&m, &t, now);
	CHECK_EQ(owner_cache_used(&m.frames), 0);
	CHECK_STR(managed_find(&m, n)->name, "a.C.run");
	traces_clear(&t);
	managed_sweep(&m, &t, now);
	CHECK(!managed_find(&m, n));
	CHECK_EQ(m.gone, 0);
	end();
	traces_fini(&t);
}
