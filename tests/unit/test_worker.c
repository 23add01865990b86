// SPDX-License-Identifier: Apache-2.0
/* A worker's one job, from the message with the file to the answer. */
#include "tests/unit/debugdata_image.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include "bpf/table.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "ipc/sealed.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/symbols/line_codes.h"
#include "symbolizerd/worker/worker.h"
#include "tests/unit/dwarf_sample.h"

#define SYMTAB	1		/* section number in the sample */

static struct elf_image im;

static void sample(void)
{
	const Elf64_Sym syms[2] = { [1] = { 1, STT_FUNC, 0, 1, 0x1000, 16 } };
	uint64_t at;

	image_init(&im, EM_X86_64);
	at = image_put(&im, "0123456789abcdef", 16);
	image_segment(&im, PT_LOAD, PF_R | PF_X, at, 0x1000, 16);
	at = image_put(&im, syms, sizeof(syms));
	image_section(&im, ".symtab", SHT_SYMTAB, at, 0, sizeof(syms));
	at = image_put(&im, "\0f", 3);
	image_section(&im, ".strtab", SHT_STRTAB, at, 0, 3);
	image_finish(&im);
}

static int debug_fd = -1;		/* what the worker gets, if not -1 */
static uint64_t debug_from;
static struct msg_wanted debug_question;

static void give_debug(struct conn *c, struct pollfd *p)
{
	struct msg m;

	CHECK_EQ(poll(p, 1, 10000), 1);
	CHECK_EQ(conn_recv(c, &m), 0);
	CHECK_EQ(m.hdr.type, MSG_DEBUG_WANTED);
	memcpy(&debug_question, m.buf, sizeof(debug_question));
	CHECK_EQ(conn_send(c, MSG_WANTED_FILE, debug_from, NULL, 0, NULL, 0, &debug_fd, 1), 0);
}

/* A worker at the other end of this socket. */
static pid_t run_worker(int pair[2])
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		close(pair[0]);
		_exit(worker_run(pair[1]));
	}
	close(pair[1]);
	return pid;
}

