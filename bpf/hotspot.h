/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot - where OpenJDK's HotSpot keeps code, frames and methods, by version
 *
 * The numbers are constants here, not sent by workers: so the table of a file can choose
 * a version and the place of one variable, but not which words of an object are read.
 *
 * Taken from the VMStructs that libjvm.so of the versions named exports
 * (src/hotspot/share/runtime/vmStructs.cpp), and from the headers for members that these
 * leave out; 64 bits.
 */
#ifndef BPF_HOTSPOT_H
#define BPF_HOTSPOT_H

#include <linux/types.h>

/*
 * Which struct hotspot_layout: the feature release (8, 11, 17 ...), and whether
 * its ConstantPool has _bsm_entries (JDK-8349243: updates of 25, all of 26 and
 * later).  Values never change.
 */
#define HOTSPOT_BSM		32
#define HOTSPOT_LAYOUTS		64		/* a power of two */

enum hotspot_kind {
	HOTSPOT_NONE = 0,	/* not in the code cache, or not recognised */
	HOTSPOT_STUB,		/* code of the VM: unwound by frame size or frame pointer */
	HOTSPOT_BARE,		/* code of the VM that has no frame */
	HOTSPOT_INTERPRETER,
	HOTSPOT_COMPILED,
	HOTSPOT_WRAPPER,	/* of a native method */
};

/* The form of a ConstMethod's table of lines (TEXT_LINES). */
enum hotspot_lines_form {
	LINES_JAVA = 4,		/* until JDK 19: numbers as they are */
	LINES_JAVA_20 = 5,	/* no byte of a number is 0 */
};

/* What a member of a CodeBlob holds. */
enum hotspot_from {
	HOTSPOT_ADDRESS = 0,	/* an address */
	HOTSPOT_BLOB,		/* an offset from the blob */
	HOTSPOT_IMMUTABLE,	/* ... from nmethod._immutable_data */
	HOTSPOT_MUTABLE,	/* ... from CodeBlob._mutable_data */
	HOTSPOT_CODE,		/* ... from where the code begins */
};
struct hotspot_at {
	__u16 field;		/* below HOTSPOT_BLOB_BYTES; 0: nothing */
	__u8 bytes;		/* 2, 4 or 8; numbers of 2 and 4 are signed */
	__u8 from;		/* enum hotspot_from */
};

/* Offsets in bytes. */
struct hotspot_layout {
	/* RUNTIME_ROOT leads to CodeCache::_heaps, a GrowableArray<CodeHeap*>*, whose
	 * _data is here; 0: to CodeCache::_heap, a CodeHeap* */
	__u16 heaps;
	/* CodeHeap: below HOTSPOT_HEAP_BYTES */
	__u16 memory;		/* _memory._low_boundary; _high_boundary follows it */
	__u16 segmap;		/* _segmap._low_boundary */
	__u16 shift;		/* _log2_segment_size */
	__u8 block;		/* sizeof(HeapBlock): the CodeBlob follows it */
	__u8 used;		/* HeapBlock::Header._used */
	/* CodeBlob, nmethod: below HOTSPOT_BLOB_BYTES */
	__u16 name;
	__u16 frame_size;	/* words */
	__u16 method;
	__u16 immutable, mutable;	/* _immutable_data, _mutable_data */
	struct hotspot_at frame_complete;	/* HOTSPOT_CODE */
	struct hotspot_at code, code_end;
	struct hotspot_at deopt;	/* entry of the deoptimization handler */
	struct hotspot_at deopt_mh;	/* of call sites of method handles; until 25 */
	struct hotspot_at orig_pc;	/* from the frame's sp: the address that
					 * .deopt replaced; .from is unused */
	struct hotspot_at pcs, pcs_end;	/* PcDesc[] */
	struct hotspot_at scopes, scopes_end;
	struct hotspot_at metadata, metadata_end;	/* Metadata *[] */
	__u8 pc_desc;		/* sizeof(PcDesc): _pc_offset at 0,
				 * _scope_decode_offset at 4 */
	__u8 unsigned5;		/* 1: no byte of a number is 0 (JDK 20 and later) */
	/* Method */
	__u8 const_method;
	/* ConstMethod: below HOTSPOT_CONST_BYTES */
	__u8 constants, size, flags, code_size, method_name, signature;
	__u8 code_at;		/* sizeof(ConstMethod) */
	__u16 has_lines;	/* of .flags: _has_linenumber_table */
	/* ConstantPool: below HOTSPOT_POOL_BYTES */
	__u8 tags, holder, length;
	__u8 pool;		/* sizeof(ConstantPool): the entries follow it */
	/* InstanceKlass */
	__u16 source_file;	/* _source_file_name_index */
	__u8 source_in_pool;	/* 1: it is a member of the ConstantPool */
	__u8 klass_name;
	__u16 klass_constants;
	/* Symbol */
	__u8 symbol_length, symbol_body;
	/* an interpreter's frame, words below the frame pointer */
	__u8 bcp;		/* x86-64 */
	__u8 bcp_arm64;
	__u8 pad[2];
};

