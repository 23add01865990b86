// SPDX-License-Identifier: Apache-2.0
#include "profile/busy.h"

struct busy busy_of(double used_s, double all_s)
{
	struct busy b = { .used_s = used_s, .all_s = all_s };

	if (all_s <= 0)
		return b;
	if (b.used_s > all_s)
		b.used_s = all_s;
	b.share = b.used_s / all_s;
	return b;
}
