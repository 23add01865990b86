// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/debug_file.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ipc/conn.h"
#include "symbolizerd/elf/debugdata.h"
#include "symbolizerd/elf/file_id.h"

#define DEBUG_WAIT_MS	1000	/* for a debug file that may not exist */
#define DEBUG_LINK_MAX	256	/* NAME_MAX and a NUL */
#define DEBUG_ALTLINK_MAX	4096u	/* bytes of that section */
#define DEBUG_CRC_MAX	(256u << 20)	/* bytes that are read for the CRC */
#define DEBUG_CRC_PART	(1u << 20)

/* --- links in the file ------------------------------------------------------- */

struct debug_link {
	char name[DEBUG_LINK_MAX];	/* "": none */
	uint32_t crc;
};

/* .gnu_debuglink: a name, padding to four bytes, the CRC of that file. */
static void debug_file_link(const struct elf_file *f, struct debug_link *ret)
{
	const Elf64_Shdr *s = elf_file_find(f, ".gnu_debuglink");
	struct elf_bytes b;
	size_t n;

	*ret = (struct debug_link){ 0 };
	if (!s || s->sh_size > sizeof(ret->name) + 8 || elf_file_section(f, s, &b))
		return;
	n = strnlen((const char *)b.data, b.len);
	if (n < sizeof(ret->name) && (n | 3) + 1 + sizeof(ret->crc) <= b.len &&
	    msg_debug_link((const char *)b.data)) {
		memcpy(ret->name, b.data, n);
		memcpy(&ret->crc, b.data + (n | 3) + 1, sizeof(ret->crc));
	}
	elf_bytes_free(&b);
}

/* What follows the last "/.dwz/" in a path; "" if there is none. */
static void debug_file_alternate_name(const char *path, char ret[DEBUG_LINK_MAX])
{
	static const char dir[] = "/.dwz/";
	const char *name = NULL;

	for (const char *at = strstr(path, dir); at; at = strstr(at + 1, dir))
		name = at + strlen(dir);
	if (name && strlen(name) < DEBUG_LINK_MAX && msg_debug_alternate(name))
		strcpy(ret, name);
}

/* .gnu_debugaltlink: a path, and the build ID of that file.  False: no such link. */
static bool debug_file_altlink(const struct elf_file *f, struct msg_wanted *ret)
{
	const Elf64_Shdr *s = elf_file_find(f, ".gnu_debugaltlink");
	struct elf_bytes b;
	size_t n, len = 0;

	*ret = (struct msg_wanted){ .alternate = DEBUG_ALTERNATE };
	if (!s || s->sh_size > DEBUG_ALTLINK_MAX || elf_file_section(f, s, &b))
		return false;
	n = strnlen((const char *)b.data, b.len) + 1;
	if (n < b.len)
		len = b.len - n;
	if (len >= 2 && len <= BUILD_ID_MAX) {
		ret->build_id_len = (uint32_t)len;
		memcpy(ret->build_id, b.data + n, len);
		debug_file_alternate_name((const char *)b.data, ret->paths);
	}
	elf_bytes_free(&b);
	return ret->build_id_len > 0;
}

/* --- files of the host ------------------------------------------------------- */

/* Ask for a file, and wait up to DEBUG_WAIT_MS.  A descriptor and its source, or -1. */
static int debug_file_ask(struct conn *c, const struct msg_wanted *wanted, uint64_t *source)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	struct msg m;
	int fd = -1;

	if (conn_send(c, MSG_DEBUG_WANTED, 0, wanted, sizeof(*wanted), NULL, 0, NULL, 0) ||
	    poll(&p, 1, DEBUG_WAIT_MS) != 1 || conn_recv(c, &m))
		return -1;
	*source = m.hdr.id;
	if (m.hdr.type == MSG_WANTED_FILE)
		fd = msg_take_fd(&m, 0);
	msg_close_fds(&m);
	return fd;
}

static bool debug_file_trusted(int exe, int debug, uint64_t source)
{
	struct stat e, d;

	if (source == DEBUG_SERVER)
		return true;
	if (fstat(exe, &e) || fstat(debug, &d))
		return false;
	return (d.st_uid == 0 || d.st_uid == e.st_uid) && (d.st_mode & S_IROTH);
}

static bool debug_file_same_id(const struct elf_file *d, const struct msg_wanted *q)
{
	uint8_t id[BUILD_ID_MAX];

	return q->build_id_len >= 2 && file_build_id(d, id, sizeof(id)) == q->build_id_len &&
	       !memcmp(id, q->build_id, q->build_id_len);
}

