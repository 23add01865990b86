/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer - what a receiver's answer means
 *
 * OTLP specification 1.11.0, "OTLP/HTTP Response": 429, 502, 503 and 504 may
 * be tried again, as may an attempt without an answer; all else is final.  A
 * 200 with rejected profiles is final too.  Not by the specification, 500 may be tried a
 * few times: backends answer it as they start (Grafana Pyroscope of 2026-08).  A 413 means that the request is too
 * large; so does a 400 with the text of Go's http.MaxBytesReader (net/http of Go
 * 1.22, MaxBytesError), which the collector (0.159) answers.  Of an answer that is cut
 * off as too large the status decides, and a 2xx is final: it cannot be read.
 */
#ifndef EXPORTERD_ANSWER_H
#define EXPORTERD_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "exporterd/http.h"

enum answer_verdict {
	ANSWER_ACCEPTED = 0,
	ANSWER_PARTIAL,		/* `rejected` profiles were refused */
	ANSWER_FINAL,		/* refused */
	ANSWER_RETRY,		/* after wait_ns; 0: the sender's choice */
	ANSWER_RETRY_FEW,	/* the same, a few times */
	ANSWER_TOO_LARGE,	/* refused for the request's size */
};

struct answer {
	enum answer_verdict verdict;
	uint64_t rejected;	/* profiles; only with ANSWER_PARTIAL */
	uint64_t wait_ns;	/* from Retry-After; 0: none */
	char text[256];		/* printable: message or error; "" if none */
};

void answer_judge(const struct http_answer *a, struct answer *ret);

/* Rejected profiles and message of an ExportProfilesServiceResponse, the body of
 * a 200.  Returns 0; -EPROTO when it is none (*ret is left alone). */
int answer_parse_success(const uint8_t *body, size_t len, struct answer *ret);

/* The message of a google.rpc.Status, as above. */
int answer_parse_status(const uint8_t *body, size_t len, struct answer *ret);

#endif /* EXPORTERD_ANSWER_H */
