// SPDX-License-Identifier: Apache-2.0
/*
 * The keys of `trifold top`: what they change, whatever is pressed.
 */
#include "cli/top/plain.h"
#include "cli/top/state.h"
#include "cli/top/text.h"
#include "common/clock.h"
#include "tests/unit/cli_batch.h"

#include <errno.h>
#include <time.h>

static void start(struct top_state *st)
{
	struct batch b;
	void *data = sample_batch(&b);

	top_state_init(st, TOP_FUNCTIONS, true, TOP_SPAN_NS);
	CHECK_EQ(top_state_batch(st, data, b.hdr->bytes, 7), 0);
	free(data);
	top_state_refresh(st, 0);
}

static void press(struct top_state *st, int key)
{
	top_state_key(st, key, 5 * NSEC_PER_SEC);
	top_state_refresh(st, 5 * NSEC_PER_SEC);
}

static void type(struct top_state *st, const char *s)
{
	while (*s)
		press(st, (unsigned char)*s++);
}

static bool on_row(const struct top_state *st, const char *name)
{
	const struct top_row *r = &st->table.rows[st->selected];

	return r->name.len == strlen(name) &&
	       !memcmp(r->name.s, name, r->name.len);
}

TEST(views_are_switched)
{
	static const uint32_t rows[] = { 6, 4, 2, 5, 6 };
	struct top_state st;

	start(&st);
	for (int v = 0; v < TOP__VIEWS; v++) {
		press(&st, '1' + v);
		CHECK_EQ(top_level(&st)->view, v);
		CHECK_EQ(st.table.n, rows[v]);
	}
	press(&st, '\t');
	CHECK_EQ(top_level(&st)->view, TOP_FUNCTIONS);
	press(&st, '\t');
	CHECK_EQ(top_level(&st)->view, TOP_PROCESSES);
	top_state_fini(&st);
}

TEST(sorting_goes_round_the_columns)
{
	struct top_state st;

	start(&st);
	CHECK_EQ(st.sort[TOP_FUNCTIONS], COL_SELF);
	CHECK(on_row(&st, "do_read"));
	press(&st, 's');
	CHECK_EQ(st.sort[TOP_FUNCTIONS], COL_TOTAL);
	CHECK(on_row(&st, "main"));
	press(&st, 'r');
	CHECK(!on_row(&st, "main"));
	for (int i = 0; i < 4; i++)
		press(&st, TOP_KEY_RIGHT);
	CHECK_EQ(st.sort[TOP_FUNCTIONS], COL_SELF);
	CHECK(!st.reverse[TOP_FUNCTIONS]);
	press(&st, TOP_KEY_LEFT);
	CHECK_EQ(st.sort[TOP_FUNCTIONS], COL_SOURCE);
	top_state_fini(&st);
}

TEST(a_filter_is_typed)
{
	struct top_state st;

	start(&st);
	type(&st, "/mainq");
	CHECK(st.editing && !st.quit);
	press(&st, TOP_KEY_BACK);
	press(&st, TOP_KEY_ENTER);
	CHECK(!st.editing && st.table.n == 1 && on_row(&st, "main"));
	/* what is there is changed; nonsense is said, and may be mended */
	type(&st, "//[");
	CHECK(!strcmp(st.edit, "main/["));
	press(&st, TOP_KEY_ESCAPE);
	CHECK(!st.editing && !strcmp(st.filter.text, "main"));
	press(&st, TOP_KEY_ESCAPE);
	CHECK(!st.filter.text[0]);
	CHECK_EQ(st.table.n, 6);
	type(&st, "//[");
	press(&st, TOP_KEY_ENTER);
	CHECK(st.editing && st.message[0]);
	press(&st, TOP_KEY_BACK);
	type(&st, "^do_");
	press(&st, TOP_KEY_ENTER);
	CHECK_EQ(st.table.n, 1);
	top_state_fini(&st);
}

TEST(backspace_takes_a_whole_character)
{
	struct top_state st;

	start(&st);
	type(&st, "/a\xc3\xa4\xe2\x82\xac");
	press(&st, TOP_KEY_BACK);
	CHECK(!strcmp(st.edit, "a\xc3\xa4"));
	press(&st, TOP_KEY_BACK);
	press(&st, TOP_KEY_BACK);
	press(&st, TOP_KEY_BACK);
	CHECK(!strcmp(st.edit, ""));
	for (int i = 0; i < 1000; i++)
		press(&st, 'x');
	CHECK_EQ(strlen(st.edit), TOP_FILTER_MAX - 1);
	top_state_fini(&st);
}

