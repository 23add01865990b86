// SPDX-License-Identifier: Apache-2.0
#include "cli/status/running.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/supervisor/runtime_dir.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/number.h"

#define WAIT_NS		(5 * NSEC_PER_SEC)

/* "pid N hub-uid N", as cli/supervisor/runtime_dir.c writes it. */
static bool running_written_uid(const char *text, uid_t *ret)
{
	static const char key[] = " hub-uid ";
	const char *at = strstr(text, key);
	uint64_t uid;

	if (!at || !number_read(at + strlen(key), &uid) || uid > UINT32_MAX)
		return false;
	*ret = (uid_t)uid;
	return true;
}

int running_hub_uid(uid_t *ret)
{
	int fd = open(LOCK_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const struct passwd *pw;
	char text[64] = "";

	if (fd >= 0) {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		close(fd);
		if (n > 0 && running_written_uid(text, ret))
			return 0;
	}
	pw = getpwnam("trifold-symbolizerd");
	if (!pw)
		return -ENOENT;
	*ret = pw->pw_uid;
	return 0;
}

int running_connect(struct conn *c, uid_t *hub_uid)
{
	int r = running_hub_uid(hub_uid);

	if (r)
		return r;
	return conn_connect(c, STATUS_SOCKET, PEER_HUB, *hub_uid);
}

bool running_forbidden(const char *command)
{
	int fd = runtime_dir_connect();

	if (fd >= 0)
		close(fd);
	if (fd != -EACCES && fd != -EPERM)
		return false;
	log_err("only root may ask the running trifold, and where it runs as "
		"systemd's units members of the group trifold: run `sudo trifold %s ...`",
		command);
	return true;
}

bool running_as_units(void)
{
	int fd = runtime_dir_connect();

	if (fd >= 0)
		close(fd);
	return (fd >= 0 || fd == -EACCES) && access(LOCK_FILE, F_OK) < 0;
}

bool running_units_forbid(void)
{
	if (!running_as_units())
		return false;
	log_err("systemd's units run trifold already, and only one can run: `trifold "
		"top` and `trifold record` read from it; `systemctl status trifold.target` "
		"shows it, `sudo systemctl stop trifold.target` ends it");
	return true;
}

bool running_nobody(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

static bool running_enough(const struct hub_client *c, bool loader)
{
	return c->known && (!loader || c->status.loader_up);
}

static int running_wait(struct hub_client *c, bool loader)
{
	uint64_t end = now_ns() + WAIT_NS;
	int r = hub_client_connect(c, now_ns());

	while (!r && !running_enough(c, loader)) {
		struct pollfd p = { .fd = c->conn.fd, .events = POLLIN };
		uint64_t now = now_ns();

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) < 0 &&
		    errno != EINTR)
			return -errno;
		if (p.revents)
			r = hub_client_read(c, now);
	}
	if (r > 0) {
		log_err("invalid status message from symbolizerd: %s",
			msg_verdict_name(r));
		r = -EPROTO;
	}
	if (running_enough(c, loader))
		return 0;
	return r;
}

/* unix(7): of a connected socket, the process that called listen(2). */
static pid_t running_made_by(const struct hub_client *c)
{
	struct ucred cred = { .pid = 0 };
	socklen_t len = sizeof(cred);

	if (getsockopt(c->conn.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 0;
	return cred.pid;
}

int running_status(struct status *ret, bool loader, pid_t *top)
{
	uid_t hub_uid = 0;
	int r = running_hub_uid(&hub_uid);
	struct hub_client c;

	hub_client_init(&c, STATUS_SOCKET, hub_uid, NULL, NULL);
	if (!r)
		r = running_wait(&c, loader);
	*ret = c.status;
	if (top)
		*top = running_made_by(&c);
	hub_client_fini(&c);
	if (r == -ETIMEDOUT && c.known)
		return -ENOLINK;
	return r;
}
