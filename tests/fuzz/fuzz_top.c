// SPDX-License-Identifier: Apache-2.0
/*
 * Any batch in `trifold top`: every view of it, and what a terminal would be
 * sent.  The first bytes are keys, the rest is a batch.
 */
#include "cli/top/state.h"
#include "cli/top/text.h"

#include <stdlib.h>
#include <string.h>

#define KEYS	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(struct top_state *st)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	char out[40 * 4 + 1];

	for (uint32_t i = 0; i < st->table.n && i < 64; i++) {
		for (int c = 0; c < l->n; c++) {
			top_cell(&st->table, &st->table.rows[i], l->cols[c],
				 i & 1, 40, out, sizeof(out));
			for (const char *p = out; *p; p++) {
				if ((unsigned char)*p < 0x20 || *p == 0x7f)
					abort();
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct batch_hdr *copy;
	struct top_state st;
	struct batch b;

	if (len < KEYS)
		return 0;
	copy = malloc(len - KEYS + 1);
	memcpy(copy, data + KEYS, len - KEYS);
	top_state_init(&st, TOP_FUNCTIONS, true, 0);
	if (batch_open(copy, len - KEYS, &b) == 0 &&
	    top_state_batch(&st, copy, len - KEYS,
			    batch_n(&b, BATCH_TIMES)))
		abort();
	top_state_refresh(&st, 0);
	look(&st);
	for (int i = 0; i < KEYS; i++) {
		/* those of the views and of Enter often */
		static const int often[] = { '1', '2', '3', '4', TOP_KEY_ENTER,
					     TOP_KEY_DOWN, 's', TOP_KEY_BACK };

		top_state_key(&st, data[i] < 128 ? data[i] :
			      often[data[i] % 8], 1);
		top_state_refresh(&st, 0);
		look(&st);
	}
	top_state_fini(&st);
	free(copy);
	return 0;
}
