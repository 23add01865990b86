// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/completion.h"
#include "cli/config/check.h"
#include "cli/config/keys.h"
#include "cli/diff/diff.h"
#include "cli/front/front.h"
#include "cli/manual.h"
#include "cli/record/output.h"
#include "cli/record/recorder.h"
#include "cli/run.h"
#include "cli/status/doctor.h"
#include "cli/table.h"
#include "cli/top/top.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define AT(member)	offsetof(struct options, member)

#define DURATION	{ "duration", "S", "stop after S seconds",	\
			  OPTION_SECONDS, 0, 0, AT(duration_ms) }
#define FREQUENCY	{ "frequency", "HZ", "samples a second and CPU (19)", \
			  OPTION_NUMBER, 1, FREQUENCY_MAX, AT(frequency) }
/* for tests: where to find other daemons than the installed ones */
#define LIBEXEC		{ "libexec", "DIR", NULL, OPTION_TEXT, 0, 0,	\
			  AT(libexec) }
#define VERBOSE		{ "verbose", NULL, "say more", OPTION_FLAG, 0, 0, \
			  AT(verbose) }

static const struct option_def run_options[] = {
	DURATION,
	{ "output", "FILE", "write a profile of all of it in the end, in the\n"
	  "                     format of FILE's ending, as record does", OPTION_TEXT, 0, 0, AT(output) },
	FREQUENCY,
	{ "interval", "S", "seconds between batches (5)", OPTION_NUMBER, 1,
	  INTERVAL_MAX, AT(interval) },
	{ "endpoint", "URL", "send OTLP profiles to this receiver, such as\n"
	  "                     http://localhost:4318", OPTION_TEXT, 0, 0,
	  AT(endpoint) },
	{ "listen", "PORT", "where the live page is (4328, else any free port);\n"
	  "                     or HOST:PORT, localhost, 127.0.0.1 or [::1]",
	  OPTION_TEXT, 0, 0, AT(listen) },
	{ "no-page", NULL, "no live page", OPTION_FLAG, 0, 0, AT(no_page) },
	{ "config", "FILE", "read this configuration\n                     ("
	  CONFIG_PATH_DEFAULT ", if it is there)", OPTION_TEXT,
	  0, 0, AT(config_file) },
	VERBOSE,
	LIBEXEC,
};

static const char run_details[] =
"Without --endpoint the variables OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT and\n"
"OTEL_EXPORTER_OTLP_ENDPOINT say where to send profiles (other OTEL_* variables\n"
"are honoured as well).  With nowhere to send to and no --output, the profile\n"
"is written to " RUN_OUTPUT ".  The live page (docs/VIEWER.md) is for browsers\n"
"on this host; its address, with a key, is printed.  Ctrl-C ends in good order,\n"
"twice at once; SIGHUP reads the configuration again (docs/CONFIG.md), and loses\n"
"no sample.\n";

static const struct option_def check_config_options[] = {
	{ "effective", NULL, "show each value in effect and where it is from",
	  OPTION_FLAG, 0, 0, AT(effective) },
	{ "defaults", NULL, "print a file with every key, its default and what\n"
	  "                     it means", OPTION_FLAG, 0, 0, AT(defaults) },
};

static const char check_config_details[] =
"FILE is " CONFIG_PATH_DEFAULT " if none is named.  Each mistake is a\n"
"line FILE:LINE: TEXT.  Exit status: 0, or 2 for a file with mistakes.\n";

static const struct option_def record_options[] = {
	DURATION,
	{ "output", "FILE", "where to write (" RECORD_OUTPUT ")", OPTION_TEXT,
	  0, 0, AT(output) },
	{ "format", "FORMAT", "", OPTION_FORMAT, 0, 0, AT(format) },
	FREQUENCY,
	{ "pid", "PID", "only this process, until it ends; several may be\n"
	  "                     named, each by its --pid", OPTION_NUMBERS, 1,
	  INT32_MAX, AT(pids) },
	{ "cgroup", "PATH", "only what runs in this cgroup (v2) or below it;\n"
	  "                     PATH as below /sys/fs/cgroup", OPTION_TEXT, 0, 0,
	  AT(cgroup) },
	{ "container", "ID", "only the container whose ID begins so (4 digits\n"
	  "                     or more)", OPTION_TEXT, 0, 0, AT(container) },
	{ "all", NULL, "the whole system while COMMAND runs", OPTION_FLAG, 0, 0,
	  AT(all) },
	VERBOSE,
	LIBEXEC,
};

