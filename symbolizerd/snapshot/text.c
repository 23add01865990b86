// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "bpf/stop.h"
#include "ipc/runtimes.h"

#define BYTES_A_LINE	64
#define WINDOW_GZIP	(15 + 16)	/* zlib.h, deflateInit2(): a gzip header */

static const char *const text_machines[SNAPSHOT__MACHINES] = { "x86-64", "aarch64" };
static const char *const text_cfas[CFA__MAX] = {
	"none", "end", "sp", "fp", "reg", "sp-deref", "fp-deref", "reg-deref", "plt",
	"signal", "unsupported", "runtime",
};
static const char *const text_ras[RA__MAX] = { "cfa", "reg" };
static const char *const text_stops[STOP__MAX] = { STOP_NAMES };

/* --- to text ---------------------------------------------------------------------- */

static void text_file_number(struct buffer *to, uint32_t file)
{
	if (file == SNAPSHOT_NO_FILE)
		buffer_str(to, " -");
	else
		buffer_printf(to, " %" PRIx32, file);
}

/* What a mapping is: "xw" of code that is written; "-": nothing of that. */
static void text_marks(const struct snapshot_map *m, struct buffer *to)
{
	if (m->exec)
		buffer_str(to, "x");
	if (m->write)
		buffer_str(to, "w");
	if (m->stack)
		buffer_str(to, "s");
	if (m->heap)
		buffer_str(to, "h");
	if (!m->exec && !m->write && !m->stack && !m->heap)
		buffer_str(to, "-");
}

static void text_maps(const struct snapshot *s, struct buffer *to)
{
	for (uint32_t i = 0; i < s->files.n; i++) {
		const struct snapshot_file *f = &s->files.v[i];

		buffer_printf(to, "file %" PRIx32 " %" PRIx32 " %s %s\n", i, f->runtime,
			      f->build_id[0] ? f->build_id : "-", f->name);
	}
	for (uint32_t i = 0; i < s->maps.n; i++) {
		const struct snapshot_map *m = &s->maps.v[i];

		buffer_printf(to, "map %" PRIx64 " %" PRIx64 " %" PRIx64 " ",
			      m->start, m->end, m->off);
		text_marks(m, to);
		text_file_number(to, m->file);
		buffer_str(to, "\n");
	}
}

static void text_rows(const struct snapshot *s, struct buffer *to)
{
	for (uint32_t i = 0; i < s->rows.n; i++) {
		const struct snapshot_row *w = &s->rows.v[i];
		const struct unwind_rule *r = &w->rule;

		if (r->cfa >= CFA__MAX || r->ra >= RA__MAX)
			continue;
		buffer_printf(to, "row %" PRIx32 " %" PRIx64 " %" PRIx64
			      " %s %s %d %d %d %d %d %d", w->file, w->start, w->end,
			      text_cfas[r->cfa], text_ras[r->ra], r->saved, r->cfa_reg,
			      r->cfa_off, r->aux, r->fp_off, r->ra_off);
		for (int k = 0; k < SAVED_REGS; k++)
			buffer_printf(to, " %d", r->reg_off[k]);
		buffer_printf(to, " %d %d\n", r->by_fp, r->ra_reg);
	}
}

static bool text_has(const struct snapshot_page *p, uint32_t i)
{
	return p->has[i / 8] & 1u << i % 8;
}

static void text_page(const struct snapshot_page *p, struct buffer *to)
{
	for (uint32_t i = 0; i < SNAPSHOT_PAGE; i++) {
		if (!text_has(p, i))
			continue;
		buffer_printf(to, "memory %" PRIx64 " ", p->at + i);
		for (int n = 0; n < BYTES_A_LINE && i < SNAPSHOT_PAGE && text_has(p, i);
		     n++, i++)
			buffer_printf(to, "%02x", p->data[i]);
		buffer_str(to, "\n");
		i--;
	}
}

static void text_thread(const struct snapshot *s, const struct snapshot_thread *t,
			struct buffer *to)
{
	buffer_printf(to, "thread %" PRIu32 " %s %" PRIx64, t->tid,
		      t->call ? "call" : "user", t->tp);
	for (uint32_t i = 0; i < snapshot_regs_n[s->machine]; i++)
		buffer_printf(to, " %" PRIx64, t->regs[i]);
	buffer_str(to, "\n");
	for (uint32_t i = 0; i < t->n; i++) {
		const struct snapshot_frame *f = &s->frames.v[t->first + i];

		buffer_str(to, "frame ");
		buffer_str(to, f->place);
		if (f->name) {
			buffer_str(to, " ");
			buffer_str(to, f->name);
		}
		buffer_str(to, "\n");
	}
	if (t->stop && t->stop < STOP__MAX)
		buffer_printf(to, "stop %s\n", text_stops[t->stop]);
}