#define HOTSPOT_HEAP_BYTES	512
#define HOTSPOT_BLOB_BYTES	512
#define HOTSPOT_CONST_BYTES	64
#define HOTSPOT_POOL_BYTES	128
/* frame_x86.hpp, frame_aarch64.hpp: words below the frame pointer */
#define HOTSPOT_SENDER_SP	1
#define HOTSPOT_METHOD		3

/* VirtualSpace, and members that are the same since 8. */
#define HOTSPOT_HEAP_8	.memory = 0, .segmap = 112, .shift = 248
#define HOTSPOT_HEAP_9	.memory = 8, .segmap = 120, .shift = 256
#define HOTSPOT_COMMON							\
	.pc_desc = 16, .const_method = 8, .constants = 8, .tags = 8,	\
	.holder = 24, .has_lines = 1
#define HOTSPOT_BLOCK_8	.block = 16, .used = 8
#define HOTSPOT_BLOCK_25 .block = 8, .used = 4
/* CodeBlob with addresses: 9 to 22. */
#define HOTSPOT_BLOB_9							\
	.name = 96, .frame_size = 28,					\
	.frame_complete = { 20, 4, HOTSPOT_CODE },			\
	.code = { 32, 8, HOTSPOT_ADDRESS },				\
	.code_end = { 40, 8, HOTSPOT_ADDRESS }
#define HOTSPOT_COMPILED_9						\
	.method = 112, .deopt = { 128, 8, HOTSPOT_ADDRESS },		\
	.deopt_mh = { 136, 8, HOTSPOT_ADDRESS },			\
	.scopes = { 120, 8, HOTSPOT_ADDRESS },				\
	.metadata_end = { 120, 8, HOTSPOT_ADDRESS }
/* With offsets, and with data outside the blob: 25 and later. */
#define HOTSPOT_BLOB_25							\
	HOTSPOT_HEAP_8, HOTSPOT_BLOCK_25, .heaps = 8,			\
	.name = 8, .frame_size = 44,					\
	.frame_complete = { 54, 2, HOTSPOT_CODE },			\
	.code = { 36, 4, HOTSPOT_BLOB },				\
	.code_end = { 40, 4, HOTSPOT_BLOB },				\
	.method = 80, .immutable = 96, .mutable = 16,			\
	.scopes_end = { 160, 4, HOTSPOT_IMMUTABLE },			\
	.metadata = { 28, 4, HOTSPOT_MUTABLE },				\
	.metadata_end = { 48, 4, HOTSPOT_MUTABLE }
#define HOTSPOT_METHOD_8						\
	.size = 24, .flags = 28, .code_size = 32, .method_name = 34,	\
	.signature = 36, .code_at = 48
