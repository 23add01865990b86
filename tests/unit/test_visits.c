// SPDX-License-Identifier: Apache-2.0
/* Frames that wait for a visit: when a target is visited, in which turn, and what becomes of
 * answers. */
#include "symbolizerd/knowledge/visits.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/tables/owners.h"

#define SEC	1000000000ULL
#define MS	1000000ULL

static struct visits m;
static uint64_t now;

static struct visits_rules rules;
static const struct visits_rules usual = {
	.targets = 32, .frame_words = 2, .ask = 8, .waiting = 64, .at_once = 8,
	.gap_ns = SEC, .gap_max_ns = 4 * SEC, .late_ns = 300 * MS, .idle_ns = 60 * SEC,
};

/* Questions, in their order, and what was told of frames. */
static struct {
	uint32_t n;
	struct visit_question q[1024];
	uint64_t words[1024][16];
} asked;
static uint32_t named, refused, lost, answers, dropped;
static int last_result;
static char last_name[64];
static int ask_result;
static enum visit_ready ready;

static enum visit_ready on_ready(void *ctx, const struct visit_target *t, uint32_t under_way,
				 uint64_t now_ns)
{
	(void)ctx;
	CHECK(t->words.n && !t->asked && under_way <= rules.at_once / 2 && now_ns == now);
	return ready;
}

static int on_ask(void *ctx, const struct visit_target *t, struct visit_question *q)
{
	CHECK(ctx == &asked && asked.n < 1024 && q->fd == -1);
	CHECK(q->number == t->number && q->owner == t->owner && q->n <= 16);
	asked.q[asked.n] = *q;
	memcpy(asked.words[asked.n], q->words, q->n * sizeof(*q->words));
	asked.n++;
	return ask_result;
}

static void on_name(void *ctx, const struct visit_target *t, const uint64_t *words,
		    const struct frame_names *names, uint32_t first, uint32_t n, int result)
{
	(void)ctx;
	CHECK(t->number && words[1] == words[0] + 1);
	if (n) {
		named++;
		snprintf(last_name, sizeof(last_name), "%s", frame_names_place(names, first).name);
		CHECK(!result);
	} else if (result == VISIT_LOST) {
		lost++;
	} else {
		refused++;
		last_result = result;
	}
}

static void on_answered(void *ctx, struct visit_target *t, int result)
{
	(void)ctx;
	answers++;
	if (result == -ESRCH)
		visits_close(&m, t);
}

static void on_dropped(void *ctx, const struct visit_target *t)
{
	(void)ctx;
	CHECK(t->number);
	dropped++;
}

static const struct visits_ops ops = { on_ready, on_ask, on_name, on_answered, on_dropped };

static void begin(void)
{
	rules = usual;
	visits_init(&m, &rules, &ops, &asked, 42);
	asked.n = named = refused = lost = answers = dropped = 0;
	ask_result = 0;
	ready = VISIT_NOW;
	now = SEC;
}

/* What the accounts say is what the targets say. */
static void check_sums(void)
{
	uint32_t waiting = 0, under_way = 0, targets = 0, in_accounts[3] = { 0 };

	for (uint32_t i = 0; m.v && i < rules.targets; i++) {
		const struct visit_target *t = &m.v[i];

		if (!t->number)
			continue;
		targets++;
		waiting += t->words.n / rules.frame_words;
		under_way += t->asked != 0;
		CHECK(t->asked * rules.frame_words <= t->words.n);
		CHECK_EQ(m.accounts[t->account].owner, t->owner);
		CHECK(visits_find(&m, t->number) == t && visits_of_key(&m, &t->key) == t);
	}
	for (uint32_t i = 0; m.accounts && i <= rules.targets; i++) {
		in_accounts[0] += m.accounts[i].targets;
		in_accounts[1] += m.accounts[i].waiting;
		in_accounts[2] += m.accounts[i].under_way;
		CHECK(m.accounts[i].targets || !m.accounts[i].waiting);
		CHECK(m.accounts[i].under_way <= (rules.at_once + 1) / 2);
	}
	CHECK(in_accounts[0] == targets && targets == m.by_key.n);
	CHECK(in_accounts[1] == waiting && waiting == m.waiting && waiting <= rules.waiting);
	CHECK(in_accounts[2] == under_way && under_way == m.under_way);
	CHECK(under_way <= rules.at_once);
}

