// SPDX-License-Identifier: Apache-2.0
/*
 * The table against the structs it describes, and docs/EXPORTER.md against
 * the table.  Runs in the repository's root, as make does.
 */
#include "ipc/counter_table.h"

#include <ctype.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "tests/unit/harness.h"

#define AT(member)	offsetof(struct counted, member)
#define WORDS(m)	(sizeof(((struct counted *)0)->m) / sizeof(uint64_t))

static const char *const kinds[] = { "sum", "level", "gauge" };

static const struct counter *row(size_t i)
{
	return &counter_table[i];
}

/* What no row need show: nobody's number, one that is only needed to know
 * where the others begin, and what another one equals. */
static bool exempt(size_t at, bool metric)
{
	if (at == AT(st.loader.bpf[BPF_STOP + STOP_NOT]) ||
	    at == AT(st.totals.outcomes.samples[BATCH_DELIVERED]))
		return true;
	if (at == AT(st.loader.start_ns) || at == AT(st.hub.start_ns) ||
	    at == AT(st.exporter.start_ns))
		return true;
	if (at == AT(st.loader.opener.pid) || at == AT(st.loader.opener.parent) ||
	    at == AT(sum.own))
		return true;
	/* no quantity */
	if (metric && (at == AT(st.loader.runtimes) || at == AT(st.loader.runtimes_wanted)))
		return true;
	/* the sum of the reasons */
	return metric && at == AT(sum.lost);
}

static void need_rows(const char *what, size_t from, size_t n)
{
	for (size_t at = from; at < from + n * 8; at += 8) {
		bool json = false, metric = false;

		for (size_t i = 0; i < counter_table_n; i++) {
			json |= row(i)->at == at;
			metric |= row(i)->at == at && row(i)->metric;
		}
		if (!(json || exempt(at, false)) ||
		    !(metric || exempt(at, true)))
			printf("# number %zu of %s\n", (at - from) / 8, what);
		CHECK(json || exempt(at, false));
		CHECK(metric || exempt(at, true));
	}
}

TEST(counters_are_all_in_the_table)
{
	need_rows("loader_stats", AT(st.loader), WORDS(st.loader));
	need_rows("hub_totals", AT(st.totals), WORDS(st.totals));
	need_rows("hub_stats", AT(st.hub), WORDS(st.hub));
	need_rows("exporter_stats", AT(st.exporter),
		  offsetof(struct exporter_stats, receivers) / 8);
	need_rows("account", AT(sum), WORDS(sum));
	need_rows("up", AT(loader_up), 2);
	need_rows("uptime", AT(st.uptime_ns), 1);
}

/* Those without a line of their own are in a line made by hand. */
TEST(counters_are_all_in_the_text)
{
	static const size_t by_hand[] = {
		AT(loader_up), AT(exporter_up), AT(sum.lost), AT(sum.under_way),
		AT(sum.difference), AT(sum.own), AT(st.loader.bpf[BPF_TAKEN]),
		AT(st.hub.frames_unsymbolized), AT(st.hub.complete_native),
		AT(st.loader.start_ns), AT(st.hub.start_ns),
		AT(st.exporter.start_ns),
	};

	for (size_t i = 0; i < counter_table_n; i++) {
		bool shown = false;

		for (size_t k = 0; k < sizeof(by_hand) / sizeof(by_hand[0]); k++)
			shown |= by_hand[k] == row(i)->at;
		for (size_t k = 0; k < counter_table_n; k++)
			shown |= row(k)->at == row(i)->at && row(k)->label;
		if (!shown)
			printf("# %s\n", row(i)->name);
		CHECK(shown);
		CHECK(!row(i)->rare || row(i)->label);
		CHECK(row(i)->section < SECTION__MAX);
	}
}

TEST(counters_have_names_of_their_own)
{
	static const char *const stops[] = { STOP_NAMES };
	int stop = 0;

	for (size_t i = 0; i < counter_table_n; i++) {
		CHECK(row(i)->group < GROUP__MAX && row(i)->name[0]);
		CHECK_EQ(row(i)->at % 8, 0);
		for (size_t k = 0; k < i; k++)
			CHECK(row(k)->group != row(i)->group ||
			      strcmp(row(k)->name, row(i)->name));
		if (row(i)->group == GROUP_STOPS)
			CHECK(!strcmp(row(i)->name, stops[++stop]));
	}
	CHECK_EQ(stop, STOP__MAX - 1);
}

