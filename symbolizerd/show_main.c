// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/show_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/number.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/show_names.h"
#include "symbolizerd/unwind/show.h"
#include "symbolizerd/worker/confine.h"

/* Said, if it is none. */
static bool show_main_address(const char *word, uint64_t *ret)
{
	char q[160];

	if (number_parse_hex(word, ret))
		return true;
	log_quote(word, strlen(word), q, sizeof(q));
	log_err("\"%.40s\" is no address; it should be a hexadecimal number", q);
	return false;
}

/* --- names ------------------------------------------------------------------- */

/* An address on each line; blanks around it, and empty lines, do not count. */
static int show_main_lines(const struct shown_names *s, int fd)
{
	FILE *from = fdopen(fd, "r");
	char line[256];
	uint64_t at;

	if (!from) {
		log_err("the addresses cannot be read: %m");
		return 1;
	}
	while (fgets(line, sizeof(line), from)) {
		char *word = line + strspn(line, " \t\r\n");

		word[strcspn(word, " \t\r\n")] = '\0';
		if (!*word)
			continue;
		if (!show_main_address(word, &at))
			return 2;
		show_names_at(s, at);
	}
	if (ferror(from)) {
		log_err("the addresses cannot be read: %m");
		return 1;
	}
	return 0;
}

/* Of another file it would give false names. */
static int show_main_debug(const struct elf_file *f, int fd, struct elf_file *ret)
{
	uint8_t ours[BUILD_ID_MAX], its[BUILD_ID_MAX];
	int r = elf_file_open(ret, fd);
	size_t n;

	if (r) {
		log_err("the debug file: it is no ELF file for x86-64 or arm64");
		return r;
	}
	n = file_build_id(f, ours, sizeof(ours));
	if (ret->ehdr.e_machine == f->ehdr.e_machine &&
	    file_build_id(ret, its, sizeof(its)) == n && !memcmp(ours, its, n))
		return JOB_OK;
	log_err("the debug file belongs to another file: their build IDs differ");
	return JOB_CORRUPT;
}

static int show_main_names(const struct show_request *req, struct elf_file *f,
			   const uint64_t *at, int *status)
{
	struct elf_file debug;
	struct shown_names s;
	int r;

	if (req->debug) {
		if (show_main_debug(f, req->debug, &debug)) {
			*status = 1;
			elf_file_close(&debug);
			return JOB_OK;
		}
		f->debug = &debug;
	}
	r = show_names_open(&s, f, runtimes_symbols, req->mangled, stdout);
	if (!r)
		show_names_split(&s, req->package, req->dwo);
	for (int i = 0; !r && i < req->n; i++)
		show_names_at(&s, at[i]);
	if (!r && req->addresses)
		*status = show_main_lines(&s, req->addresses);
	else if (!r && !req->n)
		show_names_all(&s);
	show_names_close(&s);
	if (req->debug)
		elf_file_close(&debug);
	return r;
}

/* ----------------------------------------------------------------------------- */

static int show_main_show(const struct show_request *req, const uint64_t *at)
{
	static const char *const why[JOB__VERDICTS] = {
		[JOB_NOT_ELF] = "it is no ELF file for x86-64 or arm64",
		[JOB_CODE] = "it is no ELF file",
		[JOB_CORRUPT] = "its structures contradict themselves",
		[JOB_TOO_LARGE] = "it is too large",
		[JOB_NO_MEMORY] = "there is not enough memory",
	};
	static char buffer[1 << 16];
	struct elf_file f;
	int r, status = 0;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	r = elf_file_open(&f, STDIN_FILENO);
	if (!r && req->names)
		r = show_main_names(req, &f, at, &status);
	else if (!r)
		r = show_table(&f, runtimes_rows, runtimes_symbols, at, (size_t)req->n,
			       stdout);
	elf_file_close(&f);
	if (r)
		log_err("no %s: %s", req->names ? "names" : "table", why[r] ? why[r] : "?");
	if (fflush(stdout) || ferror(stdout)) {
		log_err("standard output: %m");
		return 1;
	}
	return r ? 1 : status;
}

int show_main(const struct show_request *req)
{
	const int keep[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, req->debug,
			     req->addresses, req->package, req->dwo };
	uint64_t *at = calloc((size_t)req->n + 1, sizeof(*at));
	int r;

	for (int i = 0; at && i < req->n; i++) {
		if (!show_main_address(req->words[i], &at[i]))
			return 2;
	}
	if (!at)
		return 1;
	confine_lone_worker(req->uid, req->gid, keep, sizeof(keep) / sizeof(keep[0]));
	r = show_main_show(req, at);
	free(at);
	return r;
}
