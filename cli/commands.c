// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/config/check.h"
#include "cli/config/keys.h"
#include "cli/config/suggest.h"
#include "cli/convert/convert.h"
#include "cli/diff/diff.h"
#include "cli/front/front.h"
#include "cli/record/output.h"
#include "cli/record/recorder.h"
#include "cli/run.h"
#include "cli/show_file.h"
#include "cli/snapshot/snapshot.h"
#include "cli/status/doctor.h"
#include "cli/top/top.h"
#include "cli/unit/unit_config.h"
#include "common/log.h"
#include "profile/names.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define AT(member)	offsetof(struct options, member)

#define DURATION	{ "duration", "S", "stop after S seconds",	\
			  OPTION_SECONDS, 0, 0, AT(duration_ms) }
#define FREQUENCY	{ "frequency", "HZ", "samples per second and CPU (19)", \
			  OPTION_NUMBER, 1, FREQUENCY_MAX, AT(frequency) }
#define RECORD_FREQUENCY { "frequency", "HZ",				\
			  "samples per second and CPU (99; of COMMAND\n" \
			  "                     without --all 992)", \
			  OPTION_NUMBER, 1, FREQUENCY_MAX, AT(frequency) }
/* what other profilers call it */
#define RATE		{ "rate", "HZ", "the same as --frequency",	\
			  OPTION_NUMBER, 1, FREQUENCY_MAX, AT(frequency) }
#define INCLUDE_SELF	{ "include-self", NULL,				\
			  "samples of trifold itself, too",		\
			  OPTION_FLAG, 0, 0, AT(include_self) }
#define SHOW_LOOPS	{ "show-loops", NULL,				\
			  "the frames of interpreter loops, too",	\
			  OPTION_FLAG, 0, 0, AT(show_loops) }
/* for tests: where to find other daemons than the installed ones */
#define LIBEXEC		{ "libexec", "DIR", NULL, OPTION_TEXT, 0, 0,	\
			  AT(libexec) }
#define NAMES		{ "names", NAMES_WORDS,				\
			  "of functions: short (default) without parameters\n" \
			  "                     and with templates cut, full, or raw as the file\n" \
			  "                     calls them (mangled)",		\
			  OPTION_CHOICE, 0, 0, AT(names) }
#define LINES		{ "lines", NULL,				\
			  "folded stacks: the line of each frame, too",	\
			  OPTION_FLAG, 0, 0, AT(lines) }
#define INLINED		{ "inlined", NULL,				\
			  "folded stacks: _[i] behind calls that were inlined", \
			  OPTION_FLAG, 0, 0, AT(inlined) }
#define NO_PLACEHOLDERS	{ "no-placeholders", NULL,			\
			  "otlp and pprof: no functions for code without a\n" \
			  "                     name, for tools that look names up", \
			  OPTION_FLAG, 0, 0, AT(no_placeholders) }
#define VERBOSE		{ "verbose", NULL, "more log output", OPTION_FLAG, 0, 0, \
			  AT(verbose) }

static const struct option_def run_options[] = {
	DURATION,
	{ "output", "FILE", "write a profile of the whole run at its end, in\n"
	  "                     the format of FILE's ending, as record does",
	  OPTION_TEXT, 0, 0, AT(output) },
	FREQUENCY,
	RATE,
	{ "interval", "S", "seconds between batches (5)", OPTION_NUMBER, 1,
	  INTERVAL_MAX, AT(interval) },
	{ "endpoint", "URL", "send OTLP profiles to this receiver, such as\n"
	  "                     http://localhost:4318", OPTION_TEXT, 0, 0,
	  AT(endpoint) },
	{ "listen", "PORT", "port of the live page (4328, else any free one);\n"
	  "                     or HOST:PORT with localhost, 127.0.0.1 or [::1]",
	  OPTION_TEXT, 0, 0, AT(listen) },
	{ "no-page", NULL, "no live page", OPTION_FLAG, 0, 0, AT(no_page) },
	INCLUDE_SELF,
	SHOW_LOOPS,
	{ "config", "FILE", "read this configuration and no other\n"
	  "                     (" CONFIG_PATH_DEFAULT " and trifold.conf.d)",
	  OPTION_TEXT, 0, 0, AT(config_file) },
	VERBOSE,
	LIBEXEC,
};

