// SPDX-License-Identifier: Apache-2.0
/* Who takes a frame to its caller: for every runtime, known or not. */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include "bpf/owner.bpf.h"

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	(void)dst;
	(void)size;
	(void)src;
	return -1;
}

static void is_native(__u32 runtime)
{
	CHECK_EQ(frame_owner(runtime, STOP_NOT), OWNER_RULE);
	for (int why = STOP_NOT + 1; why < STOP__MAX; why++)
		CHECK_EQ(frame_owner(runtime, why), OWNER_FRAME_POINTER);
}

TEST(compiled_code_goes_by_rules_else_by_frame_pointer)
{
	is_native(RUNTIME_NONE);
	is_native(RUNTIME_GO);
	CHECK(runtime_is_known(RUNTIME_NONE));
	CHECK(runtime_is_known(RUNTIME_GO));
}

/* A hub may know a runtime that the sampler does not, or lie: resolve() counts
 * what is not known, and step() goes on as with native code. */
TEST(an_unknown_runtime_is_unwound_natively)
{
	for (__u32 runtime = RUNTIME__MAX; runtime < 256; runtime++) {
		CHECK(!runtime_is_known(runtime));
		is_native(runtime);
	}
}