void text_write(const struct snapshot *s, struct buffer *to)
{
	buffer_printf(to, "trifold-snapshot 1\nmachine %s\nstack %" PRIx64
		      "\nvdso %" PRIx64 "\n", text_machines[s->machine], s->stack,
		      s->vdso);
	text_maps(s, to);
	text_rows(s, to);
	for (uint32_t i = 0; i < s->pages.n; i++)
		text_page(s->pages.v[i], to);
	for (uint32_t i = 0; i < s->failed.n; i++)
		buffer_printf(to, "unreadable %" PRIx64 " %" PRIx64 "\n",
			      s->failed.v[i].at, s->failed.v[i].len);
	for (uint32_t i = 0; i < s->threads.n; i++)
		text_thread(s, &s->threads.v[i], to);
	buffer_str(to, "end\n");
}

/* --- from text -------------------------------------------------------------------- */

/* The rest of a line.  A getter takes a word and the blank after it. */
struct text_line {
	const char *p, *end;
};

static bool text_word(struct text_line *l, const char **word, size_t *len)
{
	const char *blank = memchr(l->p, ' ', (size_t)(l->end - l->p));
	const char *end = blank ? blank : l->end;

	*word = l->p;
	*len = (size_t)(end - l->p);
	l->p = end;
	if (blank)
		l->p++;
	return *len > 0;
}