static const char run_details[] =
"Without --endpoint, profiles are sent where the variables\n"
"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT and OTEL_EXPORTER_OTLP_ENDPOINT say (other\n"
"OTEL_* variables apply, too).  Without a receiver and --output, the profile is\n"
"written to " RUN_OUTPUT ".  The live page (docs/VIEWER.md) is for browsers on\n"
"this host; its address, which contains a key, is printed.  Ctrl-C ends the\n"
"run and delivers the last samples; a second Ctrl-C ends it at once.  SIGHUP\n"
"reloads the configuration (docs/CONFIG.md) without losing a sample.\n";

static const struct option_def check_config_options[] = {
	{ "effective", NULL, "show each value in effect and where it comes from",
	  OPTION_FLAG, 0, 0, AT(effective) },
	{ "defaults", NULL, "print a file with every key, its default and what\n"
	  "                     it means", OPTION_FLAG, 0, 0, AT(defaults) },
};

static const char check_config_details[] =
"Without FILE: " CONFIG_PATH_DEFAULT " and the files of\n"
"trifold.conf.d.  Each mistake is a line FILE:LINE: TEXT.  Exit status: 0, or 2\n"
"if there are mistakes.\n";

static const struct option_def record_options[] = {
	DURATION,
	{ "output", "FILE", "where to write (" RECORD_OUTPUT "); - is standard\n"
	  "                     output, with --format", OPTION_TEXT,
	  0, 0, AT(output) },
	{ "format", "FORMAT", "", OPTION_FORMAT, 0, 0, AT(format) },
	RECORD_FREQUENCY,
	RATE,
	{ "pid", "PID", "only this process, until it ends; repeat it for\n"
	  "                     several processes", OPTION_NUMBERS, 1,
	  INT32_MAX, AT(pids) },
	{ "name", "PROCESS", "only the processes that have this name now, up\n"
	  "                     to 32, until all have ended", OPTION_TEXT, 0, 0,
	  AT(name) },
	{ "unit", "UNIT", "only this unit of systemd: nginx.service, or nginx",
	  OPTION_TEXT, 0, 0, AT(unit) },
	{ "cgroup", "PATH", "only what runs in this cgroup (v2) or below it;\n"
	  "                     PATH is relative to /sys/fs/cgroup", OPTION_TEXT, 0, 0,
	  AT(cgroup) },
	{ "container", "NAME", "only the container or pod of this name, or the\n"
	  "                     container whose ID begins so (4 digits or more)",
	  OPTION_TEXT, 0, 0, AT(container) },
	{ "all", NULL, "the whole system while COMMAND runs", OPTION_FLAG, 0, 0,
	  AT(all) },
	NAMES,
	LINES,
	INLINED,
	NO_PLACEHOLDERS,
	INCLUDE_SELF,
	SHOW_LOOPS,
	VERBOSE,
	LIBEXEC,
};

static const char record_details[] =
"With COMMAND, it and all its descendants are recorded while it runs, daemons\n"
"too.  What others do for it is not recorded: kernel threads, services that it\n"
"calls, containers that an engine's daemon starts.  COMMAND runs with the\n"
"privileges of trifold; to change that, put `sudo -u USER` before it.  Without\n"
"COMMAND, --pid, --name, --unit, --cgroup or --container the whole system is\n"
"recorded for S seconds.\n"
"\n"
"FILE belongs to the user who called sudo and is readable by that user only.  It\n"
"replaces an older file at once.  Nothing is sent anywhere.\n"
"\n"
"If a trifold is running, it takes the samples, at its own frequency.  FILE is\n"
"written when it has finished the last batch (5 s; its --interval).  Such a\n"
"recording can cover the whole system, --pid, --name, --container, --unit of a\n"
"service (and users' services of that name), or COMMAND with --all.\n"
"\n"
"Exit status: 0, or that of COMMAND (128 + N if killed by signal N); 1 if\n"
"recording failed, or the running trifold ended first; 2 for a mistake in the\n"
"command line.\n";

