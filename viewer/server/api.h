/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api - answers from the store (docs/VIEWER.md): everything below /api/v1/, and
 * accepting requests with samples.  Of HTTP it uses only the statuses.
 */
#ifndef VIEWER_SERVER_API_H
#define VIEWER_SERVER_API_H

#include "common/buffer.h"
#include "profile/profile.h"
#include "viewer/server/feed.h"
#include "viewer/server/params.h"
#include "viewer/server/store.h"

struct api {
	struct store *store;
	const struct feed *feed;	/* NULL: there is no hub */
	struct profile_info info;	/* of this host */
	uint32_t cpus;			/* of this host */
};

struct viewer_answer {
	unsigned int status;		/* of HTTP */
	const char *type;		/* of the content */
	struct buffer body;			/* malloc'ed */
	char file[128];			/* name for saving it; "": none */
};

/* feed: from a hub, or NULL; both are borrowed. */
void api_init(struct api *a, struct store *s, const struct feed *feed);

/* Is there such a path? */
bool api_knows(const char *path);

/* now: CLOCK_REALTIME, ns. */
void api_get(struct api *a, const char *path, const struct params *p,
	     uint64_t now, struct viewer_answer *ret);

/* An OTLP request, uncompressed. */
void api_post(struct api *a, const void *data, size_t len, uint64_t now,
	      struct viewer_answer *ret);

/* {"error": text} */
void api_error(struct viewer_answer *ret, unsigned int status,
	       const char *text);

#endif /* VIEWER_SERVER_API_H */
