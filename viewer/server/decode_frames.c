// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/decode_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/short_name.h"
#include "profile/profile.h"

/* --- texts and attributes ---------------------------------------------------- */

bool text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

uint32_t text_intern(struct batch_builder *b, struct text t)
{
	if (t.len > FRAMES_TEXT_MAX)
		t.len = FRAMES_TEXT_MAX;
	return batch_string(b, t.s, t.len);
}

static struct text decode_frames_text_of(ProtobufCBinaryData d)
{
	if (!d.len)
		return (struct text){ "", 0 };
	return (struct text){ (const char *)d.data, d.len };
}

static bool decode_frames_in_table(struct frames *f, int32_t i, size_t n)
{
	if (i >= 0 && (size_t)i < n)
		return true;
	f->bad = true;
	return false;
}

struct text frames_text(struct frames *f, int32_t i)
{
	if (i == 0 || !decode_frames_in_table(f, i, f->d ? f->d->n_string_table : 0))
		return (struct text){ "", 0 };
	return decode_frames_text_of(f->d->string_table[i]);
}

struct text frames_value(struct frames *f, const OtlpIn__Value *v)
{
	if (v && v->value_case == OTLP_IN__VALUE__VALUE_STRING_VALUE)
		return decode_frames_text_of(v->string_value);
	if (v && v->value_case == OTLP_IN__VALUE__VALUE_STRING_VALUE_STRINDEX)
		return frames_text(f, v->string_value_strindex);
	return (struct text){ "", 0 };
}

const OtlpIn__KeyValueAndUnit *frames_attribute(struct frames *f, int32_t i)
{
	if (!decode_frames_in_table(f, i, f->d ? f->d->n_attribute_table : 0))
		return NULL;
	return f->d->attribute_table[i];
}

static uint32_t decode_frames_string(struct frames *f, int32_t i)
{
	struct text t = frames_text(f, i);

	if (t.len == 0)
		return 0;
	if (!f->strings[i])
		f->strings[i] = text_intern(f->b, t) + 1;
	return f->strings[i] - 1;
}

/* --- functions, files ----------------------------------------------------------- */

static uint32_t decode_frames_number32(int64_t v)
{
	if (v < 0 || v > UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

static uint32_t decode_frames_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint32_t)(c - 'a') + 10;
	return 16;		/* no digit */
}

static bool decode_frames_ends(struct text t, const char *end)
{
	size_t n = strlen(end);

	return t.len > n && !memcmp(t.s + t.len - n, end, n);
}

/* "file!0x1234": the hub's name for a function that has none. */
static bool decode_frames_is_unnamed(struct text t, uint32_t kind,
				     const OtlpIn__Function *from)
{
	static const char mark[] = "!0x";
	size_t digits = 0;

	if (frame_kind_class(kind) != FRAMES_FILE || from->system_name_strindex ||
	    from->filename_strindex || from->start_line)
		return false;
	while (digits < t.len && decode_frames_hex_digit(t.s[t.len - 1 - digits]) < 16)
		digits++;
	t.len -= digits;
	return digits && decode_frames_ends(t, mark);
}

/* The names of a function of code of this kind; one with another system_name is
 * demangled. */
static void decode_frames_names(struct frames *f, uint32_t kind,
				const OtlpIn__Function *from,
				struct batch_function *to)
{
	bool mangled;

	struct text t = frames_text(f, from->name_strindex), s;
	char buf[SHORT_NAME_MAX];

	to->full_name = decode_frames_string(f, from->name_strindex);
	to->system_name = decode_frames_string(f, from->system_name_strindex);
	if (!to->full_name) {
		to->full_name = to->system_name;
		t = frames_text(f, from->system_name_strindex);
	}
	if (t.len > FRAMES_TEXT_MAX)
		t.len = FRAMES_TEXT_MAX;
	if (decode_frames_is_unnamed(t, kind, from)) {
		to->unnamed = 1;
		to->name = to->full_name;
		return;
	}
	mangled = to->system_name && to->system_name != to->full_name;
	s.s = short_name(t.s, t.len, frame_kind_form(kind, mangled), buf, &s.len);
	to->name = text_intern(f->b, s);
}

/* The name of profile_frame_name() for a frame without a function; code of a file is that
 * only with the file. */