static int text_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool text_hex(struct text_line *l, uint64_t max, uint64_t *ret)
{
	const char *w;
	uint64_t v = 0;
	size_t len;

	if (!text_word(l, &w, &len) || len > 16)
		return false;
	for (size_t i = 0; i < len; i++) {
		int d = text_digit(w[i]);

		if (d < 0)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	return v <= max;
}

/* A decimal number, with a sign maybe. */
static bool text_int(struct text_line *l, int64_t min, int64_t max, int64_t *ret)
{
	const char *w;
	int64_t v = 0;
	size_t len, i;
	bool minus;

	if (!text_word(l, &w, &len) || len > 11)
		return false;
	minus = *w == '-';
	for (i = minus; i < len; i++) {
		if (w[i] < '0' || w[i] > '9')
			return false;
		v = 10 * v + (w[i] - '0');
	}
	*ret = minus ? -v : v;
	return len > minus && *ret >= min && *ret <= max;
}

static bool text_one_of(struct text_line *l, const char *const *words, uint32_t n,
			uint32_t *ret)
{
	const char *w;
	size_t len;

	if (!text_word(l, &w, &len))
		return false;
	for (*ret = 0; *ret < n; ++*ret) {
		if (strlen(words[*ret]) == len && !memcmp(words[*ret], w, len))
			return true;
	}
	return false;
}

static bool text_done(const struct text_line *l)
{
	return l->p == l->end;
}

/* A file's number; files come first. */
static bool text_file(struct text_line *l, const struct snapshot *s, bool none,
		      uint32_t *ret)
{
	uint64_t v;

	if (none && l->p != l->end && *l->p == '-') {
		l->p++;
		*ret = SNAPSHOT_NO_FILE;
		return true;
	}
	if (!s->files.n || !text_hex(l, s->files.n - 1, &v))
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool text_read_file(struct snapshot *s, struct text_line *l)
{
	struct snapshot_file f = { 0 };
	uint64_t number, runtime;
	const char *id;
	size_t len, name;

	if (s->files.n == SNAPSHOT_FILES_MAX || !text_hex(l, UINT32_MAX, &number) ||
	    number != s->files.n || !text_hex(l, 255, &runtime) ||
	    !text_word(l, &id, &len) || len >= sizeof(f.build_id))
		return false;
	f.runtime = (uint32_t)runtime;
	if (len != 1 || *id != '-')
		memcpy(f.build_id, id, len);
	for (size_t i = 0; f.build_id[i]; i++) {
		if (text_digit(f.build_id[i]) < 0)
			return false;
	}
	name = (size_t)(l->end - l->p);
	if (!name || name >= sizeof(f.name))
		return false;
	memcpy(f.name, l->p, name);
	return vector_push(&s->files, f);
}

static bool text_read_map(struct snapshot *s, struct text_line *l)
{
	struct snapshot_map m = { 0 };
	const char *w;
	size_t len;

	if (s->maps.n == SNAPSHOT_MAPS_MAX || !text_hex(l, UINT64_MAX, &m.start) ||
	    !text_hex(l, UINT64_MAX, &m.end) || !text_hex(l, 1ULL << 62, &m.off) ||
	    !text_word(l, &w, &len) || !text_file(l, s, true, &m.file) || !text_done(l))
		return false;
	m.exec = memchr(w, 'x', len);
	m.write = memchr(w, 'w', len);
	m.stack = memchr(w, 's', len);
	m.heap = memchr(w, 'h', len);
	if (m.start >= m.end || (m.start | m.end | m.off) % SNAPSHOT_PAGE ||
	    (s->maps.n && s->maps.v[s->maps.n - 1].end > m.start))
		return false;
	return vector_push(&s->maps, m);
}

static bool text_read_rule(struct text_line *l, struct unwind_rule *r)
{
	int64_t v[13];
	uint32_t cfa, ra;

	if (!text_one_of(l, text_cfas, CFA__MAX, &cfa) ||
	    !text_one_of(l, text_ras, RA__MAX, &ra) || !text_int(l, 0, 255, &v[0]) ||
	    !text_int(l, 0, 255, &v[1]))
		return false;
	for (int i = 2; i < 6; i++) {
		if (!text_int(l, INT32_MIN, INT32_MAX, &v[i]))
			return false;
	}
	for (int i = 6; i < 11; i++) {
		if (!text_int(l, INT16_MIN, INT16_MAX, &v[i]))
			return false;
	}
	if (!text_int(l, 0, 255, &v[11]) || !text_int(l, 0, 255, &v[12]))
		return false;
	*r = (struct unwind_rule){
		.cfa = (uint8_t)cfa, .ra = (uint8_t)ra, .saved = (uint8_t)v[0],
		.cfa_reg = (uint8_t)v[1], .cfa_off = (int32_t)v[2],
		.aux = (int32_t)v[3], .fp_off = (int32_t)v[4],
		.ra_off = (int32_t)v[5], .by_fp = (uint8_t)v[11],
		.ra_reg = (uint8_t)v[12],
	};
	for (int i = 0; i < SAVED_REGS; i++)
		r->reg_off[i] = (int16_t)v[6 + i];
	return true;
}

static bool text_read_row(struct snapshot *s, struct text_line *l)
{
	struct snapshot_row r = { 0 };

	return s->rows.n < SNAPSHOT_ROWS_MAX && text_file(l, s, false, &r.file) &&
	       text_hex(l, 1ULL << 36, &r.start) && text_hex(l, 1ULL << 36, &r.end) &&
	       r.start < r.end && text_read_rule(l, &r.rule) && text_done(l) &&
	       vector_push(&s->rows, r);
}

static bool text_read_memory(struct snapshot *s, struct text_line *l)
{
	uint8_t bytes[BYTES_A_LINE];
	const char *w;
	uint64_t at;
	size_t len;

	if (!text_hex(l, UINT64_MAX, &at) || !text_word(l, &w, &len) || len % 2 ||
	    len > 2 * BYTES_A_LINE || !text_done(l))
		return false;
	for (size_t i = 0; i < len / 2; i++) {
		int a = text_digit(w[2 * i]), b = text_digit(w[2 * i + 1]);

		if (a < 0 || b < 0)
			return false;
		bytes[i] = (uint8_t)(a << 4 | b);
	}
	return snapshot_put(s, at, bytes, len / 2);
}

static bool text_read_failed(struct snapshot *s, struct text_line *l)
{
	struct snapshot_range r;

	return s->failed.n < SNAPSHOT_FAILED_MAX && text_hex(l, UINT64_MAX, &r.at) &&
	       text_hex(l, 1 << 20, &r.len) && text_done(l) &&
	       vector_push(&s->failed, r);
}

static bool text_read_thread(struct snapshot *s, struct text_line *l)
{
	static const char *const where[] = { "user", "call" };
	struct snapshot_thread t = { .first = s->frames.n };
	uint32_t call;
	int64_t tid;

	if (s->threads.n == SNAPSHOT_THREADS_MAX || !text_int(l, 0, INT32_MAX, &tid) ||
	    !text_one_of(l, where, 2, &call) || !text_hex(l, UINT64_MAX, &t.tp))
		return false;
	t.tid = (uint32_t)tid;
	t.call = call;
	for (uint32_t i = 0; i < snapshot_regs_n[s->machine]; i++) {
		if (!text_hex(l, UINT64_MAX, &t.regs[i]))
			return false;
	}
	return text_done(l) && vector_push(&s->threads, t);
}

/* As frames.h writes it. */
static bool text_is_kind(const char *w, size_t len)
{
	static const char *const kinds[] = { "native", "anonymous", "cut", "guess", "kind" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i]) == len && !memcmp(kinds[i], w, len))
			return true;
	}
	for (uint32_t i = 0; i < RUNTIME__MAX; i++) {
		const struct runtime_info *r = runtime_info(i);

		if (r->managed != BATCH_FRAME_UNKNOWN && strlen(r->name) == len &&
		    !memcmp(r->name, w, len))
			return true;
	}
	return false;
}

