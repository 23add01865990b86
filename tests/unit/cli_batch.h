/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli_batch - a small batch with everything that outputs must cope with
 *
 * Two processes named "app" (pids 10 and 11), one that only its executable
 * names ("worker"), and a kernel thread.  Stacks, root first:
 *
 *	app	main;evil;do_read (kernel)		x 3, pids 10 and 11
 *	app	main;libfoo.so+0x...			x 2
 *	worker	[stack ends: no_table];goexit		x 1
 *	kworker	kthread (kernel)			x 1
 */
#ifndef TESTS_UNIT_CLI_BATCH_H
#define TESTS_UNIT_CLI_BATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stop.h"
#include "ipc/batch.h"
#include "tests/unit/harness.h"

#define EVIL "</script><img src=x onerror=alert(1)>;\"\\\n\t&"

static inline uint32_t str(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static inline uint32_t frame(struct batch_builder *b, uint32_t kind,
			     const char *name, uint32_t exe, uint64_t address)
{
	struct batch_function fn = { 0 };
	struct batch_frame f = { .kind = kind, .exe = exe, .address = address };

	if (name) {
		fn.name = str(b, name);
		f.function = batch_function(b, &fn);
	}
	return batch_frame(b, &f);
}

static inline uint32_t process(struct batch_builder *b, uint32_t pid,
			       const char *exe_name, const char *comm)
{
	struct batch_resource r = { .pid = pid };

	r.exe_name = exe_name ? str(b, exe_name) : 0;
	r.comm = comm ? str(b, comm) : 0;
	r.container_id = pid == 11 ? str(b, "c0ffee") : 0;
	r.unit = pid == 11 || pid == 12 ? str(b, "web") : 0;
	return batch_resource(b, &r);
}

static inline void event(struct batch_builder *b, uint32_t resource,
			 uint32_t tid, const char *thread, uint32_t stop,
			 const uint32_t *frames, uint32_t n, uint64_t time)
{
	struct batch_attr a = { .tid = tid, .thread_name = str(b, thread) };

	batch_event(b, batch_stack(b, frames, n), batch_attr(b, &a), resource,
		    stop, time);
}

/* The batch opened in *ret; the memory it borrows, to be freed. */
static inline void *sample_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_exe e = { 0 };
	uint32_t app, lib, main_, evil, rd, nosym, go, kt, p[4];
	void *data;
	size_t len;

	CHECK(b != NULL);
	e.path = str(b, "/usr/bin/app");
	e.build_id = str(b, "abcdef0123456789abcdef0123456789abcdef01");
	app = batch_exe(b, &e);
	e.path = str(b, "/usr/lib/libfoo.so");
	e.build_id = 0;
	lib = batch_exe(b, &e);
	main_ = frame(b, BATCH_FRAME_NATIVE, "main", app, 0x1000);
	evil = frame(b, BATCH_FRAME_NATIVE, EVIL, app, 0x2000);
	rd = frame(b, BATCH_FRAME_KERNEL, "do_read", 0, 0x10);
	nosym = frame(b, BATCH_FRAME_NATIVE, NULL, lib, 0x1234);
	go = frame(b, BATCH_FRAME_GO, "goexit", app, 0x3000);
	kt = frame(b, BATCH_FRAME_KERNEL, "kthread", 0, 0x20);
	p[0] = process(b, 10, "app", "app");
	p[1] = process(b, 11, "app", "app");
	p[2] = process(b, 12, "worker", "worker");
	p[3] = process(b, 13, NULL, "kworker");
	event(b, p[0], 10, "app", STOP_COMPLETE,
	      (uint32_t[]){ rd, evil, main_ }, 3, 100);
	event(b, p[0], 17, "thread-7", STOP_COMPLETE,
	      (uint32_t[]){ rd, evil, main_ }, 3, 200);
	event(b, p[1], 18, "thread-8", STOP_COMPLETE,
	      (uint32_t[]){ rd, evil, main_ }, 3, 300);
	event(b, p[1], 18, "thread-8", STOP_COMPLETE,
	      (uint32_t[]){ nosym, main_ }, 2, 400);
	event(b, p[1], 18, "thread-8", STOP_COMPLETE,
	      (uint32_t[]){ nosym, main_ }, 2, 500);
	event(b, p[2], 19, "pool-1", STOP_NO_TABLE, &go, 1, 600);
	event(b, p[3], 13, "kworker", STOP_NO_USER, &kt, 1, 700);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* One sample: root;outer;middle;inner, of which the last two are inlined into
 * each other and into outer, at 0x1000 of /bin/app; lines 1, 10, 20, 30 of
 * NAME.c. */
static inline void *inlined_batch(struct batch *ret)
{
	static const char *const names[] = { "root", "outer", "middle", "inner" };
	struct batch_builder *b = batch_builder_new(20);
	struct batch_exe e = { .path = str(b, "/bin/app") };
	uint32_t v[4], stack[2];
	char file[16];
	void *data;
	size_t len;

	CHECK(b != NULL);
	e.build_id = str(b, "abcdef");
	e.path = batch_exe(b, &e);
	for (uint32_t i = 0; i < 4; i++) {
		struct batch_function fn = { .name = str(b, names[i]) };
		struct batch_frame f = {
			.kind = BATCH_FRAME_GO, .exe = e.path,
			.address = i ? 0x1000 : 0x2000, .line = i ? 10 * i : 1,
		};

		snprintf(file, sizeof(file), "%s.c", names[i]);
		fn.file = str(b, file);
		f.function = batch_function(b, &fn);
		f.inlined = i > 1 ? i - 1 : 0;
		f.into = i > 1 ? v[i - 1] : 0;
		v[i] = batch_frame(b, &f);
	}
	stack[0] = v[3];
	stack[1] = v[0];
	event(b, process(b, 10, "app", "app"), 10, "app", STOP_COMPLETE, stack,
	      2, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* A process, its thread and what they run, of none of which a name is known:
 * code of a file, of no file, of the kernel. */
static inline void *nameless_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t exe = batch_exe(b, &(struct batch_exe){
		.path = str(b, "/usr/lib/libfoo.so") });
	uint32_t stack[] = {
		frame(b, BATCH_FRAME_KERNEL, NULL, 0, 1),
		frame(b, BATCH_FRAME_NATIVE, NULL, exe, 0x10),
		frame(b, BATCH_FRAME_NATIVE, NULL, exe, 0x20),
		frame(b, BATCH_FRAME_NATIVE, NULL, 0, 0x30),
		frame(b, BATCH_FRAME_UNKNOWN, NULL, 0, 0x40),
	};
	size_t len;
	void *data;

	event(b, process(b, 9, NULL, NULL), 10, "", STOP_COMPLETE, stack, 5, 1);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* One sample of a::f<...>, whose name was demangled, called by g, a part of a
 * function. */
static inline void *mangled_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_function fn[] = {
		{ .name = str(b, "a::f<...>"), .system_name = str(b, "_Z1f"),
		  .full_name = str(b, "void a::f<int>(int)") },
		{ .name = str(b, "g"), .full_name = str(b, "g.cold") },
	};
	uint32_t stack[2];
	void *data;
	size_t len;

	CHECK(b != NULL);
	for (uint32_t i = 0; i < 2; i++)
		stack[i] = batch_frame(b, &(struct batch_frame){
			.kind = BATCH_FRAME_NATIVE, .address = 16 * i,
			.function = batch_function(b, &fn[i]) });
	event(b, process(b, 10, "app", "app"), 10, "app", STOP_COMPLETE, stack,
	      2, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

#endif /* TESTS_UNIT_CLI_BATCH_H */
