// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/show_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/number.h"
#include "common/sandbox.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/show.h"
#include "symbolizerd/worker/confine.h"

static int show_main_show(const uint64_t *at, size_t n)
{
	static const char *const why[JOB__VERDICTS] = {
		[JOB_NOT_ELF] = "it is no ELF file for x86-64 or arm64",
		[JOB_CORRUPT] = "its structures contradict themselves",
		[JOB_TOO_LARGE] = "it is too large",
		[JOB_NO_MEMORY] = "there is not enough memory",
	};
	static char buffer[1 << 16];
	struct elf_file f;
	int r;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	r = elf_file_open(&f, STDIN_FILENO);
	if (!r)
		r = show_table(&f, runtimes_rows, runtimes_symbols, at, n,
			       stdout);
	elf_file_close(&f);
	if (r)
		log_err("no table: %s", why[r] ? why[r] : "?");
	if (fflush(stdout) || ferror(stdout)) {
		log_err("standard output: %m");
		return 1;
	}
	return r != 0;
}

int show_main(uid_t uid, gid_t gid, char *const *words, int n)
{
	const int keep[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };
	uint64_t *at = calloc(n + 1, sizeof(*at));
	int r;

	for (int i = 0; at && i < n; i++) {
		if (!number_parse_hex(words[i], &at[i])) {
			log_err("\"%.40s\" is no address; it should be a "
				"hexadecimal number", words[i]);
			return 2;
		}
	}
	r = at ? sandbox_close_fds(keep, 3) : -ENOMEM;
	if (!r)
		r = sandbox_identity(uid, gid, NULL, 0);
	if (!r)
		r = confine_worker();
	if (r)
		return 1;
	r = show_main_show(at, n);
	free(at);
	return r;
}
