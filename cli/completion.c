// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "common/log.h"
#include "profile/formats/formats.h"

enum value_kind {
	VALUE_NONE,		/* it has no value */
	VALUE_ANY,		/* there is nothing to offer */
	VALUE_FILE,
	VALUE_DIR,
	VALUE_FORMAT,
};

static enum value_kind value_kind(const struct option_def *d)
{
	if (d->kind == OPTION_FLAG)
		return VALUE_NONE;
	if (d->kind == OPTION_FORMAT)
		return VALUE_FORMAT;
	if (!strcmp(d->value, "FILE"))
		return VALUE_FILE;
	return strcmp(d->value, "DIR") ? VALUE_ANY : VALUE_DIR;
}

/* The i-th option that people may use, --help last; NULL behind it. */
static const struct option_def *option_at(const struct command *c, size_t i)
{
	for (size_t k = 0; k < c->n_options; k++) {
		if (c->options[k].help && !i--)
			return &c->options[k];
	}
	return i ? NULL : &option_help;
}

/* The i-th command that people may use; NULL behind the last. */
static const struct command *command_at(size_t i)
{
	for (size_t k = 0; k < commands_n; k++) {
		if (commands[k].summary && !i--)
			return &commands[k];
	}
	return NULL;
}

static void put_formats(void)
{
	for (uint32_t i = 1; format_at(i); i++)
		printf("%s%s", i > 1 ? " " : "", format_at(i)->name);
}

/*
 * Help as one line, inside single quotes: runs of blanks become one, and what
 * is in `escape` gets a backslash.  quote: how a single quote is written.
 */
static void put_help(const char *s, const char *escape, const char *quote)
{
	for (; *s; s++) {
		if (*s == ' ' || *s == '\n') {
			s += strspn(s, " \n") - 1;
			putchar(' ');
		} else if (*s == '\'') {
			fputs(quote, stdout);
		} else {
			if (strchr(escape, *s))
				putchar('\\');
			putchar(*s);
		}
	}
}

static void put_option_help(const struct option_def *d, const char *escape,
			    const char *quote)
{
	char help[OPTION_HELP_MAX];

	put_help(option_help_text(d, help, sizeof(help)), escape, quote);
}

/* --- bash -------------------------------------------------------------- */

static const char bash_head[] =
"# bash completion of trifold, by `trifold completion bash`\n"
"_trifold_words()\n"
"{\n"
"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
"}\n"
"\n"
"_trifold_files()\n"
"{\n"
"	compopt -o filenames 2>/dev/null\n"
"	mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
"}\n"
"\n"
"# a command and its words, from word $1 on\n"
"_trifold_command()\n"
"{\n"
"	if declare -F _command_offset >/dev/null; then\n"
"		_command_offset \"$1\"\n"
"	elif ((COMP_CWORD == $1)); then\n"
"		_trifold_files -c\n"
"	else\n"
"		_trifold_files -f\n"
"	fi\n"
"}\n"
"\n"
"_trifold()\n"
"{\n"
"	local cmd=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}\n"
"	local prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
"\n"
"	COMPREPLY=()\n"
"	# --name=value comes as three words\n"
"	if [[ $cur == = ]]; then\n"
"		cur=\n"
"	elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n"
"		prev=${COMP_WORDS[COMP_CWORD-2]}\n"
"	fi\n"
"	if ((COMP_CWORD == 1)); then\n"
"		_trifold_words '";

static const char bash_middle[] =
"--help --version'\n"
"		return\n"
"	fi\n"
"	for ((i = 2; i < COMP_CWORD; i++)); do\n"
"		if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
"			_trifold_command $((i + 1))\n"
"			return\n"
"		fi\n"
"	done\n"
"	case \"$cmd $prev\" in\n";

