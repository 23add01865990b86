// SPDX-License-Identifier: Apache-2.0
/*
 * jit - what names of JIT code cost: a worker's look into a perf map and a jitdump, and the
 * hub's part for an address that is new, and for one that is known
 *
 * usage: jit [LINES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/jit.h"
#include "symbolizerd/symbols/jit_names.h"

#define ADDR	0x7f0000000000ULL
#define ROUNDS	7

static struct frame_names_build b;
static uint8_t data[FRAME_NAMES_BYTES_MAX + 8];
static uint64_t words[JIT_ASK];
static struct visit_question asked;

static int cmp(const void *a, const void *b_)
{
	const double *x = a, *y = b_;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof(*v), cmp);
	return v[ROUNDS / 2];
}

static void names_of(int fd, size_t n, struct frame_names *names)
{
	struct iovec parts[3];
	size_t len = 0;

	frame_names_begin(&b, (uint32_t)n);
	if (jit_names(fd, words, n, &b))
		exit(1);
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(data + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	if (frame_names_open(data, len, (uint32_t)n, names))
		exit(1);
}

/* JIT_ASK addresses, all over the file; in its first line alone, which is the worst. */
static void worker(int fd, uint32_t lines, size_t bytes, const char *what)
{
	double all[ROUNDS], first[ROUNDS];
	struct frame_names names;
	uint64_t begin;

	for (int k = 0; k < ROUNDS; k++) {
		for (uint32_t i = 0; i < JIT_ASK; i++)
			words[i] = FRAME_ANON_WORD(ADDR + (uint64_t)(i * (lines / JIT_ASK)) * 64 + 5);
		begin = now_ns();
		names_of(fd, JIT_ASK, &names);
		all[k] = (double)(now_ns() - begin) / 1e6;
		words[0] = FRAME_ANON_WORD(ADDR + 5);
		begin = now_ns();
		names_of(fd, 1, &names);
		first[k] = (double)(now_ns() - begin) / 1e6;
	}
	printf("%s, %u functions, %.1f MB: %u addresses %.2f ms, the first alone %.2f ms\n", what,
	       lines, (double)bytes / 1e6, JIT_ASK, median(all), median(first));
}

static int on_visit(void *ctx, const struct visit_question *q)
{
	(void)ctx;
	memcpy(words, q->words, q->n * sizeof(*words));
	asked = *q;
	return 0;
}

static void hub(int fd)
{
	double fresh[ROUNDS], known[ROUNDS];
	static struct hub_stats stats;
	static uint64_t frames[JIT_ASK];
	uint64_t begin, bytes = 0;

	for (int k = 0; k < ROUNDS; k++) {
		struct trace_rec rec = { .flags = REC_HAS_ANON, .process = { 1, 7, 0 } };
		struct frame_names names;
		uint32_t space, found = 0;
		static struct jit j;

		jit_init(&j, 1, &stats);
		j.visit = on_visit;
		space = jit_space(&j, &rec, now_ns());
		for (uint32_t i = 0; i < JIT_ASK; i++)
			frames[i] = FRAME_ANON_WORD(ADDR + (uint64_t)i * 64 + 5);
		begin = now_ns();
		jit_mention(&j, space, frames, JIT_ASK, now_ns());
		visits_ask(&j.visits, false, now_ns());
		fresh[k] = (double)(now_ns() - begin);
		names_of(fd, asked.n, &names);
		begin = now_ns();
		visits_answer(&j.visits, asked.number, &names, 0, now_ns());
		fresh[k] = (fresh[k] + (double)(now_ns() - begin)) / JIT_ASK;
		begin = now_ns();
		for (int n = 0; n < 100; n++) {
			for (uint32_t i = 0; i < JIT_ASK; i++)
				found += jit_find(&j, space, FRAME_ADDR(frames[i]))->is.name != NULL;
		}
		known[k] = (double)(now_ns() - begin) / 100 / JIT_ASK;
		if (found != 100 * JIT_ASK)
			exit(1);
		bytes = j.places.bytes.total;
		jit_fini(&j);
	}
	printf("hub: a new address %.0f ns, a known one %.0f ns; 1,000 names %.0f KiB\n",
	       median(fresh), median(known), (double)bytes / JIT_ASK * 1000 / 1024);
}

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

static void put64(FILE *f, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, f);
}

/* Linux, tools/perf/util/jitdump.h; machine 0 is taken, as CPython writes it. */
static void put_load(FILE *f, uint64_t addr, uint32_t i, const char *name)
{
	static const char code[64];

	put32(f, 0);
	put32(f, (uint32_t)(56 + strlen(name) + 1 + sizeof(code)));
	put64(f, 0);
	put64(f, 0);
	put64(f, addr);
	put64(f, addr);
	put64(f, sizeof(code));
	put64(f, i);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
}

int main(int argc, char **argv)
{
	uint32_t lines = argc > 1 ? (uint32_t)atoi(argv[1]) : 100000;
	FILE *map = tmpfile(), *dump = tmpfile();
	char name[96];

	if (!map || !dump || lines < JIT_ASK)
		return 1;
	for (int i = 0; i < 10; i++)
		put32(dump, i == 0 ? 0x4a695444 : i == 1 ? 1 : i == 2 ? 40 : 0);
	for (uint32_t i = 0; i < lines; i++) {
		snprintf(name, sizeof(name), "JS:*functionNumber%u /srv/application/lib/module.js:%u:17",
			 i, i);
		fprintf(map, "%llx 40 %s\n", (unsigned long long)ADDR + (uint64_t)i * 64, name);
		put_load(dump, ADDR + (uint64_t)i * 64, i, name);
	}
	fflush(map);
	fflush(dump);
	worker(fileno(map), lines, (size_t)ftell(map), "perf map");
	worker(fileno(dump), lines, (size_t)ftell(dump), "jitdump");
	hub(fileno(map));
	return 0;
}
