// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/log.h"
#include "common/number.h"
#include "common/read_all.h"
#include "ipc/snapshot_fds.h"
#include "symbolizerd/snapshot/taking.h"
#include "symbolizerd/snapshot/text.h"
#include "symbolizerd/worker/confine.h"

#define END		"\nend\n"

static bool snapshot_main_whole(const struct buffer *b)
{
	size_t n = sizeof(END) - 1;

	return b->len >= n && !memcmp(b->data + b->len - n, END, n);
}

/* One text from standard input.  1; 0: it has ended; -errno. */
static int snapshot_main_said(struct buffer *b)
{
	b->len = 0;
	while (!snapshot_main_whole(b)) {
		ssize_t n;

		if (b->len > SNAPSHOT_TEXT_MAX)
			return -E2BIG;
		if (!buffer_room(b, 65536))
			return -ENOMEM;
		n = read(STDIN_FILENO, b->data + b->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return b->len ? -EPROTO : 0;
		b->len += (size_t)n;
	}
	return 1;
}

static int snapshot_main_result(const struct snapshot *s)
{
	struct buffer text = { 0 }, packed = { 0 };
	int r = -ENOMEM;

	text_write(s, &text);
	if (!text.failed)
		r = text_pack(&text, &packed);
	if (!r)
		r = write_all(SNAPSHOT_FD_RESULT, packed.data, packed.len);
	free(text.data);
	free(packed.data);
	return r;
}

static int snapshot_main_finish(struct taken_process *c)
{
	taking_names(c);
	taking_summary(c, stdout);
	if (fflush(stdout))
		return -errno;
	return snapshot_main_result(&c->s);
}

static int snapshot_main_process(struct taken_process *c)
{
	struct buffer said = { 0 };
	int r, walks = 0;

	while ((r = snapshot_main_said(&said)) > 0) {
		r = taking_walk(c, said.data, said.len);
		if (r)
			break;
		walks++;
		fputs(SNAPSHOT_READ, stdout);
		fflush(stdout);
	}
	free(said.data);
	if (r || !walks)
		return r;
	return snapshot_main_finish(c);
}

/* list: only which files it names, each path with a NUL. */
static int snapshot_main_core(struct taken_process *c, bool list)
{
	struct core core;
	int r = core_open(&core, SNAPSHOT_FD_MEMORY, &c->s);

	c->core = &core;
	if (r == -ENOEXEC)
		log_err("it is no core file of a 64-bit process");
	else if (r)
		log_err("%s", strerror(-r));
	for (uint32_t i = 0; !r && list && i < core.paths.n; i++)
		fwrite(core.paths.v[i], 1, strlen(core.paths.v[i]) + 1, stdout);
	if (!r && list && fflush(stdout))
		r = -errno;
	else if (!r && !list)
		r = taking_walk_again(c);
	if (!r && !list)
		r = snapshot_main_finish(c);
	core_fini(&core);
	return r;
}

int snapshot_main(uid_t uid, gid_t gid, char *const *words, int n)
{
	static int keep[SNAPSHOT_FD_FILES + SNAPSHOT_MAPPED_MAX];
	static struct taken_process c;	/* large */
	bool core = n == 2 && !strcmp(words[1], SNAPSHOT_CORE);
	bool list = n == 2 && !strcmp(words[1], SNAPSHOT_CORE_FILES);
	uint64_t files;
	int r;

	if (n != 1 + (core || list) || !number_parse(words[0], 0, SNAPSHOT_MAPPED_MAX, &files))
		return 2;
	for (int i = 0; i < SNAPSHOT_FD_FILES + (int)files; i++)
		keep[i] = i;
	confine_lone_worker(uid, gid, keep, SNAPSHOT_FD_FILES + (int)files);
	c.memory = SNAPSHOT_FD_MEMORY;
	c.files = SNAPSHOT_FD_FILES;
	c.n_files = (uint32_t)files;
	if (core || list)
		r = snapshot_main_core(&c, list);
	else
		r = snapshot_main_process(&c);
	taking_fini(&c);
	if (r && !core && !list)
		log_err("the process cannot be walked: %s", strerror(-r));
	return r != 0;
}
