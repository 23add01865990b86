/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * thread_read - words that a thread has of its own: by pthread_getspecific(), or __thread
 *
 * Pure functions that read memory only through bpf_probe_read_user(): for the kernel and
 * for the host.  They do by hand what libc does, glibc 2.4 to 2.43 and musl 1.1 to 1.2, on
 * x86-64 and AArch64.
 */
#ifndef BPF_THREAD_READ_BPF_H
#define BPF_THREAD_READ_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "user.bpf.h"

/* How a word is found, and from what. */
enum thread_how {
	THREAD_KEY = 1,		/* at: of a pthread_key_t */
	THREAD_TP,		/* at: no address, but the distance from the thread pointer: a
				 * program's own variable (LE) */
	THREAD_IE,		/* at: of a word with that distance (R_*_TPOFF64) */
	THREAD_GD,		/* at: of module and offset, what __tls_get_addr() gets */
	THREAD_DESC,		/* at: of function and argument (R_*_TLSDESC) */
};

/*
 * glibc: nptl/descr.h, struct pthread.  .specific is an array of pointers to blocks of
 * {seq, data}; the first block lies in front of it.  Offsets of .specific from the
 * descriptor: by libthread_db's _thread_db_pthread_specific.
 */
#define GLIBC_BLOCK		32	/* PTHREAD_KEY_2NDLEVEL_SIZE */
#define KEYS_OF_GLIBC		1024
#define GLIBC_BLOCK_BYTES	(16 * GLIBC_BLOCK)
/* musl: src/internal/pthread_impl.h, struct pthread.tsd; PTHREAD_KEYS_MAX */
#define KEYS_OF_MUSL		128
#define TLS_MODULES		4096	/* by which a variable is found */
#define DTV_UNALLOCATED		(~0ULL)	/* glibc: elf/dl-tls.h, TLS_DTV_UNALLOCATED */
#define STATIC_TLS_MAX		(1 << 24)	/* bytes: an offset, no address */

#ifdef __TARGET_ARCH_arm64
/* The descriptor lies below the thread pointer, by its size: 1,792 in glibc 2.31, 1,856 in
 * 2.36, 1,824 in 2.41 and 2.43 (_thread_db_sizeof_pthread). */
#define GLIBC_SPECIFIC		784
#define GLIBC_SIZE_MIN		1760
#define GLIBC_SIZE_STEP		16
#define GLIBC_SIZES		18
#define GLIBC_DTV(tp)		(tp)
#define MUSL_SELF(tp)		((tp) - 200)
#define TSD_OF_MUSL		112
#define MUSL_DTV(tp)		((tp) - 8)
#else
#define GLIBC_SPECIFIC		0x510
#define GLIBC_DTV(tp)		((tp) + 8)
#define MUSL_SELF(tp)		(tp)
#define TSD_OF_MUSL		128
#define MUSL_DTV(tp)		((tp) + 8)
#define MUSL_NEXT(tp)		((tp) + 24)	/* struct pthread.next */
#endif

/* Where glibc's struct pthread.specific is; 0: there is none. */
static __always_inline __u64 glibc_specific(__u64 tp)
{
#ifdef __TARGET_ARCH_arm64
	/* of any size, its first block is the one in front of it */
	for (int i = 0; i < GLIBC_SIZES; i++) {
		__u64 at = tp - GLIBC_SIZE_MIN - i * GLIBC_SIZE_STEP + GLIBC_SPECIFIC;

		if (user_word(at) == at - GLIBC_BLOCK_BYTES)
			return at;
	}
	return 0;
#else
	__u64 at = tp + GLIBC_SPECIFIC;

	return user_word(at) == at - GLIBC_BLOCK_BYTES ? at : 0;
#endif
}

/* What pthread_getspecific() returns; 0 also if it is not known. */
static __always_inline __u64 thread_specific(__u64 tp, __u32 key)
{
	__u64 specific = glibc_specific(tp), block;

	if (specific) {
		block = key < KEYS_OF_GLIBC ? user_word(specific + 8 * (key / GLIBC_BLOCK)) : 0;
		return block ? user_word(block + 16 * (key % GLIBC_BLOCK) + 8) : 0;
	}
	if (key >= KEYS_OF_MUSL || user_word(MUSL_SELF(tp)) != MUSL_SELF(tp))
		return 0;
	block = user_word(MUSL_SELF(tp) + TSD_OF_MUSL);
	return block ? user_word(block + 8 * key) : 0;
}

/* Is the thread musl's? */
static __always_inline int thread_is_musl(__u64 tp)
{
#ifdef __TARGET_ARCH_arm64
	return user_word(MUSL_SELF(tp)) == MUSL_SELF(tp);
#else
	/* glibc has two small numbers there: tcbhead_t.multiple_threads, .gscope_flag */
	return user_word(MUSL_NEXT(tp)) >> 32 > 2;
#endif
}

/* The address of a variable of a module; 0: not known, or the thread has none yet. */
static __always_inline __u64 thread_address(__u64 tp, __u64 module, __u64 offset)
{
	int musl = thread_is_musl(tp);
	__u64 dtv = user_word(musl ? MUSL_DTV(tp) : GLIBC_DTV(tp)), start;

	if (!dtv || !module || module > TLS_MODULES)
		return 0;
	start = user_word(dtv + (musl ? 8 : 16) * module);
	return !start || start == DTV_UNALLOCATED ? 0 : start + offset;
}

/* By a descriptor of TLS: its argument is the distance from the thread pointer if the
 * variable is in static TLS, else the address of module and offset. */
static __always_inline __u64 thread_described(__u64 tp, __u64 argument)
{
	__s64 distance = (__s64)argument;

	if (distance > -STATIC_TLS_MAX && distance < STATIC_TLS_MAX)
		return tp + argument;
	return thread_address(tp, user_word(argument), user_word(argument + 8));
}

/* The word of the thread with this thread pointer; 0 also if it is not known. */
static __always_inline __u64 thread_word_of(__u64 tp, __u32 how, __u64 at)
{
	__u64 addr = 0, by;

	switch (how) {
	case THREAD_KEY:
		return thread_specific(tp, user_u32(at));
	case THREAD_TP:
		addr = tp + at;
		break;
	case THREAD_IE:
		by = user_word(at);
		addr = by ? tp + by : 0;
		break;
	case THREAD_GD:
		addr = thread_address(tp, user_word(at), user_word(at + 8));
		break;
	case THREAD_DESC:
		addr = user_word(at) ? thread_described(tp, user_word(at + 8)) : 0;
		break;
	}
	return addr ? user_word(addr) : 0;
}

#endif /* BPF_THREAD_READ_BPF_H */
