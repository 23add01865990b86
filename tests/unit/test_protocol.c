// SPDX-License-Identifier: Apache-2.0
/*
 * docs/PROTOCOL.md against the rules: every row, both ways.  Runs in the
 * repository's root, as make does.
 */
#include "ipc/message_hub.h"
#include "ipc/rules.h"
#include "tests/unit/harness.h"

#include <ctype.h>
#include <string.h>

#define CELLS	6

static const char *const peer_names[] = {
	"loaderd", "opener", "hub", "zygote", "worker", "exporterd",
	"recorder", "status",
};
static const char *const state_names[] = { "new", "ready", "ending" };

struct row {
	char cell[CELLS][256];
};

/* Split "| a | b |" into trimmed cells; false: another number of them. */
static bool split(const char *line, struct row *row)
{
	int n = 0;

	if (*line++ != '|')
		return false;
	for (const char *end; (end = strchr(line, '|')); line = end + 1) {
		size_t len;

		while (*line == ' ')
			line++;
		len = (size_t)(end - line);
		while (len && line[len - 1] == ' ')
			len--;
		if (n == CELLS || len >= sizeof(row->cell[0]))
			return false;
		memcpy(row->cell[n], line, len);
		row->cell[n++][len] = '\0';
	}
	return n == CELLS;
}

/* "a, b" as a mask; a word that is not in the list fails the test. */
static unsigned int mask_of(const char *words, const char *const *names, int n)
{
	unsigned int mask = 0;

	while (*words) {
		size_t len = strcspn(words, ", ");
		int i = 0;

		while (i < n && (strlen(names[i]) != len ||
				 memcmp(names[i], words, len)))
			i++;
		if (i == n) {
			printf("# unknown word in '%s'\n", words);
			exit(1);
		}
		CHECK(!(mask & 1u << i));
		mask |= 1u << i;
		words += len;
		words += strspn(words, ", ");
	}
	return mask;
}

static void compare(const struct row *row, unsigned int type)
{
	const struct msg_rule *rule = msg_rule(type);
	unsigned long min, max, fds;
	char *end;

	printf("# %s\n", row->cell[0]);
	CHECK(rule != NULL);
	CHECK(!strcmp(row->cell[0], msg_type_name(type)));
	CHECK_EQ(mask_of(row->cell[1], peer_names, 8), rule->from);
	CHECK_EQ(mask_of(row->cell[2], state_names, 3), rule->states);
	min = max = strtoul(row->cell[3], &end, 10);
	if (*end == '-')
		max = strtoul(end + 1, &end, 10);
	CHECK(*end == '\0' && row->cell[3][0]);
	CHECK_EQ(min, rule->len_min);
	CHECK_EQ(max, rule->len_max);
	fds = strtoul(row->cell[4], &end, 10);
	CHECK(*end == '\0' && row->cell[4][0]);
	CHECK_EQ(fds, rule->nfds);
	CHECK(row->cell[5][0] != '\0');
}

static FILE *open_document(void)
{
	FILE *f = fopen("docs/PROTOCOL.md", "r");

	if (!f)
		printf("# docs/PROTOCOL.md: run from the repository's root\n");
	CHECK(f != NULL);
	return f;
}

TEST(protocol_document_has_every_rule_and_no_other)
{
	FILE *f = open_document();
	unsigned int type = 0;
	char line[1024];
	struct row row;

	while (fgets(line, sizeof(line), f)) {
		/* a row of messages starts with a name in capitals */
		if (split(line, &row) && isupper((unsigned char)row.cell[0][0]))
			compare(&row, ++type);
	}
	CHECK_EQ(type, MSG__MAX - 1);
	fclose(f);
}

/* The document spells out each payload; none may be forgotten. */
TEST(protocol_document_describes_every_payload)
{
	static char text[65536];
	FILE *f = open_document();
	const char *part;

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	part = strstr(text, "### Payloads");
	CHECK(part != NULL);
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		if (msg_rule(t)->len_max == 0)
			continue;
		printf("# %s\n", msg_type_name(t));
		CHECK(strstr(part, msg_type_name(t)));
	}
}

TEST(protocol_document_names_the_constants)
{
	static const struct {
		const char *text;
		unsigned long value, at;
	} numbers[] = {
		{ "version: %lu", MSG_VERSION, 0 },
		{ "at most %lu", MSG_LEN_MAX, 0 },
	};
	static char text[65536];
	FILE *f = open_document();

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char want[64];

		snprintf(want, sizeof(want), numbers[i].text,
			 numbers[i].value);
		printf("# %s\n", want);
		CHECK(strstr(text, want));
	}
}
