// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/claims.h"

#include <stddef.h>
#include <string.h>

#include "bpf/hotspot.h"

/* Releases by the names of their members (vmStructs.cpp of 8u, 11u, 17u, 21u, 25u and
 * of 26 and 27). */
enum {
	IN_8 = 1, IN_11 = 2, IN_17 = 4, IN_21 = 8, IN_25 = 16, IN_26 = 32,
	SINCE_25 = IN_25 | IN_26, SINCE_21 = IN_21 | SINCE_25,
	SINCE_17 = IN_17 | SINCE_21, SINCE_11 = IN_11 | SINCE_17,
	UNTIL_11 = IN_8 | IN_11, UNTIL_17 = UNTIL_11 | IN_17,
	UNTIL_21 = UNTIL_17 | IN_21, ALL = UNTIL_21 | SINCE_25,
	/* where code begins and ends: as addresses; as offsets */
	PLACES = IN_11 | IN_17 | IN_21, OFFSETS = ALL & ~PLACES,
};

/* A member of one of HotSpot's types, and of struct hotspot_layout its offset. */
struct claim {
	uint8_t in;
	uint8_t width;		/* bytes of that number */
	uint16_t at;
	const char *type, *field;	/* NULL: sizeof(type) */
};

#define CLAIM(in, name, type, field)					\
	{ in, sizeof(((struct hotspot_layout *)NULL)->name),		\
	  offsetof(struct hotspot_layout, name), type, field }

static const struct claim claims[] = {
	CLAIM(SINCE_11, heaps, "GrowableArray<int>", "_data"),
	CLAIM(ALL, memory, "CodeHeap", "_memory"),
	CLAIM(ALL, segmap, "CodeHeap", "_segmap"),
	CLAIM(ALL, shift, "CodeHeap", "_log2_segment_size"),
	CLAIM(ALL, block, "HeapBlock", NULL),
	CLAIM(ALL, used, "HeapBlock::Header", "_used"),
	CLAIM(ALL, name, "CodeBlob", "_name"),
	CLAIM(ALL, frame_size, "CodeBlob", "_frame_size"),
	CLAIM(ALL, frame_complete.field, "CodeBlob", "_frame_complete_offset"),
	CLAIM(OFFSETS, code.field, "CodeBlob", "_code_offset"),
	CLAIM(OFFSETS, code_end.field, "CodeBlob", "_data_offset"),
	CLAIM(PLACES, code.field, "CodeBlob", "_code_begin"),
	CLAIM(PLACES, code_end.field, "CodeBlob", "_code_end"),
	CLAIM(OFFSETS, method, "nmethod", "_method"),
	CLAIM(PLACES, method, "CompiledMethod", "_method"),
	CLAIM(SINCE_25, immutable, "nmethod", "_immutable_data"),
	CLAIM(SINCE_25, mutable, "CodeBlob", "_mutable_data"),
	CLAIM(IN_8, deopt.field, "nmethod", "_deoptimize_offset"),
	CLAIM(IN_8, deopt_mh.field, "nmethod", "_deoptimize_mh_offset"),
	CLAIM(PLACES, deopt.field, "CompiledMethod", "_deopt_handler_begin"),
	CLAIM(PLACES, deopt_mh.field, "CompiledMethod", "_deopt_mh_handler_begin"),
	CLAIM(IN_25, deopt.field, "nmethod", "_deopt_handler_offset"),
	CLAIM(IN_25, deopt_mh.field, "nmethod", "_deopt_mh_handler_offset"),
	CLAIM(IN_26, deopt.field, "nmethod", "_deopt_handler_entry_offset"),
	CLAIM(ALL, orig_pc.field, "nmethod", "_orig_pc_offset"),
	CLAIM(ALL, pcs.field, "nmethod", "_scopes_pcs_offset"),
	CLAIM(UNTIL_21, pcs_end.field, "nmethod", "_dependencies_offset"),
	CLAIM(SINCE_25, pcs_end.field, "nmethod", "_scopes_data_offset"),
	CLAIM(OFFSETS, scopes.field, "nmethod", "_scopes_data_offset"),
	CLAIM(PLACES, scopes.field, "CompiledMethod", "_scopes_data_begin"),
	CLAIM(UNTIL_21, scopes_end.field, "nmethod", "_scopes_pcs_offset"),
	CLAIM(SINCE_25, scopes_end.field, "nmethod", "_immutable_data_size"),
	CLAIM(UNTIL_21, metadata.field, "nmethod", "_metadata_offset"),
	CLAIM(SINCE_25, metadata.field, "CodeBlob", "_relocation_size"),
	CLAIM(IN_8, metadata_end.field, "nmethod", "_scopes_data_offset"),
	CLAIM(PLACES, metadata_end.field, "CompiledMethod", "_scopes_data_begin"),
	CLAIM(SINCE_25, metadata_end.field, "CodeBlob", "_mutable_data_size"),
	CLAIM(ALL, pc_desc, "PcDesc", NULL),
	CLAIM(ALL, const_method, "Method", "_constMethod"),
	CLAIM(ALL, constants, "ConstMethod", "_constants"),
	CLAIM(ALL, size, "ConstMethod", "_constMethod_size"),
	CLAIM(UNTIL_17, flags, "ConstMethod", "_flags"),
	CLAIM(SINCE_21, flags, "ConstMethod", "_flags._flags"),
	CLAIM(ALL, code_size, "ConstMethod", "_code_size"),
	CLAIM(ALL, method_name, "ConstMethod", "_name_index"),
	CLAIM(ALL, signature, "ConstMethod", "_signature_index"),
	CLAIM(ALL, code_at, "ConstMethod", NULL),
	CLAIM(ALL, tags, "ConstantPool", "_tags"),
	CLAIM(ALL, holder, "ConstantPool", "_pool_holder"),
	CLAIM(ALL, length, "ConstantPool", "_length"),
	CLAIM(ALL, pool, "ConstantPool", NULL),
	CLAIM(UNTIL_11, source_file, "InstanceKlass", "_source_file_name_index"),
	CLAIM(SINCE_17, source_file, "ConstantPool", "_source_file_name_index"),
	CLAIM(ALL, klass_name, "Klass", "_name"),
	CLAIM(ALL, klass_constants, "InstanceKlass", "_constants"),
	CLAIM(ALL, symbol_length, "Symbol", "_length"),
	CLAIM(ALL, symbol_body, "Symbol", "_body"),
};