TEST(enter_narrows_and_escape_goes_back)
{
	struct top_state st;

	start(&st);
	press(&st, '3');
	CHECK(on_row(&st, ""));
	press(&st, TOP_KEY_DOWN);
	press(&st, TOP_KEY_ENTER);	/* container c0ffee */
	CHECK_EQ(top_level(&st)->view, TOP_PROCESSES);
	CHECK(st.table.n == 1 && st.table.rows[0].pid == 11);
	press(&st, TOP_KEY_ENTER);	/* process 11 */
	CHECK_EQ(top_level(&st)->view, TOP_FUNCTIONS);
	CHECK_EQ(st.table.events, 3);
	CHECK(strstr(top_level(&st)->title, "11"));
	press(&st, 's');
	CHECK(on_row(&st, "main"));
	press(&st, TOP_KEY_ENTER);	/* main */
	CHECK_EQ(top_level(&st)->view, TOP_AROUND);
	CHECK_EQ(st.table.n, 3);
	press(&st, '4');		/* of the same process */
	CHECK_EQ(st.table.n, 1);
	CHECK_EQ(st.depth, 2);
	press(&st, TOP_KEY_ESCAPE);
	press(&st, TOP_KEY_BACK);
	CHECK_EQ(st.depth, 0);
	CHECK_EQ(st.table.n, 2);
	press(&st, TOP_KEY_ESCAPE);
	CHECK_EQ(st.depth, 0);
	top_state_fini(&st);
}

/* Where it is cut, it is cut between characters, some of which have three bytes a cell. */
TEST(a_title_has_whole_characters)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 10, "app", "app"), v;
	char name[60 * 3 + 1] = "", want[60 * 3] = "around ";
	struct top_state st;
	void *data;
	size_t len;

	for (int i = 0; i < 60; i++)
		strcat(name, "\xe2\x86\x92");
	v = frame(b, BATCH_FRAME_NATIVE, name, 0, 0x10);
	event(b, p, 10, "app", STOP_COMPLETE, &v, 1, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK(setenv("LC_ALL", "C.UTF-8", 1) == 0 && top_text_locale());
	top_state_init(&st, TOP_FUNCTIONS, true, TOP_SPAN_NS);
	CHECK_EQ(top_state_batch(&st, data, len, 1), 0);
	free(data);
	top_state_refresh(&st, 0);
	press(&st, TOP_KEY_ENTER);
	memcpy(want + strlen(want), name, 47 * 3);
	strcat(want, "~");
	CHECK_STR(top_level(&st)->title, want);
	top_state_fini(&st);
}

/* A filter is of what was shown. */
TEST(enter_takes_the_filter_away)
{
	struct top_state st;

	start(&st);
	type(&st, "/main");
	press(&st, TOP_KEY_ENTER);
	CHECK(st.table.n == 1 && st.filter.text[0]);
	press(&st, TOP_KEY_ENTER);
	CHECK_EQ(top_level(&st)->view, TOP_AROUND);
	CHECK(!st.filter.text[0]);
	CHECK_EQ(st.table.n, 3);
	top_state_fini(&st);
}

TEST(nothing_can_be_entered_before_anything_came)
{
	struct top_state st;

	top_state_init(&st, TOP_FUNCTIONS, true, TOP_SPAN_NS);
	press(&st, TOP_KEY_ENTER);
	press(&st, TOP_KEY_DOWN);
	press(&st, TOP_KEY_ENTER);
	CHECK(st.depth == 0 && st.selected == 0 && st.table.n == 0);
	top_state_fini(&st);
}

TEST(pause_keeps_what_is_shown)
{
	struct top_state st;
	struct batch b;
	void *data = sample_batch(&b);

	start(&st);
	press(&st, 'p');
	CHECK_EQ(top_state_batch(&st, data, b.hdr->bytes, 7), 0);
	top_state_refresh(&st, 100 * NSEC_PER_SEC);
	CHECK(st.paused && st.table.events == 7);
	press(&st, '2');
	CHECK_EQ(st.table.n, 4);
	press(&st, ' ');
	CHECK(!st.paused);
	CHECK_EQ(top_state_batch(&st, data, b.hdr->bytes, 7), 0);
	press(&st, '+');
	CHECK_EQ(st.table.events, 14);
	CHECK_EQ(top_state_batch(&st, data, b.hdr->bytes, 8), -EPROTO);
	free(data);
	top_state_fini(&st);
}

