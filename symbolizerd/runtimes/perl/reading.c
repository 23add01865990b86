// SPDX-License-Identifier: Apache-2.0
/* reading - what a sub is called: as caller() says it, with its package */
#include <stdio.h>

#include "symbolizerd/runtimes/reading.h"

static void reading_perl_name(char name[TEXT_NAME_MAX], char full[TEXT_FULL_MAX],
			      const char *class, const char *function, const char *signature)
{
	(void)signature;
	full[0] = '\0';
	snprintf(name, TEXT_NAME_MAX, "%.*s::%.*s", TEXT_NAME_MAX / 2 - 2, class,
		 TEXT_NAME_MAX / 2 - 2, function);
}

const struct runtime_reading runtime_reading_perl = {
	.name = reading_perl_name,
};
