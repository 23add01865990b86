// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(const char *path, uint32_t line, bool warning,
		const char *text)
{
	/* what people read is printable */
	for (const char *s = text; *s; s++) {
		if (*s < 0x20 || *s > 0x7e)
			abort();
	}
	if (!*path || !line || warning)
		abort();
}

/* The text of a configuration file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), out[64];
	struct config c;
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	r = config_parse(&c, "x", text, size, say);
	if (!r != !c.mistakes)
		abort();
	for (int i = 0; i < KEY__COUNT; i++) {
		const struct config_key *k = &config_keys[i];
		const char *s = c.value[i].text;

		config_shown(c.value, i, out, sizeof(out));
		config_origin(&c, c.value, i, out, sizeof(out));
		/* nothing but what its key allows, and no more than a line */
		if (strlen(s) > 8192 || (*s && k->kind == KIND_NUMBER &&
		    (config_number(&c, i) < k->min ||
		     config_number(&c, i) > k->max)))
			abort();
	}
	config_fini(&c);
	return 0;
}
