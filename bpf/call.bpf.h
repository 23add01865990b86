/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call - which function does the call before a return address go to?
 *
 * What tells a return address from other words where no table does.  Encodings:
 * Intel SDM 2A, CALL (e8 rel32; ff /2); Arm ARM (DDI 0487), BL, BLR, BLRA*.
 */
#ifndef BPF_CALL_BPF_H
#define BPF_CALL_BPF_H

#include <linux/types.h>

#define CALL_REACH	16384	/* longer functions are not recognised */
#define CALL_ANYWHERE	(CALL_REACH + 1)	/* through a register or memory */
#define CALL_ELSEWHERE	(CALL_REACH + 2)	/* not to just below pc */
#define CALL_UNREAD	(CALL_REACH + 3)	/* the code cannot be read */
#define CALL_NONE	(CALL_REACH + 4)	/* no call stands there */

#ifdef __TARGET_ARCH_arm64
static __always_inline __u32 call_distance(__u64 ra, __u64 pc)
{
	__u64 d;
	__u32 w;

	if (bpf_probe_read_user(&w, sizeof(w), (void *)(ra - 4)))
		return CALL_UNREAD;
	if ((w & 0xfc000000) == 0x94000000) {
		d = pc - (ra - 4 + (__s64)((__s32)(w << 6) >> 4));
		return d < CALL_REACH ? d : CALL_ELSEWHERE;
	}
	return (w & 0xfffffc1f) == 0xd63f0000 ||
	       (w & 0xfefff800) == 0xd63f0800 ? CALL_ANYWHERE : CALL_NONE;
}
#else
/* ff /2 whose ModRM byte is m, with this number of bytes behind it */
static __always_inline int call_indirect(__u8 op, __u8 m, __u8 behind)
{
	__u8 mod = m >> 6, sib = (m & 7) == 4, n;

	if (op != 0xff || (m & 0x38) != 0x10)
		return 0;
	n = mod == 1 ? 1 : mod == 2 || (!mod && (m & 7) == 5) ? 4 : 0;
	return behind == n + (mod != 3 && sib);
}

/* Bytes from the start of the function that the call before ra goes to, up to
 * pc, if they are less than CALL_REACH; else one of the above. */
static __always_inline __u32 call_distance(__u64 ra, __u64 pc)
{
	__u8 b[8];
	__u64 d;

	if (bpf_probe_read_user(b, sizeof(b), (void *)(ra - sizeof(b))))
		return CALL_UNREAD;
	if (b[3] == 0xe8) {
		__s32 rel = (__u32)b[4] | (__u32)b[5] << 8 |
			    (__u32)b[6] << 16 | (__u32)b[7] << 24;

		d = pc - (ra + (__s64)rel);
		return d < CALL_REACH ? d : CALL_ELSEWHERE;
	}
	return call_indirect(b[6], b[7], 0) || call_indirect(b[5], b[6], 1) ||
	       call_indirect(b[4], b[5], 2) || call_indirect(b[2], b[3], 4) ||
	       call_indirect(b[1], b[2], 5) ? CALL_ANYWHERE : CALL_NONE;
}
#endif

#endif /* BPF_CALL_BPF_H */
