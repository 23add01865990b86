/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_batch - a batch with a bit of everything, and the request that is made of it */
#ifndef TESTS_UNIT_OTLP_BATCH_H
#define TESTS_UNIT_OTLP_BATCH_H

#include <errno.h>
#include <string.h>

#include "profile/formats/otlp.h"
#include "profile/formats/otlp.pb-c.h"
#include "tests/unit/harness.h"
#include "tests/unit/otlp_rules.h"

#define START	1700000000000000000ULL
#define SECOND	1000000000ULL

/* --- a batch with a bit of everything ---------------------------------------- */

/* Of a test, which is a process of its own: the batch, and the last request of it. */
static struct made {
	void *data;
	struct batch batch;
} m;
static Request *r;

static inline uint32_t text(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static inline uint32_t function(struct batch_builder *b, const char *name,
			 const char *file, uint32_t line)
{
	return batch_function(b, &(struct batch_function){
		.name = text(b, name), .file = text(b, file),
		.start_line = line });
}

static inline uint32_t frame(struct batch_builder *b, uint32_t kind, uint32_t exe,
		      uint64_t address, uint32_t fn, uint32_t line)
{
	return batch_frame(b, &(struct batch_frame){
		.address = address, .exe = exe, .function = fn, .line = line,
		.kind = kind });
}

static inline uint32_t program(struct batch_builder *b)
{
	return batch_exe(b, &(struct batch_exe){
		.path = text(b, "/usr/bin/prog"),
		.build_id = text(b, "abcdef0123"),
		.file_id = { 0xca, 0xfe } });
}

static inline uint32_t process(struct batch_builder *b, uint32_t pid)
{
	return batch_resource(b, &(struct batch_resource){
		.pid = pid, .exe_path = text(b, "/usr/bin/prog"),
		.exe_name = text(b, "prog"),
		.container_id = text(b, "0123456789abcdef"),
		.comm = text(b, "prog"),
		.start_ns = 1600000000123456789ULL });
}

static inline uint32_t thread(struct batch_builder *b, uint32_t tid, const char *name,
		       uint32_t cpu)
{
	return batch_attr(b, &(struct batch_attr){
		.tid = tid, .thread_name = text(b, name), .cpu = cpu });
}

static inline uint32_t deep_stack(struct batch_builder *b)
{
	uint32_t exe = program(b), kernel, module, go, none, v[8];

	kernel = batch_exe(b, &(struct batch_exe){ .path = text(b, "[kernel]") });
	module = batch_exe(b, &(struct batch_exe){ .path = text(b, "[ext4]") });
	go = batch_exe(b, &(struct batch_exe){ .path = text(b, "/srv/daemon"),
					       .runtime = RUNTIME_GO,
					       .runtime_id = text(b, "x/y") });
	none = batch_exe(b, &(struct batch_exe){
		.path = text(b, "/opt/odd/lib.so") });
	v[0] = frame(b, BATCH_FRAME_KERNEL, kernel, 0x12,
		     function(b, "do_sys_open", "", 0), 0);
	v[1] = frame(b, BATCH_FRAME_KERNEL, module, 0x34,
		     function(b, "ext4_map", "", 0), 0);
	v[2] = frame(b, BATCH_FRAME_NATIVE, exe, 0x1234,
		     function(b, "inner", "a.c", 10), 12);
	v[3] = frame(b, BATCH_FRAME_NATIVE, exe, 0x5678, 0, 0);
	v[4] = frame(b, BATCH_FRAME_GO, go, 0x1000,
		     function(b, "main.main", "m.go", 3), 4);
	v[5] = frame(b, BATCH_FRAME_NATIVE, none, 0x99, 0, 0);
	v[6] = frame(b, BATCH_FRAME_UNKNOWN, 0, 0x7fff00001000, 0, 0);
	v[7] = frame(b, BATCH_FRAME_CUT, 0, 0, 0, 0);
	return batch_stack(b, v, 8);
}

static inline void finish(struct batch_builder *b)
{
	size_t len;

	CHECK(batch_builder_finish(b, START, START + 5 * SECOND, &m.data,
				   &len) == 0);
	CHECK(batch_open(m.data, len, &m.batch) == 0);
	batch_builder_free(b);
}

static inline void make(void)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t deep, flat, one, two, f;

	CHECK(b);
	deep = deep_stack(b);
	f = frame(b, BATCH_FRAME_NATIVE, program(b), 0x1234,
		  function(b, "inner", "a.c", 10), 12);
	flat = batch_stack(b, &f, 1);
	/* a string that is also a word of OTLP, and one that nothing uses */
	one = thread(b, 100, "samples", 0);
	two = thread(b, 101, "thread.id", 1);
	text(b, "an orphan");
	batch_event(b, deep, one, process(b, 100), STOP_COMPLETE, START + 1);
	batch_event(b, deep, one, process(b, 100), STOP_COMPLETE, START + 2);
	batch_event(b, flat, two, process(b, 200), STOP_COMPLETE, START + 3);
	/* the same but for its end */
	batch_event(b, flat, two, process(b, 200), STOP_NO_ROW, START + 4);
	batch_event(b, flat, one, 0, STOP_COMPLETE, START + 5 * SECOND - 1);
	finish(b);
}

#define CHECK_RULES(r)							\
	do {								\
		const char *b_ = check_profcheck(r);			\
									\
		b_ = b_ ? b_ : check_receivers(r);			\
		b_ = b_ ? b_ : check_orphans(r);			\
		if (b_)							\
			printf("# broken rule: %s\n", b_);		\
		CHECK(!b_);						\
	} while (0)

static inline void __attribute__((destructor)) drop(void)
{
	if (r)
		otlp__export_profiles_service_request__free_unpacked(r, NULL);
	r = NULL;
}

static inline void __attribute__((destructor)) drop_batch(void)
{
	free(m.data);
}

/* r is the request of the batch, which keeps every rule. */
static inline void encode(const struct otlp_how *extra)
{
	struct otlp_made made;
	uint8_t *data;
	size_t len;

	drop();
	CHECK(otlp_encode_range(&m.batch, otlp_all(&m.batch), extra, &data, &len, &made) == 0);
	r = otlp__export_profiles_service_request__unpack(NULL, len, data);
	CHECK(r);
	CHECK_EQ(made.profiles, r->n_resource_profiles);
	/* what protobuf-c makes of it is what was there: no unknown fields,
	 * shortest lengths, fields in order but for sample and dictionary */
	CHECK_EQ(otlp__export_profiles_service_request__get_packed_size(r), len);
	free(data);
	CHECK_RULES(r);
}

static inline const char *attribute(const Otlp__ResourceProfiles *rp, const char *key)
{
	static char buf[32];

	for (size_t i = 0; i < rp->resource->n_attributes; i++) {
		Otlp__KeyValue *kv = rp->resource->attributes[i];

		if (strcmp(kv->key, key) != 0)
			continue;
		if (kv->value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
			return kv->value->string_value;
		snprintf(buf, sizeof(buf), "%lld",
			 (long long)kv->value->int_value);
		return buf;
	}
	return "(none)";
}

#endif /* TESTS_UNIT_OTLP_BATCH_H */