static void end(void)
{
	check_sums();
	visits_fini(&m);
	CHECK(!m.v && !m.accounts && !m.waiting && !m.under_way && !m.by_key.slots);
}

static struct visit_target *target(uint64_t key, uint32_t owner)
{
	return visits_target(&m, &(struct visit_key){ { key } }, owner, now);
}

static bool want(uint64_t key, uint32_t owner, uint64_t word)
{
	struct visit_target *t = target(key, owner);
	uint64_t words[2] = { word, word + 1 };

	return t && visits_want(&m, t, words, true, now);
}

/* All frames of a question have this name, but for those left. */
static void answer(uint32_t i, const char *name, uint32_t left)
{
	static struct frame_names_build b;
	static char data[FRAME_NAMES_BYTES_MAX] __attribute__((__aligned__(8)));
	uint32_t frames = (uint32_t)asked.q[i].n / 2;
	struct frame_names names;
	struct iovec parts[3];
	size_t n = 0;

	frame_names_begin(&b, frames);
	for (uint32_t k = 0; k < frames; k++)
		CHECK(frame_names_add(&b, k, &(struct symbol_place){ .name = name, .file = "" }));
	b.hdr.left = left;
	frame_names_end(&b, parts);
	for (int k = 0; k < 3; k++) {
		memcpy(data + n, parts[k].iov_base, parts[k].iov_len);
		n += parts[k].iov_len;
	}
	CHECK_EQ(frame_names_open(data, n, frames, &names), 0);
	visits_answer(&m, asked.q[i].number, &names, 0, now);
}

static void fail(uint32_t i, int result)
{
	visits_answer(&m, asked.q[i].number, NULL, result, now);
}

/* --- one target --------------------------------------------------------------------- */

TEST(frames_wait_together_and_are_named_by_one_visit)
{
	begin();
	CHECK(want(1, 7, 10) && want(1, 7, 20) && want(2, 7, 30));
	visits_ask(&m, false, now);
	CHECK(asked.n == 2 && asked.q[0].n == 4 && asked.q[1].n == 2 && m.asked == 2);
	CHECK(asked.words[0][0] == 10 && asked.words[0][3] == 21 && asked.words[1][0] == 30);
	/* what comes now is for the next one */
	CHECK(want(1, 7, 40));
	answer(0, "f", 0);
	CHECK(named == 2 && answers == 1 && m.waiting == 2);
	CHECK_STR(last_name, "f");
	visits_ask(&m, false, now + SEC - 50 * MS);
	CHECK_EQ(asked.n, 2);
	now += SEC;
	visits_ask(&m, false, now);
	CHECK(asked.n == 3 && asked.words[2][0] == 40);
	end();
}

TEST(the_pause_doubles_up_to_the_most)
{
	static const uint64_t gaps[] = { 1, 2, 4, 4, 4 };

	begin();
	for (uint32_t i = 0; i < 5; i++) {
		CHECK(want(1, 7, 10));
		visits_ask(&m, true, now);
		CHECK_EQ(asked.n, i + 1);
		answer(i, "f", 0);
		CHECK(want(1, 7, 10));
		CHECK(!visits_due(&m, target(1, 7), now + gaps[i] * SEC - 1));
		now += gaps[i] * SEC - 1;
		visits_ask(&m, true, now);
		CHECK_EQ(asked.n, i + 1);
		CHECK(visits_due(&m, target(1, 7), ++now));
	}
	/* at the end there is none */
	rules.failures = 3;
	visits_ask(&m, true, now);
	answer(5, "f", 0);
	CHECK(want(1, 7, 10));
	m.ending = true;
	visits_ask(&m, true, now);
	CHECK_EQ(asked.n, 7);
	end();
}

