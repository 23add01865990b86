/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf - writing the protobuf wire format into memory that grows
 *
 * Source: the "Encoding" page of the Protocol Buffers documentation.  Once
 * memory is short, `failed` is set and every later call does nothing: the
 * caller looks once, at the end.
 */
#ifndef COMMON_PROTOBUF_H
#define COMMON_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised by the caller, who also free()s data. */
struct pb {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

void pb_raw(struct pb *w, const void *p, size_t n);
void pb_varint(struct pb *w, uint64_t v);

/* A number; 0 is left out, as proto3 does ... */
void pb_uint(struct pb *w, unsigned int field, uint64_t v);
/* ... except in a oneof, where it says which member is set. */
void pb_uint_set(struct pb *w, unsigned int field, uint64_t v);
void pb_fixed64(struct pb *w, unsigned int field, uint64_t v);
void pb_bytes(struct pb *w, unsigned int field, const void *p, size_t n);
void pb_packed(struct pb *w, unsigned int field, const uint32_t *v, size_t n);

/* A nested message or a list of packed numbers: begin, write, end. */
size_t pb_begin(struct pb *w, unsigned int field);
void pb_end(struct pb *w, size_t mark);

/* A string field of n bytes; every byte that belongs to no UTF-8 character
 * becomes U+FFFD (and NUL too). */
void pb_text(struct pb *w, unsigned int field, const char *s, size_t n);
/* The same without a tag, as a part of a string. */
void pb_utf8(struct pb *w, const char *s, size_t n);

/* A field of type opentelemetry.proto.common.v1.AnyValue. */
void pb_any_text(struct pb *w, unsigned int field, const char *s, size_t n);
void pb_any_int(struct pb *w, unsigned int field, uint64_t v);

#endif /* COMMON_PROTOBUF_H */