static bool decode_frames_is_placeholder(struct frames *f, const OtlpIn__Location *l,
					 uint32_t kind)
{
	const char *shown = frame_kind_info(kind)->shown;
	const OtlpIn__Function *fn;
	int32_t i;
	struct text t;

	if (l->n_lines != 1)
		return false;
	i = l->lines[0]->function_index;
	if (i == 0 || !decode_frames_in_table(f, i, f->d->n_function_table))
		return false;
	fn = f->d->function_table[i];
	t = frames_text(f, fn->name_strindex);
	if (fn->system_name_strindex || fn->filename_strindex || fn->start_line)
		return false;
	if (shown[0])
		return text_is(t, shown);
	return l->mapping_index && decode_frames_ends(t, PROFILE_NO_SYMBOL);
}

/* In a frame of this kind, which says how its name becomes short. */
static uint32_t decode_frames_function(struct frames *f, int32_t i, uint32_t kind)
{
	const OtlpIn__Function *from;
	struct batch_function to = { 0 };
	uint32_t *known;

	if (i == 0 || !decode_frames_in_table(f, i, f->d->n_function_table))
		return 0;
	known = &f->functions[(size_t)i * NAME__FORMS + frame_kind_form(kind, false)];
	if (*known)
		return *known - 1;
	from = f->d->function_table[i];
	decode_frames_names(f, kind, from, &to);
	to.file = decode_frames_string(f, from->filename_strindex);
	to.start_line = decode_frames_number32(from->start_line);
	*known = batch_function(f->b, &to) + 1;
	return *known - 1;
}

static void decode_frames_file_id(struct text t, uint8_t id[FILE_ID_LEN])
{
	if (t.len != 2 * FILE_ID_LEN)
		return;
	for (size_t i = 0; i < FILE_ID_LEN; i++) {
		uint32_t a = decode_frames_hex_digit(t.s[2 * i]),
			 b = decode_frames_hex_digit(t.s[2 * i + 1]);

		if (a > 15 || b > 15) {
			memset(id, 0, FILE_ID_LEN);
			return;
		}
		id[i] = (uint8_t)(a << 4 | b);
	}
}

/* The build ID of a runtime. */
static void decode_frames_runtime(struct frames *f, struct text key,
				  struct text v, struct batch_exe *to)
{
	for (uint32_t i = 0; i < RUNTIME__MAX; i++) {
		const char *want = runtime_info(i)->id_key;

		if (want[0] && text_is(key, want)) {
			to->runtime = i;
			to->runtime_id = text_intern(f->b, v);
		}
	}
}

static uint32_t decode_frames_mapping(struct frames *f, int32_t i)
{
	static const char prefix[] = "process.executable.build_id.";
	const OtlpIn__Mapping *from;
	struct batch_exe to = { 0 };

	if (i == 0 || !decode_frames_in_table(f, i, f->d->n_mapping_table))
		return 0;
	if (f->mappings[i])
		return f->mappings[i] - 1;
	from = f->d->mapping_table[i];
	to.path = decode_frames_string(f, from->filename_strindex);
	for (size_t k = 0; k < from->n_attribute_indices; k++) {
		const OtlpIn__KeyValueAndUnit *a =
			frames_attribute(f, from->attribute_indices[k]);
		struct text key = { "", 0 }, v;

		if (a)
			key = frames_text(f, a->key_strindex);
		if (key.len <= strlen(prefix) ||
		    memcmp(key.s, prefix, strlen(prefix)))
			continue;
		v = frames_value(f, a->value);
		decode_frames_runtime(f, key, v, &to);
		key.s += strlen(prefix);
		key.len -= strlen(prefix);
		if (text_is(key, "gnu"))
			to.build_id = text_intern(f->b, v);
		else if (text_is(key, "htlhash"))
			decode_frames_file_id(v, to.file_id);
	}
	f->mappings[i] = batch_exe(f->b, &to) + 1;
	return f->mappings[i] - 1;
}

/* --- frames ---------------------------------------------------------------------- */

