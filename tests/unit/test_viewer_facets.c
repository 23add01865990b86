// SPDX-License-Identifier: Apache-2.0
/* The lists of values in which the page filters: what they show, and what they cost. */
#include "viewer/server/facets.h"

#include "tests/unit/cli_batch.h"
#include "viewer/server/segment.h"
#include "viewer/server/select.h"

#define SECOND	1000000000ULL
#define START	(1700000000ULL / 60 * 60 * SECOND)

/* One second from START on, one sample of a process with this executable, in this
 * container. */
static struct segment *segment_of(const char *path, const char *container)
{
	struct batch_builder *b = batch_builder_new(19);
	struct batch_resource r = {
		.pid = 1, .exe_path = str(b, path), .container_id = str(b, container),
	};
	uint32_t v = frame(b, BATCH_FRAME_NATIVE, "f", 0, 16);
	struct segment *s;
	size_t len;
	void *data;

	event(b, batch_resource(b, &r), 1, "t", STOP_COMPLETE, &v, 1, START);
	CHECK_EQ(batch_builder_finish(b, START, START + SECOND, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(segment_new(data, len, &s), 0);
	return s;
}

static void check_label(const char *key, const char *value, const char *label)
{
	const struct query q = { .from_ns = START, .to_ns = START + SECOND };
	struct segment *s = segment_of(value, value);
	struct store st = { .v = &s, .n = 1 };
	struct buffer out = { 0 };
	char want[300];

	CHECK_EQ(facets_encode(&st, &q, 100, &out), 0);
	buffer_add(&out, "", 1);
	snprintf(want, sizeof(want), "\"%s\":[\n[\"%s\",\"%s\",1]]", key, value,
		 label);
	if (!strstr((char *)out.data, want))
		printf("# %s\n", out.data);
	CHECK(strstr((char *)out.data, want));
	free(out.data);
	segment_free(s);
}

TEST(facets_shorten_paths_and_containers)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	char path[100], label[100];

	check_label("executable", "/usr/bin/prog", "prog");
	check_label("executable", "prog", "prog");
	check_label("executable", "/usr/bin/", "/usr/bin/");
	check_label("executable", "/usr/bin/gr\xc3\xbc", "gr\xc3\xbc");
	check_label("container", "0123456789abcdef", "0123456789ab");
	check_label("container", "0123456789a\xc3\xbc", "0123456789a");
	/* at most 64 bytes, and no part of a character */
	snprintf(path, sizeof(path), "/%sx", long_name);
	check_label("executable", path, long_name);
	snprintf(path, sizeof(path), "/%.62s\xc3\xbc", long_name);
	check_label("executable", path, path + 1);
	snprintf(path, sizeof(path), "/%.63s\xc3\xbc", long_name);
	snprintf(label, sizeof(label), "%.63s", long_name);
	check_label("executable", path, label);
}

static size_t largest;		/* that realloc() was asked for */

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
	if (n > largest)
		largest = n;
	return __real_realloc(p, n);
}

/* A value that many segments have is kept once. */
TEST(facets_take_no_memory_for_values_that_are_known)
{
	const struct query q = { .from_ns = START, .to_ns = START + SECOND };
	struct segment *v[100];
	struct store s = { .v = v, .n = 1 };
	struct buffer out = { 0 };
	static char path[2001];
	size_t once;

	memset(path, 'x', sizeof(path) - 1);
	v[0] = segment_of(path, "");
	for (size_t i = 1; i < 100; i++)
		v[i] = v[0];
	largest = 0;
	CHECK_EQ(facets_encode(&s, &q, 100, &out), 0);
	once = largest;
	CHECK(once >= 2000);
	free(out.data);
	out = (struct buffer){ 0 };
	largest = 0;
	s.n = 100;
	CHECK_EQ(facets_encode(&s, &q, 100, &out), 0);
	CHECK(largest <= 2 * once);
	free(out.data);
	segment_free(v[0]);
}