/* The CRC of GDB's manual is zlib's. */
static bool debug_file_same_crc(const struct elf_file *d, const struct debug_link *link)
{
	uLong crc = crc32(0, NULL, 0);
	struct elf_bytes b;

	if (!link->name[0] || d->size > DEBUG_CRC_MAX)
		return false;
	for (uint64_t at = 0; at < d->size; at += DEBUG_CRC_PART) {
		uint64_t len = d->size - at;

		if (len > DEBUG_CRC_PART)
			len = DEBUG_CRC_PART;
		if (elf_file_read(d, at, len, &b))
			return false;
		crc = crc32(crc, b.data, (uInt)b.len);
		elf_bytes_free(&b);
	}
	return crc == link->crc;
}

/* Open it in *ret if it belongs to f.  A CRC is soon found for any file: it is believed of what
 * was found by name here, where its owner is known, and not of what a server sent. */
static bool debug_file_open(const struct elf_file *f, const struct msg_wanted *q,
			    const struct debug_link *link, int fd, uint64_t source,
			    struct elf_file *ret)
{
	if (!elf_file_open(ret, fd) && ret->ehdr.e_machine == f->ehdr.e_machine &&
	    (debug_file_same_id(ret, q) ||
	     (source != DEBUG_SERVER && debug_file_same_crc(ret, link))))
		return true;
	elf_file_close(ret);
	return false;
}

/* Find the separate file, if there is one. */
static void debug_file_separate(struct debug_file *d, struct elf_file *f, struct conn *c,
				const struct debug_link *link, struct msg_job_done *done)
{
	uint64_t source = DEBUG_LOCAL;
	struct msg_wanted q = { 0 };

	if (done->build_id_len >= 2)
		q.build_id_len = done->build_id_len;
	memcpy(q.build_id, done->build_id, q.build_id_len);
	memcpy(q.paths, link->name, sizeof(link->name));
	d->fd = debug_file_ask(c, &q, &source);
	if (d->fd < 0 || !debug_file_trusted(f->fd, d->fd, source) ||
	    !debug_file_open(f, &q, link, d->fd, source, &d->elf))
		return;
	f->debug = &d->elf;
	done->debug = JOB_DEBUG_FILE;
}

void debug_file_find(struct debug_file *d, struct elf_file *f, struct conn *c,
		     uint32_t parts, struct msg_job_done *done)
{
	bool ask = done->build_id_len >= 2;
	struct debug_link link;

	*d = (struct debug_file){ .fd = -1 };
	done->debug = JOB_DEBUG_OWN;
	if (parts && elf_file_find(f, ".symtab"))
		return;
	if (ask)
		done->debug = JOB_DEBUG_MISSING;
	debug_file_link(f, &link);
	if (ask || link.name[0])
		debug_file_separate(d, f, c, &link, done);
	if (f->debug || !elf_file_find(f, ".gnu_debugdata"))
		return;
	if (ask)
		done->debug = JOB_DEBUG_INSIDE;
	if (parts & JOB_SYMBOLS && !debugdata_open(f, &d->elf))
		f->debug = &d->elf;
}

bool debug_file_may_be(const struct elf_file *f, const struct msg_job_done *done)
{
	struct debug_link link;

	debug_file_link(f, &link);
	return done->build_id_len >= 2 || link.name[0];
}

int debug_file_alternate(const struct elf_file *f, struct conn *c)
{
	uint64_t source = DEBUG_LOCAL;
	struct elf_file alternate;
	struct msg_wanted q;
	bool good;
	int fd;

	if (!debug_file_altlink(f->debug ? f->debug : f, &q))
		return -1;
	fd = debug_file_ask(c, &q, &source);
	if (fd < 0)
		return -1;
	good = !elf_file_open(&alternate, fd) && debug_file_trusted(f->fd, fd, source) &&
	       debug_file_same_id(&alternate, &q);
	elf_file_close(&alternate);
	if (good)
		return fd;
	close(fd);
	return -1;
}

int debug_file_package(const struct elf_file *f, struct conn *c)
{
	struct msg_wanted q = { .alternate = DEBUG_PACKAGE };
	uint64_t source = DEBUG_LOCAL;
	struct debug_link link;
	int fd;

	debug_file_link(f, &link);
	memcpy(q.paths, link.name, sizeof(link.name));
	fd = debug_file_ask(c, &q, &source);
	if (fd < 0 || debug_file_trusted(f->fd, fd, source))
		return fd;
	close(fd);
	return -1;
}

void debug_file_close(struct debug_file *d, struct elf_file *f)
{
	if (f->debug)
		elf_file_close(&d->elf);
	f->debug = NULL;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