#define HOTSPOT_METHOD_21						\
	.size = 24, .flags = 28, .code_size = 34, .method_name = 36,	\
	.signature = 38, .code_at = 56, .unsigned5 = 1
#define HOTSPOT_POOL_17							\
	.length = 60, .pool = 72, .source_file = 54, .source_in_pool = 1
#define HOTSPOT_POOL_BSM						\
	.length = 68, .pool = 80, .source_file = 62, .source_in_pool = 1
#define HOTSPOT_KLASS_11 .klass_name = 24, .klass_constants = 232
#define HOTSPOT_KLASS_21 .klass_name = 24, .klass_constants = 224
#define HOTSPOT_SYMBOL_11 .symbol_length = 0, .symbol_body = 6
#define HOTSPOT_SYMBOL_17 .symbol_length = 4, .symbol_body = 6

#define HOTSPOT_LAYOUT_25						\
	HOTSPOT_COMMON, HOTSPOT_BLOB_25, HOTSPOT_METHOD_21,		\
	HOTSPOT_KLASS_21, HOTSPOT_SYMBOL_17, .bcp = 8, .bcp_arm64 = 9,			\
	.deopt = { 176, 4, HOTSPOT_BLOB },				\
	.deopt_mh = { 180, 4, HOTSPOT_BLOB },				\
	.orig_pc = { 208, 4, 0 },					\
	.pcs = { 196, 4, HOTSPOT_IMMUTABLE },				\
	.pcs_end = { 200, 4, HOTSPOT_IMMUTABLE },			\
	.scopes = { 200, 4, HOTSPOT_IMMUTABLE }

/* Checked with live processes of Debian's 8u504, 11.0.32, 17.0.15, 17.0.20, 21.0.13,
 * 25.0.5, 26.0.2, 27.0.1, and Temurin's 25 before the pool had _bsm_entries. */
