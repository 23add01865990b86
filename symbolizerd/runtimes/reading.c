// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/reading.h"

#include <string.h>

#include "ipc/runtimes.h"

/* One without a rule has a row of NULLs. */
static const struct runtime_reading *reading_of(uint32_t runtime)
{
	static const struct runtime_reading none, *const rows[RUNTIME__MAX] = {
#define RUNTIME_READING(id, name)	[RUNTIME_##id] = &runtime_reading_##name,
#include "bpf/runtimes.def"
	};

	if (runtime >= RUNTIME__MAX || !rows[runtime])
		return &none;
	return rows[runtime];
}

void reading_name(uint32_t runtime, char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX],
		  const char *class, const char *function, const char *signature)
{
	const struct runtime_reading *r = reading_of(runtime);

	full[0] = '\0';
	if (class[0] && r->name) {
		r->name(name, full, class, function, signature);
		return;
	}
	name[0] = '\0';
	strncat(name, function, TEXT_NAME_MAX - 1);
}

uint32_t reading_line(uint32_t runtime, uint32_t form, const uint8_t *table, size_t len,
		      bool whole, uint32_t first, uint32_t at)
{
	const struct runtime_reading *r = reading_of(runtime);

	if (at == MANAGED_AT_START)
		return first;
	if (runtime < RUNTIME__MAX && runtime_info(runtime)->flags & RUNTIME_LINE_IS_PLACE)
		return at == MANAGED_AT_MAX ? 0 : at;
	return r->line ? r->line(form, table, len, whole, first, at) : 0;
}

size_t reading_end(uint32_t runtime, uint32_t form, const uint8_t *table, size_t len,
		   uint32_t *first)
{
	const struct runtime_reading *r = reading_of(runtime);

	return r->end ? r->end(form, table, len, first) : len;
}
