// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/find.h"

#include <stdio.h>

#include "bpf/hotspot.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_symbols.h"
#include "symbolizerd/runtimes/hotspot/claims.h"
#include "symbolizerd/runtimes/hotspot/self.h"
#include "symbolizerd/runtimes/hotspot/texts.h"

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

bool hotspot_detect(const struct elf_file *f, char *id, size_t size)
{
	struct hotspot_file h;

	if (!hotspot_find_in(f, &h))
		return false;
	if (h.feature)
		snprintf(id, size, "%u", h.feature);
	return true;
}

bool hotspot_version_known(const struct elf_file *f)
{
	struct hotspot_file h;

	return hotspot_find_in(f, &h) && h.layout;
}

/* Virtual address of file offset 0, by the mapping of its code. */
static bool hotspot_file_start(const struct elf_file *f, uint64_t *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			*ret = p->p_vaddr - p->p_offset;
			return true;
		}
	}
	return false;
}

struct hotspot_out {
	cfi_row_fn fn;
	void *ctx;
};

static int hotspot_text_row(void *ctx, uint64_t at, uint32_t kind)
{
	const struct hotspot_out *out = ctx;

	return out->fn(out->ctx, at, at + 1, &(struct unwind_rule){
		.cfa = CFA_RUNTIME, .aux = (int32_t)kind,
	});
}

int hotspot_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	struct hotspot_out out = { fn, ctx };
	struct hotspot_file h;
	uint64_t root;
	int r;

	if (!hotspot_find_in(f, &h) || !h.layout || !hotspot_file_start(f, &root))
		return JOB_OK;
	root = h.root - root;
	r = fn(ctx, 0, 1, &(struct unwind_rule){
		.cfa = CFA_RUNTIME, .cfa_off = (int32_t)h.layout,
		.ra_off = (int32_t)root, .fp_off = (int32_t)(root >> 32),
	});
	if (r)
		return r;
	return texts_find(f, hotspot_text_row, &out);
}