#define HOTSPOT_LAYOUT_TABLE {						\
	[8] = { HOTSPOT_COMMON, HOTSPOT_HEAP_8, HOTSPOT_BLOCK_8,	\
		.heaps = 0, .name = 8, .frame_size = 44, .method = 64,	\
		.frame_complete = { 36, 4, HOTSPOT_CODE },		\
		.code = { 32, 4, HOTSPOT_BLOB },			\
		.code_end = { 40, 4, HOTSPOT_BLOB },			\
		.deopt = { 148, 4, HOTSPOT_BLOB },			\
		.deopt_mh = { 152, 4, HOTSPOT_BLOB },			\
		.orig_pc = { 200, 4, 0 },				\
		.pcs = { 180, 4, HOTSPOT_BLOB },			\
		.pcs_end = { 184, 4, HOTSPOT_BLOB },			\
		.scopes = { 176, 4, HOTSPOT_BLOB },			\
		.scopes_end = { 180, 4, HOTSPOT_BLOB },			\
		.metadata = { 172, 4, HOTSPOT_BLOB },			\
		.metadata_end = { 176, 4, HOTSPOT_BLOB },		\
		HOTSPOT_METHOD_8, .length = 60, .pool = 80,		\
		.source_file = 258, .klass_name = 16,			\
		.klass_constants = 216,					\
		.symbol_length = 0, .symbol_body = 8, .bcp = 7, .bcp_arm64 = 7 },	\
	[11] = { HOTSPOT_COMMON, HOTSPOT_HEAP_9, HOTSPOT_BLOCK_8,	\
		.heaps = 24, HOTSPOT_BLOB_9, HOTSPOT_COMPILED_9,	\
		.orig_pc = { 320, 4, 0 },				\
		.pcs = { 300, 4, HOTSPOT_BLOB },			\
		.pcs_end = { 304, 4, HOTSPOT_BLOB },			\
		.scopes_end = { 300, 4, HOTSPOT_BLOB },			\
		.metadata = { 292, 4, HOTSPOT_BLOB },			\
		.size = 32, .flags = 36, .code_size = 40,		\
		.method_name = 42, .signature = 44, .code_at = 56,	\
		.length = 52, .pool = 64, .source_file = 298,		\
		HOTSPOT_KLASS_11, HOTSPOT_SYMBOL_11, .bcp = 8, .bcp_arm64 = 9 },	\
	[17] = { HOTSPOT_COMMON, HOTSPOT_HEAP_9, HOTSPOT_BLOCK_8,	\
		.heaps = 8, HOTSPOT_BLOB_9, HOTSPOT_COMPILED_9,		\
		.orig_pc = { 300, 4, 0 },				\
		.pcs = { 268, 4, HOTSPOT_BLOB },			\
		.pcs_end = { 272, 4, HOTSPOT_BLOB },			\
		.scopes_end = { 268, 4, HOTSPOT_BLOB },			\
		.metadata = { 260, 4, HOTSPOT_BLOB },			\
		HOTSPOT_METHOD_8, HOTSPOT_POOL_17, HOTSPOT_KLASS_11,	\
		HOTSPOT_SYMBOL_17, .bcp = 8, .bcp_arm64 = 9 },				\
	[21] = { HOTSPOT_COMMON, HOTSPOT_HEAP_8, HOTSPOT_BLOCK_8,	\
		.heaps = 8, HOTSPOT_COMPILED_9,				\
		.name = 64, .frame_size = 88,				\
		.frame_complete = { 80, 4, HOTSPOT_CODE },		\
		.code = { 8, 8, HOTSPOT_ADDRESS },			\
		.code_end = { 16, 8, HOTSPOT_ADDRESS },			\
		.orig_pc = { 304, 4, 0 },				\
		.pcs = { 276, 4, HOTSPOT_BLOB },			\
		.pcs_end = { 280, 4, HOTSPOT_BLOB },			\
		.scopes_end = { 276, 4, HOTSPOT_BLOB },			\
		.metadata = { 268, 4, HOTSPOT_BLOB },			\
		HOTSPOT_METHOD_21, HOTSPOT_POOL_17, HOTSPOT_KLASS_21,	\
		HOTSPOT_SYMBOL_17, .bcp = 8, .bcp_arm64 = 9 },				\
	[25] = { HOTSPOT_LAYOUT_25, HOTSPOT_POOL_17 },			\
	[25 + HOTSPOT_BSM] = { HOTSPOT_LAYOUT_25, HOTSPOT_POOL_BSM },	\
	[26] = { HOTSPOT_COMMON, HOTSPOT_BLOB_25, HOTSPOT_METHOD_21,	\
		HOTSPOT_KLASS_21, HOTSPOT_SYMBOL_17, HOTSPOT_POOL_BSM,	\
		.bcp = 8, .bcp_arm64 = 9,						\
		.deopt = { 176, 4, HOTSPOT_BLOB },			\
		.orig_pc = { 208, 4, 0 },				\
		.pcs = { 192, 4, HOTSPOT_IMMUTABLE },			\
		.pcs_end = { 196, 4, HOTSPOT_IMMUTABLE },		\
		.scopes = { 196, 4, HOTSPOT_IMMUTABLE } },		\
	[27] = { HOTSPOT_COMMON, HOTSPOT_BLOB_25, HOTSPOT_METHOD_21,	\
		HOTSPOT_KLASS_21, HOTSPOT_SYMBOL_17, HOTSPOT_POOL_BSM,	\
		.bcp = 8, .bcp_arm64 = 9,						\
		.deopt = { 176, 4, HOTSPOT_BLOB },			\
		.orig_pc = { 200, 4, 0 },				\
		.pcs = { 188, 4, HOTSPOT_IMMUTABLE },			\
		.pcs_end = { 192, 4, HOTSPOT_IMMUTABLE },		\
		.scopes = { 192, 4, HOTSPOT_IMMUTABLE } },		\
}

#endif /* BPF_HOTSPOT_H */