static const struct option_def top_options[] = {
	{ "view", "VIEW", "functions (default), processes, containers, threads or lines",
	  OPTION_TEXT, 0, 0, AT(view) },
	{ "once", NULL, "print one table and exit, as when standard output is\n"
	  "                     no terminal", OPTION_FLAG, 0, 0, AT(once) },
	{ "json", NULL, "a line of JSON after each batch, or with --once one\n"
	  "                     (docs/DOCTOR.md)", OPTION_FLAG, 0, 0, AT(json) },
	{ "limit", "N", "rows of that table or line (50)", OPTION_NUMBER, 1, 1000000,
	  AT(limit) },
	{ "duration", "S", "stop after S seconds; --once: what to print (5)",
	  OPTION_SECONDS, 0, 0, AT(duration_ms) },
	{ "frequency", "HZ", "samples per second and CPU (19), if no trifold\n"
	  "                     runs yet", OPTION_NUMBER, 1, FREQUENCY_MAX,
	  AT(frequency) },
	RATE,
	NAMES,
	INCLUDE_SELF,
	SHOW_LOOPS,
	LIBEXEC,
};

static const char top_details[] =
"Shows the samples of the running trifold each time it finishes a batch\n"
"(`trifold run --interval`: 5 s), and does not change it.  If none runs, top\n"
"starts one for its own time, which writes no file and sends nothing.  The key ?\n"
"shows all keys.\n"
"\n"
"Exit status: 0; 1 if there was nothing to show, or something failed; 2 for a\n"
"mistake in the command line.\n";

static const struct option_def table_options[] = {
	{ "at", "ADDRESS...", "only the rules at these addresses (hexadecimal)",
	  OPTION_WORDS, 0, 0, AT(at) },
	LIBEXEC,
};

static const char table_details[] =
"FILE is an ELF file; addresses are those that nm and readelf show.  A line is a\n"
"range of addresses and its rule: how the canonical frame address (cfa) is\n"
"computed, and where the return address (ra) and the caller's registers are.\n"
"\"none\": the frame pointer is tried; \"end\": the outermost frame; \"signal\": a\n"
"signal frame; \"unsupported\": CFI that no rule can express.  Needs no privilege.\n";

static const struct option_def names_options[] = {
	{ "debug", "FILE", "its debug file, of the same build ID", OPTION_TEXT,
	  0, 0, AT(debug) },
	{ "mangled", NULL, "names as the file has them, not demangled", OPTION_FLAG,
	  0, 0, AT(mangled) },
	LIBEXEC,
};

static const char names_details[] =
"FILE is an ELF file; addresses are hexadecimal, those that nm and readelf show.\n"
"For each of them there is a line for each function that is there, the innermost\n"
"first: address, function, FILE:LINE, and \"(inlined)\" for a function that is\n"
"inlined into the one on the next line.  Columns have a tab between them.  \"?\":\n"
"no symbol is there; \"!0x1234\": a function without a name that begins at 0x1234.\n"
"With - for ADDRESS, addresses are read from standard input, one a line.  Without\n"
"any, all symbols are shown: address, size, name.  They are the names that\n"
"profiles have.  Of split DWARF, FILE.dwp is read, or else .dwo files where the\n"
"compiler wrote them.  Needs no privilege.\n";

#define JSON		{ "json", NULL, "one JSON object on one line "	\
			  "(docs/DOCTOR.md)", OPTION_FLAG, 0, 0, AT(json) }

static const struct option_def status_options[] = { JSON };
static const struct option_def doctor_options[] = { JSON, LIBEXEC };

static const char doctor_details[] =
"Prints a line for each check: OK, less, no, or unknown without root.  Below a\n"
"check that is not OK: what it costs, and the command or setting that changes\n"
"it.  doctor changes nothing.  Exit status: 0 everything works; 1 it works with\n"
"less, or something is unknown; 2 a mistake in the command line; 3 it cannot work.\n";

static const struct option_def diff_options[] = {
	{ "limit", "N", "number of functions shown (30)", OPTION_NUMBER, 1,
	  DIFF_LIMIT_MAX, AT(limit) },
	{ "total", NULL, "order by the difference of total, not of self",
	  OPTION_FLAG, 0, 0, AT(by_total) },
	{ "output", "FILE", "write a file instead: .html, a flame graph in colours\n"
	  "                     of the difference; .folded, each stack with its\n"
	  "                     samples in A and in B, for flamegraph.pl; - as\n"
	  "                     .folded to standard output",
	  OPTION_TEXT, 0, 0, AT(output) },
	{ "by", "function|line", "what is compared (function); lines are those\n"
	  "                     that were being run, or called from", OPTION_CHOICE, 0, 0,
	  AT(by) },
	NAMES,
	{ "json", NULL, "one JSON object on one line, in samples", OPTION_FLAG,
	  0, 0, AT(json) },
};

