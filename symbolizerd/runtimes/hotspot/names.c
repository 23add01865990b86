// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/names.h"

#include <string.h>

#define BPF_HELPER		static
#define bpf_probe_read_user	names_read_user
#include "bpf/host.h"
#include "bpf/hotspot_read.bpf.h"

#include "bpf/runtime.h"
#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/hotspot/reading_name.h"
#include "symbolizerd/symbols/utf8.h"

/* The memory that the sampler's functions read: a worker visits one process.  Their calls of
 * bpf_probe_read_user() are the sampler's, too, and name no memory. */
static struct process_memory *names_memory;

static long names_read_user(void *dst, __u32 size, const void *src)
{
	if (process_memory_read(names_memory, (uintptr_t)src, dst, size) ==
	    (ssize_t)size)
		return 0;
	memset(dst, 0, size);
	return -1;
}

/* A Symbol, cut as the sampler cuts it.  False: it cannot be read. */
static bool names_symbol(uint64_t symbol, const struct hotspot_layout *l, bool tail,
			 struct utf8 *ret)
{
	uint8_t text[TEXT_BYTES];
	uint32_t bytes = user_u16(symbol + l->symbol_length), cut = 0;

	if (bytes > TEXT_BYTES) {
		if (tail)
			cut = bytes - TEXT_BYTES;
		bytes = TEXT_BYTES;
	}
	utf8_begin(ret, 0);
	if (!bytes || bpf_probe_read_user(text, bytes, (void *)(uintptr_t)
					  (symbol + l->symbol_body + cut)))
		return false;
	utf8_text(ret, cut, FORM_MUTF8, text, bytes);
	return true;
}

static bool names_add(const struct hotspot_names *s, const struct hotspot_layout *l,
		      uint32_t frame, struct frame_names_build *out)
{
	char name[TEXT_NAME_MAX], full[TEXT_FULL_MAX];
	struct utf8 class, method, signature, file;

	if (!names_symbol(s->klass, l, true, &class) ||
	    !names_symbol(s->name, l, false, &method) ||
	    !names_symbol(s->signature, l, false, &signature))
		return false;
	utf8_begin(&file, 0);
	if (s->file && !names_symbol(s->file, l, true, &file))
		utf8_begin(&file, 0);
	java_name(name, full, class.s, method.s, signature.s);
	if (frame_names_add(out, frame, &(struct symbol_place){ .name = name,
								.file = file.s }) &&
	    full[0])
		frame_names_add(out, frame, &(struct symbol_place){ .name = full,
								    .file = "" });
	return true;
}

/* Is it a method in this layout? */
static bool names_method(struct hotspot_state *h, uint32_t layout, const uint64_t *w,
			 uint32_t frame, struct frame_names_build *out)
{
	struct hotspot_names names;

	h->vm.version = layout;
	return hotspot_has_layout(layout) && hotspot_read_method(h, w[1]) &&
	       MANAGED_COOKIE(h->fingerprint >> 40) == MANAGED_COOKIE_OF(w[0]) &&
	       hotspot_check_method(h, &names) &&
	       names_add(&names, hotspot_layout(layout), frame, out);
}

int hotspot_names(struct process_memory *m, const uint64_t *words, size_t n,
		  struct frame_names_build *out)
{
	static struct hotspot_state h;
	uint32_t frame = 0, layout = 0;

	names_memory = m;
	for (size_t i = 0; i + 1 < n; i += 1 + FRAME_MORE(words[i]), frame++) {
		if (FRAME_KIND(words[i]) != FRAME_MANAGED ||
		    MANAGED_RUNTIME(words[i]) != RUNTIME_HOTSPOT ||
		    FRAME_MORE(words[i]) != 1)
			continue;
		/* a process has one layout: that of the last frame is tried first */
		for (uint32_t k = 0; m->reads && k < HOTSPOT_LAYOUTS; k++) {
			uint32_t v = (layout + k) % HOTSPOT_LAYOUTS;

			if (!names_method(&h, v, &words[i], frame, out))
				continue;
			layout = v;
			break;
		}
	}
	return JOB_OK;
}
