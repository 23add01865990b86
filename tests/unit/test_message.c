// SPDX-License-Identifier: Apache-2.0
/*
 * For every type of message: each way of getting it wrong, one at a time.
 */
#include "ipc/message_hub.h"
#include "ipc/rules.h"
#include "tests/unit/harness.h"

#include <string.h>

#define PEERS	8
#define STATES	3

/* A message of this type that its rule accepts, with the shortest payload. */
struct good {
	struct msg_hdr hdr;
	enum peer from;
	enum conn_state state;
	size_t got;
	unsigned int nfds;
};

static struct good good(unsigned int type)
{
	const struct msg_rule *rule = msg_rule(type);
	struct good g = { .hdr = { MSG_VERSION, (uint16_t)type, 0, 7 } };

	CHECK(rule != NULL);
	g.hdr.len = rule->len_min;
	g.got = rule->len_min;
	g.nfds = rule->nfds;
	g.from = rule->from & -rule->from;
	g.state = rule->states & -rule->states;
	return g;
}

static int check(const struct good *g)
{
	return msg_check(g->from, g->state, &g->hdr, g->got, g->nfds);
}

static int check_len(struct good g, size_t len)
{
	g.hdr.len = (uint32_t)len;
	g.got = len;
	return check(&g);
}

TEST(message_each_type_has_a_rule_and_a_name)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		struct good g = good(t);

		CHECK_EQ(check(&g), MSG_OK);
		CHECK(strcmp(msg_type_name(t), "?"));
		for (unsigned int u = 1; u < t; u++)
			CHECK(strcmp(msg_type_name(t), msg_type_name(u)));
	}
	CHECK(!strcmp(msg_type_name(MSG_EXE), "EXE"));
	CHECK(!strcmp(msg_type_name(MSG_OPEN_FAILED), "OPEN_FAILED"));
	CHECK(!strcmp(msg_type_name(0), "?"));
	CHECK(!strcmp(msg_type_name(MSG__MAX), "?"));
}

TEST(message_rules_fit_the_limits)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		const struct msg_rule *rule = msg_rule(t);

		CHECK(rule->len_min <= rule->len_max);
		CHECK(rule->len_max <= MSG_LEN_MAX);
		CHECK(rule->nfds <= MSG_FDS_MAX);
		CHECK(rule->from != 0);
		CHECK(rule->states && !(rule->states & ~7));
		/* before a hello there is only a hello */
		CHECK_EQ(rule->states & CONN_NEW,
			 t <= MSG_HELLO_EXPORTER ? CONN_NEW : 0);
		if (t <= MSG_HELLO_EXPORTER)
			CHECK_EQ(rule->states, CONN_NEW);
	}
}

TEST(message_rejects_every_wrong_sender)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		for (int i = 0; i < PEERS; i++) {
			struct good g = good(t);

			g.from = 1 << i;
			CHECK_EQ(check(&g), msg_rule(t)->from & g.from ?
				 MSG_OK : MSG_BAD_SENDER);
		}
	}
}

TEST(message_rejects_every_wrong_state)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		for (int i = 0; i < STATES; i++) {
			struct good g = good(t);

			g.state = 1 << i;
			CHECK_EQ(check(&g), msg_rule(t)->states & g.state ?
				 MSG_OK : MSG_BAD_STATE);
		}
	}
}

TEST(message_rejects_one_byte_less_and_one_more)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		const struct msg_rule *rule = msg_rule(t);
		struct good g = good(t);

		CHECK_EQ(check_len(g, rule->len_min), MSG_OK);
		CHECK_EQ(check_len(g, rule->len_max), MSG_OK);
		if (rule->len_min)
			CHECK_EQ(check_len(g, rule->len_min - 1), MSG_BAD_LEN);
		CHECK_EQ(check_len(g, (size_t)rule->len_max + 1), MSG_BAD_LEN);
		if (rule->len_max > rule->len_min)
			CHECK_EQ(check_len(g, rule->len_min + 1), MSG_OK);
	}
}

TEST(message_rejects_a_length_that_is_not_what_came)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		struct good g = good(t);

		g.hdr.len++;
		CHECK_EQ(check(&g), MSG_BAD_LEN);
		g.hdr.len -= 2;		/* wraps for a message without any */
		CHECK_EQ(check(&g), MSG_BAD_LEN);
		g.hdr.len = UINT32_MAX;
		CHECK_EQ(check(&g), MSG_BAD_LEN);
	}
}

TEST(message_rejects_one_descriptor_less_and_one_more)
{
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		struct good g = good(t);

		g.nfds++;
		CHECK_EQ(check(&g), MSG_BAD_FDS);
		g.nfds -= 2;
		CHECK_EQ(check(&g), MSG_BAD_FDS);
	}
}

TEST(message_rejects_every_other_version_and_type)
{
	for (unsigned int v = 0; v <= UINT16_MAX; v++) {
		struct good g = good(MSG_BYE);

		g.hdr.version = (uint16_t)v;
		CHECK_EQ(check(&g), v == MSG_VERSION ? MSG_OK :
			 MSG_BAD_VERSION);
	}
	for (unsigned int t = 0; t <= UINT16_MAX; t++) {
		struct good g = good(MSG_BYE);

		g.hdr.type = (uint16_t)t;
		if (t == 0 || t >= MSG__MAX)
			CHECK_EQ(check(&g), MSG_BAD_TYPE);
	}
	CHECK(msg_rule(0) == NULL);
	CHECK(msg_rule(MSG__MAX) == NULL);
	CHECK(msg_rule(UINT32_MAX) == NULL);
}

TEST(message_verdicts_have_names)
{
	for (int v = 0; v < MSG__VERDICTS; v++)
		CHECK(strcmp(msg_verdict_name(v), "?"));
}