/* Who has no CPU time left begins no visit, and so takes no place from others. */
TEST(visits_keep_to_the_parts_of_owners)
{
	struct user_share share;
	uint64_t put_off = 0;

	begin();
	user_share_init(&share, 2, now);
	share.spare_ns = 0;
	m.share = &share;
	m.put_off = &put_off;
	m.reserve = 4;
	user_share_use(&share, 7, 100 * MS);
	user_share_use(&share, 8, 0);
	share.v[1].left_ns = 200 * MS;
	CHECK(want(1, 7, 10) && want(2, 7, 20) && want(3, 8, 30));
	visits_ask(&m, true, now);
	CHECK(asked.n == 1 && asked.words[0][0] == 30 && put_off == 2);
	CHECK(m.under_way == 1 && target(1, 7)->put_off);
	visits_ask(&m, true, now);
	CHECK_EQ(put_off, 2);
	/* his half of 20 ms a second has paid after 10 s; 25 of 100 ms are kept for tables */
	now += 12 * SEC;
	visits_ask(&m, true, now);
	CHECK_EQ(asked.n, 1);
	now += SEC;
	visits_ask(&m, true, now);
	CHECK(asked.n == 2 && asked.words[1][0] == 10 && !target(1, 7)->put_off);
	end();
}

TEST(what_is_not_urgent_waits_until_it_is_late)
{
	uint64_t words[2] = { 1, 2 };

	begin();
	CHECK(visits_want(&m, target(1, 7), words, false, now));
	visits_ask(&m, false, now + SEC);
	visits_ask(&m, true, now + 300 * MS - 1);
	CHECK_EQ(asked.n, 0);
	/* the oldest of what waits counts */
	now += 200 * MS;
	CHECK(visits_want(&m, target(1, 7), words, false, now));
	now += 100 * MS;
	visits_ask(&m, true, now);
	CHECK(asked.n == 1 && asked.q[0].n == 4);
	answer(0, "f", 0);
	/* what was urgent makes nothing after it urgent */
	CHECK(want(1, 7, 10));
	now += SEC;
	visits_ask(&m, false, now);
	answer(1, "f", 0);
	CHECK(visits_want(&m, target(1, 7), words, false, now));
	now += 4 * SEC;
	visits_ask(&m, false, now);
	CHECK_EQ(asked.n, 2);
	end();
}

TEST(frames_that_an_answer_left_are_asked_for_again)
{
	begin();
	for (uint64_t i = 0; i < 5; i++)
		CHECK(want(1, 7, 10 * i));
	visits_ask(&m, false, now);
	answer(0, "f", 3);
	CHECK(named == 2 && m.waiting == 3);
	now += SEC;
	visits_ask(&m, false, now);
	CHECK(asked.n == 2 && asked.q[1].n == 6 && asked.words[1][0] == 20);
	end();
}

TEST(what_is_delayed_is_asked_again_and_what_fails_is_not)
{
	static const int delays[] = { -EAGAIN, -ETIMEDOUT, -ENOMEM, -ENOSPC, JOB_NO_MEMORY };

	begin();
	CHECK(want(1, 7, 10));
	for (uint32_t i = 0; i < 5; i++) {
		visits_ask(&m, false, now);
		CHECK_EQ(asked.n, i + 1);
		fail(i, delays[i]);
		CHECK(!refused && m.waiting == 1 && !m.under_way);
		now += 4 * SEC;
	}
	visits_ask(&m, false, now);
	CHECK(want(1, 7, 20));
	fail(5, -ENOENT);
	/* of all that waited */
	CHECK(refused == 2 && last_result == -ENOENT && !m.waiting && answers == 6);
	/* so many delays are a failure, if the rules say so */
	rules.failures = 2;
	CHECK(want(1, 7, 10));
	now += 4 * SEC;
	visits_ask(&m, false, now);
	fail(6, -EAGAIN);
	now += 4 * SEC;
	visits_ask(&m, false, now);
	fail(7, -EAGAIN);
	CHECK(refused == 3 && !m.waiting);
	/* in a row */
	for (uint32_t i = 8; i < 14; i++) {
		CHECK(want(1, 7, 10));
		now += 4 * SEC;
		visits_ask(&m, false, now);
		if (i % 2)
			answer(i, "f", 0);
		else
			fail(i, -EAGAIN);
	}
	CHECK(refused == 3);
	end();
}

