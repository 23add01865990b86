// SPDX-License-Identifier: Apache-2.0
#include "ipc/trace_consumer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ipc/trace_map.h"

static bool fd_is(int fd, int seals, size_t size)
{
	int got = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return got >= 0 && (got & seals) == seals && fstat(fd, &st) == 0 &&
	       (size_t)st.st_size == size;
}

int trace_consumer_init(struct trace_consumer *c, int data_fd, int pos_fd,
			size_t bytes)
{
	size_t page = page_bytes();
	int r;

	*c = (struct trace_consumer){ .size = bytes };
	if (!size_ok(bytes) ||
	    !fd_is(data_fd, FIXED_SIZE | F_SEAL_FUTURE_WRITE, page + bytes) ||
	    !fd_is(pos_fd, FIXED_SIZE, page))
		return -EPROTO;
	c->head = map_shared(data_fd, page + bytes, PROT_READ);
	c->tail = map_shared(pos_fd, page, PROT_READ | PROT_WRITE);
	if (!c->head || !c->tail) {
		r = -errno;
		trace_consumer_fini(c);
		return r;
	}
	c->data = (const uint8_t *)c->head + page;
	c->pos = atomic_load_explicit(&c->tail->pos, memory_order_relaxed);
	return 0;
}

void trace_consumer_fini(struct trace_consumer *c)
{
	if (c->head)
		munmap((void *)c->head, page_bytes() + c->size);
	if (c->tail)
		munmap(c->tail, page_bytes());
	*c = (struct trace_consumer){ 0 };
}

const void *trace_consumer_peek(struct trace_consumer *c, size_t *len)
{
	for (;;) {
		uint64_t left = atomic_load_explicit(&c->head->pos,
						     memory_order_acquire) -
				c->pos;
		size_t off = (size_t)c->pos & (c->size - 1);
		uint32_t rec[2];

		*len = 0;
		if (left == 0)
			return NULL;
		*len = SIZE_MAX;
		if (left > c->size || left % 8 || off % 8)
			return NULL;
		memcpy(rec, c->data + off, sizeof(rec));
		if (rec[0] % 8 || rec[0] < 8 || rec[0] > left ||
		    rec[0] > c->size - off || rec[0] > TRACE_REC_MAX)
			return NULL;
		if ((rec[1] & 0xff) != 0) {
			*len = rec[0];
			return c->data + off;
		}
		if (rec[0] != c->size - off)
			return NULL;
		trace_consumer_next(c, rec[0]);
	}
}

void trace_consumer_next(struct trace_consumer *c, size_t len)
{
	c->pos += len;
	atomic_store_explicit(&c->tail->pos, c->pos, memory_order_release);
}