/* Sends a worker this question and takes its answers, up to two. */
static void ask(const struct msg_job *question, const uint64_t *words, size_t n,
		int file, struct msg *m, int answers)
{
	struct conn c = { .fd = -1 };
	struct pollfd p;
	int pair[2], status;
	struct msg rest;
	pid_t pid;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	pid = run_worker(pair);
	conn_init(&c, pair[0], PEER_WORKER, CONN_READY);
	CHECK_EQ(conn_send(&c, MSG_JOB, 42, question, sizeof(*question), words,
			   n * sizeof(*words), &file, 1), 0);
	p = (struct pollfd){ .fd = c.fd, .events = POLLIN };
	if (debug_fd >= 0)
		give_debug(&c, &p);
	for (int i = 0; i < answers; i++) {
		CHECK_EQ(poll(&p, 1, 10000), 1);
		CHECK_EQ(conn_recv(&c, &m[i]), 0);
		CHECK_EQ(m[i].hdr.id, 42);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(conn_recv(&c, &rest), -EPIPE);
	CHECK_EQ(status, 0);
	conn_close(&c);
	close(file);
}

/* m: one for each part. */
static void job(int file, uint32_t parts, struct msg *m)
{
	ask(&(struct msg_job){ .exe = 7, .parts = parts }, NULL, 0, file, m,
	    parts == (JOB_TABLE | JOB_SYMBOLS) ? 2 : 1);
}

static const struct msg_job_done *done_of(const struct msg *m)
{
	return (const void *)m->buf;
}

static void open_names(const struct msg *m, struct symbol_index *idx)
{
	const void *data;
	size_t len;

	CHECK_EQ(m->hdr.type, MSG_JOB_DONE);
	CHECK_EQ(m->nfds, 1);
	CHECK_EQ(done_of(m)->part, JOB_SYMBOLS);
	CHECK_EQ(sealed_map(m->fds[0], sizeof(struct symbols_hdr), 1 << 20,
			    &data, &len), 0);
	CHECK_EQ(symbols_open(data, len, idx), 0);
}

/* A worker that gets a message of this type first, then a job.  Its exit status; *answered:
 * to the job. */
static int first_gets(unsigned int type, const void *payload, size_t len, bool *answered)
{
	static const struct msg_job question = { .exe = 7, .parts = JOB_TABLE };
	struct conn c = { .fd = -1 };
	int pair[2], status, file;
	struct msg m;
	pid_t pid;

	sample();
	file = image_file(&im);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	conn_init(&c, pair[0], PEER_WORKER, CONN_READY);
	CHECK_EQ(conn_send(&c, type, 0, payload, len, NULL, 0, &file,
			   type == MSG_WANTED_FILE), 0);
	CHECK_EQ(conn_send(&c, MSG_JOB, 42, &question, sizeof(question), NULL, 0, &file, 1), 0);
	pid = run_worker(pair);
	/* its answer, or its end */
	CHECK_EQ(poll(&(struct pollfd){ .fd = c.fd, .events = POLLIN }, 1, 10000), 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	*answered = false;
	if (!conn_recv(&c, &m)) {
		*answered = m.hdr.type == MSG_JOB_DONE && m.hdr.id == 42;
		msg_close_fds(&m);
	}
	conn_close(&c);
	close(file);
	return status;
}

/* The worker before it had no time left for a debug file, and the answer came when it had
 * ended. */
TEST(worker_takes_no_answer_for_a_job)
{
	struct msg_open_failed failed = { .error = ENOENT };
	bool answered;

	CHECK_EQ(first_gets(MSG_WANTED_NONE, &failed, sizeof(failed), &answered), 0);
	CHECK(answered);
	CHECK_EQ(first_gets(MSG_WANTED_FILE, NULL, 0, &answered), 0);
	CHECK(answered);
}

TEST(worker_ends_at_what_is_not_for_it)
{
	struct msg_slot slot = { .slot = 1 };
	bool answered;

	CHECK(first_gets(MSG_KILL, &slot, sizeof(slot), &answered) != 0);
	CHECK(!answered);
}

TEST(worker_answers_with_table_and_names)
{
	const struct table_hdr *table;
	struct symbol_index idx;
	struct msg_job_done *done;
	const void *data;
	struct msg m[2];
	size_t len;

	sample();
	job(image_file(&im), JOB_TABLE | JOB_SYMBOLS, m);
	CHECK_EQ(m[0].hdr.type, MSG_JOB_DONE);
	done = (void *)m[0].buf;
	CHECK_EQ(done->exe, 7);
	CHECK_EQ(done->part, JOB_TABLE);
	CHECK_EQ(done->build_id_len, 0);
	CHECK_EQ(done->runtime, RUNTIME_NONE);
	CHECK_EQ(m[0].nfds, 1);
	CHECK_EQ(sealed_map(m[0].fds[0], sizeof(*table), 1 << 20, &data, &len), 0);
	table = data;
	CHECK_EQ(table->magic, TABLE_MAGIC);
	CHECK_EQ(table->pages, 0);	/* it has no CFI */
	open_names(&m[1], &idx);
	CHECK_EQ(idx.n, 1);
	CHECK(!strcmp(symbols_find(&idx, IMAGE_DATA + 15), "f"));
	/* each has its ID */
	CHECK(!memcmp(m[0].buf + offsetof(struct msg_job_done, file_id),
		      m[1].buf + offsetof(struct msg_job_done, file_id),
		      FILE_ID_LEN));
}

TEST(worker_makes_no_more_than_is_wanted)
{
	struct symbol_index idx;
	struct msg m;

	sample();
	job(image_file(&im), JOB_TABLE, &m);
	CHECK_EQ(m.hdr.type, MSG_JOB_DONE);
	CHECK_EQ(done_of(&m)->part, JOB_TABLE);
	job(image_file(&im), JOB_SYMBOLS, &m);
	open_names(&m, &idx);
	CHECK_EQ(idx.n, 1);
	CHECK_EQ(done_of(&m)->too_large, 0);
}

TEST(worker_gives_a_table_without_names)
{
	struct symbol_index idx;
	struct msg m[2];
	int fd;

	sample();
	((Elf64_Shdr *)(im.b + image_ehdr(&im)->e_shoff))[SYMTAB].sh_size =
		(SYMBOLS_MAX + 1ULL) * sizeof(Elf64_Sym);
	fd = image_file(&im);
	job(fd, JOB_TABLE | JOB_SYMBOLS, m);
	CHECK_EQ(m[0].hdr.type, MSG_JOB_DONE);
	CHECK_EQ(done_of(&m[0])->too_large, 0);
	open_names(&m[1], &idx);
	CHECK_EQ(idx.n, 0);
	CHECK_EQ(done_of(&m[1])->too_large, 1);
}

TEST(worker_finds_names_inside_of_the_file)
{
	static struct elf_image inner;
	static uint8_t packed[4096];
	struct symbol_index idx;
	struct msg m[2];
	size_t len;

	debugdata_inner(&inner, EM_X86_64);
	len = debugdata_pack(inner.b, inner.n, 6, packed, sizeof(packed));
	debugdata_outer(&im, packed, len);
	job(image_file(&im), JOB_TABLE | JOB_SYMBOLS, m);
	open_names(&m[1], &idx);
	CHECK_EQ(idx.n, 2);
	CHECK_STR(symbols_find(&idx, IMAGE_DATA + 31), "other");
	/* broken ones name nothing, and the rest is as it was */
	debugdata_outer(&im, packed, len / 2);
	job(image_file(&im), JOB_TABLE | JOB_SYMBOLS, m);
	open_names(&m[1], &idx);
	CHECK_EQ(idx.n, 0);
}

/* A stripped file with that .gnu_debuglink, and its debug file: how many names.  size:
 * of the debug file; crc: what is wrong with it. */
static uint32_t linked(const char *name, size_t size, uint32_t crc, uint32_t *debug)
{
	static struct elf_image inner;
	uint8_t link[64] = { 0 };
	uint8_t *bytes = calloc(1, size);
	struct symbol_index idx;
	struct msg m[2];
	size_t n = strlen(name), at;

	debugdata_inner(&inner, EM_X86_64);
	CHECK(bytes && size >= inner.n);
	memcpy(bytes, inner.b, inner.n);
	crc ^= (uint32_t)crc32(0, bytes, (uInt)size);
	memcpy(link, name, n);
	n = (n | 3) + 1;
	memcpy(link + n, &crc, 4);
	image_init(&im, EM_X86_64);
	at = image_put(&im, "0123456789abcdef0123456789abcdef", 32);
	image_segment(&im, PT_LOAD, PF_R | PF_X, at, DEBUGDATA_TEXT, 32);
	at = image_put(&im, link, n + 4);
	image_section(&im, ".gnu_debuglink", SHT_PROGBITS, at, 0, n + 4);
	image_finish(&im);
	debug_fd = file_of(bytes, inner.n);
	CHECK_EQ(ftruncate(debug_fd, (off_t)size), 0);	/* the rest is a hole */
	CHECK_EQ(fchmod(debug_fd, 0644), 0);
	job(image_file(&im), JOB_TABLE | JOB_SYMBOLS, m);
	close(debug_fd);
	debug_fd = -1;
	free(bytes);
	open_names(&m[1], &idx);
	*debug = ((struct msg_job_done *)(void *)m[1].buf)->debug;
	return idx.n;
}

TEST(worker_takes_a_debug_file_with_the_right_crc)
{
	uint32_t debug;

	CHECK_EQ(linked("prog.debug", 4096, 0, &debug), 2);
	CHECK_EQ(debug, JOB_DEBUG_FILE);
	CHECK_STR(debug_question.paths, "prog.debug");
	CHECK_EQ(debug_question.build_id_len, 0);
	/* in more than one piece, the last one short */
	CHECK_EQ(linked("pro.debug", (2 << 20) + 5, 0, &debug), 2);
	CHECK_EQ(linked("prog.debug", 4096, 1, &debug), 0);
	CHECK_EQ(debug, JOB_DEBUG_OWN);
	/* more than is read for a CRC */
	CHECK_EQ(linked("prog.debug", (256u << 20) + 1, 0, &debug), 0);
	CHECK_EQ(debug, JOB_DEBUG_OWN);
	/* a server's has to have the build ID: it was asked for by that alone */
	debug_from = DEBUG_SERVER;
	CHECK_EQ(linked("prog.debug", 4096, 1, &debug), 0);
	CHECK_EQ(linked("prog.debug", 4096, 0, &debug), 0);
	CHECK_EQ(debug, JOB_DEBUG_OWN);
	debug_from = DEBUG_LOCAL;
}

TEST(worker_says_why_not)
{
	static const char other[sizeof(Elf64_Ehdr)] = ELFMAG;
	const struct msg_job_failed *failed;
	struct msg m;

	job(open("/etc/passwd", O_RDONLY | O_CLOEXEC), JOB_TABLE, &m);
	CHECK_EQ(m.hdr.type, MSG_JOB_FAILED);
	failed = (const void *)m.buf;
	CHECK_EQ(failed->exe, 7);
	CHECK_EQ(failed->verdict, JOB_NOT_ELF);
	/* a memfd: it has no name in any folder */
	job(file_of("\xc3", 1), JOB_TABLE, &m);
	CHECK_EQ(failed->verdict, JOB_CODE);
	/* of another machine */
	job(file_of(other, sizeof(other)), JOB_TABLE, &m);
	CHECK_EQ(failed->verdict, JOB_NOT_ELF);
	sample();
	image_ehdr(&im)->e_phoff = im.n;
	job(image_file(&im), JOB_TABLE, &m);
	CHECK_EQ(m.hdr.type, MSG_JOB_FAILED);
	CHECK_EQ(failed->verdict, JOB_CORRUPT);
}

/* What a worker says of a file with DWARF, and of places in it. */
static void lines(const char *compiler, uint64_t wanted, uint32_t *has, uint64_t *offset,
		  struct line_codes *codes)
{
	struct msg_job question = { .kind = JOB_LINES, .exe = 7, .n_frames = 3 };
	const struct msg_job_done *done;
	struct dwarf_sample s;
	struct msg m;
	const void *data;
	size_t len;

	CHECK(dwarf_sample_make(&s, compiler));
	job(open(s.path, O_RDONLY | O_CLOEXEC), JOB_SYMBOLS, &m);
	CHECK_EQ(m.hdr.type, MSG_JOB_DONE);
	done = (const void *)m.buf;
	*has = done->lines;
	ask(&question, (uint64_t[]){ wanted, s.offset, 1ULL << 40 }, 3,
	    open(s.path, O_RDONLY | O_CLOEXEC), &m, 1);
	CHECK_EQ(m.hdr.type, MSG_NAMES);
	CHECK_EQ(sealed_map(m.fds[0], sizeof(struct line_codes_hdr), LINE_CODES_BYTES_MAX,
			    &data, &len), 0);
	CHECK_EQ(line_codes_open(data, len, 3, codes), 0);
	*offset = s.offset;
	dwarf_sample_remove(&s);
}

/* The functions at an offset, the innermost first: how many; each with its line. */
static uint32_t places(const struct line_codes *x, uint64_t off,
		       struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	const struct line_segment *segments = x->segments;
	const struct line_at *ats = x->ats;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->hdr.codes; i++) {
		const struct line_code *c = &x->codes[i];
		uint32_t at;

		if (off < c->offset || off - c->offset >= c->len) {
			segments += c->segments;
			ats += c->ats;
			continue;
		}
		at = segments[line_codes_segment(segments, c->segments, off - c->offset)].at;
		for (; at != LINE_NONE; at = ats[at].outer) {
			ret[n] = line_codes_function(x, ats[at].function);
			ret[n++].line = ats[at].line;
		}
		break;
	}
	return n;
}

TEST(worker_answers_with_the_function_of_a_place)
{
	struct symbol_place p[SYMBOL_DEPTH_MAX];
	struct line_codes codes;
	uint64_t offset;
	uint32_t has;

	lines("cc -O2 -g", 0, &has, &offset, &codes);
	CHECK_EQ(has, 1);
	CHECK_EQ(codes.hdr.codes, 1);
	CHECK_EQ(places(&codes, offset, p), 3);
	CHECK_STR(p[0].name, "innermost");
	CHECK_EQ(p[0].line, SAMPLE_HERE);
	CHECK_STR(p[2].name, "outer");
	/* its first byte, and its last ones */
	CHECK_EQ(places(&codes, codes.codes[0].offset, p), 1);
	CHECK_STR(p[0].name, "outer");
	CHECK(codes.codes[0].offset < offset);
	CHECK(places(&codes, codes.codes[0].offset + codes.codes[0].len - 1, p) > 0);
	CHECK_STR(p[0].name, "outer");
	CHECK_EQ(places(&codes, 0, p), 0);
}

/* --- dwz's alternate file ------------------------------------------------------- */

/* A program and its twin, whose common DWARF is in `alternate`, which says it is here. */
static bool dwz_sample(struct dwarf_sample *s, const char *link)
{
	char command[512];

	CHECK(dwarf_sample_make(s, "cc -O2 -g -gdwarf-4"));
	snprintf(command, sizeof(command), "cd %s && cp sample other && chmod 755 . && "
		 "dwz -m alternate -M %s sample other 2>/dev/null && test -s alternate",
		 s->dir, link);
	if (dwarf_sample_run(command))
		return true;
	printf("# no dwz here, or nothing to do for it\n");
	dwarf_sample_remove(s);
	return false;
}

/* The functions that are known with the file `given`, after this command in its
 * directory. */
static uint32_t given_names(const struct dwarf_sample *s, const char *command)
{
	struct msg_job question = { .kind = JOB_LINES, .exe = 7, .n_frames = 1 };
	struct symbol_place p[SYMBOL_DEPTH_MAX];
	struct line_codes codes;
	char text[512];
	const void *data;
	struct msg m;
	size_t len;

	snprintf(text, sizeof(text), "cd %s && %s", s->dir, command);
	CHECK(dwarf_sample_run(text));
	snprintf(text, sizeof(text), "%s/given", s->dir);
	debug_fd = open(text, O_RDONLY | O_CLOEXEC);
	CHECK(debug_fd >= 0);
	ask(&question, &s->offset, 1, open(s->path, O_RDONLY | O_CLOEXEC), &m, 1);
	close(debug_fd);
	debug_fd = -1;
	CHECK_EQ(m.hdr.type, MSG_NAMES);
	CHECK_EQ(sealed_map(m.fds[0], sizeof(struct line_codes_hdr), LINE_CODES_BYTES_MAX,
			    &data, &len), 0);
	CHECK_EQ(line_codes_open(data, len, 1, &codes), 0);
	return places(&codes, s->offset, p);
}

static uint32_t dwz_names(const struct dwarf_sample *s, const char *command)
{
	uint32_t n = given_names(s, command);

	CHECK_EQ(debug_question.alternate, DEBUG_ALTERNATE);
	return n;
}

TEST(worker_asks_for_an_alternate_file)
{
	struct dwarf_sample s;

	if (!dwz_sample(&s, "/usr/lib/debug/.dwz/x86_64-linux-gnu/both.debug"))
		exit(TEST_SKIP);
	CHECK_EQ(dwz_names(&s, "cp alternate given"), 3);
	CHECK_STR(debug_question.paths, "x86_64-linux-gnu/both.debug");
	CHECK_EQ(debug_question.build_id_len, 20);
	/* of another build ID, unreadable for others, of another owner */
	CHECK_EQ(dwz_names(&s, "cp sample given"), 1);
	CHECK_EQ(dwz_names(&s, "chmod 600 given && cp alternate given"), 1);
	if (geteuid() == 0) {
		CHECK_EQ(dwz_names(&s, "chmod 644 given && chown 12345 given"), 1);
		debug_from = DEBUG_SERVER;
		CHECK_EQ(dwz_names(&s, ":"), 3);
		debug_from = DEBUG_LOCAL;
		CHECK_EQ(dwz_names(&s, "chown 12345 sample"), 3);
	}
	/* no ELF file, or one that is cut */
	CHECK_EQ(dwz_names(&s, "echo no >given"), 1);
	CHECK(dwz_names(&s, "head -c 500 alternate >given") <= 1);
	dwarf_sample_remove(&s);
}

/* It is asked for one file, whatever that says: the answer follows. */
TEST(worker_asks_for_no_alternate_of_an_alternate)
{
	struct dwarf_sample s;

	if (!dwz_sample(&s, "../../.dwz/both-1.0-1.fc39.x86_64"))
		exit(TEST_SKIP);
	CHECK_EQ(dwz_names(&s, "objcopy -O binary --only-section=.gnu_debugaltlink "
			       "--set-section-flags .gnu_debugaltlink=alloc sample link && "
			       "test -s link && "
			       "objcopy --add-section .gnu_debugaltlink=link alternate given"), 3);
	CHECK_STR(debug_question.paths, "both-1.0-1.fc39.x86_64");
	dwarf_sample_remove(&s);
}

TEST(worker_says_no_name_that_leads_elsewhere)
{
	static const char *const links[] = {
		"/etc/passwd", "both.dwz", "/usr/lib/debug/.dwz/../../../../etc/passwd",
		"/usr/lib/debug/.dwz//etc/passwd", "/usr/lib/debug/.dwz/..",
		"/x/.dwz/..../y", "dwz/x",
	};
	struct dwarf_sample s;

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (!dwz_sample(&s, links[i]))
			exit(TEST_SKIP);
		CHECK_EQ(dwz_names(&s, "cp alternate given"), 3);	/* by its build ID */
		CHECK_STR(debug_question.paths, "");
		dwarf_sample_remove(&s);
	}
}

