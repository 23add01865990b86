// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/detect.h"

#include <string.h>
#include <sys/types.h>

#include "symbolizerd/elf/file_id.h"

#define NT_GO_BUILD_ID 4 /* cmd/internal/buildid: ELF note of "Go" */

bool go_build_id(const struct elf_file *f, char *ret, size_t size)
{
	ssize_t n;

	memset(ret, 0, size);
	n = file_note(f, ".note.go.buildid", "Go", NT_GO_BUILD_ID, ret,
		      size - 1);
	if (n < 0)
		return elf_file_find(f, ".gopclntab") != NULL;
	if (memchr(ret, '\0', n))
		memset(ret, 0, size);
	return true;
}
