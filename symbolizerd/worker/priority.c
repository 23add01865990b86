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
	int group = getsid(0) == getpid() ?
			    openat(proc, "self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

	if (setpriority(PRIO_PROCESS, 0, -10) < 0)
		log_debug("priority: %s", strerror(errno));
	if (group < 0 || write(group, "-10", 3) == 3)
		return group;
	log_debug("priority of the session: %s", strerror(errno));
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
