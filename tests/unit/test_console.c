// SPDX-License-Identifier: Apache-2.0
#include "cli/record/console.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/outfile.h"
#include "tests/unit/harness.h"

/* --- the output file --------------------------------------------------------- */


static unsigned int entries(void)
{
	DIR *d = opendir(".");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void enter_dir(void)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/trifold-test-%d", (int)getpid());
	CHECK_EQ(mkdir(dir, 0700), 0);
	CHECK_EQ(chdir(dir), 0);
}

static void leave_dir(void)
{
	CHECK_EQ(system("rm -rf \"$PWD\""), 0);
}

TEST(outfile_replaces_at_once_and_for_its_owner)
{
	struct outfile f;
	struct stat st;
	char text[8] = "";
	int old;

	enter_dir();
	CHECK_EQ(system("echo old > x.html; chmod 666 x.html"), 0);
	old = open("x.html", O_RDONLY);
	CHECK_EQ(outfile_open(&f, "x.html", false), 0);
	CHECK_EQ(write(f.fd, "new\n", 4), 4);
	CHECK_EQ(entries(), 2);
	CHECK_EQ(outfile_commit(&f), 0);
	CHECK_EQ(entries(), 1);
	CHECK_EQ(stat("x.html", &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(st.st_size, 4);
	/* the former file is another, and whole */
	CHECK_EQ(read(old, text, sizeof(text)), 4);
	CHECK(strcmp(text, "old\n") == 0);
	CHECK_EQ(outfile_open(&f, "./y.html", false), 0);
	outfile_abandon(&f);
	CHECK_EQ(entries(), 1);
	leave_dir();
}

TEST(outfile_writes_through_nothing)
{
	static const char *const bad[] = { "link", "dangling", "fifo", "sub",
					   "sub/", "", "nowhere/x", "/" };
	struct outfile f;
	struct stat st;

	enter_dir();
	CHECK_EQ(system("echo x > target; ln -s target link; "
			"ln -s missing dangling; mkfifo fifo; mkdir sub"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(outfile_open(&f, bad[i], false) != 0);
	CHECK_EQ(entries(), 5);
	/* a link that appears meanwhile is replaced, not followed */
	CHECK_EQ(outfile_open(&f, "late", false), 0);
	CHECK_EQ(symlink("target", "late"), 0);
	CHECK_EQ(outfile_commit(&f), 0);
	CHECK(lstat("late", &st) == 0 && S_ISREG(st.st_mode));
	CHECK(stat("target", &st) == 0 && st.st_size == 2);
	leave_dir();
}

TEST(outfile_is_standard_output)
{
	struct outfile f;
	int both[2], out = dup(STDOUT_FILENO);
	char got[8] = "";

	fflush(stdout);
	CHECK(outfile_is_standard("-") && outfile_is_standard("/dev/stdout"));
	CHECK(!outfile_is_standard("./-") && !outfile_is_standard(""));
	enter_dir();
	CHECK_EQ(pipe(both), 0);
	dup2(both[1], STDOUT_FILENO);
	CHECK_EQ(outfile_open(&f, "-", false), 0);
	dup2(out, STDOUT_FILENO);
	CHECK_EQ(write(f.fd, "new", 3), 3);
	CHECK_EQ(outfile_commit(&f), 0);
	CHECK_EQ(read(both[0], got, sizeof(got)), 3);
	CHECK_EQ(entries(), 0);
	leave_dir();
	close(out);
	close(both[0]);
	close(both[1]);
}

/* --- the console ----------------------------------------------------------------- */

/* What reaches standard error when children write this. */
static void through_console(const char *text, bool all, char *out, size_t size)
{
	int p[2], saved = dup(2);
	struct console c;
	ssize_t n;

	CHECK_EQ(pipe(p), 0);
	dup2(p[1], 2);
	CHECK_EQ(console_init(&c, all), 0);
	CHECK_EQ(write(c.write_fd, text, strlen(text)), strlen(text));
	console_fini(&c);
	dup2(saved, 2);
	close(p[1]);
	close(saved);
	n = read(p[0], out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	close(p[0]);
}

TEST(console_lets_no_escape_through)
{
	char out[8192], longer[3000];

	through_console("<3>a: \033[2J\a\nb\xff\n\n<4>warn\n<6>info\n<9>x\n",
			false, out, sizeof(out));
	CHECK(strcmp(out, "a: \\x1b[2J\\x07\nb\\xff\nwarn\n<9>x\n") == 0);
	through_console("<6>info\n<7>debug\n", true, out, sizeof(out));
	CHECK(strcmp(out, "info\ndebug\n") == 0);
	memset(longer, 1, sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[sizeof(longer) - 2] = '\n';
	through_console(longer, false, out, sizeof(out));
	CHECK(strlen(out) >= 4 * 1024 && strspn(out, "\\x01\n") == strlen(out));
}
