// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-supervisor - what `trifold run` and `trifold record` become as root
 *
 * Not for people: PATH-OF-TRIFOLD COMMAND [ARG]...
 */
#include <string.h>
#include <unistd.h>

#include "cli/supervisor/child.h"
#include "cli/supervisor/runtime_dir.h"
#include "cli/supervisor/say.h"
#include "cli/supervisor/supervise.h"

int main(int argc, char **argv)
{
	static char attach[] = "attach";

	if (argc < 3 || geteuid() != 0) {
		say("trifold-supervisor is started by `trifold run`, as root");
		return 2;
	}
	child_close_from(CHILD_FD_FIRST);
	argv++;
	/* beside a trifold that runs already, there is nothing to supervise */
	if (!strcmp(argv[1], "record") && runtime_dir_connect() >= 0) {
		argv[1] = attach;
		execv(argv[0], argv);
	}
	return supervise(argv);
}