static const char diff_details[] =
"A and B are .otlp files of `trifold record`, or folded stacks, from `trifold\n"
"record --format folded` or a stackcollapse script of another profiler; one of\n"
"them may be -, standard input.  Folded stacks have lines if they were recorded\n"
"with --lines.  Shares are percentages of all samples of the same recording;\n"
"points are B's share minus A's.  Self: the function is the innermost frame;\n"
"total: it is anywhere in the stack.  The largest difference comes first.\n"
"Outermost frames, mostly names of processes, have rows too.  Needs no privilege.\n"
"\n"
"Exit status: 0; 1 if a file cannot be read, written or understood; 2 for a\n"
"mistake in the command line.\n";

static const struct option_def convert_options[] = {
	{ "format", "FORMAT", "", OPTION_FORMAT, 0, 0, AT(format) },
	{ "frequency", "HZ", "how often a folded FILE was sampled (99)",
	  OPTION_NUMBER, 1, FREQUENCY_MAX, AT(frequency) },
	RATE,
	NAMES,
	LINES,
	INLINED,
	NO_PLACEHOLDERS,
};

static const char convert_details[] =
"FILE is an .otlp file, or .folded stacks of any profiler; its ending says which,\n"
"or its bytes if it has none of the two.  OUT is in any format that `trifold\n"
"record` writes.  - is standard input, and standard output, which needs --format.\n"
"Of folded stacks with very large numbers (bytes, microseconds) one sample\n"
"written stands for several.  An .otlp file keeps times,\n"
"threads, containers and lines; it has no CPU numbers, and says nothing of the\n"
"host and of lost samples.  Folded stacks have names and numbers of samples\n"
"alone: of them come .html, .pb.gz and .folded.  Needs no privilege.\n"
"\n"
"Exit status: 0; 1 if a file cannot be read, written or understood; 2 for a\n"
"mistake in the command line.\n";

static const struct option_def snapshot_options[] = {
	{ "output", "FILE", "where to write (trifold-snapshot-PID.gz); it may not\n"
	  "                     exist", OPTION_TEXT, 0, 0, AT(output) },
	{ "root", "DIR", "of a core file: the files that it names are below DIR",
	  OPTION_TEXT, 0, 0, AT(root) },
	{ "yes", NULL, "write it without asking", OPTION_FLAG, 0, 0, AT(yes) },
	LIBEXEC,
};

static const char snapshot_details[] =
"For a report of stacks that trifold shows wrong: FILE holds what the unwinder\n"
"needs to walk the stacks of this process once more, elsewhere: the registers of\n"
"its threads, its mappings, unwind rules, and the memory that the unwinder reads,\n"
"some tens of KiB.  It holds names of functions and files, and strings of the\n"
"program may be on its stacks: snapshot says what kinds of memory are in it, and\n"
"asks before it writes.  FILE is readable by you alone, and is compressed text\n"
"(docs/SNAPSHOT.md).\n"
"\n"
"CORE is a core file, of either machine.  Files that it names are opened, and must be\n"
"those that ran.  One whose name is a number is ./NUMBER.\n"
"\n"
"The process stands still for some milliseconds, as for a debugger: a system call\n"
"that waits may end with EINTR (signal(7)).  Another user's process, and most often\n"
"one's own, needs root.\n"
"\n"
"Exit status: 0; 1 if something failed; 2 for a mistake in the command line; 3 if\n"
"nothing was written because the answer was no.\n";

static const char completion_details[] =
"  bash:  source <(trifold completion bash)\n"
"  zsh:   trifold completion zsh >DIR/_trifold, with DIR in $fpath\n"
"  fish:  trifold completion fish >~/.config/fish/completions/trifold.fish\n"
"`make install` installs them for these shells.\n";