/* --- packages of split DWARF ---------------------------------------------------------- */

/* The functions that are known with this package. */
static uint32_t package_names(const struct dwarf_sample *s, const char *command)
{
	uint32_t n = given_names(s, command);

	CHECK_EQ(debug_question.alternate, DEBUG_PACKAGE);
	CHECK_EQ(debug_question.build_id_len, 0);
	return n;
}

TEST(worker_asks_for_a_package)
{
	struct dwarf_sample s;

	CHECK(dwarf_sample_make(&s, "cc -O2 -gdwarf-4 -gsplit-dwarf"));
	CHECK_EQ(package_names(&s, "dwp -e sample -o package && cp package given"), 3);
	CHECK_STR(debug_question.paths, "");
	/* with the name of a debug file there may be, whatever that is */
	CHECK_EQ(package_names(&s, "echo >s.debug && objcopy --add-gnu-debuglink=s.debug sample"), 3);
	CHECK_STR(debug_question.paths, "s.debug");
	/* unreadable for others, of another owner, of another program, none, one that is cut */
	CHECK_EQ(package_names(&s, "chmod 600 given"), 1);
	CHECK_EQ(package_names(&s, "chmod 644 given"), 3);
	if (geteuid() == 0) {
		CHECK_EQ(package_names(&s, "chown 12345 given"), 1);
		CHECK_EQ(package_names(&s, "chown 12345 sample"), 3);
	}
	CHECK_EQ(package_names(&s, "echo 'int more;' >>sample.c && cc -O1 -gdwarf-4 -gsplit-dwarf "
			       "-nostdlib -static -o other sample.c && dwp -e other -o given"), 1);
	CHECK_EQ(package_names(&s, "echo no >given"), 1);
	CHECK_EQ(package_names(&s, "head -c 900 package >given"), 1);
	dwarf_sample_remove(&s);
}