static void bash_value(const struct command *c, const struct option_def *d)
{
	enum value_kind kind = value_kind(d);

	if (kind == VALUE_NONE)
		return;
	printf("\t'%s --%s') ", c->name, d->name);
	if (kind == VALUE_FILE || kind == VALUE_DIR) {
		printf("_trifold_files -%c; ", kind == VALUE_DIR ? 'd' : 'f');
	} else if (kind == VALUE_FORMAT) {
		printf("_trifold_words '");
		put_formats();
		printf("'; ");
	}
	printf("return ;;\n");
}

static void bash_rest(const struct command *c)
{
	const struct option_def *d;
	bool word = c->rest == REST_FILE || c->rest == REST_FILES ||
		    c->rest == REST_SHELL;

	printf("\t'%s %s'*) _trifold_words '", c->name, word ? "-" : "");
	for (size_t i = 0; (d = option_at(c, i)); i++)
		printf("%s--%s", i ? " " : "", d->name);
	printf("%s' ;;\n", c->rest == REST_COMMAND ? " --" : "");
	if (c->rest == REST_SHELL)
		printf("\t'%s '*) _trifold_words '" SHELLS "' ;;\n", c->name);
	else if (word)
		printf("\t'%s '*) _trifold_files -f ;;\n", c->name);
}

static void bash(void)
{
	const struct option_def *d;
	const struct command *c;

	fputs(bash_head, stdout);
	for (size_t i = 0; (c = command_at(i)); i++)
		printf("%s ", c->name);
	fputs(bash_middle, stdout);
	for (size_t i = 0; (c = command_at(i)); i++) {
		for (size_t k = 0; (d = option_at(c, k)); k++)
			bash_value(c, d);
	}
	printf("\tesac\n\tcase \"$cmd $cur\" in\n");
	for (size_t i = 0; (c = command_at(i)); i++)
		bash_rest(c);
	printf("\tesac\n}\ncomplete -F _trifold trifold\n");
}

/* --- zsh --------------------------------------------------------------- */

static const char zsh_head[] =
"#compdef trifold\n"
"# zsh completion of trifold, by `trifold completion zsh`\n"
"_trifold() {\n"
"	local context state state_descr line behind\n"
"	typeset -A opt_args\n"
"	local -a subcommands=(\n";

static const char zsh_middle[] =
"	)\n"
"	behind=${words[(ie)--]}\n"
"	if (( behind < CURRENT )); then\n"
"		shift $behind words\n"
"		(( CURRENT -= behind ))\n"
"		_normal\n"
"		return\n"
"	fi\n"
"	_arguments -C \\\n"
"		'(- *)--help[say what there is]' \\\n"
"		'(- *)--version[say which trifold this is]' \\\n"
"		'1:command:->command' '*::argument:->argument' && return\n"
"	if [[ $state == command ]]; then\n"
"		_describe -t commands command subcommands\n"
"		return\n"
"	fi\n"
"	case $words[1] in\n";

static const char zsh_tail[] =
"	esac\n"
"}\n"
"if [[ $funcstack[1] == _trifold ]]; then\n"
"	_trifold \"$@\"\n"
"else\n"
"	compdef _trifold trifold\n"
"fi\n";

static void zsh_option(const struct option_def *d)
{
	enum value_kind kind = value_kind(d);

	printf(" \\\n\t\t\t'--%s%s[", d->name, kind == VALUE_NONE ? "" : "=");
	put_option_help(d, "\\[]:", "'\\''");
	putchar(']');
	if (kind != VALUE_NONE) {
		putchar(':');
		put_help(d->value, "\\[]:", "'\\''");
		putchar(':');
		if (kind == VALUE_FILE || kind == VALUE_DIR)
			printf("_files%s", kind == VALUE_DIR ? " -/" : "");
		if (kind == VALUE_FORMAT) {
			putchar('(');
			put_formats();
			putchar(')');
		}
	}
	putchar('\'');
}

