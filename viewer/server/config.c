// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/config.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/number.h"
#include "profile/formats/otlp.h"

#define USAGE	2

static const char help[] =
"usage: trifold-viewer [OPTION]...\n"
"Show the last hour of profiles on a live page, on loopback.\n"
"\n"
"  --hub PATH            status socket of the symbolizerd whose samples to show,\n"
"                        in a directory of its own\n"
"  --hub-uid N           the user that it runs as (that of this program)\n"
"  --otlp                also accept OTLP profiles from clients with the key;\n"
"                        at least one of --hub and --otlp is needed\n"
"  --listen [HOST:]PORT  where, if not on given sockets (4328); HOST is\n"
"                        localhost (127.0.0.1 and ::1), 127.0.0.1 or [::1]\n"
"  --listen-fd N         a listening socket of loopback; at most twice\n"
"  --keep S              forget samples after S seconds (3600)\n"
"  --memory MIB          and before, when they take more than this (64)\n"
"  --uid N, --gid N      become this user and group\n"
"  --debug               say more\n"
"  --help, --version\n"
"\n"
"TRIFOLD_VIEWER_KEY holds the key, 32 hexadecimal digits, that requests must\n"
"have; without it one is made, and the page's address is printed.\n";

static bool viewer_config_number(const char *s, uint32_t min, uint32_t max,
				 uint32_t *ret)
{
	uint64_t v;

	if (!number_parse(s, min, max, &v))
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool viewer_config_add_socket(struct listeners *l, const char *text)
{
	uint16_t port;
	uint32_t fd;

	if (l->n == LISTEN_MAX || !viewer_config_number(text, 3, 1024, &fd))
		return false;
	port = listen_check((int)fd);
	if (!port || (l->n && port != l->port) ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl((int)fd, F_SETFL, O_NONBLOCK) < 0)
		return false;
	l->port = port;
	if (!l->n)
		l->family = listen_family((int)fd);
	l->fd[l->n] = (int)fd;
	l->n++;
	return true;
}

enum { LISTEN = 1, LISTEN_FD, KEEP, MEMORY, ID_UID, ID_GID,
       HUB, HUB_UID, OTLP, DEBUG, HELP, VERSION };

static bool viewer_config_set(struct viewer_config *c, int what,
			      const char *arg)
{
	switch (what) {
	case LISTEN:
		return !listen_parse(arg, &c->family, &c->listen_port);
	case LISTEN_FD:
		return viewer_config_add_socket(&c->sockets, arg);
	case KEEP:
		return viewer_config_number(arg, 10, 7 * 86400, &c->keep_s);
	case MEMORY:
		return viewer_config_number(arg, 1, 4096, &c->memory_mib);
	case ID_UID:
		return viewer_config_number(arg, 1, UINT32_MAX - 1, &c->uid);
	case ID_GID:
		return viewer_config_number(arg, 1, UINT32_MAX - 1, &c->gid);
	case HUB:
		/* its directory is mounted: that must not be the root */
		c->hub = arg;
		return *arg == '/' && strrchr(arg, '/') > arg &&
		       strlen(arg) < PATH_MAX;
	case HUB_UID:
		return viewer_config_number(arg, 0, UINT32_MAX - 1, &c->hub_uid);
	case OTLP:
		c->otlp = true;
		return true;
	default:
		c->debug = true;
		return true;
	}
}

/* Read the key from the environment, and erase it there. */
static int viewer_config_take_key(struct viewer_config *c)
{
	char *s = getenv(CONFIG_KEY_VARIABLE);

	if (!s)
		return 0;
	if (!page_key_is(s)) {
		log_err("%s: not %d lower-case hexadecimal digits",
			CONFIG_KEY_VARIABLE, PAGE_KEY_LEN);
		return USAGE;
	}
	memcpy(c->key, s, PAGE_KEY_LEN);
	explicit_bzero(s, PAGE_KEY_LEN);
	unsetenv(CONFIG_KEY_VARIABLE);
	return 0;
}

int viewer_config_load(struct viewer_config *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, LISTEN },
		{ "listen-fd", required_argument, NULL, LISTEN_FD },
		{ "keep", required_argument, NULL, KEEP },
		{ "memory", required_argument, NULL, MEMORY },
		{ "uid", required_argument, NULL, ID_UID },
		{ "gid", required_argument, NULL, ID_GID },
		{ "hub", required_argument, NULL, HUB },
		{ "hub-uid", required_argument, NULL, HUB_UID },
		{ "otlp", no_argument, NULL, OTLP },
		{ "debug", no_argument, NULL, DEBUG },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int o, at = 0;

	*c = (struct viewer_config){
		.family = AF_UNSPEC,
		.listen_port = CONFIG_PORT,
		.keep_s = CONFIG_KEEP_S,
		.memory_mib = CONFIG_MEMORY_MIB,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.hub_uid = getuid(),
	};
	for (;;) {
		o = getopt_long(argc, argv, "", options, &at);
		if (o == -1)
			break;
		if (o == HELP) {
			printf("%s", help);
			return -1;
		}
		if (o == VERSION) {
			puts("trifold-viewer " TRIFOLD_VERSION);
			return -1;
		}
		if (o == '?')
			return USAGE;
		/* those without a value are always possible */
		if (!viewer_config_set(c, o, optarg)) {
			log_err("--%s %s: not possible; see --help", options[at].name, optarg);
			return USAGE;
		}
	}
	if (optind < argc) {
		log_err("%s: not expected; see --help", argv[optind]);
		return USAGE;
	}
	if (!c->hub && !c->otlp) {
		log_err("nothing to show: say --hub PATH, --otlp, or both");
		return USAGE;
	}
	return viewer_config_take_key(c);
}