static const char record_details[] =
"With COMMAND, it and what it starts is recorded while it runs, daemons too;\n"
"not so what others do for it: the kernel's own threads, services that it asks,\n"
"containers that an engine's daemon starts.  COMMAND has the rights that trifold\n"
"has: put `sudo -u USER` before it to change that.  Without COMMAND, --pid,\n"
"--cgroup or --container the whole system is recorded, for S seconds.\n"
"\n"
"FILE belongs to who called sudo, is readable by its owner only, and replaces\n"
"an older one at once; nothing is sent anywhere.\n"
"\n"
"Where a trifold is running, it takes the samples, at its own frequency, and goes\n"
"on as it is; FILE comes when it has finished the last batch (5 s, as by its\n"
"--interval).  So recorded can be the whole system, --pid and --container, and\n"
"COMMAND with --all.\n"
"\n"
"Exit status: 0, or that of COMMAND (128 + N if killed by signal N); 1 if\n"
"recording failed, or the running trifold ended before it; 2 for a mistake in the command line.\n";

static const struct option_def top_options[] = {
	{ "view", "VIEW", "functions (first), processes, containers or threads",
	  OPTION_TEXT, 0, 0, AT(view) },
	{ "once", NULL, "print one table and stop, as when standard output is\n"
	  "                     no terminal", OPTION_FLAG, 0, 0, AT(once) },
	{ "limit", "N", "lines of that table (50)", OPTION_NUMBER, 1, 1000000,
	  AT(limit) },
	{ "duration", "S", "stop after S seconds; --once: what to print (5)",
	  OPTION_SECONDS, 0, 0, AT(duration_ms) },
	{ "frequency", "HZ", "samples a second and CPU (19), if no trifold is\n"
	  "                     running yet", OPTION_NUMBER, 1, FREQUENCY_MAX,
	  AT(frequency) },
	LIBEXEC,
};

static const char top_details[] =
"Shows the samples of the trifold that runs here, each time it finishes a batch\n"
"(`trifold run --interval`: 5 s), and leaves it as it is.  Where none runs, one\n"
"is started for as long as this lasts; it writes no file and sends nothing.\n"
"Keys: ? shows them all.\n"
"\n"
"Exit status: 0; 1 if there was nothing to show, or something failed; 2 for a\n"
"mistake in the command line.\n";

static const struct option_def table_options[] = {
	{ "at", "ADDRESS...", "only what holds at these addresses (hexadecimal)",
	  OPTION_WORDS, 0, 0, AT(at) },
	LIBEXEC,
};

static const char table_details[] =
"FILE is an ELF file; addresses are those that nm and readelf show.  A line is a\n"
"range of addresses and its rule: how the canonical frame address (cfa) is had,\n"
"and where the return address (ra) and the caller's registers are.  \"none\":\n"
"the frame pointer is tried; \"end\": the outermost frame; \"signal\": a signal\n"
"frame; \"unsupported\": the file says what no rule can.  Needs no privilege.\n";

#define JSON		{ "json", NULL, "one JSON object on one line "	\
			  "(docs/DOCTOR.md)", OPTION_FLAG, 0, 0, AT(json) }

static const struct option_def status_options[] = { JSON };
static const struct option_def doctor_options[] = { JSON, LIBEXEC };

static const char doctor_details[] =
"A line for each check: OK, less, no, or what is unknown without root.  Below\n"
"what is not OK: what it costs, and the command or setting that changes it.\n"
"Nothing is changed.  Exit status: 0 everything works; 1 it works with less, or\n"
"something is unknown; 2 a mistake in the command line; 3 it cannot work.\n";

static const struct option_def diff_options[] = {
	{ "limit", "N", "show so many functions (30)", OPTION_NUMBER, 1,
	  DIFF_LIMIT_MAX, AT(limit) },
	{ "total", NULL, "order by the difference of total, not of self",
	  OPTION_FLAG, 0, 0, AT(by_total) },
	{ "output", "FILE", "write a file instead: .html, a flame graph in colours\n"
	  "                     of the difference; .folded, each stack with its\n"
	  "                     samples in A and in B, for flamegraph.pl",
	  OPTION_TEXT, 0, 0, AT(output) },
	{ "json", NULL, "one JSON object on one line, in samples", OPTION_FLAG,
	  0, 0, AT(json) },
};

