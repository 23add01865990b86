// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/record.h"
#include "profile/formats/firefox.h"
#include "profile/formats/folded.h"
#include "profile/formats/html.h"
#include "profile/formats/otlp.h"
#include "profile/formats/pprof.h"
#include "profile/formats/speedscope.h"

static const char *const format_names[FORMAT__MAX] = {
	[FORMAT_HTML] = "html", [FORMAT_FOLDED] = "folded",
	[FORMAT_PPROF] = "pprof", [FORMAT_OTLP] = "otlp",
	[FORMAT_SPEEDSCOPE] = "speedscope", [FORMAT_FIREFOX] = "firefox",
};

const char *profile_format_name(uint32_t format)
{
	return format < FORMAT__MAX ? format_names[format] : NULL;
}

enum profile_format profile_format_named(const char *name)
{
	for (uint32_t i = FORMAT_NONE + 1; i < FORMAT__MAX; i++) {
		if (!strcmp(name, format_names[i]))
			return i;
	}
	return FORMAT_NONE;
}

enum profile_format profile_format_of(const char *path)
{
	static const struct {
		const char *end;
		enum profile_format format;
	} endings[] = {
		{ ".html", FORMAT_HTML }, { ".htm", FORMAT_HTML },
		{ ".folded", FORMAT_FOLDED }, { ".txt", FORMAT_FOLDED },
		{ ".pb.gz", FORMAT_PPROF }, { ".pprof", FORMAT_PPROF },
		{ ".otlp", FORMAT_OTLP },
		{ ".speedscope.json", FORMAT_SPEEDSCOPE },
		{ ".firefox.json", FORMAT_FIREFOX },
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i].end);

		if (len > n && !strcmp(path + len - n, endings[i].end))
			return endings[i].format;
	}
	return FORMAT_NONE;
}

static const char *file_name(const struct batch *b, uint32_t exe, size_t *len)
{
	const char *s = batch_str(b, b->exes[exe].path, len), *slash;

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
	s = file_name(b, f->exe, &len);
	if (!len) {
		s = batch_str(b, b->exes[f->exe].build_id, &len);
		len = len > 16 ? 16 : len;
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

	if (f->function && frame_kind_class(f->kind) != FRAMES_MARK) {
		s = batch_str(b, b->functions[f->function].name, &len);
		buffer_add(out, s, len);
	} else if (shown[0]) {
		buffer_str(out, shown);
	} else {
		profile_frame_module(b, frame, out);
		if (out->len == mark)
			buffer_str(out, "[unknown]");
		buffer_printf(out, "+0x%llx", (unsigned long long)f->address);
	}
	return f->kind;
}

uint32_t *profile_process_names(const struct batch *b)
{
	uint32_t n = batch_n(b, BATCH_RESOURCES);
	uint32_t *names = calloc(n, sizeof(*names));

	if (!names)
		return NULL;
	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		const struct batch_attr *a = &b->attrs[s->attr];

		if (a->tid == b->resources[s->resource].pid)
			names[s->resource] = a->thread_name;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!names[i])
			names[i] = b->resources[i].exe_name;
		if (!names[i])
			names[i] = b->resources[i].comm;
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

	return stop < STOP__MAX ? markers[stop] : NULL;
}

static int encode_otlp(const struct batch *b, const struct profile_info *info,
		       struct buffer *out)
{
	const char *pairs[] = {
		"host.name", info->host, "os.type", "linux",
		"os.version", info->kernel, NULL,
	};
	const struct otlp_resource extra = { pairs };
	uint8_t *bytes;
	size_t len;
	int r;

	r = otlp_encode(b, &extra, &bytes, &len);
	if (r == -ENODATA)	/* a request without profiles has no bytes */
		return 0;
	if (r)
		return r;
	buffer_add(out, bytes, len);
	free(bytes);
	return out->failed ? -ENOMEM : 0;
}

int profile_encode(enum profile_format format, const struct batch *b,
		   const struct profile_info *info, struct buffer *out)
{
	switch (format) {
	case FORMAT_HTML:
		return html_encode(b, info, out);
	case FORMAT_FOLDED:
		return folded_encode(b, out);
	case FORMAT_PPROF:
		return pprof_encode(b, info, out);
	case FORMAT_OTLP:
		return encode_otlp(b, info, out);
	case FORMAT_SPEEDSCOPE:
		return speedscope_encode(b, info, out);
	case FORMAT_FIREFOX:
		return firefox_encode(b, info, out);
	default:
		return -EINVAL;
	}
}