/* --- a file with names of its own, and its DWARF elsewhere ------------------------ */

#define NO_BUILD_ID "objcopy 2>/dev/null --remove-section .note.gnu.build-id"

/* What a worker says of the sample after this command, and of a place in it; given: the
 * file in its directory that it gets when it asks. */
static void apart(const char *compiler, const char *command, const char *given,
		  struct msg_job_done *done, struct msg *m)
{
	struct msg_job question = { .kind = JOB_LINES, .exe = 7, .n_frames = 1 };
	struct dwarf_sample s;
	char text[512];

	CHECK(dwarf_sample_make(&s, compiler));
	snprintf(text, sizeof(text), "cd %s && chmod 755 . && cp sample debug && %s", s.dir,
		 command);
	CHECK(dwarf_sample_run(text));
	/* it does not ask when it reads the file: its names do not wait */
	job(open(s.path, O_RDONLY | O_CLOEXEC), JOB_TABLE | JOB_SYMBOLS, m);
	memcpy(done, m[1].buf, sizeof(*done));
	msg_close_fds(&m[0]);
	msg_close_fds(&m[1]);
	snprintf(text, sizeof(text), "%s/%s", s.dir, given ? given : "none");
	debug_fd = given ? open(text, O_RDONLY | O_CLOEXEC) : -1;
	if (done->lines)
		ask(&question, &s.offset, 1, open(s.path, O_RDONLY | O_CLOEXEC), m, 1);
	if (debug_fd >= 0)
		close(debug_fd);
	debug_fd = -1;
	dwarf_sample_remove(&s);
}

