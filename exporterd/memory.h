/* SPDX-License-Identifier: Apache-2.0 */
/* memory - exporterd is idle most of the time, and should be small then */
#ifndef EXPORTERD_MEMORY_H
#define EXPORTERD_MEMORY_H

/* Before anything is allocated: one heap for all threads, and large blocks
 * that go back to the system when they are freed. */
void memory_init(void);

/*
 * Once everything is initialised: unmap the pages of code and constants that
 * the start of some 35 libraries (those of libcurl's) has touched.  What is
 * needed later comes back from the page cache.
 */
void memory_trim(void);

#endif /* EXPORTERD_MEMORY_H */
