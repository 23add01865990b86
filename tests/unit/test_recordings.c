// SPDX-License-Identifier: Apache-2.0
/*
 * Recordings of real processes (tests/recordings/), walked by the sampler as it is
 * now: each frame is the one that gdb and the interpreter itself saw.  How they are
 * made: tests/recordings/record.py.
 */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "bpf/stop.h"
#include "common/read_all.h"
#include "symbolizerd/snapshot/replay.h"
#include "symbolizerd/snapshot/text.h"
#include "tests/unit/harness.h"

#define PLACE		"tests/recordings"
#define RECORDINGS	30	/* at least: none is lost without notice */

static void read_file(const char *path, struct buffer *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		printf("# %s cannot be opened; run this from the top of the sources\n",
		       path);
	CHECK(fd >= 0);
	CHECK_EQ(read_all(fd, 1 << 20, to), 0);
	close(fd);
}

static void read_text(const char *name, struct buffer *text)
{
	struct buffer packed = { 0 };
	char path[256];

	snprintf(path, sizeof(path), PLACE "/%s.gz", name);
	read_file(path, &packed);
	CHECK(packed.len < 64 << 10);
	CHECK_EQ(text_unpack(packed.data, packed.len, text), 0);
	free(packed.data);
}

static void read_recording(const char *name, struct snapshot *s)
{
	struct buffer text = { 0 };

	read_text(name, &text);
	CHECK_EQ(text_read(text.data, text.len, s), 0);
	free(text.data);
}

/* A frame as the file beside the recording has it.  A native one's name is known from
 * its place, which is the same. */
static void put_frame(const struct snapshot *s, const struct snapshot_frame *got,
		      const struct snapshot_frame *recorded, struct buffer *to)
{
	unsigned int file;
	bool same = recorded && !strcmp(got->place, recorded->place);

	if (sscanf(got->place, "native %x+", &file) != 1) {
		buffer_printf(to, "%s %s\n", got->place, got->name ? got->name : "");
		return;
	}
	CHECK(file < s->files.n);
	buffer_printf(to, "native %s %s\n", s->files.v[file].name,
		      !same ? strchr(got->place, '+') :
		      recorded->name ? recorded->name : "-");
}

static void put_stacks(const struct snapshot *s, const struct snapshot *got,
		       struct buffer *to)
{
	static const char *const stops[] = { STOP_NAMES };

	for (uint32_t i = 0; i < got->threads.n; i++) {
		const struct snapshot_thread *t = &got->threads.v[i];
		const struct snapshot_thread *was = &s->threads.v[i];

		buffer_str(to, "thread\n");
		for (uint32_t k = 0; k < t->n; k++)
			put_frame(s, &got->frames.v[t->first + k], k < was->n ?
				  &s->frames.v[was->first + k] : NULL, to);
		buffer_printf(to, "stop %s\n", stops[t->stop]);
	}
}

/* The first line that differs, for people. */
static void show_difference(struct buffer *got, struct buffer *want)
{
	size_t line = 0, i = 0;

	buffer_add(got, "", 1);
	buffer_add(want, "", 1);
	while (i < got->len && i < want->len && got->data[i] == want->data[i]) {
		i++;
		if (got->data[i - 1] == '\n')
			line = i;
	}
	printf("# got  %.*s\n# want %.*s\n",
	       (int)strcspn((char *)got->data + line, "\n"), got->data + line,
	       (int)strcspn((char *)want->data + line, "\n"), want->data + line);
}

static int walks_as_recorded(const char *name)
{
	struct snapshot s = { 0 }, walked = { 0 };
	struct buffer got = { 0 }, want = { 0 };
	struct replay_misses misses;
	char path[256];
	bool same;

	read_recording(name, &s);
	same = !replay(&s, &walked, &misses) && walked.threads.n == s.threads.n;
	put_stacks(&s, &walked, &got);
	snprintf(path, sizeof(path), PLACE "/%s.expected", name);
	read_file(path, &want);
	same = same && got.len == want.len && !memcmp(got.data, want.data, got.len) &&
	       !misses.memory && !misses.rows;
	printf("# %s: %u threads, %u frames%s\n", name, walked.threads.n, walked.frames.n,
	       same ? "" : " DIFFER");
	if (misses.memory || misses.rows)
		printf("# it asks for what is not recorded: %u reads, %u rules\n",
		       misses.memory, misses.rows);
	if (!same)
		show_difference(&got, &want);
	snapshot_fini(&s);
	snapshot_fini(&walked);
	free(got.data);
	free(want.data);
	return same;
}

/* What each() says of the recordings, added up; how many there are. */
static int of_all(int (*each)(const char *name), int *sum)
{
	int n = 0;
	struct dirent *e;
	DIR *d = opendir(PLACE);

	*sum = 0;
	CHECK(d);
	while ((e = readdir(d))) {
		char *dot = strrchr(e->d_name, '.');

		if (!dot || strcmp(dot, ".gz"))
			continue;
		*dot = '\0';
		*sum += each(e->d_name);
		n++;
	}
	closedir(d);
	return n;
}

TEST(recordings_are_walked_as_others_saw_them)
{
	int same, n = of_all(walks_as_recorded, &same);

	CHECK(n >= RECORDINGS);
	CHECK_EQ(same, n);
}

/* --- what lies ---------------------------------------------------------------------- */

#define LIES	48	/* of each recording */

static uint32_t lie_seed = 1;

static size_t lie_number(size_t below)
{
	lie_seed = lie_seed * 1664525 + 1013904223;
	return (size_t)((uint64_t)lie_seed * below >> 32);
}

/* In memory of exact size; walked if it is believed.  1 if it is. */
static int lie(const struct buffer *text, size_t len, size_t flip, int bit)
{
	struct snapshot s = { 0 }, got = { 0 };
	struct replay_misses misses;
	uint8_t *copy = malloc(len + !len);
	int r;

	memcpy(copy, text->data, len);
	if (flip < len)
		copy[flip] ^= (uint8_t)(1 << bit);
	r = text_read(copy, len, &s);
	free(copy);
	if (!r)
		CHECK_EQ(replay(&s, &got, &misses), 0);
	snapshot_fini(&s);
	snapshot_fini(&got);
	return !r;
}

static int lies_believed(const char *name)
{
	struct buffer text = { 0 };
	int believed = 0;

	read_text(name, &text);
	for (int i = 0; i < LIES; i++) {
		believed += lie(&text, text.len, lie_number(text.len),
				(int)lie_number(8));
		CHECK(!lie(&text, lie_number(text.len), text.len, 0));
	}
	free(text.data);
	return believed;
}

TEST(recordings_that_end_early_or_have_bits_flipped_are_refused_or_walked)
{
	int believed, n = of_all(lies_believed, &believed);

	printf("# %d of %d flips are believed\n", believed, n * LIES);
	CHECK(believed > n * LIES / 10);
	CHECK(believed < n * LIES);
}
