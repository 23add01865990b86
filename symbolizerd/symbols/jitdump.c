// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/jitdump.h"

#include <byteswap.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* tools/perf/util/jitdump.h (Linux 6.1) */
#define MAGIC		0x4a695444u	/* "JiTD" */
#define MAGIC_SWAPPED	0x4454694au
#define VERSION		1
#define HEADER_BYTES	40u
#define RECORD_BYTES	16u		/* id, total_size, timestamp */
#define LOAD_BYTES	56u		/* with the record's; then the name, then code */
#define MOVE_BYTES	64u
#define DEBUG_BYTES	32u		/* then the entries */
#define ENTRY_BYTES	16u		/* then the file's name */

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_DEBUG_INFO = 2, CODE_CLOSE = 3 };

#ifdef __aarch64__
#define MACHINE		EM_AARCH64
#else
#define MACHINE		EM_X86_64
#endif

#define WINDOW		(64u << 10)

struct jitdump {
	int fd;
	uint64_t size;			/* of the file, at the beginning */
	bool swapped;			/* the other byte order */
	uint32_t work;			/* left */
	uint64_t debug, debug_code;	/* the last CODE_DEBUG_INFO, and its function */
	struct jit_wanted *w;
	uint64_t at;			/* offset of the window */
	size_t n;
	uint8_t window[WINDOW];
};

/* len bytes at this offset, at most WINDOW; NULL: the file ends before that. */
static const uint8_t *jitdump_at(struct jitdump *d, uint64_t at, size_t len)
{
	ssize_t n;

	if (at > d->size || len > d->size - at)
		return NULL;
	if (at < d->at || at - d->at > d->n || len > d->n - (at - d->at)) {
		n = pread(d->fd, d->window, WINDOW, (off_t)at);
		d->at = at;
		d->n = 0;
		if (n > 0)
			d->n = (size_t)n;
	}
	if (len > d->n - (at - d->at))
		return NULL;
	return d->window + (at - d->at);
}

static uint32_t jitdump_u32(const struct jitdump *d, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	if (d->swapped)
		v = bswap_32(v);
	return v;
}

static uint64_t jitdump_u64(const struct jitdump *d, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	if (d->swapped)
		v = bswap_64(v);
	return v;
}

/* Count n as done.  False: the limit is reached. */
static bool jitdump_work(struct jitdump *d, uint32_t n)
{
	if (d->work < n)
		d->work = 0;
	else
		d->work -= n;
	return d->work > 0;
}

/* --- names ------------------------------------------------------------------- */

/* The text at this offset, at most up to the end of the record. */
static bool jitdump_text(struct jitdump *d, uint64_t at, uint64_t end,
			 char to[JIT_NAME_MAX], size_t *len)
{
	size_t room = end - at < JIT_NAME_MAX ? (size_t)(end - at) : JIT_NAME_MAX;
	const uint8_t *p = jitdump_at(d, at, room);

	if (!p)
		return false;
	*len = strnlen((const char *)p, room);
	jit_wanted_text(to, (const char *)p, *len);
	return true;
}

/* --- lines ------------------------------------------------------------------- */

/* An entry whose file is "\377" has the file of the entry before it. */
#define SAME_FILE	0xff

/* Length of an entry's text with its NUL; 0: longer than a file's name may be. */
static size_t jitdump_entry_text(struct jitdump *d, uint64_t at, uint64_t end)
{
	size_t room = end - at < 4096 ? (size_t)(end - at) : 4096;
	const uint8_t *p = jitdump_at(d, at, room);
	size_t n;

	if (!p)
		return 0;
	n = strnlen((const char *)p, room);
	return n < room ? n + 1 : 0;
}

/* The entry of the highest address that is not above a's: file and line. */
static void jitdump_line(struct jitdump *d, struct jit_address *a)
{
	const uint8_t *p = jitdump_at(d, a->debug, DEBUG_BYTES);
	uint64_t best = 0, file = 0, best_file = 0, at, end, left;
	size_t len;

	if (!p)
		return;
	end = a->debug + jitdump_u32(d, p + 4);
	left = jitdump_u64(d, p + 24);
	for (at = a->debug + DEBUG_BYTES; left && end - at > ENTRY_BYTES; left--) {
		uint64_t addr;
		uint32_t line;

		p = jitdump_at(d, at, ENTRY_BYTES + 1);
		if (!p || !jitdump_work(d, 1))
			break;
		addr = jitdump_u64(d, p);
		line = jitdump_u32(d, p + 8);
		if (p[ENTRY_BYTES] != SAME_FILE)
			file = at + ENTRY_BYTES;
		len = jitdump_entry_text(d, at + ENTRY_BYTES, end);
		if (!len)
			break;
		if (addr <= a->addr && addr >= best && line) {
			best = addr;
			best_file = file;
			a->line = line;
		}
		at += ENTRY_BYTES + len;
	}
	if (best_file)
		(void)jitdump_text(d, best_file, end, a->file, &len);
}

/* --- records ------------------------------------------------------------------- */

static bool jitdump_range_ok(uint64_t start, uint64_t size)
{
	return size && size <= JIT_SIZE_MAX && size - 1 <= UINT64_MAX - start;
}

