/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target - the part of the system that `trifold record` records
 *
 * Names become numbers here, once: loaderd gets process and cgroup numbers only,
 * and opens nothing for it.
 *
 * A container's name is looked up in the files of the engines
 * (container_name.h), by a process that may read every file and write none.
 */
#ifndef CLI_RECORD_TARGET_H
#define CLI_RECORD_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "cli/config/options.h"
#include "common/container.h"
#include "ipc/batch.h"

enum target_kind {
	TARGET_ALL,
	TARGET_PIDS,
	TARGET_CGROUP,
	TARGET_COMMAND,		/* all processes below a launcher */
};

struct target {
	enum target_kind kind;
	struct number_list pids;	/* of options */
	int pidfd[NUMBERS_MAX];	/* -1: it has ended, which was reported */
	int ended;		/* epoll over pidfd[], for poll(2); -1: none */
	uint32_t running;
	uint64_t cgroup;	/* its number: the inode of its directory */
	char container[CONTAINER_ID_MAX + 1];	/* its ID, or the beginning; "": no container */
	char service[BATCH_UNIT_MAX + 1];	/* of a unit, as batches have it: cgroup_service();
						 * "": they cannot tell it */
	char what[320];		/* "process 12", printable; "" of TARGET_ALL
				 * and TARGET_COMMAND */
};

/* Do the options of `record` fit together?  0, or -EINVAL with a line. */
int target_check(const struct options *o, char *err, size_t size);

/*
 * Find the processes and cgroups that checked options name; they must exist.
 * 0, to be released by target_release(), or -errno after a line in the log
 * that says what to do.
 */
int target_find(const struct options *o, struct target *t);
void target_release(struct target *t);

/* A process that has ended and was not reported before: its number, or 0.  Does
 * not wait. */
uint32_t target_ended(struct target *t);

/* --- for target_find(), and for tests ---------------------------------------- */

/* The process (thread group) of a thread, by the text of /proc/TID/status (a
 * line "Tgid:\t12"; proc(5)); 0 when it does not say. */
uint32_t target_tgid(const char *status, size_t len);

/* Is this a container's ID (container.h) or the beginning of one, at least 4
 * hexadecimal digits? */
bool target_is_container(const char *id);

/* Is this a possible name of a unit, with its type or without? */
bool target_is_unit(const char *name);

/* The length of the name of a service, without ".service"; 0: that is a unit of
 * another type. */
size_t target_service(const char *unit);

/*
 * The cgroup of a unit of systemd (".service" may be left out), below the
 * directory that `dir` is open on (and that is closed): its path from there, and
 * its number.  The system's own units are in slices outside of user.slice
 * (systemd.slice(5)), where only root makes cgroups: one of them is preferred to
 * users' and containers' units of that name; another one is logged with its
 * place.  0, or after a line in the log -ENOENT, -ENOTUNIQ.
 */
int target_unit(int dir, const char *unit, char *path, size_t size,
		uint64_t *number);

/* A unit has this path: what batches have of its processes. */
void target_note_unit(struct target *t, const char *unit, const char *path);

/*
 * The cgroup of the container whose ID begins with id, below the directory
 * that `dir` is open on (and that is closed): its path from there, and its
 * number.  Directories on other file systems are left out.  0, or after a line
 * in the log -ENOENT, -ENOTUNIQ (several), or another -errno.
 */
int target_container(int dir, const char *id, char *path, size_t size,
		     uint64_t *number);

/*
 * The ID of the container that --container names: an ID with at least 12 digits
 * is an ID; else a name (container_name_is(); its files are below `root`) of a
 * container with a cgroup below `dir`; else the beginning of an ID. 0, or after a
 * line in the log -ENOENT, -ENOTUNIQ. Closes nothing.
 */
int target_container_named(int dir, int root, const char *given,
			   char id[CONTAINER_ID_MAX + 1]);

#endif /* CLI_RECORD_TARGET_H */
