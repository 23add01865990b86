// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes to the live page's server, over a real connection, in two pieces.
 * Nothing but the page is given to who has not the key and the right Host; each
 * answer has the headers that keep a browser from misusing it.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/fuzz/viewer_store.h"
#include "viewer/server/http.h"

#define KEY		"00112233445566778899aabbccddeeff"
#define PORT		4444

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct viewer_http http = { .key = KEY, .otlp = true };
static struct store store;
static struct api api;

/* A listening socket that nobody finds: connections are brought by hand. */
static void start(void)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };
	struct listeners l = { .n = 1, .port = PORT };

	l.fd[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(!bind(l.fd[0], (void *)&any, sizeof(any.sun_family)));
	CHECK(!listen(l.fd[0], 1));
	http.api = &api;
	CHECK(!http_start(&http, &l));
}

static bool has(const char *answer, size_t len, const char *what)
{
	return memmem(answer, len, what, strlen(what));
}

/* One answer or several, one behind the other. */
static void judge(const char *answer, size_t len, const uint8_t *asked,
		  size_t size)
{
	bool keyed = memmem(asked, size, KEY, strlen(KEY)) &&
		     memmem(asked, size, "4444", 4);

	if (!len)
		return;
	CHECK(!strncmp(answer, "HTTP/1.", 7));
	/* libmicrohttpd's own words about what is no request have no such header */
	if (has(answer, len, " 200 OK"))
		CHECK(has(answer, len, "Content-Security-Policy: ") &&
		      has(answer, len, "X-Content-Type-Options: nosniff"));
	if (keyed)
		return;
	CHECK(!has(answer, len, "application/x-protobuf\r\n"));
	CHECK(!has(answer, len, "\"kernel\":"));
	CHECK(!has(answer, len, "Content-Disposition"));
}

static size_t take(int fd, char *answer, size_t room, size_t len)
{
	ssize_t n;

	http_work(&http);
	while (len < room &&
	       (n = recv(fd, answer + len, room - len, MSG_DONTWAIT)) > 0)
		len += (size_t)n;
	return len;
}

static void converse(const uint8_t *data, size_t size, size_t first)
{
	static char answer[1 << 20];
	struct sockaddr_in from = { .sin_family = AF_INET };
	size_t len = 0;
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	CHECK(MHD_add_connection(http.daemon[0], pair[1], (void *)&from,
				 sizeof(from)) == MHD_YES);
	send(pair[0], data, first, MSG_NOSIGNAL);
	len = take(pair[0], answer, sizeof(answer), len);
	send(pair[0], data + first, size - first, MSG_NOSIGNAL);
	for (int i = 0; i < 4; i++)
		len = take(pair[0], answer, sizeof(answer), len);
	shutdown(pair[0], SHUT_WR);
	for (int i = 0; i < 8; i++)
		len = take(pair[0], answer, sizeof(answer), len);
	judge(answer, len, data, size);
	close(pair[0]);
	for (int i = 0; i < 8 && http.clients; i++)
		http_work(&http);
	CHECK(!http.clients && !http.posts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;

	if (!started)
		start();
	started = true;
	if (!size || size > 60000)
		return 0;
	store_of_samples(&store);
	api_init(&api, &store, NULL);
	converse(data + 1, size - 1, data[0] * (size - 1) / 255);
	store_fini(&store);
	return 0;
}
