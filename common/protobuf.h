/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf - the protobuf wire format, written into a buffer
 *
 * Source: the "Encoding" page of the Protocol Buffers documentation.
 */
#ifndef COMMON_PROTOBUF_H
#define COMMON_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

void pb_varint(struct buffer *w, uint64_t v);

/* A number; 0 is left out, as proto3 does ... */
void pb_uint(struct buffer *w, unsigned int field, uint64_t v);
/* ... except in a oneof, where it shows which member is set. */
void pb_uint_set(struct buffer *w, unsigned int field, uint64_t v);
void pb_fixed64(struct buffer *w, unsigned int field, uint64_t v);
void pb_bytes(struct buffer *w, unsigned int field, const void *p, size_t n);
void pb_packed(struct buffer *w, unsigned int field, const uint32_t *v, size_t n);

/* A nested message or a list of packed numbers: begin, write, end. */
size_t pb_begin(struct buffer *w, unsigned int field);
void pb_end(struct buffer *w, size_t mark);

/* A string field of n bytes, made valid by buffer_utf8(). */
void pb_text(struct buffer *w, unsigned int field, const char *s, size_t n);

/* A field of type opentelemetry.proto.common.v1.AnyValue. */
void pb_any_text(struct buffer *w, unsigned int field, const char *s, size_t n);
void pb_any_int(struct buffer *w, unsigned int field, uint64_t v);

#endif /* COMMON_PROTOBUF_H */
