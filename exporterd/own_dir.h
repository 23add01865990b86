/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_dir - a directory that only exporterd uses: the spool's, the cache's
 *
 * It belongs to exporterd's own user, is closed to others, and is locked while it is
 * open.  No link in it is followed.
 */
#ifndef EXPORTERD_OWN_DIR_H
#define EXPORTERD_OWN_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

#define OWN_DIR_TEMPORARY	"new.tmp"	/* what is being written has this name */

/* Open and lock it; what: "spool", for the log.  path may be a link, as StateDirectory=
 * of systemd is with DynamicUser=.  Call as the user that it belongs to.  A
 * descriptor; or -errno after a line in the log. */
int own_dir_open(const char *what, const char *path);

/* Can files be made and removed?  0 or -errno.  What was being written is removed. */
int own_dir_probe(int dir);

/* fn for each name in it, max of them.  0; 1: there are more; or -errno. */
int own_dir_list(int dir, int max, void (*fn)(void *arg, const char *name), void *arg);

/* Is this name a regular file of ours?  *ret is set if so. */
bool own_dir_has(int dir, const char *name, struct stat *ret);

/* A new file named OWN_DIR_TEMPORARY, to write.  A descriptor or -errno. */
int own_dir_create(int dir);

/* A file to read: a descriptor of a regular file of ours, and *ret is set; -EPROTO: it
 * is something else; another -errno. */
int own_dir_read(int dir, const char *name, struct stat *ret);

#endif /* EXPORTERD_OWN_DIR_H */