/* The same in all releases, and not in a layout. */
static const struct {
	const char *type, *field;
	uint64_t value;
} fixed[] = {
	{ "VirtualSpace", "_low_boundary", 0 },
	{ "VirtualSpace", "_high_boundary", 8 },
	{ "VirtualSpace", "_low", 16 },
	{ "VirtualSpace", "_high", 24 },
	{ "PcDesc", "_pc_offset", 0 },
	{ "PcDesc", "_scope_decode_offset", 4 },
};

static const struct hotspot_layout layouts[HOTSPOT_LAYOUTS] = HOTSPOT_LAYOUT_TABLE;

static uint32_t claims_release(uint32_t layout)
{
	uint32_t feature = layout % HOTSPOT_BSM;

	if (feature <= 8)
		return IN_8;
	if (feature <= 11)
		return IN_11;
	if (feature <= 17)
		return IN_17;
	if (feature <= 21)
		return IN_21;
	return feature <= 25 ? IN_25 : IN_26;
}

static uint64_t claims_want(const struct claim *c, const struct hotspot_layout *l)
{
	const uint8_t *p = (const uint8_t *)l + c->at;
	uint16_t wide;

	if (c->width == 1)
		return *p;
	memcpy(&wide, p, sizeof(wide));
	return wide;
}

static bool claims_said(const struct self *s, const char *type, const char *field,
			uint64_t want)
{
	uint64_t is;

	if (!field)
		return self_size(s, type, &is) && is == want;
	return self_offset(s, type, field, &is) && is == want;
}

bool claims_agree(const struct self *s, uint32_t layout)
{
	const struct hotspot_layout *l = &layouts[layout];

	if (!l->block)
		return false;
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		const struct claim *c = &claims[i];

		if (c->in & claims_release(layout) &&
		    !claims_said(s, c->type, c->field, claims_want(c, l)))
			return false;
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!claims_said(s, fixed[i].type, fixed[i].field, fixed[i].value))
			return false;
	}
	return true;
}
