// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/script.h"

#include <stdbool.h>
#include <string.h>

#include "ipc/runtimes.h"

/* Keep len bytes, or as many whole characters as fit. */
static enum script_answer script_keep(const char *name, size_t len, char ret[SCRIPT_MAX])
{
	if (!len)
		return SCRIPT_NONE;
	if (len >= SCRIPT_MAX) {
		len = SCRIPT_MAX - 1;
		while (len > 0 && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(ret, name, len);
	ret[len] = '\0';
	return SCRIPT_FOUND;
}

/* The last part of a path of len bytes. */
static const char *script_last_part(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);

	return slash ? slash + 1 : path;
}

/* The program in this file; a package's is called as its folder is. */
static enum script_answer script_by_file(const struct runtime_info *r, const char *file,
					 char ret[SCRIPT_MAX])
{
	size_t len = strlen(file);
	const char *name = script_last_part(file, len);

	/* code of no file: "<string>", "-e" */
	if (file[0] == '<' || file[0] == '-')
		return SCRIPT_NONE;
	if (r->package[0] && strcmp(name, r->package) == 0 && name > file + 1) {
		len = (size_t)(name - file) - 1;
		name = script_last_part(file, len);
	}
	return script_keep(name, (size_t)(file + len - name), ret);
}

/* Is it the runtime's own code, or a function that runs programs? */
static bool script_is_runner(const struct runtime_info *r, const char *function)
{
	for (int i = 0; i < RUNTIME_OWN; i++) {
		if (r->own[i] && r->own[i][0] && strcmp(function, r->own[i]) == 0)
			return true;
	}
	for (int i = 0; i < RUNTIME_RUNNERS; i++) {
		if (r->runners[i] && strcmp(function, r->runners[i]) == 0)
			return true;
	}
	return false;
}

enum script_answer script_of(uint32_t runtime, const char *function, const char *file,
			     char ret[SCRIPT_MAX])
{
	const struct runtime_info *r = runtime_info(runtime);
	size_t len = strlen(function), end;

	if (script_is_runner(r, function))
		return SCRIPT_INNER;
	if (!r->program)
		return SCRIPT_NONE;
	end = strlen(r->program);
	if (r->program[0] != '.')
		return strcmp(function, r->program) == 0 ? script_by_file(r, file, ret) : SCRIPT_NONE;
	if (len <= end || strcmp(function + len - end, r->program) != 0)
		return SCRIPT_NONE;
	return script_keep(function, len - end, ret);
}