static void jitdump_load(struct jitdump *d, uint64_t at, const uint8_t *p)
{
	uint64_t code = jitdump_u64(d, p + 32), size = jitdump_u64(d, p + 40);
	struct jit_wanted *w = d->w;
	uint64_t debug = 0;

	if (d->debug_code == code)
		debug = d->debug;
	d->debug = 0;
	if (!jitdump_range_ok(code, size))
		return;
	for (uint32_t i = jit_wanted_from(w, code);
	     i < w->n && w->v[i].addr - code < size && jitdump_work(d, 1); i++) {
		w->v[i].moved = false;
		w->v[i].at = at;
		w->v[i].debug = debug;
		w->v[i].code = code;
	}
}

static void jitdump_move(struct jitdump *d, uint64_t at, const uint8_t *p)
{
	uint64_t code = jitdump_u64(d, p + 40), size = jitdump_u64(d, p + 48);
	struct jit_wanted *w = d->w;

	if (!jitdump_range_ok(code, size))
		return;
	for (uint32_t i = jit_wanted_from(w, code);
	     i < w->n && w->v[i].addr - code < size && jitdump_work(d, 1); i++) {
		w->v[i].moved = true;
		w->v[i].at = at;
		w->v[i].debug = 0;
		w->v[i].index = jitdump_u64(d, p + 56);
	}
}

/* Code with this record's index was moved: its name is in this record. */
static void jitdump_moved(struct jitdump *d, uint64_t at, const uint8_t *p)
{
	uint64_t index = jitdump_u64(d, p + 48);

	for (uint32_t i = 0; i < d->w->n && jitdump_work(d, 1); i++) {
		struct jit_address *a = &d->w->v[i];

		/* the last record before the move counts */
		if (a->moved && a->index == index && at < a->at)
			a->code = at;
	}
}

/* A whole record of `total` bytes; at p are the first MOVE_BYTES of them, or all. */
static void jitdump_record(struct jitdump *d, uint64_t at, const uint8_t *p,
			   uint32_t total, bool again)
{
	uint32_t id = jitdump_u32(d, p);

	if (again && id == CODE_LOAD && total > LOAD_BYTES) {
		jitdump_moved(d, at, p);
	} else if (!again && id == CODE_LOAD && total > LOAD_BYTES) {
		jitdump_load(d, at, p);
	} else if (!again && id == CODE_MOVE && total >= MOVE_BYTES) {
		jitdump_move(d, at, p);
	} else if (!again && id == CODE_DEBUG_INFO && total > DEBUG_BYTES) {
		d->debug = at;
		d->debug_code = jitdump_u64(d, p + 16);
	}
}

/* All records; again: for code that was moved. */
static void jitdump_records(struct jitdump *d, bool again)
{
	uint64_t at = HEADER_BYTES;
	for (;;) {
		const uint8_t *p = jitdump_at(d, at, RECORD_BYTES);
		uint32_t total;

		if (!p || !jitdump_work(d, 1))
			break;
		total = jitdump_u32(d, p + 4);
		if (total < RECORD_BYTES || total > d->size - at ||
		    jitdump_u32(d, p) == CODE_CLOSE)
			break;
		p = jitdump_at(d, at, total < MOVE_BYTES ? total : MOVE_BYTES);
		if (!p)
			break;
		jitdump_record(d, at, p, total, again);
		at += total;
	}
}

static int jitdump_open(struct jitdump *d)
{
	const uint8_t *p;
	struct stat st;
	uint32_t magic, header, machine;

	if (fstat(d->fd, &st) || st.st_size < (off_t)HEADER_BYTES)
		return -EPROTO;
	d->size = (uint64_t)st.st_size;
	p = jitdump_at(d, 0, HEADER_BYTES);
	if (!p)
		return -EPROTO;
	magic = jitdump_u32(d, p);
	d->swapped = magic == MAGIC_SWAPPED;
	header = jitdump_u32(d, p + 8);
	/* a longer header would be another format */
	if ((magic != MAGIC && !d->swapped) || jitdump_u32(d, p + 4) != VERSION ||
	    header != HEADER_BYTES)
		return -EPROTO;
	machine = jitdump_u32(d, p + 12);
	/* an interpreter with a JIT for several machines writes 0 */
	if (machine != MACHINE && machine != EM_NONE)
		return -EPROTO;
	return 0;
}

static void jitdump_name(struct jitdump *d, uint32_t i)
{
	struct jit_address *a = &d->w->v[i];
	/* moved: .code is the offset of the record from before the move */
	uint64_t at = a->moved ? a->code : a->at;
	const uint8_t *p;
	char name[JIT_NAME_MAX];
	size_t len;

	if (!at)
		return;
	p = jitdump_at(d, at, RECORD_BYTES);
	if (!p || !jitdump_text(d, at + LOAD_BYTES, at + jitdump_u32(d, p + 4), name, &len))
		return;
	jit_wanted_name(d->w, i, name, strlen(name));
	if (a->debug)
		jitdump_line(d, a);
}

bool jitdump_is(int fd)
{
	uint32_t magic;

	return pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (magic == MAGIC || magic == MAGIC_SWAPPED);
}

int jitdump_find(int fd, struct jit_wanted *w)
{
	static struct jitdump d;
	bool moved = false;
	int r;

	d = (struct jitdump){ .fd = fd, .work = JITDUMP_WORK, .w = w };
	r = jitdump_open(&d);
	if (r)
		return r;
	jitdump_records(&d, false);
	for (uint32_t i = 0; i < w->n; i++) {
		if (!w->v[i].moved)
			continue;
		moved = true;
		w->v[i].code = 0;
	}
	if (moved)
		jitdump_records(&d, true);
	d.work = JITDUMP_WORK;
	for (uint32_t i = 0; i < w->n; i++)
		jitdump_name(&d, i);
	return 0;
}
