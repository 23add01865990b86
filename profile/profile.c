// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/stop.h"

static const char *profile_file_name(const struct batch *b, uint32_t path, size_t *len)
{
	const char *s = batch_str(b, path, len), *slash;

	slash = memrchr(s, '/', *len);
	if (slash && slash + 1 < s + *len) {
		*len -= (size_t)(slash + 1 - s);
		return slash + 1;
	}
	return s;
}

void profile_frame_module(const struct batch *b, uint32_t frame,
			  struct buffer *out)
{
	const struct batch_frame *f = &b->frames[frame];
	const char *s;
	size_t len;

	if (frame_kind_class(f->kind) == FRAMES_KERNEL) {
		buffer_str(out, "kernel");
		return;
	}
	if (!f->exe)
		return;
	s = profile_file_name(b, b->exes[f->exe].path, &len);
	if (!len) {
		s = batch_str(b, b->exes[f->exe].build_id, &len);
		if (len > 16)
			len = 16;
	}
	buffer_add(out, s, len);
}

uint32_t profile_frame_name(const struct batch *b, uint32_t frame,
			    struct buffer *out)
{
	const struct batch_frame *f = &b->frames[frame];
	const char *shown = frame_kind_info(f->kind)->shown;
	size_t len, mark = out->len;
	const char *s;

	if (!profile_is_nameless(f)) {
		s = batch_str(b, b->functions[f->function].name, &len);
		buffer_add(out, s, len);
	} else if (shown[0]) {
		buffer_str(out, shown);
	} else {
		profile_frame_module(b, frame, out);
		if (out->len > mark)
			buffer_str(out, PROFILE_NO_SYMBOL);
		else
			buffer_str(out, PROFILE_UNKNOWN_FILE);
	}
	return f->kind;
}

uint32_t profile_frame_marks(const struct batch_frame *f)
{
	return f->inlined ? PROFILE_INLINED : 0;
}

const char *profile_marks_text(uint32_t marks)
{
	return marks & PROFILE_INLINED ? " (inlined)" : "";
}

void profile_frame_line(const struct batch *b, uint32_t frame,
			struct buffer *out)
{
	const struct batch_frame *f = &b->frames[frame];
	uint32_t file = b->functions[f->function].file;
	const char *s;
	size_t len;

	if (!file || !f->line)
		return;
	s = profile_file_name(b, file, &len);
	buffer_str(out, " (");
	buffer_add(out, s, len);
	buffer_printf(out, ":%u)", f->line);
}

static uint32_t profile_whole_name(const struct batch *b, uint32_t name,
				   uint32_t exe)
{
	size_t n, exe_n;
	const char *s = batch_str(b, name, &n), *t = batch_str(b, exe, &exe_n);

	if (profile_name_is_cut(s, n, t, exe_n))
		return exe;
	return name;
}

uint32_t *profile_process_names(const struct batch *b)
{
	uint32_t n = batch_n(b, BATCH_RESOURCES);
	uint32_t *names = calloc(n, sizeof(*names));

	if (!names)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct batch_resource *r = &b->resources[i];

		names[i] = r->comm;
		if (!names[i])
			names[i] = r->exe_name;
		names[i] = profile_whole_name(b, names[i], r->exe_name);
	}
	return names;
}

const char *profile_stop_marker(uint32_t stop)
{
	static const char *const markers[STOP__MAX] = {
		[STOP_NO_MAPPING] = "[stack ends: no_mapping]",
		[STOP_ANON] = "[stack ends: anonymous]",
		[STOP_NO_FILE] = "[stack ends: file_unknown]",
		[STOP_NO_TABLE] = "[stack ends: no_table]",
		[STOP_NO_ROW] = "[stack ends: no_row]",
		[STOP_UNSUPPORTED] = "[stack ends: unsupported]",
		[STOP_NO_PROGRESS] = "[stack ends: no_progress]",
		[STOP_READ] = "[stack ends: stack_unreadable]",
		[STOP_COMPAT] = "[stack ends: compat]",
		[STOP_INTERNAL] = "[stack ends: internal]",
	};

	if (stop >= STOP__MAX)
		return NULL;
	return markers[stop];
}
