// SPDX-License-Identifier: Apache-2.0
/*
 * make_batch - a real batch on standard output, for tests of exporterd
 *
 * usage: make_batch EVENTS PROCESSES STACKS DEPTH NAME_LENGTH [MILLISECONDS]
 *
 * MILLISECONDS: the time that it was sampled in, 5000.  Events go round over processes and stacks.  Stack 0 is leaf <- middle <-
 * root above DEPTH frames of the others; names have at least NAME_LENGTH
 * bytes, and about half are followed by one that is not UTF-8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/batch.h"

#define START	1700000000000000000ULL

static uint32_t text(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static uint32_t named(struct batch_builder *b, const char *name, uint32_t exe,
		      uint64_t address)
{
	struct batch_function fn = {
		.name = text(b, name), .file = text(b, "chain.c"),
		.start_line = 1,
	};
	struct batch_frame f = {
		.address = address, .exe = exe, .line = 2,
		.function = batch_function(b, &fn),
		.kind = BATCH_FRAME_NATIVE,
	};

	return batch_frame(b, &f);
}

static uint32_t chain(struct batch_builder *b, uint32_t exe)
{
	static const char *const names[] = { "leaf", "middle", "root" };
	uint32_t v[3];

	for (int i = 0; i < 3; i++)
		v[i] = named(b, names[i], exe, 0x1000 + 16 * (uint64_t)i);
	return batch_stack(b, v, 3);
}

static uint32_t random_stack(struct batch_builder *b, uint32_t exe,
			     uint32_t depth, size_t name_len)
{
	uint32_t *v = calloc(depth, sizeof(*v)), s;
	char *name = malloc(name_len + 32);

	if (!v || !name)
		exit(1);
	for (uint32_t i = 0; i < depth; i++) {
		uint64_t where = (uint64_t)rand() % 20000;
		int n = sprintf(name, "function_%llu_",
				(unsigned long long)where);

		for (; (size_t)n < name_len; n++)
			name[n] = (char)('a' + (where + (uint64_t)n) % 26);
		if (where % 2)
			name[n++] = (char)0xff;
		name[n] = '\0';
		v[i] = named(b, name, exe, 0x100000 + 16 * where);
	}
	s = batch_stack(b, v, depth);
	free(name);
	free(v);
	return s;
}

static uint32_t process(struct batch_builder *b, uint32_t i)
{
	struct batch_resource r = {
		.pid = 1000 + i, .exe_path = text(b, "/usr/bin/prog"),
		.exe_name = text(b, "prog"), .comm = text(b, "prog"),
		.start_ns = START - 1000,
	};

	return batch_resource(b, &r);
}

static uint32_t thread(struct batch_builder *b, uint32_t i)
{
	struct batch_attr a = {
		.tid = 1000 + i, .thread_name = text(b, "worker"), .cpu = i % 4,
	};

	return batch_attr(b, &a);
}

int main(int argc, char **argv)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t v[5], *stacks, exe;
	void *data;
	size_t len;
	uint64_t span = 5000000000ULL;

	if (argc > 6)
		span = strtoull(argv[6], NULL, 10) * 1000000;
	if (argc < 6 || !b)
		return 2;
	for (int i = 0; i < 5; i++)
		v[i] = (uint32_t)strtoul(argv[i + 1], NULL, 10);
	stacks = calloc(v[2], sizeof(*stacks));
	exe = batch_exe(b, &(struct batch_exe){
		.path = text(b, "/usr/bin/prog"),
		.build_id = text(b, "0123456789abcdef"),
		.file_id = { 1, 2, 3 } });
	for (uint32_t i = 0; stacks && i < v[2]; i++)
		stacks[i] = i ? random_stack(b, exe, v[3], v[4]) :
			chain(b, exe);
	for (uint32_t i = 0; stacks && i < v[0]; i++)
		batch_event(b, stacks[i % v[2]], thread(b, i % v[1]),
			    process(b, i % v[1]), STOP_COMPLETE, START + i);
	if (batch_builder_finish(b, START, START + span, &data, &len))
		return 1;
	return fwrite(data, 1, len, stdout) == len && fflush(stdout) == 0 ?
		0 : 1;
}
