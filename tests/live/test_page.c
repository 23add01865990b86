// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a made-up profile in any format: test_page FILE STACKS [START]
 *
 * STACKS distinct stacks, their names partly hostile, the same each time, in
 * ten seconds from START on (since the epoch).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/formats.h"

static const char *const processes[] = {
	"postgres", "java", "chromium", "</script><img src=x onerror=alert(1)>",
	"gcc", "\xf0\x9f\x94\xa5 fire", "a;b\nc",
};

static uint64_t state = 1;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

static uint32_t text(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static uint32_t make_frame(struct batch_builder *b, uint32_t exe, uint32_t i)
{
	static const char *const forms[] = {
		"parse_value_%u", "std::vector<int>::push_back<%u>(int&&)",
		"<script>alert(%u)</script>", "runtime.mcall%u",
		"\" onmouseover=\"alert(%u)", "exec_simple_query_%u",
	};
	struct batch_function fn = { 0 };
	struct batch_frame f = { .exe = exe, .address = 64 * i };
	char name[80];

	f.kind = i % 11 == 0 ? BATCH_FRAME_KERNEL : i % 7 == 3 ?
		BATCH_FRAME_GO : i % 13 == 5 ? BATCH_FRAME_UNKNOWN :
		BATCH_FRAME_NATIVE;
	if (f.kind == BATCH_FRAME_KERNEL || f.kind == BATCH_FRAME_UNKNOWN)
		f.exe = 0;
	if (f.kind != BATCH_FRAME_UNKNOWN && i % 17) {
		snprintf(name, sizeof(name), forms[i % 6], i);
		fn.name = text(b, name);
		f.function = batch_function(b, &fn);
	}
	return batch_frame(b, &f);
}

static void fill(struct batch_builder *b, uint32_t stacks, uint64_t start_ns)
{
	uint32_t frames[400], stack[60], exe[5];

	for (uint32_t i = 0; i < 5; i++) {
		struct batch_exe e = { 0 };
		char path[64];

		snprintf(path, sizeof(path), "/usr/lib/lib<b>%u.so", i);
		e.path = text(b, path);
		exe[i] = batch_exe(b, &e);
	}
	for (uint32_t i = 0; i < 400; i++)
		frames[i] = make_frame(b, exe[i % 5], i);
	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t who = pick(7), n = 12 + pick(48), at = who * 31;
		struct batch_resource r = { .pid = 100 + who };
		struct batch_attr a = { .tid = 100 + who };

		r.comm = a.thread_name = text(b, processes[who]);
		r.container_id = text(b, who < 2 ? "c0ffee<b>" : "");
		if (i % 3 == 1) {
			a.tid += 1000;
			a.thread_name = text(b, "worker<i>");
		}
		for (uint32_t k = n; k-- > 0; ) {
			stack[k] = frames[at % 400];
			at = at * 3 + 1 + (pick(5) == 0 ? pick(40) : 0);
		}
		for (uint32_t k = 1 + pick(3); k > 0; k--)
			batch_event(b, batch_stack(b, stack, n),
				    batch_attr(b, &a), batch_resource(b, &r),
				    i % 50 ? STOP_COMPLETE : STOP_NO_TABLE,
				    start_ns + i * 9000000000ULL / stacks + k);
	}
}

static int put(const char *path, const struct batch *b)
{
	struct profile_info info = {
		.host = "<b>host</b>", .kernel = "6.1.0", .machine = "x86_64",
		.cpus = 8,
		.command = "</script><script>alert(2)</script>",
		.account = { .known = 1, .reasons = "ring_full 3" },
	};
	struct buffer out = { 0 };
	FILE *f;
	int r;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		info.account.delivered += b->samples[i].n;
	info.account.lost = 3;
	info.account.taken = info.account.delivered + 3;
	r = format_at(format_of(path))->encode(b, &info, &out);
	f = r ? NULL : fopen(path, "w");
	if (!f || (out.len && fwrite(out.data, 1, out.len, f) != out.len) ||
	    fclose(f))
		return 1;
	printf("%llu\n", (unsigned long long)info.account.delivered);
	free(out.data);
	return 0;
}

int main(int argc, char **argv)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint64_t start_ns = (argc == 4 ? strtoull(argv[3], NULL, 10) :
			     1795000000) * 1000000000ULL;
	struct batch b;
	size_t len;
	void *mem;
	int r;

	if (argc < 3 || argc > 4 || !bb)
		return 2;
	fill(bb, (uint32_t)atoi(argv[2]), start_ns);
	if (batch_builder_finish(bb, start_ns, start_ns + 10000000000ULL,
				 &mem, &len) ||
	    batch_open(mem, len, &b))
		return 1;
	r = put(argv[1], &b);
	batch_builder_free(bb);
	free(mem);
	return r;
}
