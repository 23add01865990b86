/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_json - a container's name in the JSON that an engine leaves on disk
 *
 * Not a JSON library: one pass over strings and brackets (RFC 8259), which
 * follows two known places and allocates nothing.  A text that is cut short, or
 * whose brackets do not match, gives no name.  Names of containers have no
 * character that JSON escapes, so strings are compared as they are written, and
 * one with an escape is no container's name.
 */
#ifndef CLI_RECORD_CONTAINER_JSON_H
#define CLI_RECORD_CONTAINER_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_JSON_DEPTH	64	/* of brackets; deeper is refused */
#define CONTAINER_JSON_ID	64	/* hexadecimal digits of an ID */

/*
 * Docker's config.v2.json: is it of the container `name`?  The outermost
 * object's member "Name" is "/NAME" (moby, container/container.go, struct
 * Container, at commit 00cf1da48931; seen in files of 17.x to 27.x).
 */
bool container_json_docker(const char *text, size_t len, const char *name);

/*
 * Podman's containers.json and volatile-containers.json: an array of objects
 * with "id" and an array "names" (containers/storage, containers.go, struct
 * Container, at commit 031aa214ba46; names are unique in it).  The ID of the
 * one that has this name, with a NUL; false: none has.
 */
bool container_json_podman(const char *text, size_t len, const char *name,
			   char id[CONTAINER_JSON_ID + 1]);

/* Are these n bytes an ID as engines make them: 64 digits 0-9, a-f? */
bool container_json_is_id(const char *s, size_t n);

#endif /* CLI_RECORD_CONTAINER_JSON_H */
