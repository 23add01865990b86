// SPDX-License-Identifier: Apache-2.0
#include "cli/config/transfer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static struct config was, is;
static int pair[2];
static char raw[CONFIG_TRANSFER_MAX];
static size_t raw_len;

static void no_mistake(const char *path, uint32_t line, bool warning,
		       const char *text)
{
	printf("# %s:%u%d: %s\n", path, line, warning, text);
	CHECK(false);
}

/* A configuration with two receivers, and its message in raw[]. */
static void make(void)
{
	static const char text[] = "[sampling]\nfrequency = 47\n"
		"[export]\nendpoint = http://a:1\n"
		"[export \"two\"]\nendpoint = http://b:2\n";
	char *copy = malloc(sizeof(text));
	ssize_t n;

	CHECK(copy != NULL);
	memcpy(copy, text, sizeof(text));
	CHECK_EQ(config_parse(&was, "x.conf", copy, sizeof(text) - 1,
			      no_mistake), 0);
	was.file[was.n_files++] = "y.conf";
	was.env[0] = strdup("OTEL_A=1");
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	CHECK_EQ(config_send(&was, pair[0]), 0);
	n = recv(pair[1], raw, sizeof(raw), 0);
	CHECK(n > (ssize_t)sizeof(struct config));
	raw_len = (size_t)n;
}

static int take(size_t len)
{
	CHECK_EQ(send(pair[0], raw, len, 0), len);
	return config_receive(&is, pair[1]);
}

TEST(what_is_sent_is_received)
{
	make();
	CHECK_EQ(config_receive(&is, pair[1]), -EAGAIN);
	CHECK_EQ(take(raw_len), 0);
	for (int i = 0; i < KEY__COUNT; i++) {
		CHECK_STR(is.value[i].text, was.value[i].text);
		CHECK_EQ(is.value[i].source, was.value[i].source);
		CHECK_EQ(is.value[i].line, was.value[i].line);
	}
	CHECK_EQ(is.n_more, 1);
	CHECK_STR(is.more[0].name, "two");
	CHECK_STR(is.more[0].value[KEY_ENDPOINT].text, "http://b:2");
	CHECK_EQ(is.n_files, 2);
	CHECK_STR(config_path(&is, 0), "x.conf");
	CHECK_STR(config_path(&is, 1), "y.conf");
	CHECK_STR(is.env[0], "OTEL_A=1");
	CHECK(!is.env[1]);
	config_fini(&is);
	config_fini(&was);
	close(pair[0]);
	CHECK_EQ(config_receive(&is, pair[1]), -EPIPE);
}

TEST(what_is_not_whole_is_refused)
{
	struct config *c = (struct config *)(void *)raw;

	make();
	for (size_t cut = 1; cut < raw_len; cut += cut < 64 ? 1 : 997)
		CHECK_EQ(take(raw_len - cut), -EPROTO);
	/* more receivers than there can be, or are named */
	c->n_more = CONFIG_MORE_MAX + 1;
	CHECK_EQ(take(raw_len), -EPROTO);
	c->n_more = 1;
	c->n_files = CONFIG_FILES_MAX + 1;
	CHECK_EQ(take(raw_len), -EPROTO);
	c->n_files = 3;		/* but two have a name */
	CHECK_EQ(take(raw_len), -EPROTO);
	c->n_files = 2;
	c->n_more = 2;
	CHECK_EQ(take(raw_len), -EPROTO);
	c->n_more = 1;
	CHECK_EQ(take(raw_len), 0);
	config_fini(&is);
	/* a byte more than its strings */
	raw[raw_len] = '\0';
	CHECK_EQ(take(raw_len + 1), -EPROTO);
	/* the name of a variable without an end */
	memset(c->value[KEY_CA].variable, 'x', sizeof(c->value[KEY_CA].variable));
	CHECK_EQ(take(raw_len), 0);
	CHECK_EQ(strnlen(is.value[KEY_CA].variable, sizeof(is.value[KEY_CA].variable)),
		 sizeof(is.value[KEY_CA].variable) - 1);
	config_fini(&is);
	/* a variable more than there are strings */
	c->env[1] = raw;
	CHECK_EQ(take(raw_len), -EPROTO);
	config_fini(&was);
}
