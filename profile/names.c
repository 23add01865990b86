// SPDX-License-Identifier: Apache-2.0
#include "profile/names.h"

void names_choose(const struct batch *b, void *data, enum function_names which)
{
	const struct batch_hdr *hdr = b->hdr;
	struct batch_function *f;

	f = (void *)((uint8_t *)data + hdr->table[BATCH_FUNCTIONS].off);
	for (uint32_t i = 1; i < batch_n(b, BATCH_FUNCTIONS); i++) {
		uint32_t full = batch_full_name(&f[i]);

		if (which == NAMES_RAW)
			f[i].name = batch_system_name(&f[i]);
		else if (which == NAMES_FULL)
			f[i].name = full;
		f[i].full_name = full;
		if (f[i].name == full)
			f[i].full_name = 0;
	}
}
