/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* runtime - the runtimes of languages that need an unwinder of their own */
#ifndef BPF_RUNTIME_H
#define BPF_RUNTIME_H

/* The runtime that a file is or contains: in file_entry.runtime, messages, batches.
 * Values never change their meaning. */
enum runtime {
	RUNTIME_NONE = 0,
	RUNTIME_GO = 1,
	RUNTIME_PYTHON = 2,
	RUNTIME_HOTSPOT = 3,
	RUNTIME__MAX
};

#endif /* BPF_RUNTIME_H */
