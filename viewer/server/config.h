/* SPDX-License-Identifier: Apache-2.0 */
/* config - options and environment of trifold-viewer */
#ifndef VIEWER_SERVER_CONFIG_H
#define VIEWER_SERVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "viewer/server/guard.h"
#include "common/listen.h"

#define CONFIG_KEY_VARIABLE	"TRIFOLD_VIEWER_KEY"
#define CONFIG_PORT		4328
#define CONFIG_KEEP_S		3600
#define CONFIG_MEMORY_MIB	64

struct viewer_config {
	struct listeners sockets;	/* of --listen-fd; none: open them */
	int family;			/* AF_UNSPEC: both addresses */
	uint16_t listen_port;
	uint32_t keep_s, memory_mib;
	uid_t uid;			/* (uid_t)-1: stay */
	gid_t gid;
	char key[PAGE_KEY_LEN + 1];	/* empty: make one */
	const char *hub;		/* path of its status socket; NULL: none */
	uid_t hub_uid;
	bool otlp;			/* accept samples from every client with the key */
	bool debug;
};

/* 0; an exit status after a line in the log; -1: --help or --version was
 * answered. */
int viewer_config_load(struct viewer_config *c, int argc, char **argv);

#endif /* VIEWER_SERVER_CONFIG_H */
