// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/python/offsets.h"

#include <string.h>

#include "bpf/python.h"
#include "bpf/python_lines.h"

/* struct _Py_DebugOffsets (Include/internal/pycore_runtime.h, later
 * pycore_debug_offsets.h) consists of numbers of 64 bits.  The first three: */
enum { COOKIE, VERSION, FREE_THREADED };

#define OFFSETS_WORDS	96
#define OFFSETS_COOKIE	"xdebugpy"

/* By version, the number of the word for each member of struct python_layout; 0: none. */
enum {
	INTERPRETERS, NEXT_INTERP, THREADS, NEXT, CURRENT, THREAD_ID, PREVIOUS,
	CODE, ENTRY, FILENAME, NAME, LINE, OB_TYPE, TP_NAME, STATE, LENGTH, ASCII,
	BASE, AT, LINES, CODE_AT, COPY, COPIES, FIELDS
};

static const uint8_t places[][FIELDS] = {
	[13 - OFFSETS_MINOR_MIN] = { 5, 8, 9, 21, 23, 24, 29, 30, 33, 35, 37, 39,
				     45, 47, 68, 69, 70, 0, 31, 38, 43 },
	[14 - OFFSETS_MINOR_MIN] = { 5, 8, 9, 24, 26, 27, 32, 33, 36, 40, 42, 44,
				     51, 53, 78, 79, 80, 0, 34, 43, 48, 38, 49 },
	[15 - OFFSETS_MINOR_MIN] = { 5, 8, 9, 24, 26, 30, 40, 41, 44, 48, 50, 52,
				     59, 61, 90, 91, 92, 27, 42, 51, 56, 46, 57 },
};

static const struct python_layout layouts[PYTHON_LAYOUTS] = PYTHON_LAYOUT_TABLE;
static const struct python_lines lines[PYTHON_LAYOUTS] = PYTHON_LINES_TABLE;

static bool offsets_agree(const uint64_t *said, const uint8_t *place,
			  const struct python_layout *l,
			  const struct python_lines *t)
{
	const uint64_t want[FIELDS] = {
		[INTERPRETERS] = l->interpreters, [NEXT_INTERP] = l->next_interp,
		[THREADS] = l->threads, [NEXT] = PYTHON_NEXT,
		[CURRENT] = l->current, [THREAD_ID] = l->thread_id,
		[PREVIOUS] = l->previous, [CODE] = l->code, [ENTRY] = l->entry,
		[FILENAME] = l->filename, [NAME] = l->name, [LINE] = l->line,
		[OB_TYPE] = l->ob_type, [TP_NAME] = l->tp_name,
		[STATE] = l->state, [LENGTH] = l->length, [ASCII] = l->ascii,
		[BASE] = l->base, [AT] = t->at, [LINES] = t->table,
		[CODE_AT] = t->code, [COPY] = t->copy, [COPIES] = t->copies,
	};

	for (int i = 0; i < FIELDS; i++) {
		if (place[i] && said[place[i]] != want[i])
			return false;
	}
	return true;
}

uint32_t offsets_layout(const struct elf_file *f, uint64_t root, uint32_t minor,
			bool *free_threaded)
{
	uint32_t i = minor - OFFSETS_MINOR_MIN, layout;
	uint64_t said[OFFSETS_WORDS];

	*free_threaded = false;
	if (!elf_file_get(f, root, said, sizeof(said)) ||
	    memcmp(&said[COOKIE], OFFSETS_COOKIE, sizeof(said[COOKIE])))
		return 0;
	*free_threaded = said[FREE_THREADED] != 0;
	layout = minor;
	if (*free_threaded)
		layout |= PYTHON_FREE_THREADED;
	if (i >= sizeof(places) / sizeof(places[0]) ||
	    said[VERSION] >> 16 != (3 << 8 | minor) || !layouts[layout].ascii)
		return 0;
	if (!offsets_agree(said, places[i], &layouts[layout], &lines[layout]))
		return 0;
	return layout;
}