TEST(a_question_that_cannot_be_asked_has_its_answer)
{
	begin();
	ask_result = -EINVAL;
	for (uint64_t i = 0; i < 20; i++)
		CHECK(want(i, 7, 10));
	visits_ask(&m, false, now);
	CHECK(asked.n == 20 && refused == 20 && !m.waiting);
	ask_result = -ENOSPC;
	for (uint64_t i = 30; i < 40; i++)
		CHECK(want(i, 7, 10));
	visits_ask(&m, false, now);
	CHECK(asked.n == 30 && m.waiting == 10 && !m.under_way);
	visits_ask(&m, false, now);		/* there is a pause before they are asked again */
	CHECK_EQ(asked.n, 30);
	end();
}

/* It is there still, so that was not its end: each time after twice as long. */
TEST(a_closed_target_is_visited_after_a_while)
{
	begin();
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t doubled = i < VISITS_CLOSED_DOUBLED ? i : VISITS_CLOSED_DOUBLED;

		CHECK(want(1, 7, 10));
		visits_ask(&m, false, now);
		fail(i, -ESRCH);
		CHECK(refused == i + 1 && !want(1, 7, 20));
		now += (VISITS_CLOSED_NS << doubled) - 1;
		CHECK(!want(1, 7, 10) && !visits_due(&m, target(1, 7), now));
		now++;
	}
	CHECK_EQ(m.lost, 0);		/* that is not for want of room */
	end();
}

TEST(an_answer_to_what_is_forgotten_is_for_nobody)
{
	uint32_t number;

	begin();
	CHECK(want(1, 7, 10));
	visits_ask(&m, false, now);
	number = asked.q[0].number;
	answer(0, "f", 0);
	answer(0, "f", 0);			/* twice */
	CHECK(named == 1 && answers == 1);
	now += 60 * SEC;
	visits_sweep(&m, now);
	CHECK(dropped == 1 && !visits_find(&m, number));
	answer(0, "f", 0);
	/* the element is another target's now */
	CHECK(want(2, 8, 10) && visits_slot(&m, target(2, 8)) == number % rules.targets);
	visits_ask(&m, false, now);
	CHECK(asked.q[1].number != number);
	answer(0, "g", 0);
	CHECK(named == 1 && m.under_way == 1);
	visits_answer(&m, 0, NULL, -EIO, now);
	visits_answer(&m, UINT32_MAX, NULL, -EIO, now);
	answer(1, "h", 0);
	CHECK_EQ(named, 2);
	/* nothing is forgotten that is under way */
	CHECK(want(2, 8, 20));
	now += 4 * SEC;
	visits_ask(&m, false, now);
	now += 3600 * SEC;
	visits_sweep(&m, now);
	answer(2, "i", 0);
	CHECK(named == 3 && lost == 0);
	end();
}

TEST(numbers_of_targets_do_not_come_again_soon)
{
	uint32_t before = 0;

	begin();
	rules.targets = 1;
	for (uint32_t i = 1; i < 10000; i++) {
		struct visit_target *t;

		now++;
		t = target(i, 7);
		CHECK(t && t->number > before);
		before = t->number;
	}
	/* never 0, and in its element */
	visits_fini(&m);
	rules.targets = 3;
	m.generation = UINT32_MAX / 3 - 4;
	for (uint32_t i = 1; i < 20; i++) {
		struct visit_target *t;

		now++;
		t = target(i, 7);
		CHECK(t && t->number && t->number % 3 == visits_slot(&m, t));
	}
	end();
}

