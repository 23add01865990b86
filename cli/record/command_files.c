// SPDX-License-Identifier: Apache-2.0
#include "cli/record/command_files.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/command_path.h"
#include "common/clock.h"

#define SCRIPTS_MAX	4	/* BINPRM_MAX_RECURSION of Linux, execve(2) */
#define PHDRS_MAX	64
#define LIST_NS		NSEC_PER_SEC	/* for the interpreter's whole list */
#define LIST_BYTES	65536

/* A descriptor of a file that is mapped now and counted, or -1. */
static int command_map(const char *path, unsigned int *mapped)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (*mapped < COMMAND_FILES_MAX && !fstat(fd, &st) &&
	    S_ISREG(st.st_mode) && st.st_size &&
	    mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) !=
		    MAP_FAILED) {
		*mapped += 1;
		return fd;
	}
	close(fd);
	return -1;
}

/* The program of a "#!" line.  False: it is no script. */
static bool command_script(int fd, char path[PATH_MAX])
{
	char line[257];			/* BINPRM_BUF_SIZE of Linux */
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	size_t at;

	if (n < 3 || memcmp(line, "#!", 2))
		return false;
	line[n] = '\0';
	at = 2 + strspn(line + 2, " \t");
	snprintf(path, PATH_MAX, "%.*s", (int)strcspn(line + at, " \t\n"),
		 line + at);
	return *path;
}

/* The ELF interpreter.  False: there is none. */
static bool command_interp(int fd, char path[PATH_MAX])
{
	Elf64_Phdr ph;
	Elf64_Ehdr eh;
	ssize_t n;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return false;
	for (int i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++) {
		off_t at = (off_t)(eh.e_phoff + (uint64_t)i * sizeof(ph));

		if (pread(fd, &ph, sizeof(ph), at) != sizeof(ph))
			return false;
		if (ph.p_type != PT_INTERP || ph.p_filesz < 2 ||
		    ph.p_filesz > PATH_MAX)
			continue;
		n = pread(fd, path, ph.p_filesz, (off_t)ph.p_offset);
		return n == (ssize_t)ph.p_filesz && !path[n - 1];
	}
	return false;
}

/* In a child: have the interpreter list the libraries. */
static _Noreturn void command_list(const char *interp, const char *path, int out)
{
	int null = open("/dev/null", O_RDWR);

	signal(SIGPIPE, SIG_DFL);
	dup2(null, 0);
	dup2(null, 2);
	dup2(out, 1);
	execl(interp, interp, "--list", path, (char *)NULL);
	_exit(127);
}

/* Read what arrives within LIST_NS. Returns its length. */
static size_t command_listed(int fd, char *to, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = now_ns(), end = now + LIST_NS;
	size_t len = 0;
	ssize_t n = 1;

	for (; n > 0 && len < size && now < end; now = now_ns()) {
		if (poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) != 1)
			break;
		n = read(fd, to + len, size - len);
		if (n > 0)
			len += (size_t)n;
	}
	return len;
}

/* Each line is "NAME => /PATH (ADDRESS)" or "/PATH (ADDRESS)". */
static void command_libraries(const char *interp, const char *path, unsigned int *mapped)
{
	static char text[LIST_BYTES + 1];
	char *line, *rest = text, *at;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0)
		command_list(interp, path, fds[1]);
	close(fds[1]);
	text[command_listed(fds[0], text, LIST_BYTES)] = '\0';
	close(fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	while ((line = strsep(&rest, "\n"))) {
		at = strchr(line, '/');
		if (!at || !strchr(at, '('))
			continue;
		at[strcspn(at, " (")] = '\0';
		close(command_map(at, mapped));
	}
}

/* Map the file; of a script the program that its first line names, too.  A
 * descriptor of the program and its path, or -1. */
static int command_program(char path[PATH_MAX], unsigned int *mapped)
{
	char next[PATH_MAX];

	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		int fd = command_map(path, mapped);

		if (fd < 0 || !command_script(fd, next))
			return fd;
		close(fd);
		strcpy(path, next);
	}
	return -1;
}

unsigned int command_files_map(const char *name)
{
	char path[PATH_MAX], interp[PATH_MAX];
	unsigned int mapped = 0;
	const char *base;
	int fd;

	if (command_path(name, path))
		return 0;
	fd = command_program(path, &mapped);
	if (fd >= 0 && command_interp(fd, interp)) {
		close(command_map(interp, &mapped));
		base = strrchr(interp, '/');
		/* another process would run the program instead */
		if (base && !strncmp(base, "/ld-", 4))
			command_libraries(interp, path, &mapped);
	}
	close(fd);
	return mapped;
}