TEST(worker_finds_the_lines_of_a_file_that_has_its_names)
{
	struct symbol_place p[SYMBOL_DEPTH_MAX];
	struct msg_job_done done;
	struct line_codes codes;
	struct msg m[2];
	const void *data;
	size_t len;

	apart("cc -O2 -g", "strip --strip-debug sample", "debug", &done, m);
	CHECK(done.lines == 1 && done.debug == JOB_DEBUG_LINES);
	CHECK_EQ(debug_question.build_id_len, 20);
	CHECK_EQ(m[0].hdr.type, MSG_NAMES);
	CHECK_EQ(sealed_map(m[0].fds[0], sizeof(struct line_codes_hdr), LINE_CODES_BYTES_MAX,
			    &data, &len), 0);
	CHECK_EQ(line_codes_open(data, len, 1, &codes), 0);
	CHECK_EQ(places(&codes, codes.codes[0].offset, p), 1);
	CHECK_STR(p[0].name, "outer");
	/* by .gnu_debuglink */
	apart("cc -O2 -g", "mv debug d.debug && strip --strip-debug sample && "
	      NO_BUILD_ID " --add-gnu-debuglink=d.debug sample", "d.debug", &done, m);
	CHECK(done.lines == 1 && done.debug == JOB_DEBUG_LINES);
	CHECK_EQ(debug_question.build_id_len, 0);
	CHECK_STR(debug_question.paths, "d.debug");
	CHECK_EQ(m[0].hdr.type, MSG_NAMES);
}

