/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script - which program an interpreter runs
 *
 * A process is called as its interpreter is, whatever it runs.  What it runs is in its
 * stacks: the outermost frame of the language is the program's own, in its file or its
 * class.  The command line would say it too, but is not read: it holds secrets.  Nothing
 * is known of a program of which no sample was in its main thread.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_SCRIPT_H
#define SYMBOLIZERD_KNOWLEDGE_SCRIPT_H

#include <stdint.h>

#define SCRIPT_MAX	64	/* bytes, with the NUL; a longer one is cut between characters */
#define SCRIPT_FRAMES	3	/* of a language, from its outermost one: as many may say it */

enum script_answer {
	SCRIPT_NONE,		/* this is no program's frame */
	SCRIPT_INNER,		/* it runs programs: ask the next inner one */
	SCRIPT_FOUND,
};

/*
 * Is the outermost frame of a runtime (enum runtime) that of a program, by the names of its
 * function and file ("": unknown)?  What the program is called: the last part of the file's
 * path, or its folder's if the file is a package's; of a method, the class.
 */
enum script_answer script_of(uint32_t runtime, const char *function, const char *file,
			     char ret[SCRIPT_MAX]);

#endif /* SYMBOLIZERD_KNOWLEDGE_SCRIPT_H */
