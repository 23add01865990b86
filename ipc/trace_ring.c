// SPDX-License-Identifier: Apache-2.0
#include "ipc/trace_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_ring_page {
	_Atomic uint64_t pos;
};

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010	/* linux/fcntl.h, 5.1 */
#endif
#define FIXED_SIZE	(F_SEAL_SHRINK | F_SEAL_GROW)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int check_size(size_t bytes)
{
	return bytes & (bytes - 1) || bytes < 2 * TRACE_REC_MAX ||
	       bytes > TRACE_RING_BYTES_MAX ? -EINVAL : 0;
}

/* A shared mapping, or NULL with errno. */
static void *map(int fd, size_t len, int prot)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Mapped before it is sealed: a future writer is locked out, we are not. */
static int make(const char *name, size_t len, int prot, int seals, int *fd,
		void *ret)
{
	void *p;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, (off_t)len) < 0)
		return -errno;
	p = map(*fd, len, prot);
	memcpy(ret, &p, sizeof(p));
	return !p || fcntl(*fd, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}

int trace_producer_init(struct trace_producer *p, size_t bytes)
{
	size_t page = page_bytes();
	int r = check_size(bytes);

	*p = (struct trace_producer){
		.data_fd = -1, .pos_fd = -1, .size = bytes,
	};
	if (r == 0)
		r = make("trace-data", page + bytes, PROT_READ | PROT_WRITE,
			 FIXED_SIZE | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
			 &p->data_fd, &p->head);
	if (r == 0)
		r = make("trace-pos", page, PROT_READ,
			 FIXED_SIZE | F_SEAL_SEAL, &p->pos_fd, &p->tail);
	if (r)
		trace_producer_fini(p);
	else
		p->data = (uint8_t *)p->head + page;
	return r;
}

void trace_producer_fini(struct trace_producer *p)
{
	if (p->head)
		munmap(p->head, page_bytes() + p->size);
	if (p->tail)
		munmap((void *)p->tail, page_bytes());
	if (p->data_fd >= 0)
		close(p->data_fd);
	if (p->pos_fd >= 0)
		close(p->pos_fd);
	*p = (struct trace_producer){ .data_fd = -1, .pos_fd = -1 };
}

/* The consumer's position as far as it can be true; else its last true one. */
static uint64_t believed_tail(struct trace_producer *p)
{
	uint64_t tail = atomic_load_explicit(&p->tail->pos,
					     memory_order_acquire);

	/* last_tail <= tail <= pos, by subtraction: positions may wrap */
	if (tail - p->last_tail <= p->pos - p->last_tail)
		p->last_tail = tail;
	return p->last_tail;
}

static void publish(struct trace_producer *p, size_t len)
{
	p->pos += len;
	atomic_store_explicit(&p->head->pos, p->pos, memory_order_release);
}

void *trace_producer_reserve(struct trace_producer *p, size_t len)
{
	size_t left = p->size - (p->pos & (p->size - 1));
	uint32_t pad[2] = { (uint32_t)left, 0 };
	size_t room;

	if (len % 8 || len < 8 || len > TRACE_REC_MAX)
		return NULL;
	room = p->size - (size_t)(p->pos - believed_tail(p));
	if (room < len || (left < len && room - len < left))
		return NULL;
	if (left < len) {
		memcpy(p->data + p->size - left, pad, sizeof(pad));
		publish(p, left);
	}
	return p->data + (p->pos & (p->size - 1));
}

void trace_producer_commit(struct trace_producer *p, size_t len)
{
	publish(p, len);
}

bool trace_producer_empty(const struct trace_producer *p)
{
	return atomic_load_explicit(&p->tail->pos, memory_order_acquire) ==
	       p->pos;
}

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
	if (check_size(bytes) ||
	    !fd_is(data_fd, FIXED_SIZE | F_SEAL_FUTURE_WRITE, page + bytes) ||
	    !fd_is(pos_fd, FIXED_SIZE, page))
		return -EPROTO;
	c->head = map(data_fd, page + bytes, PROT_READ);
	c->tail = map(pos_fd, page, PROT_READ | PROT_WRITE);
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
