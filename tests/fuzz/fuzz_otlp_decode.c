// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "ipc/batch.h"
#include "viewer/server/body.h"
#include "viewer/server/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A first byte says how the rest is packed; what becomes a batch must be a
 * valid one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct viewer_names names;
	struct decode_in in = {
		.oldest_ns = 0, .newest_ns = UINT64_MAX / 2, .names = &names,
		.limits = { DECODE_BODY_MAX, 64 << 20, 1 << 20 },
	};
	struct decoded d;
	struct viewer_body body;
	struct batch b;

	if (!size || body_init(&body, data[0] % 3, 1 << 20))
		return 0;
	if (body_add(&body, data + 1, size - 1) == 0 &&
	    body_end(&body) == 0) {
		in.data = body.bytes.data;
		in.len = body.bytes.len;
		if (decode_request(&in, &d) == 0 && d.data &&
		    batch_open(d.data, d.len, &b))
			abort();
		free(d.data);
	}
	body_fini(&body);
	return 0;
}
