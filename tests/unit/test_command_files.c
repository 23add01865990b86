// SPDX-License-Identifier: Apache-2.0
/* What a command will run from is mapped, each in a child of its own. */
#include "cli/record/command_files.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

/* Is a page of a file whose path has this part mapped to be run? */
static bool is_mapped(const char *part)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	bool ret = false;

	while (f && fgets(line, sizeof(line), f))
		ret |= strstr(line, " r-xp 00000000 ") && strstr(line, part);
	if (f)
		fclose(f);
	return ret;
}

static char dir[] = "/tmp/command_files.XXXXXX";

static void write_file(char *path, const char *name, const char *text)
{
	FILE *f;

	snprintf(path, 64, "%s/%s", dir, name);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	chmod(path, 0755);
}

/* Mapped by a child: 0, or what was wrong. */
static int child_maps(const char *name, unsigned int least, const char *part)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		bool before = part && is_mapped(part);
		unsigned int n = command_files_map(name);

		_exit(n < least ? 1 : !least && n ? 2 : before ? 3 :
		      part && !is_mapped(part) ? 4 : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(a_program_its_interpreter_and_its_libraries)
{
	/* by its path, and by PATH: program, interpreter, libc */
	CHECK_EQ(child_maps("/bin/sed", 3, "/sed"), 0);
	CHECK_EQ(child_maps("sed", 3, "/sed"), 0);
	/* a library that only the list names */
	CHECK_EQ(child_maps("sed", 3, "libselinux"), 0);
}

TEST(a_script_has_the_files_of_its_interpreter)
{
	char script[64];

	CHECK(mkdtemp(dir) != NULL);
	write_file(script, "script", "#! /bin/sed -f\np\n");
	CHECK_EQ(child_maps(script, 4, "/sed"), 0);
	CHECK_EQ(child_maps(script, 4, "/script"), 0);
	unlink(script);
	rmdir(dir);
}

TEST(what_is_no_program_is_left_out)
{
	char empty[64];

	CHECK(mkdtemp(dir) != NULL);
	write_file(empty, "empty", "");
	CHECK_EQ(child_maps(empty, 0, NULL), 0);
	CHECK_EQ(child_maps("/nonexistent", 0, NULL), 0);
	CHECK_EQ(child_maps("no-such-command-here", 0, NULL), 0);
	CHECK_EQ(child_maps("/dev/null", 0, NULL), 0);
	CHECK_EQ(child_maps("/", 0, NULL), 0);
	unlink(empty);
	rmdir(dir);
}

/* What answers without end is asked for a second, not for a second each time. */
TEST(an_interpreter_that_lists_without_end_ends)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		char interp[64];
	} prog = { .eh = { .e_ident = ELFMAG, .e_phentsize = sizeof(prog.ph),
			   .e_phoff = sizeof(prog.eh), .e_phnum = 1 },
		   .ph = { .p_type = PT_INTERP, .p_offset = sizeof(prog.eh) +
			   sizeof(prog.ph) } };
	char at[64];
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	write_file(prog.interp, "ld-slow", "#!/bin/sh\n"
		   "while echo '/bin/sed (0)'; do sleep 0.2; done\n");
	prog.ph.p_filesz = strlen(prog.interp) + 1;
	prog.eh.e_ident[EI_CLASS] = ELFCLASS64;
	write_file(at, "prog", "");
	f = fopen(at, "w");
	fwrite(&prog, sizeof(prog), 1, f);
	fclose(f);
	alarm(60);	/* the child has none, but it would keep us waiting */
	CHECK_EQ(child_maps(at, 3, "/sed"), 0);
	alarm(0);
	unlink(at);
	unlink(prog.interp);
	rmdir(dir);
}

/* A script of itself, and one that is cut within its line. */
TEST(a_script_without_end_ends)
{
	static char text[300] = "#!";
	char at[64];

	CHECK(mkdtemp(dir) != NULL);
	snprintf(text, sizeof(text), "#!%s/self\n", dir);
	write_file(at, "self", text);
	CHECK_EQ(child_maps(at, 1, "/self"), 0);
	memset(text + 2, 'a', sizeof(text) - 3);
	write_file(at, "self", text);
	CHECK_EQ(child_maps(at, 1, "/self"), 0);
	unlink(at);
	rmdir(dir);
}