TEST(the_client_may_put_a_visit_off_or_give_it_up)
{
	begin();
	CHECK(want(1, 7, 10));
	ready = VISIT_LATER;
	visits_ask(&m, true, now);
	CHECK(asked.n == 0 && m.waiting == 1);
	ready = VISIT_NEVER;
	visits_ask(&m, true, now);
	CHECK(asked.n == 0 && m.waiting == 0 && lost == 1 && m.lost == 1);
	end();
}

/* --- owners -------------------------------------------------------------------------- */

TEST(half_of_the_visits_are_one_owners_at_most)
{
	begin();
	for (uint64_t i = 0; i < 20; i++)
		CHECK(want(i, 7, 10));
	visits_ask(&m, false, now);
	CHECK_EQ(asked.n, 4);
	CHECK(want(100, 8, 10));
	visits_ask(&m, false, now);
	CHECK(asked.n == 5 && asked.q[4].owner == 8);
	fail(0, -ENOENT);
	visits_ask(&m, false, now);
	CHECK(asked.n == 6 && asked.q[5].owner == 7);
	end();
}

TEST(of_targets_never_visited_the_one_that_waits_longest_is_first)
{
	begin();
	rules.at_once = 2;
	CHECK(target(1, 7) && target(2, 7) && want(2, 7, 10));
	now++;
	CHECK(want(1, 7, 10) && want(2, 7, 20));
	visits_ask(&m, false, now);
	CHECK(asked.n == 1 && asked.q[0].number == target(2, 7)->number);
	/* and those that were visited wait for those that were not */
	answer(0, "f", 0);
	now += SEC;
	CHECK(want(2, 7, 30));
	visits_ask(&m, false, now);
	CHECK(asked.n == 2 && asked.q[1].number == target(1, 7)->number);
	end();
}

/* Who has fewest under way, then who was longest not served, then the target that was
 * longest not visited. */
TEST(turns_are_fair)
{
	uint32_t of[3] = { 0 };

	begin();
	rules.at_once = 2;
	/* one owner has ten targets with much to do, the others one each */
	for (uint32_t i = 0; i < 300; i++) {
		for (uint64_t k = 0; k < 10; k++)
			want(k, 0, 10);
		want(100, 1, 10);
		want(101, 2, 10);
		visits_ask(&m, false, now);
		now += SEC;
		while (m.under_way) {
			uint32_t last = asked.n;

			for (uint32_t k = 0; k < rules.targets; k++) {
				if (m.v[k].number && m.v[k].asked)
					visits_answer(&m, m.v[k].number, NULL, -ENOENT, now);
			}
			CHECK_EQ(asked.n, last);
		}
		for (; asked.n; asked.n--)
			of[asked.q[asked.n - 1].owner]++;
	}
	printf("# visits: %u, %u, %u\n", of[0], of[1], of[2]);
	/* theirs are bounded by their pause alone: one in four seconds */
	CHECK(of[1] >= 300 / 4 - 4 && of[2] >= 300 / 4 - 4);
	CHECK(of[0] > of[1]);
	end();
}

TEST(who_waits_with_most_makes_room_and_hears_of_it)
{
	begin();
	for (uint64_t i = 0; i < 12; i++) {
		now++;
		for (uint64_t k = 0; k < 8; k++)
			want(i, 7, 100 * k);
	}
	CHECK_EQ(m.waiting, 64);
	CHECK(m.lost == 32 && lost == 0);	/* of his own: they are not taken */
	CHECK(want(50, 8, 10));
	CHECK(lost == 8 && m.lost == 40 && m.waiting == 57);
	for (uint64_t k = 1; k < 8; k++)
		CHECK(want(50, 8, 10 * k));
	CHECK(want(51, 9, 10) && m.waiting <= 64 && lost == 16);
	/* what is under way stays */
	visits_ask(&m, false, now);
	CHECK(m.under_way == 6);
	end();
}

