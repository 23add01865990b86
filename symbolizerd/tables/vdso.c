// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/vdso.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#include "ipc/sealed.h"

int vdso_image(void)
{
	const Elf64_Ehdr *e = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct iovec image = { (void *)e, 0 };

	if (!e)
		return -ENOENT;
	/* it ends with the section headers */
	image.iov_len = e->e_shoff + (size_t)e->e_shentsize * e->e_shnum;
	return sealed_make("vdso", &image, 1);
}