TEST(worker_says_that_no_file_has_the_lines)
{
	const struct msg_job_failed *failed;
	struct msg_job_done done;
	struct msg m[2];

	failed = (const void *)m[0].buf;
	/* without DWARF; of another build ID */
	apart("cc -O2 -g0", ":", "debug", &done, m);
	CHECK(done.lines == 1 && m[0].hdr.type == MSG_JOB_FAILED);
	CHECK_EQ(failed->verdict, JOB_NO_NAMES);
	apart("cc -O2 -g", NO_BUILD_ID " debug && strip --strip-debug sample", "debug", &done, m);
	CHECK(done.lines == 1 && m[0].hdr.type == MSG_JOB_FAILED);
	CHECK_EQ(failed->verdict, JOB_NO_NAMES);
	/* nothing to ask by */
	apart("cc -O2 -g0", NO_BUILD_ID " sample", NULL, &done, m);
	CHECK(done.lines == 0 && done.debug == JOB_DEBUG_OWN);
}

TEST(worker_names_no_frames_of_a_runtime_without)
{
	const struct msg_job question = { .kind = JOB_PROCESS,
					  .runtime = RUNTIME_GO, .n_frames = 1 };
	const uint64_t word = 1;
	const struct msg_job_failed *failed;
	struct msg m;

	ask(&question, &word, 1, file_of("", 0), &m, 1);
	CHECK_EQ(m.hdr.type, MSG_JOB_FAILED);
	failed = (const void *)m.buf;
	CHECK_EQ(failed->exe, 0);
	CHECK_EQ(failed->verdict, JOB_NO_NAMES);
}