TEST(windows_have_ends)
{
	struct top_state st;

	start(&st);
	for (int i = 0; i < 5; i++)
		press(&st, '+');
	CHECK_EQ(top_windows[st.window], 60);
	for (int i = 0; i < 5; i++)
		press(&st, '-');
	CHECK_EQ(top_windows[st.window], 5);
	press(&st, '?');
	CHECK(st.help);
	press(&st, 'x');
	CHECK(!st.help && !st.quit);
	press(&st, 'q');
	CHECK(st.quit);
	top_state_fini(&st);
}

TEST(selection_follows_its_row)
{
	struct top_state st;
	uint64_t id;

	start(&st);
	press(&st, TOP_KEY_DOWN);
	CHECK_EQ(st.selected, 1);
	id = st.table.rows[st.selected].id;
	press(&st, 'r');
	CHECK_EQ(st.table.rows[st.selected].id, id);
	CHECK_EQ(st.selected, 4);
	press(&st, TOP_KEY_END);
	CHECK_EQ(st.selected, 5);
	press(&st, TOP_KEY_DOWN);
	CHECK_EQ(st.selected, 5);
	press(&st, TOP_KEY_HOME);
	CHECK(st.selected == 0 && st.selected_id == 0);
	press(&st, TOP_KEY_UP);
	CHECK_EQ(st.selected, 0);
	top_state_fini(&st);
}

/* Any keys in any order: the sanitizers judge. */
TEST(a_cat_on_the_keyboard)
{
	static const int keys[] = {
		'1', '2', '3', '4', '\t', 's', 'r', '/', 'p', '+', '-', 'a',
		TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_PAGE_DOWN, TOP_KEY_PAGE_UP,
		TOP_KEY_ENTER, TOP_KEY_ENTER, TOP_KEY_ENTER, TOP_KEY_ESCAPE,
		TOP_KEY_BACK, TOP_KEY_END, TOP_KEY_HOME, TOP_KEY_LEFT, '?',
	};
	struct top_state st;
	struct batch b;
	void *data = sample_batch(&b);
	uint64_t x = 1;

	start(&st);
	for (int i = 0; i < 20000; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		press(&st, keys[(x >> 33) % (sizeof(keys) / sizeof(keys[0]))]);
		CHECK(st.table.n == 0 || st.selected < st.table.n);
		CHECK(st.depth < TOP_LEVELS);
		if (i % 500 == 0)
			CHECK_EQ(top_state_batch(&st, data, b.hdr->bytes, 7),
				 0);
		if (i % 500 == 0)
			top_state_refresh(&st, 0);
	}
	free(data);
	top_state_fini(&st);
}

/* --- text ----------------------------------------------------------------------- */

static const char *shown(const char *s, size_t len, size_t cells, bool utf8,
			 size_t *used)
{
	static char out[TOP_TEXT_MAX];

	*used = top_text((struct top_str){ s, len }, utf8, cells, out,
			 cells * 4 + 1);
	CHECK(*used <= cells);
	CHECK(strlen(out) <= cells * 4);
	return out;
}

static bool shows(const char *s, size_t cells, const char *want, size_t width)
{
	size_t used;
	const char *got = shown(s, strlen(s), cells, true, &used);

	if (strcmp(got, want) || used != width)
		printf("# got \"%s\", %zu cells\n", got, used);
	return !strcmp(got, want) && used == width;
}

TEST(text_is_cut_and_escaped)
{
	CHECK(setenv("LC_ALL", "C.UTF-8", 1) == 0 && top_text_locale());
	CHECK(shows("main", 10, "main", 4));
	CHECK(shows("main", 4, "main", 4));
	CHECK(shows("main", 3, "ma~", 3));
	CHECK(shows("main", 1, "~", 1));
	CHECK(shows("main", 0, "", 0));
	CHECK(shows("", 5, "", 0));
	CHECK(shows("\x1b[2J\x07", 20, "\\x1b[2J\\x07", 11));
	CHECK(shows("\x1b[2J", 4, "~", 1));
	CHECK(shows("a\x7f\n\t", 20, "a\\x7f\\x0a\\x09", 13));
	/* C1 controls, marks of direction, accents that join */
	CHECK(shows("\xc2\x9b" "2J", 20, "\\u{9b}2J", 8));
	CHECK(shows("\xe2\x80\xae" "evil", 20, "\\u{202e}evil", 12));
	CHECK(shows("a\xcc\x81", 20, "a\\u{301}", 8));
	/* wide ones take two cells, and are never cut in half */
	CHECK(shows("\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97",
		    4));
	CHECK(shows("\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2~", 3));
	CHECK(shows("\xe6\xbc\xa2\xe5\xad\x97", 2, "~", 1));
	CHECK(shows("\xc3\xa4", 5, "\xc3\xa4", 1));
	/* no UTF-8 */
	CHECK(shows("\xff\xc3", 20, "\\xff\\xc3", 8));
}

