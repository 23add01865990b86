// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/priority.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"

int priority_raise(int proc)
{
	int group = -1;

	if (getsid(0) == getpid())
		group = openat(proc, "self/autogroup", O_WRONLY | O_CLOEXEC);
	if (setpriority(PRIO_PROCESS, 0, -10) < 0)
		log_debug("cannot raise the priority: %s", strerror(errno));
	if (group < 0 || write(group, "-10", 3) == 3)
		return group;
	log_debug("cannot raise the priority of the session: %s", strerror(errno));
	close(group);
	return -1;
}

int priority_settle(int *group)
{
	if (setpriority(PRIO_PROCESS, 0, 0) < 0 ||
	    (*group >= 0 && write(*group, "0", 1) < 0))
		return -errno;
	if (*group >= 0)
		close(*group);
	*group = -1;
	return 0;
}
