/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary - the seven tables of a ProfilesDictionary, made of a batch
 *
 * Elements are added when they are needed, so none is unused; equal ones share an
 * index, so there are no duplicates; index 0 is the empty element of each table
 * (opentelemetry-proto 1.11.0, profiles.proto).
 */
#ifndef PROFILE_FORMATS_DICTIONARY_H
#define PROFILE_FORMATS_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/protobuf.h"
#include "ipc/batch.h"
#include "profile/texts.h"

enum dict_field {		/* fields of ProfilesDictionary */
	DICT_MAPPING = 1,
	DICT_LOCATION,
	DICT_FUNCTION,
	DICT_LINK,
	DICT_STRING,
	DICT_ATTRIBUTE,
	DICT_STACK,
	DICT__MAX
};

#define DICT_LITERALS	16	/* more are looked up each time */

struct dict {
	const struct batch *b;
	struct texts table[DICT__MAX];	/* encoded elements, tags included */
	uint32_t *strings, *exes, *functions, *frames, *stacks;
				/* by index in the batch: index here; 0: not yet */
	uint64_t *limits;	/* by executable: above every address in it */
	uint32_t types[BATCH_FRAME__KINDS];	/* attributes; 0: not yet */
	struct {
		const char *text;
		uint32_t index;
	} literals[DICT_LITERALS];
	unsigned int n_literals;
	bool bare, nameless;	/* of otlp_how, set by the caller; bare includes
				 * nameless */
	struct buffer text;	/* of a placeholder */
	bool failed;		/* memory was short: do not use the result */
};

/* b, opened, must outlive d.  Returns 0 or -errno; dict_fini() either way. */
int dict_init(struct dict *d, const struct batch *b);
void dict_fini(struct dict *d);

/* Add the locations of the first depth[stack] frames of each of the batch's stacks,
 * and with them their mappings, functions and strings, in an order that takes few
 * bytes. */
void dict_locations(struct dict *d, const uint32_t *depth);

/* Return an index; 0 also on failure.  A literal is remembered by its address. */
uint32_t dict_literal(struct dict *d, const char *s);
/* depth: number of frames, always the same for one stack. */
uint32_t dict_stack(struct dict *d, uint32_t stack, uint32_t depth);

/* Attributes of a sample (thread, CPU, what ended its stack early): returns how
 * many. */
#define DICT_SAMPLE_ATTRS	4
unsigned int dict_sample_attrs(struct dict *d, uint32_t attr, uint32_t stop,
			       uint32_t ret[DICT_SAMPLE_ATTRS]);

/* The attribute of a key, which is a literal, with a value. */
uint32_t dict_attr_text(struct dict *d, const char *key, const char *s, size_t n);
uint32_t dict_attr_int(struct dict *d, const char *key, uint64_t v);

/* All tables, as the body of a ProfilesDictionary. */
void dict_write(const struct dict *d, struct buffer *w);

/* The bytes of one table in it. */
static inline size_t dict_bytes(const struct dict *d, enum dict_field which)
{
	return d->table[which].bytes.len;
}

#endif /* PROFILE_FORMATS_DICTIONARY_H */
