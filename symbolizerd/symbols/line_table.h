/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_table - the line of a place in an interpreted function
 *
 * The tables are those of interpreters, as bytes: enum text_lines (bpf/frame.h)
 * says of which form.  They are foreign: any bytes lead to some line, or to none.
 */
#ifndef SYMBOLIZERD_SYMBOLS_LINE_TABLE_H
#define SYMBOLIZERD_SYMBOLS_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * first: the function's first line; at: bytes from the start of its code.  0: the
 * place has no line, or the table ends before it; whole: its end is there, too.
 * Takes one pass over the table.
 */
uint32_t line_table_line(uint32_t form, const uint8_t *table, size_t len,
			 bool whole, uint32_t first, uint32_t at);

/* How much of the table says something: HotSpot's may end before its bytes do. */
size_t line_table_length(uint32_t form, const uint8_t *table, size_t len);

#endif /* SYMBOLIZERD_SYMBOLS_LINE_TABLE_H */
