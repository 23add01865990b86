// SPDX-License-Identifier: Apache-2.0
/*
 * greedy - wants all of loaderd: each sample passes through files that are new
 *
 * `greedy DIR FILES`: so many executable mappings, each of a file of its own in DIR,
 * in one chain of frame pointers.  One thread stays in the first of them; the
 * other one changes the files' sizes, so that each is another file at once.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES_MAX	900
#define PAGE		4096

static int files[FILES_MAX], n_files;
static uint8_t *code[FILES_MAX];

/* A page of jumps to themselves. */
static void map_file(const char *dir, int i)
{
#ifdef __aarch64__
	static const uint8_t forever[] = { 0, 0, 0, 0x14 };
#else
	static const uint8_t forever[] = { 0xeb, 0xfe, 0xeb, 0xfe };
#endif
	uint8_t page[PAGE];
	char path[4096];

	for (int at = 0; at < PAGE; at += 4)
		memcpy(page + at, forever, 4);
	snprintf(path, sizeof(path), "%s/%d", dir, i);
	files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
	if (files[i] < 0 || write(files[i], page, PAGE) != PAGE)
		exit(1);
	code[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, files[i],
		       0);
	if (code[i] == MAP_FAILED)
		exit(1);
}

/* The chain lies above the stack pointer, as a real one does. */
static void *stay(void *unused)
{
	struct {
		uint64_t next, caller;
	} frame[FILES_MAX] = { 0 };

	for (int i = 1; i < n_files; i++) {
		frame[i - 1].caller = (uintptr_t)code[i] + 64;
		frame[i - 1].next = (uintptr_t)&frame[i];
	}
#ifdef __aarch64__
	__asm__ volatile("mov x29, %0; br %1" : : "r"(frame), "r"(code[0])
			 : "memory");
#else
	__asm__ volatile("mov %0, %%rbp; jmp *%1" : : "r"(frame), "r"(code[0])
			 : "memory");
#endif
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;

	n_files = argc > 2 ? atoi(argv[2]) : 0;
	if (n_files < 1 || n_files > FILES_MAX)
		return 2;
	for (int i = 0; i < n_files; i++)
		map_file(argv[1], i);
	if (pthread_create(&t, NULL, stay, NULL))
		return 1;
	for (off_t more = 1;; more = more % 1000 + 1) {
		for (int i = 0; i < n_files; i++) {
			if (ftruncate(files[i], PAGE + more))
				return 1;
		}
		usleep(20000);
	}
}
