// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/jit_names.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizerd/symbols/jitdump.h"

/* --- perf maps ------------------------------------------------------------------ */

#define BLOCK	(256u << 10)

/* -1: not a digit. */
static int perf_map_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A number in hex and the spaces after it.  False: there is none, or it has more than
 * 64 bits. */
static bool perf_map_number(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	int digits = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (*ret = 0; s < end; s++, digits++) {
		int v = perf_map_digit(*s);

		if (v < 0 || *ret >> 60)
			break;
		*ret = *ret << 4 | (uint64_t)v;
	}
	if (!digits || s == end || *s != ' ')
		return false;
	while (s < end && *s == ' ')
		s++;
	*p = s;
	return true;
}

void perf_map_line(const char *line, size_t len, struct jit_wanted *w)
{
	const char *p = line, *end = line + len;
	uint64_t start, size;
	uint32_t i;

	if (end > p && end[-1] == '\r')
		end--;
	if (!perf_map_number(&p, end, &start) || !perf_map_number(&p, end, &size) ||
	    p == end || !size || size > JIT_SIZE_MAX || size - 1 > UINT64_MAX - start)
		return;
	for (i = jit_wanted_next(w, jit_wanted_from(w, start));
	     i < w->n && w->v[i].addr - start < size; i = jit_wanted_next(w, i + 1))
		jit_wanted_name(w, i, p, (size_t)(end - p));
}

/*
 * The lines of a piece of the file, the last one first.  Bytes after the last newline
 * are ignored.  Returns how many bytes are left, with the first newline; len if there
 * is none.
 */
static size_t perf_map_lines(const char *buf, size_t len, struct jit_wanted *w)
{
	const char *end = memrchr(buf, '\n', len), *before;

	if (!end)
		return len;
	while (w->left) {
		before = memrchr(buf, '\n', (size_t)(end - buf));
		if (!before)
			break;
		if (end - before <= PERF_MAP_LINE)
			perf_map_line(before + 1, (size_t)(end - before) - 1, w);
		end = before;
	}
	return (size_t)(end - buf) + 1;
}

void perf_map_find(int fd, struct jit_wanted *w)
{
	static char buf[BLOCK + PERF_MAP_LINE + 1];
	uint64_t pos, stop = 0;
	size_t kept = 0;
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0)
		return;
	pos = (uint64_t)st.st_size;
	if (pos > PERF_MAP_BYTES)
		stop = pos - PERF_MAP_BYTES;
	while (pos > stop && w->left) {
		size_t n = pos - stop < BLOCK ? (size_t)(pos - stop) : BLOCK;

		/* the bytes that are kept end with a newline, and their line begins
		 * before them */
		memmove(buf + n, buf, kept);
		pos -= n;
		if (pread(fd, buf, n, (off_t)pos) != (ssize_t)n)
			return;		/* the file has shrunk */
		kept = perf_map_lines(buf, n + kept, w);
		if (kept > PERF_MAP_LINE)
			kept = 0;	/* the line is too long */
	}
	if (!pos && kept && buf[kept - 1] == '\n')
		perf_map_line(buf, kept - 1, w);
}

/* --- both formats --------------------------------------------------------------- */

int jit_names(int fd, const uint64_t *words, size_t n, struct frame_names_build *out)
{
	static struct jit_wanted wanted;	/* large; a worker has one job */
	int r = 0;

	jit_wanted_init(&wanted, words, n);
	if (jitdump_is(fd))
		r = jitdump_find(fd, &wanted);
	else
		perf_map_find(fd, &wanted);
	if (!r)
		jit_wanted_tell(&wanted, out);
	return r;
}
