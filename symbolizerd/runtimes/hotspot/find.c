// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/find.h"

#include "bpf/hotspot.h"
#include "symbolizerd/elf/elf_symbols.h"
#include "symbolizerd/runtimes/hotspot/claims.h"
#include "symbolizerd/runtimes/hotspot/self.h"

enum { FIELDS, TYPES, SYMBOLS };

static const char *const exported[SYMBOLS] = {
	[FIELDS] = "gHotSpotVMStructs",
	[TYPES] = "gHotSpotVMTypes",
};

/* The value of Abstract_VM_Version::_vm_major_version, which is the feature release
 * since 9 (vm_version.cpp, VERSION_MAJOR). */
static uint32_t hotspot_major(const struct elf_file *f, const struct self *s)
{
	uint64_t at;
	uint32_t v;

	if (!self_static(s, "Abstract_VM_Version", "_vm_major_version", &at) ||
	    !elf_file_get(f, at, &v, sizeof(v)) || v < 9 || v > 255)
		return 0;
	return v;
}

static uint32_t hotspot_layout_of(const struct self *s, uint32_t feature)
{
	if (feature >= HOTSPOT_BSM)
		return 0;
	if (claims_agree(s, feature))
		return feature;
	feature += HOTSPOT_BSM;
	if (claims_agree(s, feature))
		return feature;
	return 0;
}

static void hotspot_read(const struct elf_file *f, const struct self *s,
			 struct hotspot_file *ret)
{
	/* up to 8 there is one heap, and _vm_major_version was another number */
	if (self_static(s, "CodeCache", "_heap", &ret->root))
		ret->feature = 8;
	else if (self_static(s, "CodeCache", "_heaps", &ret->root))
		ret->feature = hotspot_major(f, s);
	ret->layout = hotspot_layout_of(s, ret->feature);
}

bool hotspot_find_in(const struct elf_file *f, struct hotspot_file *ret)
{
	Elf64_Sym sym[SYMBOLS];
	struct self s;

	*ret = (struct hotspot_file){ 0 };
	if (!elf_symbols_may_have(f, exported[FIELDS]))
		return false;
	elf_symbols_find(f, ".dyn", exported, SYMBOLS, sym);
	if (!sym[FIELDS].st_value || !sym[TYPES].st_value)
		return false;
	if (self_open(&s, f, sym[FIELDS].st_value, sym[TYPES].st_value))
		hotspot_read(f, &s, ret);
	self_close(&s);
	return true;
}