static const struct option_def recorder_options[] = {
	{ "control-fd", "N", NULL, OPTION_NUMBER, 3, 1024, AT(control_fd) },
	{ "output", "FILE", NULL, OPTION_TEXT, 0, 0, AT(output) },
	{ "format", "FORMAT", NULL, OPTION_FORMAT, 0, 0, AT(format) },
	{ "frequency", "HZ", NULL, OPTION_NUMBER, 1, FREQUENCY_MAX,
	  AT(frequency) },
	{ "command", "TEXT", NULL, OPTION_TEXT, 0, 0, AT(command) },
	{ "part", NULL, NULL, OPTION_FLAG, 0, 0, AT(part) },
	NAMES,
	LINES,
	INLINED,
	NO_PLACEHOLDERS,
	{ "seal-uid", "UID", NULL, OPTION_NUMBER, 1, UINT32_MAX - 1,
	  AT(seal_uid) },
};

static const struct option_def daemons_options[] = {
	FREQUENCY,
	{ "interval", "S", NULL, OPTION_NUMBER, 1, INTERVAL_MAX, AT(interval) },
	{ "own", "PID", NULL, OPTION_NUMBER, 1, INT32_MAX, AT(own) },
	INCLUDE_SELF,
	SHOW_LOOPS,
	LIBEXEC,
};

/* made from packaging/completion/ by packaging/install.mk */
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

static int commands_complete(const struct options *o)
{
	const char *shell = "";
	size_t i = 0, n = sizeof(completions) / sizeof(completions[0]);

	if (o->file)
		shell = o->file;
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

const struct command commands[] = {
	{ "run", "[OPTION]...", "Profile this machine until Ctrl-C",
	  run_details, run_options, COUNT(run_options), REST_NONE,
	  run_run },
	{ "record", "[OPTION]... (--duration S | --pid PID | --name PROCESS |\n"
	  "       --unit UNIT | --cgroup PATH | --container NAME | -- COMMAND [ARG]...)",
	  "Record a profile of this machine or a part of it into a file", record_details,
	  record_options, COUNT(record_options), REST_COMMAND, run_record },
	{ "top", "[OPTION]...", "Show live what runs, in the terminal",
	  top_details, top_options, COUNT(top_options), REST_NONE, run_top },
	{ "status", "[--json]", "Show health and sample counts of the running trifold",
	  NULL, status_options, COUNT(status_options), REST_NONE, run_status },
	{ "doctor", "[OPTION]...", "Show what this kernel and host support",
	  doctor_details, doctor_options, COUNT(doctor_options), REST_NONE,
	  doctor_run },
	{ "check-config", "[OPTION]... [FILE]",
	  "Check the configuration file", check_config_details,
	  check_config_options, COUNT(check_config_options), REST_FILE,
	  check_config_run },
	{ "table", "FILE [--at ADDRESS...]",
	  "Show the unwind rules of a file's functions", table_details,
	  table_options, COUNT(table_options), REST_FILE, show_file_table },
	{ "names", "FILE [ADDRESS...] [OPTION]...",
	  "Show the functions at addresses of a file", names_details,
	  names_options, COUNT(names_options), REST_FILE_WORDS, show_file_names },
	{ "diff", "A B [OPTION]...", "Compare two recordings, by function or by line",
	  diff_details, diff_options, COUNT(diff_options), REST_FILES,
	  diff_run },
	{ "convert", "FILE OUT [OPTION]...",
	  "Write a recording in another format", convert_details,
	  convert_options, COUNT(convert_options), REST_FILES, convert_run },
	{ "snapshot", "PID|CORE [OPTION]...",
	  "Write what the unwinder reads of a process, for a report", snapshot_details,
	  snapshot_options, COUNT(snapshot_options), REST_FILE, snapshot_run },
	{ "completion", "bash|zsh|fish",
	  "Print the completion script of a shell", completion_details,
	  NULL, 0, REST_FILE, commands_complete },
	{ "recorder", "", NULL, NULL, recorder_options,
	  COUNT(recorder_options), REST_NONE, recorder_run },
	{ "attach", "", NULL, NULL, record_options, COUNT(record_options),
	  REST_COMMAND, run_attach },
	{ "unit-config", "", NULL, NULL, NULL, 0, REST_FILE, unit_config_run },
	{ "daemons", "", NULL, NULL, daemons_options, COUNT(daemons_options),
	  REST_NONE, front_daemons },
};

const size_t commands_n = COUNT(commands);

const char *commands_like(const char *name)
{
	struct suggestion s = suggest(name);

	for (size_t i = 0; i < COUNT(commands); i++) {
		if (commands[i].summary)
			suggest_offer(&s, commands[i].name);
	}
	return s.best;
}

const struct command *commands_find(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}
