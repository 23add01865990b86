/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod_config - which debuginfod servers may be asked, and within what
 *
 * TRIFOLD_DEBUGINFOD_URLS: URLs with blanks between them, as elfutils writes
 * DEBUGINFOD_URLS; "environment" stands for what that variable says, which
 * counts for nothing by itself.
 */
#ifndef EXPORTERD_DEBUGINFOD_CONFIG_H
#define EXPORTERD_DEBUGINFOD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define DEBUGINFOD_VARIABLE		"TRIFOLD_DEBUGINFOD_URLS"
#define DEBUGINFOD_SIZE_VARIABLE	"TRIFOLD_DEBUGINFOD_SIZE"
#define DEBUGINFOD_TIMEOUT_VARIABLE	"TRIFOLD_DEBUGINFOD_TIMEOUT"
#define DEBUGINFOD_CACHE_VARIABLE	"TRIFOLD_DEBUGINFOD_CACHE"
#define DEBUGINFOD_CACHE_SIZE_VARIABLE	"TRIFOLD_DEBUGINFOD_CACHE_SIZE"
#define DEBUGINFOD_SERVERS_MAX		8
#define DEBUGINFOD_MIB			128	/* unless something else is said */
#define DEBUGINFOD_MIB_MAX		512	/* of one file */
#define DEBUGINFOD_TIMEOUT_S		90
#define DEBUGINFOD_TIMEOUT_MAX_S	600
#define DEBUGINFOD_CACHE		"/var/cache/trifold-exporterd"	/* if it is there */
#define DEBUGINFOD_CACHE_MIB		1024
#define DEBUGINFOD_CACHE_MIB_MAX	65536

struct debuginfod_config {
	char *urls[DEBUGINFOD_SERVERS_MAX];	/* http or https; owned */
	unsigned int n;			/* 0: nobody is asked */
	uint64_t max_bytes;		/* of a debug file */
	unsigned int timeout_s;		/* of a request */
	char *cache;			/* directory of debug_cache.h; NULL: none; owned */
	bool cache_asked;		/* somebody named it */
	uint64_t cache_bytes;		/* of all files in it */
};

/*
 * Read the variables.  Of elfutils' variable what is no URL of http or https is
 * left out, and said in the log; in ours it is a mistake.  Returns 0, or an exit
 * status after a line in the log.  debuginfod_config_fini() in any case.
 */
int debuginfod_config_load(struct debuginfod_config *c);
void debuginfod_config_fini(struct debuginfod_config *c);

#endif /* EXPORTERD_DEBUGINFOD_CONFIG_H */
