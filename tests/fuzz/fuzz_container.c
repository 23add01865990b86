// SPDX-License-Identifier: Apache-2.0
/* A cgroup's path: an ID lies within it and is not too long. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = malloc(size ? size : 1);
	const char *id;
	char unit[65];
	size_t len = 0;

	memcpy(path, data, size);
	id = container_id(path, size, &len);
	if (id && (len > CONTAINER_ID_MAX || id < path ||
		   (size_t)(id - path) > size - len))
		abort();
	if (cgroup_service(path, size, unit, sizeof(unit)) != strlen(unit))
		abort();
	free(path);
	return 0;
}
