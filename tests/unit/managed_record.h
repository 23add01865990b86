/* SPDX-License-Identifier: Apache-2.0 */
/* managed_record - records with frames of an interpreter, for tests of the hub */
#ifndef TESTS_MANAGED_RECORD_H
#define TESTS_MANAGED_RECORD_H

#include <string.h>

#include "bpf/runtime.h"
#include "symbolizerd/knowledge/record.h"
#include "tests/unit/harness.h"

struct managed_record {
	struct trace_rec rec;
	uint64_t words[REC_WORDS];
};

static struct managed_record made_record;

static inline void made_begin(uint32_t tgid)
{
	made_record.rec = (struct trace_rec){
		.len = sizeof(made_record.rec), .kind = REC_SAMPLE, .stop = STOP_COMPLETE,
		.version = REC_VERSION, .process = { 5, tgid, 1 },
	};
}

static inline void made_word(uint64_t w)
{
	CHECK(made_record.rec.n_kernel + made_record.rec.n_user < REC_WORDS);
	made_record.words[made_record.rec.n_kernel + made_record.rec.n_user] = w;
	if (FRAME_KIND(w) == FRAME_KERNEL && !made_record.rec.n_user)
		made_record.rec.n_kernel++;
	else
		made_record.rec.n_user++;
	made_record.rec.len += 8;
}

static inline void made_text(uint32_t which, uint32_t form, uint64_t place,
			     const void *bytes, size_t len)
{
	uint64_t words[FRAME_MORE_MAX] = { 0 };
	size_t n = (len + 7) / 8;

	if (len)
		memcpy(words, bytes, len);
	made_word(FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, TEXT_NUMBER(which, form), place), n));
	for (size_t i = 0; i < n; i++)
		made_word(words[i]);
}

static inline void made_owner(uint32_t uid)
{
	made_record.rec.uid = uid;
}

static inline void made_names(const char *name, const char *file, uint32_t line)
{
	made_text(TEXT_NAME, 0, line, name, strlen(name));
	if (file)
		made_text(TEXT_FILE, 0, 0, file, strlen(file));
}

static inline void made_frame(uint64_t function, uint32_t cookie, uint32_t at)
{
	made_word(MANAGED_WORD(RUNTIME_PYTHON, cookie, at));
	made_word(function);
}

#endif /* TESTS_MANAGED_RECORD_H */
