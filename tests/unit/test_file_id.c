// SPDX-License-Identifier: Apache-2.0
/* What names a file: its hash, and the build IDs in its notes. */
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#include "ipc/message_hub.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/runtimes/go/find.h"

static void check_id(const void *data, size_t len, const char *want)
{
	uint8_t id[16];
	char hex[33];
	int fd = file_of(data, len);

	CHECK_EQ(file_id(fd, len, id), 0);
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	if (strcmp(hex, want))
		printf("# %s is not %s\n", hex, want);
	CHECK(!strcmp(hex, want));
	close(fd);
}

/* Vectors made with sha256sum(1). */
TEST(file_id_vectors)
{
	static const uint8_t zero[10000];

	check_id("\x7f\x45\x4c\x46\x00\x01\x02\x03\x04", 9,
		 "caf6e5907166ac76eef618e5f7f59cd9");
	check_id("abc", 3, "a7e79e8a85da69bad5c3fea209342ac9");
	check_id(zero, sizeof(zero), "b23f8793a20e0effeae7327192f2b180");
}

TEST(file_id_depends_on_both_ends_and_the_length)
{
	uint8_t data[3 * 4096] = { 0 }, a[16], b[16];
	int fd;

	fd = file_of(data, sizeof(data));
	CHECK_EQ(file_id(fd, sizeof(data), a), 0);
	for (size_t at = 0; at < sizeof(data); at += 4095) {
		bool middle = at >= 4096 && at < sizeof(data) - 4096;

		CHECK(pwrite(fd, "x", 1, at) == 1);
		CHECK_EQ(file_id(fd, sizeof(data), b), 0);
		CHECK_EQ(!memcmp(a, b, 16), middle);
		CHECK(pwrite(fd, "", 1, at) == 1);
	}
	CHECK_EQ(file_id(fd, sizeof(data) - 1, b), 0);
	CHECK(memcmp(a, b, 16));
	/* shorter than was said */
	CHECK(file_id(fd, sizeof(data) + 1, b) < 0);
	close(fd);
}

/* --- notes --------------------------------------------------------------------- */

#define GNU	"\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef"
#define OTHER	"\4\0\0\0\2\0\0\0\1\0\0\0GNU\0xx\0\0"
#define PROP	"\4\0\0\0\x10\0\0\0\5\0\0\0GNU\0................"
#define GO	"\3\0\0\0\6\0\0\0\4\0\0\0Go\0\0abc/de\0\0"

static struct elf_image im;

static void note(const char *section, const void *data, size_t len)
{
	uint64_t at;

	image_init(&im, EM_X86_64);
	at = image_put(&im, data, len);
	if (section)
		image_section(&im, section, SHT_NOTE, at, 0, len);
	else
		image_segment(&im, PT_NOTE, PF_R, at, 0, len);
	image_finish(&im);
}
#define NOTE(section, data)	note(section, data, sizeof(data) - 1)

static size_t build_id(uint8_t *ret, size_t max)
{
	struct elf_file f;
	size_t len;
	int fd = image_file(&im);

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	len = file_build_id(&f, ret, max);
	elf_file_close(&f);
	close(fd);
	return len;
}

static bool go_id(char *ret, size_t size)
{
	struct elf_file f;
	int fd = image_file(&im);
	bool go;

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	go = go_build_id(&f, ret, size);
	elf_file_close(&f);
	close(fd);
	return go;
}

static void check_build_id(void)
{
	uint8_t id[32];

	CHECK_EQ(build_id(id, sizeof(id)), 4);
	CHECK(!memcmp(id, "\xde\xad\xbe\xef", 4));
}

TEST(build_id_in_section_or_segment)
{
	uint8_t id[32];

	NOTE(".note.gnu.build-id", GNU);
	check_build_id();
	NOTE(".note.gnu.build-id", OTHER GNU);
	check_build_id();
	NOTE(NULL, PROP OTHER GNU);
	check_build_id();
	CHECK_EQ(build_id(id, 4), 4);
	CHECK_EQ(build_id(id, 3), 0);		/* never cut */
	NOTE(NULL, OTHER);
	CHECK_EQ(build_id(id, sizeof(id)), 0);
}

TEST(build_id_of_hostile_notes)
{
	static const char *const notes[] = {
		"\xff\xff\xff\xff\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef",
		"\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0\xde\xad\xbe\xef",
		"\4\0\0\0\5\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef",
		"\0\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef",
		"\4\0\0\0\4\0\0\0\3\0\0\0XYZ\0\xde\xad\xbe\xef",
	};
	uint8_t id[32];

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		note(NULL, notes[i], 20);
		CHECK_EQ(build_id(id, sizeof(id)), 0);
	}
	for (size_t len = 0; len < sizeof(GNU) - 1; len++) {
		note(".note.gnu.build-id", GNU, len);
		CHECK_EQ(build_id(id, sizeof(id)), 0);
	}
}

TEST(go_build_id_of_a_note)
{
	char id[128];

	NOTE(".note.go.buildid", GO);
	CHECK(go_id(id, sizeof(id)));
	CHECK(!strcmp(id, "abc/de"));
	CHECK(go_id(id, 7));
	CHECK(!strcmp(id, "abc/de"));
	CHECK(go_id(id, 6));			/* does not fit */
	CHECK(!strcmp(id, ""));
	NOTE(NULL, GO);
	CHECK(go_id(id, sizeof(id)));
	CHECK(!strcmp(id, "abc/de"));
	NOTE(".gopclntab", "x");		/* stripped of its note */
	CHECK(go_id(id, sizeof(id)));
	CHECK(!strcmp(id, ""));
	NOTE(".note.gnu.build-id", GNU);
	CHECK(!go_id(id, sizeof(id)));
}