static void zsh_command(const struct command *c)
{
	const struct option_def *d;

	printf("\t%s)\n\t\t_arguments", c->name);
	for (size_t i = 0; (d = option_at(c, i)); i++)
		zsh_option(d);
	if (c->rest == REST_COMMAND)
		printf(" \\\n\t\t\t'*:end of options:(--)'");
	if (c->rest == REST_SHELL)
		printf(" \\\n\t\t\t'1:shell:(" SHELLS ")'");
	if (c->rest == REST_FILE || c->rest == REST_FILES)
		printf(" \\\n\t\t\t'1:file:_files'");
	if (c->rest == REST_FILES)
		printf(" \\\n\t\t\t'2:file:_files'");
	printf("\n\t\t;;\n");
}

static void zsh(void)
{
	const struct command *c;

	fputs(zsh_head, stdout);
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("\t\t'%s:", c->name);
		put_help(c->summary, "\\", "'\\''");
		printf("'\n");
	}
	fputs(zsh_middle, stdout);
	for (size_t i = 0; (c = command_at(i)); i++)
		zsh_command(c);
	fputs(zsh_tail, stdout);
}

/* --- fish -------------------------------------------------------------- */

static const char fish_head[] =
"# fish completion of trifold, by `trifold completion fish`\n"
"function __trifold_words\n"
"	commandline -opc\n"
"end\n"
"function __trifold_first\n"
"	test (count (__trifold_words)) -eq 1\n"
"end\n"
"function __trifold_in\n"
"	set -l w (__trifold_words)\n"
"	test (count $w) -ge 2; and test $w[2] = $argv[1]\n"
"	and not contains -- -- $w\n"
"end\n"
"function __trifold_behind\n"
"	contains -- -- (__trifold_words)\n"
"end\n"
"function __trifold_command\n"
"	set -l w (__trifold_words)\n"
"	set -l last (commandline -ct)\n"
"	set -e w[1..(contains -i -- -- $w)]\n"
"	complete -C (string join ' ' -- (string escape -- $w) \"$last\")\n"
"end\n"
"complete -c trifold -f\n"
"complete -c trifold -n __trifold_first -l help -d 'say what there is'\n"
"complete -c trifold -n __trifold_first -l version -d 'say which trifold this is'\n"
"complete -c trifold -n __trifold_behind -a '(__trifold_command)'\n";

static void fish_option(const struct command *c, const struct option_def *d)
{
	enum value_kind kind = value_kind(d);

	printf("complete -c trifold -n '__trifold_in %s' -l %s", c->name,
	       d->name);
	if (kind == VALUE_FILE)
		printf(" -r -F");
	else if (kind != VALUE_NONE)
		printf(" -x");
	if (kind == VALUE_DIR)
		printf(" -a '(__fish_complete_directories)'");
	if (kind == VALUE_FORMAT) {
		printf(" -a '");
		put_formats();
		putchar('\'');
	}
	printf(" -d '");
	put_option_help(d, "\\", "\\'");
	printf("'\n");
}

static void fish(void)
{
	const struct option_def *d;
	const struct command *c;

	fputs(fish_head, stdout);
	for (size_t i = 0; (c = command_at(i)); i++) {
		printf("complete -c trifold -n __trifold_first -a %s -d '",
		       c->name);
		put_help(c->summary, "\\", "\\'");
		printf("'\n");
		for (size_t k = 0; (d = option_at(c, k)); k++)
			fish_option(c, d);
		if (c->rest == REST_FILE || c->rest == REST_FILES)
			printf("complete -c trifold -n '__trifold_in %s' -F\n",
			       c->name);
		if (c->rest == REST_SHELL)
			printf("complete -c trifold -n '__trifold_in %s' -a '"
			       SHELLS "'\n", c->name);
	}
}

int completion_run(const struct options *o)
{
	const char *shell = o->file ? o->file : "";

	if (!strcmp(shell, "bash")) {
		bash();
	} else if (!strcmp(shell, "zsh")) {
		zsh();
	} else if (!strcmp(shell, "fish")) {
		fish();
	} else {
		log_err("completion is for bash, zsh or fish; see `trifold "
			"completion --help`");
		return EXIT_USAGE;
	}
	if (fflush(stdout) || ferror(stdout)) {
		log_err("cannot write: %m");
		return 1;
	}
	return 0;
}
