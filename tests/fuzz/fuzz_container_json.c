// SPDX-License-Identifier: Apache-2.0
/* A file of docker's or podman's: it has a container's ID, or says nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record/container_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1), id[CONTAINER_JSON_ID + 1];

	if (!text)
		return 0;
	memcpy(text, data, size);
	container_json_docker(text, size, "web");
	if (container_json_podman(text, size, "web", id) &&
	    !container_json_is_id(id, strlen(id)))
		abort();
	free(text);
	return 0;
}
