/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_dir - a directory that only exporterd uses: for the spool, for the cache
 *
 * It belongs to exporterd's own user, is closed to others, and is locked while it is
 * open.  No link in it is followed.
 */
#ifndef EXPORTERD_OWN_DIR_H
#define EXPORTERD_OWN_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

#define OWN_DIR_TEMPORARY	"new.tmp"	/* the file being written */

/* Open and lock it; what: "spool", for the log.  path may be a link, as StateDirectory=
 * of systemd is with DynamicUser=.  Call as the user that owns it.  A descriptor; or
 * -errno after a line in the log. */
int own_dir_open(const char *what, const char *path);

/* Can files be made and removed?  0 or -errno.  An unfinished file is removed. */
int own_dir_probe(int dir);

/* Call fn for each name in it, at most `max`.  0; 1: there are more; or -errno. */
int own_dir_list(int dir, int max, void (*fn)(void *arg, const char *name), void *arg);

/* Is this name a regular file of exporterd's user?  *ret is set if so. */
bool own_dir_has(int dir, const char *name, struct stat *ret);

/* A new file named OWN_DIR_TEMPORARY, to write.  A descriptor or -errno. */
int own_dir_create(int dir);

/* Open a file to read, and fill *ret: a descriptor; -EPROTO: it is no regular file of
 * exporterd's user; another -errno. */
int own_dir_read(int dir, const char *name, struct stat *ret);

#endif /* EXPORTERD_OWN_DIR_H */