static bool is_name(const char *s)
{
	if (!islower((unsigned char)*s))
		return false;
	return s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_.")] == '\0';
}

static bool same_point(const struct counter *a, const struct counter *b)
{
	for (int k = 0; k < METRIC_KEYS; k++) {
		if (!a->value[k] != !b->value[k] ||
		    (a->value[k] && strcmp(a->value[k], b->value[k])))
			return false;
	}
	return true;
}

static bool begins(const char *s, const char *with)
{
	size_t n = strlen(with);

	return !strncmp(s, with, n) && (!s[n] || s[n] == '.');
}

TEST(metrics_are_well_formed)
{
	for (size_t i = 0; i < counter_table_n; i++) {
		const struct metric *m = row(i)->metric;

		if (!m)
			continue;
		printf("# %s\n", m->name);
		CHECK(is_name(m->name) && m->unit[0]);
		CHECK(m->help[strlen(m->help) - 1] == '.');
		for (int k = 0; k < METRIC_KEYS; k++)
			CHECK(m->key[k] || !row(i)->value[k]);
		for (size_t k = 0; k < i; k++) {
			const struct metric *o = row(k)->metric;

			/* nor may one be the namespace of another */
			CHECK(!o || o == m || !begins(o->name, m->name));
			CHECK(!o || o == m || !begins(m->name, o->name));
			CHECK(o != m || !same_point(row(i), row(k)));
		}
	}
}

/* All but its name and number. */
TEST(receivers_numbers_are_all_in_their_table)
{
	size_t first = offsetof(struct receiver, queued);

	for (size_t at = first; at < sizeof(struct receiver); at += 8) {
		size_t rows = 0;

		for (size_t i = 0; i < receiver_table_n; i++)
			rows += receiver_table[i].at == at;
		CHECK_EQ(rows, 1);
	}
	for (size_t i = 0; i < receiver_table_n; i++) {
		const struct counter *c = &receiver_table[i];

		CHECK(c->at >= first && c->name[0] && c->label);
		CHECK(is_name(c->metric->name));
		CHECK(begins(c->metric->name, "trifold.receiver"));
		CHECK(!strcmp(c->metric->key[0], "receiver"));
		CHECK(!strcmp(c->metric->key[1], "url.full"));
		CHECK(!c->value[0] && !c->value[1]);
		CHECK(!c->metric->key[2] == !c->value[2]);
		for (size_t k = 0; k < i; k++)
			CHECK(receiver_table[k].metric != c->metric ||
			      !same_point(&receiver_table[k], c));
	}
}

static char *document(void)
{
	static char text[65536];
	FILE *f = fopen("docs/EXPORTER.md", "r");

	if (!f)
		printf("# docs/EXPORTER.md: run from the repository's root\n");
	CHECK(f != NULL);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static size_t need_lines(const char *text, const struct counter *table,
			 size_t n)
{
	size_t metrics = 0;

	for (size_t i = 0; i < n; i++) {
		const struct metric *m = table[i].metric;
		char want[512], keys[128] = "";
		bool seen = !m;

		for (size_t k = 0; k < i; k++)
			seen |= table[k].metric == m;
		if (seen)
			continue;
		metrics++;
		for (int k = 0; k < METRIC_KEYS && m->key[k]; k++) {
			strcat(keys, k ? ", " : "");
			strcat(keys, m->key[k]);
		}
		snprintf(want, sizeof(want), "\n| `%s` | %s | `%s` | %s | %s |\n",
			 m->name, kinds[m->kind], m->unit, keys, m->help);
		printf("# %s", want + 1);
		CHECK(strstr(text, want) != NULL);
	}
	return metrics;
}

TEST(metrics_document_lists_each_and_no_other)
{
	char *text = document(), *at;
	size_t listed = 0, metrics;

	metrics = need_lines(text, counter_table, counter_table_n) +
		  need_lines(text, receiver_table, receiver_table_n);
	at = strstr(text, "\n## Metrics\n");
	CHECK(at != NULL);
	while ((at = strstr(at, "\n| `"))) {
		at++;
		listed += !strncmp(at, "| `trifold.", 11) ||
			  !strncmp(at, "| `process.", 11);
	}
	CHECK_EQ(listed, metrics);
}
