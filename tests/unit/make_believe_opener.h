/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_believe_opener - what loaderd/requests.c talks to: a kernel, an opener and a hub that
 * note what they are asked for
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>

#include "ipc/sealed.h"
#include "loaderd/requests.h"
#include "tests/unit/harness.h"

#define FILES	24		/* room in the map */

/* --- the others ----------------------------------------------------------------- */

static struct requests requests;
static struct entries entries;
static struct loader_stats stats;
static struct opener_stats opener_stats;
static struct opener opener = { .shared = &opener_stats };
static struct hub_link hub;
static struct bpf bpf;

static struct request_file asked;	/* of the opener */
static uint64_t asked_id, killed;
static struct msg_wanted asked_wanted;	/* of the opener */
static struct file_key really;		/* what the kernel sees */
static bool really_else;
static int hub_error;			/* of hub_link_send() */
static uint32_t hub_has[64];		/* messages, by type */
static struct msg_exe exe;		/* the last ones */
static uint64_t exe_id;
static uint64_t wanted_id;		/* what the hub was told */
static uint32_t wanted_error, n_mapped, n_known;
static struct request_file mapped[8];
static uint64_t bits[MAPPED_BYTES / 8];
static struct msg_entry known[FILES];

int __wrap_conn_send(struct conn *c, unsigned int type, uint64_t id,
		     const void *payload, size_t len, const void *tail,
		     size_t b, const int *fds, unsigned int nfds);
int __wrap_conn_send(struct conn *c, unsigned int type, uint64_t id,
		     const void *payload, size_t len, const void *tail,
		     size_t b, const int *fds, unsigned int nfds)
{
	(void)c, (void)tail, (void)fds;
	CHECK(!b && !nfds);
	if (type == MSG_OPEN)
		memcpy(&asked, payload, sizeof(asked));
	else
		memcpy(&asked_wanted, payload, sizeof(asked_wanted));
	CHECK_EQ(len, type == MSG_OPEN ? sizeof(asked) : sizeof(asked_wanted));
	asked_id = id;
	return 0;
}

bool opener_trusts(uint32_t magic)
{
	return magic && magic != FUSE_SUPER_MAGIC;
}

void opener_kill(struct opener *o)
{
	(void)o;
	killed++;
}

static int on_host;			/* so is the path of what is opened */

int bpf_identify(struct bpf *b, const void *addr, struct file_key *ret)
{
	(void)b, (void)addr;
	*ret = really_else ? really : asked.key;
	return on_host;
}

int bpf_list(struct bpf *b, uint32_t tgid,
	     void (*fn)(void *ctx, const struct request_file *n), void *ctx)
{
	(void)b, (void)tgid;
	for (uint32_t i = 0; i < n_mapped; i++)
		fn(ctx, &mapped[i]);
	return 0;
}

bool hub_link_up(const struct hub_link *h)
{
	(void)h;
	return true;
}

static void read_sealed(int fd, void *to, size_t size)
{
	const void *data;
	size_t len;

	CHECK_EQ(sealed_map(fd, 1, size, &data, &len), 0);
	memcpy(to, data, len);
	munmap((void *)data, len);
}

int hub_link_send(struct hub_link *h, enum msg_type type, uint64_t id,
		  const void *payload, size_t a, const void *tail, size_t b, int fd)
{
	(void)h, (void)a, (void)tail, (void)b;
	if (hub_error)
		return hub_error;
	hub_has[type]++;
	if (type == MSG_EXE) {
		memcpy(&exe, payload, sizeof(exe));
		exe_id = id;
		CHECK(fd >= 0);
	} else if (type == MSG_WANTED_FILE || type == MSG_WANTED_NONE) {
		wanted_id = id;
		wanted_error = a ? ((const struct msg_open_failed *)payload)->error : 0;
		CHECK_EQ(fd >= 0, type == MSG_WANTED_FILE);
		CHECK_EQ(a == 0, type == MSG_WANTED_FILE);
	} else if (type == MSG_MAPPED) {
		read_sealed(fd, bits, sizeof(bits));
	} else if (type == MSG_KNOWN) {
		n_known = ((const struct msg_known *)payload)->n;
		read_sealed(fd, known, sizeof(known));
	}
	return 0;
}