TEST(who_has_most_targets_loses_the_one_not_used_for_longest)
{
	begin();
	for (uint64_t i = 0; i < 32; i++, now++)
		CHECK(target(i, i < 30 ? 7 : 8));
	target(0, 7);			/* is used again */
	now++;
	CHECK(target(100, 9));
	CHECK(dropped == 1 && !visits_of_key(&m, &(struct visit_key){ { 1 } }));
	CHECK(visits_of_key(&m, &(struct visit_key){ { 0 } }));
	/* with all that wait, others' and not his own; of himself he waits */
	for (uint64_t i = 2; i < 30; i++, now++)
		CHECK(want(i, 7, 10));
	CHECK(want(0, 7, 10));
	now++;
	CHECK(!target(200, 7) && m.lost == 1);
	CHECK(target(201, 9) && target(202, 10));
	CHECK(target(30, 8) && dropped == 3 && lost == 2);
	end();
}

/* As many owners as there are targets, and one more; what is used at this very moment does
 * not go. */
TEST(each_target_may_have_an_owner_of_its_own)
{
	begin();
	for (uint32_t i = 0; i < 32; i++)
		CHECK(target(i, 100 + i));
	CHECK(!target(1000, 1000) && dropped == 0);
	check_sums();
	now++;
	for (uint32_t i = 0; i < 31; i++)
		CHECK(want(i, 100 + i, 10));
	CHECK(target(1000, 1000) && dropped == 1);
	check_sums();
	visits_give(&m, target(3, 103), 2000);
	check_sums();
	end();
}

TEST(a_target_may_change_its_owner)
{
	struct visit_target *t;

	begin();
	CHECK(want(1, 7, 10) && want(2, 7, 10));
	visits_ask(&m, false, now);
	t = target(1, 7);
	visits_give(&m, t, 8);
	CHECK(t->owner == 8 && m.under_way == 2);
	check_sums();
	visits_give(&m, target(2, 7), 8);
	check_sums();
	answer(0, "f", 0);
	answer(1, "f", 0);
	CHECK_EQ(named, 2);
	end();
}

/* --- anything ----------------------------------------------------------------------- */

static uint32_t next_random(uint32_t below)
{
	static uint64_t x = 1;

	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(x >> 33) % below;
}

static void random_answer(uint32_t i)
{
	const struct visit_target *t = m.v ? &m.v[i] : NULL;
	uint32_t was_named = named;

	if (!t || !t->asked || !asked.n || next_random(2))
		return;
	for (i = asked.n; i-- > 0;) {
		if (asked.q[i].number != t->number)
			continue;
		if (next_random(2)) {
			answer(i, "f", next_random((uint32_t)asked.q[i].n / 2));
			CHECK(named > was_named);
		} else {
			fail(i, next_random(2) ? -EAGAIN : -ENOENT);
		}
		return;
	}
}

TEST(random_targets_owners_and_answers)
{
	uint64_t wanted = 0;

	begin();
	for (uint32_t n = 0; n < 100000; n++) {
		uint32_t owner = next_random(3) ? next_random(2) : next_random(12);

		now += next_random(1000) * MS;
		switch (next_random(8)) {
		case 0:
			if (asked.n > 900)
				asked.n = 0;	/* some are never answered */
			visits_ask(&m, next_random(2), now);
			break;
		case 1:
			for (uint32_t i = 0; i < rules.targets; i++)
				random_answer(i);
			break;
		case 2:
			if (!next_random(20))
				visits_sweep(&m, now);
			break;
		default:
			wanted += want(owner * 100 + next_random(20), owner, n);
		}
		if (n % 100 == 0)
			check_sums();
	}
	for (uint32_t i = 0; i < rules.targets; i++)
		visits_answer(&m, m.v[i].number, NULL, -ENOENT, now);
	now += 100 * SEC;
	visits_sweep(&m, now);
	check_sums();
	printf("# %llu wanted: %u named, %u refused, %u lost\n", (unsigned long long)wanted,
	       named, refused, lost);
	/* each that was taken got one answer */
	CHECK_EQ(wanted, (uint64_t)named + refused + lost);
	CHECK(named > 500 && refused > 500 && lost > 500 && m.waiting == 0);
	end();
}
