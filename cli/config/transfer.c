// SPDX-License-Identifier: Apache-2.0
#include "cli/config/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The message is a struct config, then its strings, each with its '\0', in the
 * order of transfer_strings().  A pointer that is not NULL has one. */
#define STRINGS_MAX	(KEY__COUNT * (1 + CONFIG_MORE_MAX) + CONFIG_MORE_MAX + \
			 CONFIG_FILES_MAX)

static size_t transfer_strings(struct config *c, const char **out[STRINGS_MAX])
{
	size_t n = 0;

	for (int i = 0; i < KEY__COUNT; i++)
		out[n++] = &c->value[i].text;
	for (unsigned int k = 0; k < CONFIG_MORE_MAX; k++) {
		for (int i = 0; i < KEY__COUNT; i++)
			out[n++] = &c->more[k].value[i].text;
		out[n++] = &c->more[k].name;
	}
	for (int i = 0; i < CONFIG_FILES_MAX; i++)
		out[n++] = &c->file[i];
	return n;
}

static int transfer_put(char *buf, size_t *len, const char *s)
{
	size_t n = strlen(s) + 1;

	if (n > CONFIG_TRANSFER_MAX - *len)
		return -E2BIG;
	memcpy(buf + *len, s, n);
	*len += n;
	return 0;
}

int config_send(const struct config *c, int socket)
{
	char *buf = malloc(CONFIG_TRANSFER_MAX);
	const char **strings[STRINGS_MAX];
	struct config copy = *c;
	size_t len = sizeof(copy), n = transfer_strings(&copy, strings);
	int size = CONFIG_TRANSFER_MAX * 2, r = 0;

	if (!buf)
		return -ENOMEM;
	memcpy(buf, &copy, sizeof(copy));
	for (size_t i = 0; i < n && !r; i++) {
		if (*strings[i])
			r = transfer_put(buf, &len, *strings[i]);
	}
	for (int i = 0; i < CONFIG_ENV_MAX && copy.env[i] && !r; i++)
		r = transfer_put(buf, &len, copy.env[i]);
	setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!r && send(socket, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		r = -errno;
	free(buf);
	return r;
}

/* The next string, or NULL. */
static const char *transfer_take(const char *buf, size_t len, size_t *at)
{
	const char *s = buf + *at, *end = memchr(s, '\0', len - *at);

	if (!end)
		return NULL;
	*at += (size_t)(end - s) + 1;
	return s;
}

static int transfer_parse(struct config *c, const char *buf, size_t len)
{
	const char **strings[STRINGS_MAX], *s;
	size_t at = sizeof(*c), n = transfer_strings(c, strings);
	int n_env = 0, r = 0;

	while (n_env < CONFIG_ENV_MAX && c->env[n_env])
		n_env++;
	memset(c->env, 0, sizeof(c->env));
	for (size_t i = 0; i < n && !r; i++) {
		bool is_file = i >= n - CONFIG_FILES_MAX;
		bool is_name = i >= KEY__COUNT &&
			       (i - KEY__COUNT) % (KEY__COUNT + 1) == KEY__COUNT;

		if (!*strings[i] && (is_name || is_file))
			continue;	/* there are fewer receivers, or files */
		*strings[i] = transfer_take(buf, len, &at);
		if (!*strings[i])
			r = -EPROTO;
	}
	for (unsigned int k = 0; k < CONFIG_MORE_MAX; k++) {
		if (k < c->n_more && !c->more[k].name)
			r = -EPROTO;
	}
	for (int i = 0; i < n_env && !r; i++) {
		s = transfer_take(buf, len, &at);
		if (s)
			c->env[i] = strdup(s);
		if (!c->env[i])
			r = -EPROTO;
	}
	for (unsigned int i = 0; i < CONFIG_FILES_MAX; i++) {
		if (i < c->n_files && !c->file[i])
			r = -EPROTO;
	}
	if (r || at != len || c->n_more > CONFIG_MORE_MAX ||
	    c->n_files > CONFIG_FILES_MAX)
		return -EPROTO;
	for (int i = 0; i < KEY__COUNT; i++)
		c->value[i].variable[sizeof(c->value[i].variable) - 1] = '\0';
	return 0;
}

int config_receive(struct config *c, int socket)
{
	char *buf = malloc(CONFIG_TRANSFER_MAX);
	struct config fresh;
	ssize_t n;
	int r = 0;

	if (!buf)
		return -ENOMEM;
	n = recv(socket, buf, CONFIG_TRANSFER_MAX, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		r = -errno;
	else if (n == 0)
		r = -EPIPE;
	else if ((size_t)n < sizeof(fresh) || n > CONFIG_TRANSFER_MAX)
		r = -EPROTO;
	if (!r) {
		memcpy(&fresh, buf, sizeof(fresh));
		memset(fresh.own, 0, sizeof(fresh.own));
		fresh.own[0] = buf;	/* its strings lie there */
		r = transfer_parse(&fresh, buf, (size_t)n);
		if (r) {
			config_fini(&fresh);
			return r;
		}
		*c = fresh;
		return 0;
	}
	free(buf);
	return r;
}
