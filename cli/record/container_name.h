/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_name - find the IDs of containers by name
 *
 * No engine is asked, since access to its socket means root.  Instead this reads
 * the files that engines keep for themselves, also of stopped containers.  They
 * belong to root, but users influence their content, so there are limits for
 * everything, and a file counts only if it is regular and owned by root.
 *
 *   docker      /var/lib/docker/containers/ID/config.v2.json
 *   podman      /var/lib/containers/storage/DRIVER-containers/containers.json
 *               and volatile-containers.json (of --rm); root's containers with
 *               an image, not those of users and of --rootfs
 *   nerdctl     /var/lib/nerdctl/HASH/names/NAMESPACE/NAME, which holds the ID
 *               (nerdctl, docs/dir.md, at commit 254229b117eb)
 *   Kubernetes  /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, the name
 *               alone: that of the pod or the container is taken (kubernetes,
 *               pkg/kubelet/kuberuntime/legacy.go, at commit 16913111deb1)
 *
 * Where docker and podman write what: container_json.h.
 */
#ifndef CLI_RECORD_CONTAINER_NAME_H
#define CLI_RECORD_CONTAINER_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/container.h"

#define CONTAINER_MATCHES_MAX	64	/* at most so many are found */
#define CONTAINER_NAME_MAX	253	/* a pod's: DNS subdomain, RFC 1123 */

struct container_match {
	char id[CONTAINER_ID_MAX + 1];
	char from[300];		/* "docker", "Kubernetes POD_NAMESPACE_NAME";
				 * printable, no space but that one */
};

struct container_matches {
	uint32_t n;
	struct container_match v[CONTAINER_MATCHES_MAX];
};

/* Is this a possible name of a container or pod?  Letters, digits, and after the
 * first one "_.-" (moby, daemon/names, and podman alike; a pod's has fewer). */
bool container_name_is(const char *name);

/* Find all containers of a name that container_name_is() accepts, by the files
 * below the directory `root`, "/" except in tests.  What cannot be read is
 * ignored. */
void container_name_find(int root, const char *name,
			 struct container_matches *ret);

#endif /* CLI_RECORD_CONTAINER_NAME_H */
