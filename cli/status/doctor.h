/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - what this kernel and host allow, and how to change that
 *
 * Features are found by the kernel's BTF and by trying, never by a version.
 * doctor_probe() tries; the checks are functions of its results and of files
 * below a root directory, so that a test can make up both.
 */
#ifndef CLI_STATUS_DOCTOR_H
#define CLI_STATUS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/config/options.h"

#define EXIT_LESS	1	/* beside EXIT_USAGE, 2 */
#define EXIT_CANNOT	3

enum check_state {		/* the worst one decides; from best to worst */
	CHECK_OK,
	CHECK_UNKNOWN,		/* needs root, or /proc does not say */
	CHECK_LESS,
	CHECK_NO,
};

/* Names in the kernel's BTF. */
enum btf_name {
	BTF_MEM_ALLOC,		/* bpf_mem_alloc: hashes that fill, 6.1 */
	BTF_RDONLY_CAST,	/* bpf_rdonly_cast: 6.2 */
	BTF_MAP_MEMORY,		/* bpf_map_memory: RLIMIT_MEMLOCK, to 5.10 */
	BTF__COUNT
};

/* debuginfod servers, by the configuration and by a running trifold. */
struct doctor_debuginfod {
	int config;		/* 0; or -errno, it has mistakes: the rest is 0 */
	unsigned int servers;	/* 0: none is asked */
	uint32_t file_mib, cache_mib;	/* that may be used; cache_mib 0: no cache */
	char cache[128];	/* its directory */
	bool counted;		/* a trifold runs and reported these */
	uint64_t requests, found, not_found, failed, cached;
};

/* Receivers of profiles, by the configuration and by a running trifold. */
struct doctor_export {
	unsigned int receivers;	/* 0: nothing is sent, as far as is known */
	uint64_t delivered, refused;	/* samples, at all of them; 0 if none runs */
};

/* All results are 0 or -errno. */
struct doctor_host {
	const char *root;	/* before /proc, /sys and /run; "": the host */
	bool is_root;
	int ring;		/* making a ring buffer map by bpf(2) */
	int cycles, clock;	/* perf_event_open, CPU 0 */
	int landlock;		/* ABI, or -errno */
	int daemons;		/* libexec_find() */
	int users;		/* number of users trifold-* */
	int run;		/* access(/run, W_OK) */
	bool memlock;		/* RLIMIT_MEMLOCK is unlimited */
	bool running;		/* a process listens on the status socket */
	bool units;		/* of systemd's units */
	int btf;		/* by doctor_btf() */
	bool names[BTF__COUNT];
	struct doctor_debuginfod debuginfod;	/* by doctor_ask_running() */
	struct doctor_export export;	/* likewise */
};

struct finding {
	enum check_state state;
	char text[256];
	const char *cost, *remedy;	/* static; NULL if OK */
};

struct check {
	const char *name;
	void (*fn)(const struct doctor_host *h, struct finding *f);
};

extern const struct check doctor_checks[];
extern const size_t doctor_n_checks;

/* Try everything on this host. */
void doctor_probe(struct doctor_host *h, const char *libexec);

/* Read the BTF below h->root into h->btf and h->names. */
void doctor_btf(struct doctor_host *h);

/* Fill in h->debuginfod and h->export from the configuration and from a running trifold.  No
 * server is asked: exporterd does that. */
void doctor_ask_running(struct doctor_host *h);

/* The exit status for the worst state. */
int doctor_status(enum check_state worst);

int doctor_run(const struct options *o);

#endif /* CLI_STATUS_DOCTOR_H */
