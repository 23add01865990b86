// SPDX-License-Identifier: Apache-2.0
#include "cli/status/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/log.h"

static const char *const states[] = { "OK", "unknown", "less", "no" };

/* Foreign text goes to a terminal: printable ASCII only. */
static void doctor_escape(char *s)
{
	for (; *s; s++) {
		if (*s < 0x20 || *s > 0x7e)
			*s = '?';
	}
}

static void doctor_print(const struct check *c, const struct finding *f)
{
	printf("%-8s %-16s %s\n", states[f->state], c->name, f->text);
	if (f->state == CHECK_OK)
		return;
	if (f->cost)
		printf("%26scosts: %s\n", "", f->cost);
	if (f->remedy)
		printf("%26schange: %s\n", "", f->remedy);
}

static void doctor_add(struct json *j, const struct check *c,
		       const struct finding *f)
{
	bool ok = f->state == CHECK_OK;

	json_open(j, NULL, '{');
	json_text(j, "name", c->name);
	json_text(j, "state", states[f->state]);
	json_text(j, "finding", f->text);
	json_text(j, "cost", ok ? NULL : f->cost);
	json_text(j, "remedy", ok ? NULL : f->remedy);
	json_close(j, '}');
}

int doctor_run(const struct options *o)
{
	static const char *const words[] = {
		"everything works", "works, with some of it unknown",
		"works with less", "cannot work",
	};
	enum check_state worst = CHECK_OK;
	struct buffer out = { 0 };
	struct json j = { .out = &out };
	struct doctor_host h;
	int r = 0;

	doctor_probe(&h, o->libexec);
	doctor_ask_running(&h);
	json_open(&j, NULL, '{');
	json_open(&j, "checks", '[');
	for (size_t i = 0; i < doctor_n_checks; i++) {
		struct finding f = { .state = CHECK_OK };

		doctor_checks[i].fn(&h, &f);
		doctor_escape(f.text);
		if (f.state > worst)
			worst = f.state;
		if (!o->json)
			doctor_print(&doctor_checks[i], &f);
		doctor_add(&j, &doctor_checks[i], &f);
	}
	json_close(&j, ']');
	json_text(&j, "overall", states[worst]);
	json_num(&j, "exit_status", (uint64_t)doctor_status(worst));
	json_close(&j, '}');
	if (o->json)
		r = json_finish(&j, stdout);
	else
		printf("\ntrifold %s here\n", words[worst]);
	free(out.data);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	if (r)
		return EXIT_CANNOT;
	return doctor_status(worst);
}
