/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_table - the line of an address in an interpreted function
 *
 * The tables are those of interpreters, as bytes; enum text_lines (bpf/frame.h) is
 * their form.  They are foreign: any bytes give some line, or none.
 */
#ifndef SYMBOLIZERD_SYMBOLS_LINE_TABLE_H
#define SYMBOLIZERD_SYMBOLS_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * first: the function's first line; at: bytes from the start of its code; whole: the
 * table is not cut off.  0: there is no line, or the table ends before it.  Takes one
 * pass over the table.
 */
uint32_t line_table_line(uint32_t form, const uint8_t *table, size_t len,
			 bool whole, uint32_t first, uint32_t at);

/* Bytes of the table that are used: HotSpot's may end before them. */
size_t line_table_length(uint32_t form, const uint8_t *table, size_t len);

#endif /* SYMBOLIZERD_SYMBOLS_LINE_TABLE_H */
