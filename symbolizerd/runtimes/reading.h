/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading - what a language reads in the texts of a record: names and lines
 *
 * A language that has a rule of its own has a row RUNTIME_READING in bpf/runtimes.def and a
 * `const struct runtime_reading runtime_reading_NAME` in symbolizerd/runtimes/NAME/reading.c.
 * For others a name is what its text says, and there are no lines, unless the place is one.
 *
 * The hub calls this: it reads the bytes that it is given and nothing else.  They are
 * foreign: any bytes give some name or line, or none, in time that their number bounds.
 */
#ifndef SYMBOLIZERD_RUNTIMES_READING_H
#define SYMBOLIZERD_RUNTIMES_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"

/* With the NULs.  Texts are UTF-8 of up to 366 bytes each (bpf/frame.h). */
#define TEXT_NAME_MAX	768
#define TEXT_FULL_MAX	2048

struct runtime_reading {
	/* The name and the full name of a function by its texts: class, or what else it belongs
	 * to, its own name, and its signature ("": there is none).  Asked if there is a class. */
	void (*name)(char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX], const char *class,
		     const char *function, const char *signature);
	/* The line at a place, by a table of lines.  form: the table's (TEXT_LINES); whole: it
	 * is not cut off; first: the function's first line.  0: there is none, or the table ends
	 * before it.  One pass over the table. */
	uint32_t (*line)(uint32_t form, const uint8_t *table, size_t len, bool whole,
			 uint32_t first, uint32_t at);
	/* Bytes of the table that are used, where its bytes say that, and the first line. */
	size_t (*end)(uint32_t form, const uint8_t *table, size_t len, uint32_t *first);
};

/* The same by enum runtime, or any other number. */
void reading_name(uint32_t runtime, char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX],
		  const char *class, const char *function, const char *signature);
uint32_t reading_line(uint32_t runtime, uint32_t form, const uint8_t *table, size_t len,
		      bool whole, uint32_t first, uint32_t at);
size_t reading_end(uint32_t runtime, uint32_t form, const uint8_t *table, size_t len,
		   uint32_t *first);

#define RUNTIME_READING(id, name)	extern const struct runtime_reading runtime_reading_##name;
#include "bpf/runtimes.def"

#endif /* SYMBOLIZERD_RUNTIMES_READING_H */
