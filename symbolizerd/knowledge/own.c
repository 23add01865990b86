// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/own.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

/* PROC_PID_INIT_INO of the kernel (include/linux/proc_ns.h). */
#define OWN_INITIAL	"pid:[4026531836]"

bool own_numbers_count(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link));

	return n == (ssize_t)strlen(OWN_INITIAL) &&
	       !memcmp(link, OWN_INITIAL, (size_t)n);
}

void own_note(struct own *o, enum own_role role, pid_t pid)
{
	struct own_pid *p = &o->role[role];

	if (pid <= 0 || p->pid == (uint32_t)pid)
		return;
	if (p->pid)
		o->former[role] = *p;
	*p = (struct own_pid){
		.pid = (uint32_t)pid, .until_ns = clock_ns(CLOCK_BOOTTIME),
	};
}

void own_note_peer(struct own *o, enum own_role role, int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		own_note(o, role, who.pid);
}

void own_note_worker(struct own *o, pid_t pid, uint64_t from_ns)
{
	if (pid > 0)
		o->worker[(uint32_t)pid % OWN_WORKERS] = (struct own_pid){
			(uint32_t)pid, from_ns, clock_ns(CLOCK_BOOTTIME),
		};
}

static bool own_is(const struct own_pid *p, uint32_t tgid, uint64_t start_ns)
{
	return p->pid == tgid && start_ns >= p->from_ns &&
	       start_ns <= p->until_ns;
}

bool own_has(const struct own *o, uint32_t tgid, uint64_t start_ns)
{
	if (o->shown || !tgid)
		return false;
	for (int i = 0; i < OWN__ROLES; i++) {
		if (own_is(&o->role[i], tgid, start_ns) ||
		    own_is(&o->former[i], tgid, start_ns))
			return true;
	}
	return own_is(&o->worker[tgid % OWN_WORKERS], tgid, start_ns);
}
