// SPDX-License-Identifier: Apache-2.0
#include "exporterd/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "exporterd/backoff.h"
#include "profile/formats/otlp.pb-c.h"

int answer_parse_success(const uint8_t *body, size_t len, struct answer *ret)
{
	Otlp__ExportProfilesServiceResponse *m;
	Otlp__ExportProfilesPartialSuccess *p;

	m = otlp__export_profiles_service_response__unpack(NULL, len, body);
	if (!m)
		return -EPROTO;
	p = m->partial_success;
	/* nothing rejected and nothing said is a full success */
	if (p && p->rejected_profiles > 0) {
		ret->verdict = ANSWER_PARTIAL;
		ret->rejected = (uint64_t)p->rejected_profiles;
	}
	if (p && p->error_message)
		log_quote(p->error_message, strlen(p->error_message),
			  ret->text, sizeof(ret->text));
	otlp__export_profiles_service_response__free_unpacked(m, NULL);
	return 0;
}

int answer_parse_status(const uint8_t *body, size_t len, struct answer *ret)
{
	Otlp__Status *m = otlp__status__unpack(NULL, len, body);

	if (!m)
		return -EPROTO;
	log_quote(m->message, strlen(m->message), ret->text,
		  sizeof(ret->text));
	otlp__status__free_unpacked(m, NULL);
	return 0;
}

static void answer_judge_success(const struct http_answer *a, struct answer *ret)
{
	ret->verdict = ANSWER_ACCEPTED;
	/* the status 200 decides; a body that is not OTLP is ignored */
	if (answer_parse_success(a->body, a->len, ret))
		snprintf(ret->text, sizeof(ret->text),
			 "answer is not OTLP: is this an OTLP receiver?");
}

static void answer_judge_failure(const struct http_answer *a, struct answer *ret)
{
	switch (a->status) {
	case 413:
		ret->verdict = ANSWER_TOO_LARGE;
		break;
	case 429:
	case 502:
	case 503:
	case 504:
		ret->verdict = ANSWER_RETRY;
		(void)retry_after_parse(a->retry_after, time(NULL),
					&ret->wait_ns);
		break;
	case 500:
		ret->verdict = ANSWER_RETRY_FEW;
		(void)retry_after_parse(a->retry_after, time(NULL),
					&ret->wait_ns);
		break;
	default:
		ret->verdict = ANSWER_FINAL;
	}
	/* text/plain from proxies, Status from OTLP receivers */
	if (a->len && answer_parse_status(a->body, a->len, ret))
		log_quote((const char *)a->body, a->len, ret->text,
			  sizeof(ret->text));
	if (a->status == 400 && strstr(ret->text, "request body too large"))
		ret->verdict = ANSWER_TOO_LARGE;
}

void answer_judge(const struct http_answer *a, struct answer *ret)
{
	*ret = (struct answer){ .verdict = ANSWER_RETRY };
	if (a->too_large && a->status / 100 == 2) {
		ret->verdict = ANSWER_FINAL;
		snprintf(ret->text, sizeof(ret->text),
			 "answer is larger than %u bytes", HTTP_ANSWER_MAX);
	} else if (a->status == 0) {
		log_quote(a->error, strlen(a->error), ret->text,
			  sizeof(ret->text));
	} else if (a->status / 100 == 2) {
		answer_judge_success(a, ret);
	} else {
		answer_judge_failure(a, ret);
	}
}