TEST(without_utf8_there_is_only_ascii)
{
	size_t used;

	CHECK(!strcmp(shown("\xc3\xa4x", 3, 20, false, &used), "\\u{e4}x"));
	CHECK_EQ(used, 7);
}

TEST(no_bytes_make_a_control_character)
{
	uint64_t x = 7;
	char in[64];
	size_t used;

	for (int i = 0; i < 50000; i++) {
		size_t len = (size_t)i % sizeof(in);
		const char *out;

		for (size_t j = 0; j < len; j++) {
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			in[j] = (char)(x >> 56);
			/* UTF-8 more often than chance has it */
			if ((x & 3) == 0 && j + 1 < len) {
				in[j] = (char)(0xc2 | (x >> 40 & 1));
				in[++j] = (char)(0x80 | (x >> 50 & 0x3f));
			}
		}
		out = shown(in, len, (size_t)i % 40, i & 1, &used);
		for (; *out; out++) {
			CHECK((unsigned char)*out >= 0x20 && *out != 0x7f);
			CHECK((unsigned char)out[0] != 0xc2 ||
			      (unsigned char)out[1] >= 0xa0);
		}
	}
}

static const char *json_of(struct top_state *st, uint32_t n)
{
	static char text[8192];
	const struct top_head head = { "host", 3, 2, 7 * NSEC_PER_SEC };
	FILE *to = fmemopen(text, sizeof(text), "w");

	CHECK(to != NULL);
	CHECK_EQ(top_json(st, &head, n, to), 0);
	fclose(to);
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
	return text;
}

TEST(a_table_is_a_line_of_json)
{
	struct top_state st;
	const char *text;

	start(&st);
	text = json_of(&st, 1);
	CHECK(strstr(text, "{\"host\":\"host\",\"time_ms\":7000,\"view\":"
		     "\"functions\",") == text);
	CHECK(strstr(text, "\"cpus\":2,\"samples\":7,\"lost\":3,"));
	CHECK(strstr(text, "\"rows_in_all\":6,\"rows\":[{\"name\":"));
	CHECK(!strstr(text, "},{"));
	text = json_of(&st, 100);
	CHECK(strstr(text, "\"kind\":\"kernel\""));
	/* foreign names stay strings */
	CHECK(!strchr(text, '<') && !strchr(text, '\t'));
	CHECK(strstr(text, "\"source\":\"\",\"line\":0,\"inlined\":false,"));
	press(&st, '2');
	text = json_of(&st, 100);
	CHECK(strstr(text, "\"pid\":11,\"container\":\"c0ffee\","));
	press(&st, '3');
	CHECK(strstr(json_of(&st, 100), "{\"container\":\"c0ffee\",\"samples\":"));
	press(&st, '4');
	CHECK(strstr(json_of(&st, 100), "\"tid\":"));
	top_state_fini(&st);
}

/* Numbers to the right, names to the left, and no blanks at the end. */
TEST(a_table_is_text)
{
	static const char want[] =
		"trifold top - host 1970-01-01 00:00:07, processes: 7 samples in 5.0 s at 20 Hz, "
		"lost 3, 0.07 of 2 CPUs busy (3 %)\n"
		"\n"
		"CPU%  PID  PROCESS  CONTAINER\n"
		" 3.0   11  app      c0ffee\n"
		" 2.0   10  app\n";
	const struct top_head head = { "host", 3, 2, 7 * NSEC_PER_SEC };
	static char text[1024];
	struct top_state st;
	FILE *to = fmemopen(text, sizeof(text), "w");

	CHECK(to && setenv("TZ", "UTC", 1) == 0);
	tzset();
	start(&st);
	press(&st, '2');
	CHECK_EQ(top_plain(&st, &head, 2, to), 0);
	fclose(to);
	CHECK_STR(text, want);
	top_state_fini(&st);
}

TEST(how_busy_the_machine_is)
{
	struct top_table t = { .busy_s = 0.6, .seconds = 5 };
	char text[64];

	top_busy(&t, 2, text, sizeof(text));
	CHECK_STR(text, "0.12 of 2 CPUs busy (6 %)");
	top_busy(&t, 0, text, sizeof(text));
	CHECK_STR(text, "0.12 CPUs busy");
	t.seconds = 0;
	top_busy(&t, 1, text, sizeof(text));
	CHECK_STR(text, "0.00 of 1 CPU busy (0 %)");
}
