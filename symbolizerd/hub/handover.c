// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/handover.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/service.h"
#include "ipc/sealed.h"

void handover_leave(struct ledger *l)
{
	struct loader_stats unused;
	struct hub_totals t;
	struct iovec part = { &t, sizeof(t) };
	int fd;

	/* its account goes on with the next two */
	l->life = LIFE_UP;
	ledger_view(l, &t, &unused);
	fd = sealed_make(HANDOVER_NAME, &part, 1);
	if (fd < 0)
		return;
	service_notify_fd("FDSTORE=1\nFDPOLL=0\nFDNAME=" HANDOVER_NAME, fd);
	close(fd);
}

bool handover_take(struct hub_totals *ret, int fd)
{
	const void *p;
	size_t len;
	bool there;

	if (fd < 0)
		return false;
	service_notify("FDSTOREREMOVE=1\nFDNAME=" HANDOVER_NAME);
	there = !sealed_map(fd, sizeof(*ret), sizeof(*ret), &p, &len);
	close(fd);
	if (!there)
		return false;
	memcpy(ret, p, sizeof(*ret));
	munmap((void *)p, len);
	return true;
}
