// SPDX-License-Identifier: Apache-2.0
/*
 * Any parameters of any question to the live page's API, below HTTP: a first
 * byte chooses the path, then "name=value&..." of any bytes.  Whatever comes is
 * answered with a status that docs/VIEWER.md has.
 */
#include "tests/fuzz/viewer_store.h"
#include "viewer/server/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	"info", "profile", "diff", "timeline", "facets", "download", "lanes",
};

/* Points into text, which is of exact size. */
static void split(const char *text, size_t len, struct params *p)
{
	while (len && !p->over) {
		const char *end = memchr(text, '&', len), *eq;
		size_t n = end ? (size_t)(end - text) : len;

		if (p->n == PARAMS_MAX) {
			p->over = true;
			break;
		}
		eq = memchr(text, '=', n);
		p->v[p->n++] = (struct param){
			text, eq ? eq + 1 : "", eq ? (size_t)(eq - text) : n,
			eq ? n - 1 - (size_t)(eq - text) : 0,
		};
		text += n + !!end;
		len -= n + !!end;
	}
}

static void judge(const struct viewer_answer *a)
{
	CHECK(a->status == 200 || a->status == 400 || a->status == 413);
	CHECK(a->type && !a->body.failed);
	CHECK(a->body.len || a->status == 200);	/* no stacks: no lines */
	/* it becomes part of a header */
	for (const char *c = a->file; *c; c++)
		CHECK(*c >= 0x20 && *c < 0x7f && *c != '"');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store store;
	struct params p = { .n = 0 };
	struct viewer_answer answer;
	struct api api;
	char path[32], *text;

	if (!size)
		return 0;
	snprintf(path, sizeof(path), "/api/v1/%s",
		 names[data[0] % (sizeof(names) / sizeof(*names))]);
	CHECK(api_knows(path));
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	split(text, size - 1, &p);
	store_of_samples(&store);
	api_init(&api, &store, NULL);
	api_get(&api, path, &p, STORE_NOW, &answer);
	judge(&answer);
	free(answer.body.data);
	store_fini(&store);
	free(text);
	return 0;
}
