/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * process - which process it is
 *
 * A number is given to another process when one has ended, and a process that executes a
 * program is another one from then on: it may have another user, and has nothing of what
 * the former program had in memory.  So what is known of a process is kept by all three,
 * and compared here.
 */
#ifndef BPF_PROCESS_H
#define BPF_PROCESS_H

#include <linux/types.h>

struct process_id {
	__u64 start_ns;		/* CLOCK_BOOTTIME */
	__u32 tgid;		/* in the initial PID namespace */
	__u32 exec_id;		/* changes at each exec: of the kernel's count what fits */
};
_Static_assert(sizeof(struct process_id) == 16, "process_id: no padding, it is compared and hashed");

static inline int same_process(const struct process_id *a, const struct process_id *b)
{
	return !__builtin_memcmp(a, b, sizeof(*a));
}

#define OWNER_UIDS	65536

/* Who pays for what a uid does.  From OWNER_UIDS on so many successive ones are one owner:
 * a user with subordinate uids (subuid(5): 65,536 of them) is two owners at most. */
static inline __u32 owner_of_uid(__u32 uid)
{
	if (uid >= OWNER_UIDS)
		uid = OWNER_UIDS + uid / OWNER_UIDS;
	return uid;
}

#endif /* BPF_PROCESS_H */
