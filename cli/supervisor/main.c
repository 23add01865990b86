// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-supervisor - what `trifold run` and `trifold record` become as root
 *
 * Not for people: PATH-OF-TRIFOLD COMMAND [ARG]...
 */
#include <err.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/supervisor/supervise.h"

int main(int argc, char **argv)
{
	program_invocation_short_name = (char *)"trifold";	/* for warn(3) */
	if (argc < 3 || geteuid() != 0) {
		warnx("trifold-supervisor is started by `trifold run`, as root");
		return 2;
	}
	syscall(SYS_close_range, 3, ~0U, 0);
	return supervise(argv + 1);
}
