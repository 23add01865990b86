// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

/* made of packaging/completion/ by packaging/install.mk */
extern const unsigned char completion_bash[], completion_zsh[],
	completion_fish[];
extern const unsigned long completion_bash_len, completion_zsh_len,
	completion_fish_len;

static const struct {
	const char *shell;
	const unsigned char *script;
	const unsigned long *len;
} completions[] = {
	{ "bash", completion_bash, &completion_bash_len },
	{ "zsh", completion_zsh, &completion_zsh_len },
	{ "fish", completion_fish, &completion_fish_len },
};

int completion_run(const struct options *o)
{
	const char *shell = o->file ? o->file : "";
	size_t i = 0, n = sizeof(completions) / sizeof(completions[0]);

	while (i < n && strcmp(shell, completions[i].shell))
		i++;
	if (i == n) {
		log_err("completion is for bash, zsh or fish; see `trifold "
			"completion --help`");
		return EXIT_USAGE;
	}
	if (fwrite(completions[i].script, 1, *completions[i].len, stdout) !=
	    *completions[i].len || fflush(stdout)) {
		log_err("cannot write: %m");
		return 1;
	}
	return 0;
}
