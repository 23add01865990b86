// SPDX-License-Identifier: Apache-2.0
#include "cli/front/reload.h"

#include <stdarg.h>
#include <string.h>

#include "cli/supervisor/ask.h"
#include "tests/unit/harness.h"

static char said[2048];

void console_say(struct console *c, const char *fmt, ...)
{
	size_t len = strlen(said);
	va_list ap;

	(void)c;
	va_start(ap, fmt);
	vsnprintf(said + len, sizeof(said) - len, fmt, ap);
	va_end(ap);
}

static void no_mistake(const char *path, uint32_t line, bool warning,
		       const char *text)
{
	(void)warning;
	printf("# %s:%u: %s\n", path, line, text);
	CHECK(false);
}

static void parse(struct config *c, const char *text)
{
	char *copy = strdup(text);

	CHECK(copy != NULL);
	CHECK_EQ(config_parse(c, "x.conf", copy, strlen(copy), no_mistake), 0);
}

static const char changed[] =
	"[sampling]\nfrequency = 49\ninterval = 7\ninclude_self = yes\nshow_loops = yes\n"
	"[limits]\ncpu_share = 7\n[tables]\nbudget = 99\n"
	"[page]\nmemory = 77\nkeep = 777\notlp = yes\n[log]\nverbose = yes\n";

/* A daemon that is started again, because it crashed, must not obey what is to
 * wait for the next start. */
TEST(reload_leaves_what_waits_as_it_was)
{
	static struct config now, fresh;
	struct options o = { .n_given = 0 }, was;

	parse(&now, "");
	config_apply(&now, &o);
	was = o;
	parse(&fresh, changed);
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 1u << PROGRAM_LOADER);
	CHECK_EQ(o.frequency, 49);
	CHECK_EQ(o.table_budget, 99);
	CHECK_EQ(o.interval, was.interval);
	CHECK_EQ(o.include_self, was.include_self);
	CHECK_EQ(o.show_loops, was.show_loops);
	CHECK_EQ(o.cpu_share, was.cpu_share);
	CHECK_EQ(o.page_memory, was.page_memory);
	CHECK_EQ(o.page_keep, was.page_keep);
	CHECK_EQ(o.page_otlp, was.page_otlp);
	CHECK_EQ(o.verbose, was.verbose);
	CHECK(strstr(said, "include_self of [sampling] is \"yes\" at the next "
		     "start") != NULL);
	CHECK(strstr(said, "take effect at the next start.") != NULL);
	config_fini(&now);
}

/* The hub is told at its start, so that exporterd alone cannot begin. */
TEST(reload_asks_no_servers_before_the_next_start)
{
	static struct config now, fresh;
	struct options o = { .n_given = 0 };

	parse(&now, "");
	parse(&fresh, "[names]\ndebuginfod_urls = http://a\n");
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 0);
	CHECK_STR(said, "configuration: debuginfod_urls of [names] is \"http://a\" at the next "
		  "startReloaded. debuginfod_urls takes effect at the next start.");
	parse(&fresh, "[names]\ndebuginfod_urls = http://b\n");
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 1u << PROGRAM_EXPORTER);
	parse(&fresh, "");
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 1u << PROGRAM_EXPORTER);
	config_fini(&now);
}

/* The page listens where it did; the text of its address belonged to the old one. */
TEST(reload_keeps_the_text_of_the_address)
{
	static struct config now, fresh;
	struct options o = { .n_given = 0 };

	parse(&now, "[page]\nlisten = 4444\n");
	config_apply(&now, &o);
	CHECK_STR(o.listen, "4444");
	parse(&fresh, "[page]\nlisten = 4444\n[tables]\nbudget = 99\n");
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 1u << PROGRAM_LOADER);
	CHECK_STR(o.listen, "4444");
	config_fini(&now);
}

TEST(reload_says_which_receivers_changed)
{
	static struct config now, fresh;
	struct options o = { .n_given = 0 };

	parse(&now, "[export \"same\"]\nendpoint=http://a\n[export \"gone\"]\nendpoint=http://b\n"
	      "[export \"changed\"]\nendpoint=http://c\n");
	parse(&fresh, "[export \"new\"]\nendpoint=http://d\n[export \"same\"]\n"
	      "endpoint=http://a\n[export \"changed\"]\nendpoint=http://e\n");
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 1u << PROGRAM_EXPORTER);
	CHECK_STR(said, "configuration: [export \"gone\"] is gone now"
		  "configuration: [export \"changed\"] is different now"
		  "configuration: [export \"new\"] is there nowReloaded.");
	parse(&fresh, "[export \"changed\"]\nendpoint=http://e\n"
	      "[export \"same\"]\nendpoint=http://a\n[export \"new\"]\nendpoint=http://d\n");
	said[0] = '\0';
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 0);
	CHECK_STR(said, "Reloaded.");
	parse(&fresh, "[export \"changed\"]\nendpoint=http://e\n[export \"same\"]\n"
	      "endpoint=http://a\n[export \"new\"]\nendpoint=http://d\n[page]\nkeep=777\n");
	said[0] = '\0';
	CHECK_EQ(reload(&o, &now, &fresh, NULL), 0);
	CHECK_STR(said, "configuration: keep of [page] is \"777\" at the next start"
		  "Reloaded. keep takes effect at the next start.");
	config_fini(&now);
}

/* A file of a recording has one frequency. */
TEST(reload_of_a_recording_leaves_its_frequency)
{
	static struct config now, fresh;
	struct options o = { .output = "x.html" };

	parse(&now, "");
	config_apply(&now, &o);
	parse(&fresh, changed);
	reload(&o, &now, &fresh, NULL);
	CHECK_EQ(o.frequency, 19);
	CHECK_EQ(o.table_budget, 99);
	config_fini(&now);
}