static const char diff_details[] =
"A and B are folded stacks, by `trifold record --format folded` or of another\n"
"profiler's stackcollapse script.  Shares are in percent of all samples of their\n"
"own recording; points are B's less A's.  Self: the sample ends in the function;\n"
"total: it is anywhere in the stack.  What differs most stands first.  Outermost\n"
"frames, which are mostly names of processes, have lines too.  Needs no privilege.\n"
"\n"
"Exit status: 0; 1 if a file cannot be read, written or understood; 2 for a\n"
"mistake in the command line.\n";

static const char completion_details[] =
"  bash:  source <(trifold completion bash)\n"
"  zsh:   trifold completion zsh >DIR/_trifold, with DIR in $fpath\n"
"  fish:  trifold completion fish >~/.config/fish/completions/trifold.fish\n"
"`make install` puts them where these shells look.\n";

static const struct option_def recorder_options[] = {
	{ "control-fd", "N", NULL, OPTION_NUMBER, 3, 1024, AT(control_fd) },
	{ "output", "FILE", NULL, OPTION_TEXT, 0, 0, AT(output) },
	{ "format", "FORMAT", NULL, OPTION_FORMAT, 0, 0, AT(format) },
	{ "frequency", "HZ", NULL, OPTION_NUMBER, 1, FREQUENCY_MAX,
	  AT(frequency) },
	{ "command", "TEXT", NULL, OPTION_TEXT, 0, 0, AT(command) },
	{ "owner-uid", "UID", NULL, OPTION_NUMBER, 1, UINT32_MAX - 1,
	  AT(owner_uid) },
	{ "owner-gid", "GID", NULL, OPTION_NUMBER, 0, UINT32_MAX - 1,
	  AT(owner_gid) },
	{ "seal-uid", "UID", NULL, OPTION_NUMBER, 1, UINT32_MAX - 1,
	  AT(seal_uid) },
};

static const struct option_def daemons_options[] = {
	FREQUENCY,
	{ "interval", "S", NULL, OPTION_NUMBER, 1, INTERVAL_MAX, AT(interval) },
	LIBEXEC,
};

static int commands_manual(const struct options *o)
{
	return manual_run(o, commands, commands_n);
}

const struct command commands[] = {
	{ "run", "[OPTION]...", "Profile this machine until Ctrl-C",
	  run_details, run_options, COUNT(run_options), REST_NONE,
	  run_run },
	{ "record", "[OPTION]... (--duration S | --pid PID | --cgroup PATH |\n"
	  "                      --container ID | -- COMMAND [ARG]...)",
	  "Record a profile of this machine or a part of it into a file", record_details,
	  record_options, COUNT(record_options), REST_COMMAND, run_record },
	{ "top", "[OPTION]...", "Show live what runs, in the terminal",
	  top_details, top_options, COUNT(top_options), REST_NONE, run_top },
	{ "status", "[--json]", "Say how a running trifold does: every sample's account",
	  NULL, status_options, COUNT(status_options), REST_NONE, run_status },
	{ "doctor", "[OPTION]...", "Say what this kernel and host allow",
	  doctor_details, doctor_options, COUNT(doctor_options), REST_NONE,
	  doctor_run },
	{ "check-config", "[OPTION]... [FILE]",
	  "Check the configuration file", check_config_details,
	  check_config_options, COUNT(check_config_options), REST_FILE,
	  check_config_run },
	{ "table", "FILE [--at ADDRESS...]",
	  "Show by which rules a file's functions are unwound", table_details,
	  table_options, COUNT(table_options), REST_FILE, table_run },
	{ "diff", "A B [OPTION]...", "Compare two recordings, function by function",
	  diff_details, diff_options, COUNT(diff_options), REST_FILES,
	  diff_run },
	{ "completion", "bash|zsh|fish",
	  "Print what lets a shell complete this command", completion_details,
	  NULL, 0, REST_FILE, completion_run },
	{ "manual", "", NULL, NULL, NULL, 0, REST_FILE, commands_manual },
	{ "recorder", "", NULL, NULL, recorder_options,
	  COUNT(recorder_options), REST_NONE, recorder_run },
	{ "attach", "", NULL, NULL, record_options, COUNT(record_options),
	  REST_COMMAND, run_attach },
	{ "daemons", "", NULL, NULL, daemons_options, COUNT(daemons_options),
	  REST_NONE, front_daemons },
};

const size_t commands_n = COUNT(commands);

const struct command *commands_find(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}
