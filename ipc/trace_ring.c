// SPDX-License-Identifier: Apache-2.0
#include "ipc/trace_ring.h"

#include <errno.h>
#include <string.h>

/* Mapped before it is sealed: a future writer is locked out, we are not. */
static int trace_ring_make(const char *name, size_t len, int prot, int seals,
			   int *fd, void *ret)
{
	void *p;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, (off_t)len) < 0)
		return -errno;
	p = map_shared(*fd, len, prot);
	memcpy(ret, &p, sizeof(p));
	return !p || fcntl(*fd, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}

int trace_producer_init(struct trace_producer *p, size_t bytes)
{
	size_t page = page_bytes();
	int r = size_ok(bytes) ? 0 : -EINVAL;

	*p = (struct trace_producer){
		.data_fd = -1, .pos_fd = -1, .size = bytes,
	};
	if (r == 0)
		r = trace_ring_make(
			"trace-data", page + bytes, PROT_READ | PROT_WRITE,
			FIXED_SIZE | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
			&p->data_fd, &p->head);
	if (r == 0)
		r = trace_ring_make("trace-pos", page, PROT_READ,
				    FIXED_SIZE | F_SEAL_SEAL, &p->pos_fd,
				    &p->tail);
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
		trace_producer_commit(p, left);
	}
	return p->data + (p->pos & (p->size - 1));
}

void trace_producer_commit(struct trace_producer *p, size_t len)
{
	p->pos += len;
	atomic_store_explicit(&p->head->pos, p->pos, memory_order_release);
}