/* A place is two words: a kind, and where; the rest is its name. */
static bool text_read_frame(struct snapshot *s, struct text_line *l)
{
	const char *begin = l->p, *w;
	size_t len, second;
	char *name = NULL, *place;

	if (!text_word(l, &w, &len) || !text_is_kind(w, len) ||
	    !text_word(l, &w, &second))
		return false;
	place = strndup(begin, (size_t)(w + second - begin));
	if (!text_done(l))
		name = strndup(l->p, (size_t)(l->end - l->p));
	return snapshot_frame(s, place, name);
}

static bool text_read_stop(struct snapshot *s, struct text_line *l)
{
	return s->threads.n && text_one_of(l, text_stops, STOP__MAX,
					   &s->threads.v[s->threads.n - 1].stop) &&
	       text_done(l);
}

static bool text_read_machine(struct snapshot *s, struct text_line *l)
{
	return !s->threads.n && text_one_of(l, text_machines, SNAPSHOT__MACHINES,
					    &s->machine) && text_done(l);
}

static bool text_read_stack(struct snapshot *s, struct text_line *l)
{
	return text_hex(l, UINT64_MAX, &s->stack) && text_done(l);
}

static bool text_read_vdso(struct snapshot *s, struct text_line *l)
{
	return text_hex(l, UINT64_MAX, &s->vdso) && text_done(l);
}

static bool text_one_line(struct snapshot *s, struct text_line l)
{
	static const struct {
		const char *word;
		bool (*read)(struct snapshot *s, struct text_line *l);
	} kinds[] = {
		{ "machine", text_read_machine }, { "stack", text_read_stack },
		{ "vdso", text_read_vdso }, { "file", text_read_file },
		{ "map", text_read_map }, { "row", text_read_row },
		{ "memory", text_read_memory }, { "unreadable", text_read_failed },
		{ "thread", text_read_thread }, { "frame", text_read_frame },
		{ "stop", text_read_stop },
	};
	const char *w;
	size_t len;

	if (!text_word(&l, &w, &len))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].word) == len && !memcmp(kinds[i].word, w, len))
			return kinds[i].read(s, &l);
	}
	return false;
}

int text_read(const void *text, size_t len, struct snapshot *s)
{
	static const char first[] = "trifold-snapshot 1", last[] = "end";
	const char *p = text, *end = p + len;
	int n = 1;

	for (; p < end; n++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t line = nl ? (size_t)(nl - p) : 0;

		if (!nl || memchr(p, '\0', line))
			return n;
		if (line == sizeof(last) - 1 && !memcmp(p, last, line) && n > 1)
			return nl + 1 == end ? 0 : n + 1;
		if (n == 1 && (line != sizeof(first) - 1 || memcmp(p, first, line)))
			return n;
		if (n > 1 && !text_one_line(s, (struct text_line){ p, nl }))
			return n;
		p = nl + 1;
	}
	return n;
}

/* --- compressed ------------------------------------------------------------------- */

int text_pack(const struct buffer *text, struct buffer *to)
{
	z_stream z = { .next_in = text->data, .avail_in = (uInt)text->len };
	size_t room;
	int r;

	if (deflateInit2(&z, 9, Z_DEFLATED, WINDOW_GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, text->len);
	if (!buffer_room(to, room)) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.next_out = to->data + to->len;
	z.avail_out = (uInt)room;
	r = deflate(&z, Z_FINISH);
	to->len += room - z.avail_out;
	deflateEnd(&z);
	return r == Z_STREAM_END ? 0 : -ENOMEM;
}

int text_unpack(const void *packed, size_t len, struct buffer *to)
{
	z_stream z = { .next_in = (Bytef *)packed, .avail_in = (uInt)len };
	int r = inflateInit2(&z, WINDOW_GZIP);

	if (r != Z_OK)
		return -ENOMEM;
	while (r == Z_OK && to->len <= SNAPSHOT_TEXT_MAX) {
		if (!buffer_room(to, 65536)) {
			inflateEnd(&z);
			return -ENOMEM;
		}
		z.next_out = to->data + to->len;
		z.avail_out = 65536;
		r = inflate(&z, Z_NO_FLUSH);
		to->len += 65536 - z.avail_out;
	}
	inflateEnd(&z);
	if (r == Z_OK)
		return -E2BIG;
	return r == Z_STREAM_END && !z.avail_in ? 0 : -EPROTO;
}