static uint16_t decode_frames_kind_of(struct frames *f,
				      const OtlpIn__Location *l)
{
	for (size_t k = 0; k < l->n_attribute_indices; k++) {
		const OtlpIn__KeyValueAndUnit *a =
			frames_attribute(f, l->attribute_indices[k]);
		struct text v;

		if (!a || !text_is(frames_text(f, a->key_strindex),
				   "profile.frame.type"))
			continue;
		v = frames_value(f, a->value);
		for (uint16_t i = 1; i < BATCH_FRAME__KINDS; i++) {
			if (text_is(v, frame_kind_info(i)->name))
				return i;
		}
		if (text_is(v, "rust"))
			return BATCH_FRAME_NATIVE;
		return BATCH_FRAME_UNKNOWN;
	}
	if (l->mapping_index)
		return BATCH_FRAME_NATIVE;
	return BATCH_FRAME_UNKNOWN;
}

/* Add the lines of a location, innermost first, as frames; lines that others are inlined
 * into need names. */
static uint32_t decode_frames_put_lines(struct frames *f, const OtlpIn__Location *l,
					struct batch_frame *v)
{
	uint32_t at = 0;

	if (decode_frames_is_placeholder(f, l, v->kind))
		return batch_frame(f->b, v);
	for (size_t k = l->n_lines; k-- > 0; ) {
		uint32_t fn =
			decode_frames_function(f, l->lines[k]->function_index, v->kind);

		if (!fn || v->inlined >= BATCH_INLINED_MAX)
			continue;
		if (v->function) {
			v->inlined++;
			v->into = at;
		}
		v->function = fn;
		v->line = decode_frames_number32(l->lines[k]->line);
		at = batch_frame(f->b, v);
	}
	if (!v->function)
		return batch_frame(f->b, v);
	return at;
}

static uint32_t decode_frames_location(struct frames *f, int32_t i)
{
	struct batch_frame v = { .kind = BATCH_FRAME_CUT };
	const OtlpIn__Location *l;

	if (!decode_frames_in_table(f, i, f->d->n_location_table))
		return 0;
	if (f->locations[i])
		return f->locations[i] - 1;
	l = f->d->location_table[i];
	if (i) {
		v.kind = decode_frames_kind_of(f, l);
		v.exe = decode_frames_mapping(f, l->mapping_index);
		v.address = l->address;
	}
	f->locations[i] = decode_frames_put_lines(f, l, &v) + 1;
	return f->locations[i] - 1;
}

uint32_t frames_stack(struct frames *f, int32_t i)
{
	static const struct batch_frame cut = { .kind = BATCH_FRAME_CUT };
	uint32_t v[FRAMES_DEPTH_MAX], n = 0;
	const OtlpIn__Stack *s;

	if (i == 0 && (!f->d || !f->d->n_stack_table)) {
		v[0] = batch_frame(f->b, &cut);
		return batch_stack(f->b, v, 1);
	}
	if (!decode_frames_in_table(f, i, f->d ? f->d->n_stack_table : 0))
		return 0;
	if (f->stacks[i])
		return f->stacks[i] - 1;
	s = f->d->stack_table[i];
	for (size_t k = 0; k < s->n_location_indices; k++) {
		if (n == FRAMES_DEPTH_MAX - 1)
			break;
		v[n++] = decode_frames_location(f, s->location_indices[k]);
	}
	if (n == 0 || n < s->n_location_indices)
		v[n++] = batch_frame(f->b, &cut);
	f->stacks[i] = batch_stack(f->b, v, n) + 1;
	return f->stacks[i] - 1;
}

/* --- life ------------------------------------------------------------------------- */

int frames_init(struct frames *f, const OtlpIn__Dictionary *d,
		struct batch_builder *b)
{
	*f = (struct frames){ .d = d, .b = b };
	if (!d)
		return 0;
	f->strings = calloc(d->n_string_table + 1, sizeof(uint32_t));
	f->functions = calloc(d->n_function_table + 1, NAME__FORMS * sizeof(uint32_t));
	f->mappings = calloc(d->n_mapping_table + 1, sizeof(uint32_t));
	f->locations = calloc(d->n_location_table + 1, sizeof(uint32_t));
	f->stacks = calloc(d->n_stack_table + 1, sizeof(uint32_t));
	if (!f->strings || !f->functions || !f->mappings || !f->locations || !f->stacks)
		return -ENOMEM;
	return 0;
}

void frames_fini(struct frames *f)
{
	free(f->strings);
	free(f->functions);
	free(f->mappings);
	free(f->locations);
	free(f->stacks);
}
