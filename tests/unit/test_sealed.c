// SPDX-License-Identifier: Apache-2.0
#include "ipc/sealed.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FROZEN	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW)

static int make_two_parts(void)
{
	const struct iovec parts[] = {
		{ (void *)"head", 4 }, { NULL, 0 }, { (void *)"tail!", 5 },
	};
	int fd = sealed_make("test", parts, 3);

	CHECK(fd >= 0);
	return fd;
}

TEST(sealed_round_trip)
{
	int fd = make_two_parts();
	const void *p;
	size_t len;

	CHECK_EQ(sealed_map(fd, 9, 9, &p, &len), 0);
	CHECK_EQ(len, 9);
	CHECK(!memcmp(p, "headtail!", 9));
	munmap((void *)p, len);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST(sealed_cannot_be_changed)
{
	int fd = make_two_parts();

	CHECK(write(fd, "x", 1) < 0 && errno == EPERM);
	CHECK(pwrite(fd, "x", 1, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 100) < 0 && errno == EPERM);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4) <
	      0);
	CHECK(mmap(NULL, 9, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0 && errno == EPERM);
}

TEST(sealed_map_wants_every_seal)
{
	static const int one_missing[] = {
		0, FROZEN & ~F_SEAL_WRITE, FROZEN & ~F_SEAL_SHRINK,
		FROZEN & ~F_SEAL_GROW,
	};

	for (size_t i = 0; i < 4; i++) {
		int fd = memfd_create("test", MFD_ALLOW_SEALING);
		const void *p = "kept";
		size_t len = 7;

		CHECK_EQ(write(fd, "12345678", 8), 8);
		CHECK(fcntl(fd, F_ADD_SEALS, one_missing[i]) == 0);
		CHECK_EQ(sealed_map(fd, 1, 100, &p, &len), -EPROTO);
		CHECK(!strcmp(p, "kept") && len == 7);
		CHECK(fcntl(fd, F_ADD_SEALS, FROZEN) == 0);
		CHECK_EQ(sealed_map(fd, 1, 100, &p, &len), 0);
		munmap((void *)p, len);
		close(fd);
	}
}

TEST(sealed_map_refuses_what_is_no_memfd)
{
	int fds[2], fd = open("/proc/self/exe", O_RDONLY);
	const void *p;
	size_t len;

	CHECK(pipe(fds) == 0);
	CHECK_EQ(sealed_map(fd, 0, SIZE_MAX, &p, &len), -EPROTO);
	CHECK_EQ(sealed_map(fds[0], 0, SIZE_MAX, &p, &len), -EPROTO);
	CHECK_EQ(sealed_map(-1, 0, SIZE_MAX, &p, &len), -EPROTO);
	fd = open("/dev/zero", O_RDWR);
	CHECK_EQ(sealed_map(fd, 0, SIZE_MAX, &p, &len), -EPROTO);
}

TEST(sealed_map_refuses_every_other_size)
{
	int fd = make_two_parts(), empty = sealed_make("empty", NULL, 0);
	const void *p;
	size_t len;

	CHECK_EQ(sealed_map(fd, 10, 100, &p, &len), -EPROTO);
	CHECK_EQ(sealed_map(fd, 0, 8, &p, &len), -EPROTO);
	CHECK(empty >= 0);
	CHECK_EQ(sealed_map(empty, 0, 100, &p, &len), -EPROTO);
}
