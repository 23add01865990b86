// SPDX-License-Identifier: Apache-2.0
#include "cli/front/progress.h"

#include <string.h>

#include "common/clock.h"
#include "tests/unit/harness.h"

static char out[128];

static const char *line(struct progress *p, uint64_t taken, uint64_t ns,
			uint64_t total_ns)
{
	struct status st = { .loader_up = 1 };

	st.loader.bpf[BPF_TAKEN] = taken;
	progress_line(p, &st, ns, total_ns, out, sizeof(out));
	return out;
}

TEST(progress_says_time_samples_rate_and_losses)
{
	struct progress p = { .n = 0 };
	struct status st = { .loader_up = 1 };

	CHECK(!strcmp(line(&p, 0, 0, 30 * NSEC_PER_SEC),
		      "0 of 30 s   0 samples (0 a second), 0 lost"));
	CHECK(!strcmp(line(&p, 38, NSEC_PER_SEC, 30 * NSEC_PER_SEC),
		      "1 of 30 s   38 samples (38 a second), 0 lost"));
	CHECK(!strcmp(line(&p, 50, NSEC_PER_SEC * 2, 0),
		      "2 s   50 samples (25 a second), 0 lost"));
	/* rounded */
	CHECK(!strcmp(line(&p, 57, NSEC_PER_SEC * 5 / 2, 0),
		      "2 s   57 samples (23 a second), 0 lost"));
	st.loader.bpf[BPF_TAKEN] = 60;
	st.loader.bpf[BPF_RING_FULL] = 7;
	progress_line(&p, &st, 3 * NSEC_PER_SEC, 3500 * NSEC_PER_MSEC, out,
		      sizeof(out));
	CHECK(!strcmp(out, "3 of 3.5 s   60 samples (20 a second), 7 lost"));
}

TEST(progress_forgets_an_old_rate)
{
	struct progress p = { .n = 0 };

	for (uint64_t s = 0; s <= 100; s++)
		line(&p, s < 50 ? s * 1000 : 50000, s * NSEC_PER_SEC, 0);
	CHECK(!strcmp(out, "100 s   50000 samples (0 a second), 0 lost"));
	/* less than before: who counted was started again */
	CHECK(!strcmp(line(&p, 5, 101 * NSEC_PER_SEC, 0),
		      "101 s   5 samples (0 a second), 0 lost"));
	/* no time in between */
	line(&p, 6, 101 * NSEC_PER_SEC, 0);
	CHECK(p.n <= PROGRESS_POINTS);
}
