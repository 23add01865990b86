// SPDX-License-Identifier: Apache-2.0
/*
 * mix - frames of all kinds that a C compiler makes, for ever
 *
 * usage: mix	each round runs all cases; tests/live/test_stops.py stops it
 */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

/* --- recursion ------------------------------------------------------------ */

static NOINLINE unsigned long fib(unsigned long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static NOINLINE int odd(unsigned int n);

static NOINLINE int even(unsigned int n)
{
	return n == 0 ? 1 : !odd(n - 1) + (sink == 1);
}

static NOINLINE int odd(unsigned int n)
{
	return n == 0 ? 0 : !even(n - 1) + (sink == 1);
}

/* --- called back by libc --------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static NOINLINE void sorting(void)
{
	int v[64], key = 32;

	for (int i = 0; i < 64; i++)
		v[i] = (i * 37 + (int)sink) % 64;
	qsort(v, 64, sizeof(*v), by_value);
	sink += bsearch(&key, v, 64, sizeof(*v), by_value) != NULL;
}

/* --- stacks of odd shapes --------------------------------------------------- */

static NOINLINE void touch(char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 64)
		p[i] = (char)i;
	sink += p[n / 2];
}

static NOINLINE void with_alloca(size_t n)
{
	char *p = alloca(n);

	touch(p, n);
	if (n > 128)
		with_alloca(n / 2);
	touch(p, n);
}

static NOINLINE void with_array(size_t n)
{
	char v[n], w[2 * n];

	touch(v, n);
	touch(w, 2 * n);
}

static NOINLINE void large_frame(void)
{
	char v[40000];

	touch(v, sizeof(v));
}

/* An alignment that the stack does not have: the frame is realigned. */
static NOINLINE void aligned(int n)
{
	_Alignas(64) double v[16];

	for (int i = 0; i < 16; i++)
		v[i] = i * (double)sink;
	touch((char *)v, sizeof(v));
	if (n)
		aligned(n - 1);
	sink += (unsigned long)v[3];
}

static NOINLINE void aligned_array(size_t n)
{
	_Alignas(32) char w[64];
	char v[n];

	touch(v, n);
	touch(w, sizeof(w));
}

/* Arguments on the stack: pushed and popped around the call. */
static NOINLINE long many(long a, long b, long c, long d, long e, long f,
			  long g, long h, long i)
{
	return a + b * c - d + e * f + g - h * i + (long)sink;
}

static NOINLINE long pushing(long n)
{
	long r = many(n, 1, 2, 3, 4, 5, n, 7, 8);

	return r + many(8, n, 6, 5, r, 3, 2, 1, n);
}

static NOINLINE long variadic(int n, ...)
{
	long sum = 0;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(ap, long);
	va_end(ap);
	return sum;
}

/* --- jumps ------------------------------------------------------------------ */

static jmp_buf back;

static NOINLINE void leap(int n)
{
	if (!n)
		longjmp(back, 1);
	leap(n - 1);
	sink++;
}

static NOINLINE void jumping(void)
{
	if (!setjmp(back))
		leap(5);
	sink++;
}

static NOINLINE int computed(const char *code)
{
	static const void *const op[] = { &&inc, &&dec, &&twice, &&end };
	int v = 1;

	goto *op[*code - 'a'];
inc:
	v++;
	goto *op[*++code - 'a'];
dec:
	v -= (int)fib(3);
	goto *op[*++code - 'a'];
twice:
	v *= 2;
	goto *op[*++code - 'a'];
end:
	return v;
}

static NOINLINE void tail(int n)
{
	sink++;
	if (n)
		tail(n - 1);
}

/* A call that does not return, last in its function: the return address is
 * outside of it. */
static NOINLINE __attribute__((noreturn)) void never_back(void)
{
	longjmp(back, 2);
}

static NOINLINE void ends_in_call(int n)
{
	if (n > 3)
		ends_in_call(n - 1);
	never_back();
}

static NOINLINE void noreturn(void)
{
	if (!setjmp(back))
		ends_in_call(6);
}

#ifndef __clang__
static NOINLINE int nested(int n)
{
	int sum = 0;
	auto int add(const void *a, const void *b);

	int add(const void *a, const void *b)
	{
		sum += n;
		return by_value(a, b);
	}
	int v[] = { 3, 1, 2, n };

	qsort(v, 4, sizeof(*v), add);
	return sum;
}
#else
static NOINLINE int nested(int n)
{
	return n;
}
#endif

/* --- signals ----------------------------------------------------------------- */

static void on_alarm(int sig)
{
	sink += fib(6) + (unsigned int)sig;
}

/* On a stack of its own. */
static void on_user(int sig, siginfo_t *info, void *context)
{
	sink += fib(5) + (unsigned int)sig + (info != NULL) + (context != NULL);
	if (fib(3))
		raise(SIGUSR2);
}

static NOINLINE void set_signals(void)
{
	static char altstack[65536];
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	stack_t s = { .ss_sp = altstack, .ss_size = sizeof(altstack) };
	struct sigaction on_alt = { .sa_flags = SA_ONSTACK | SA_SIGINFO };

	on_alt.sa_sigaction = on_user;
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &on_alt, NULL);
	signal(SIGUSR2, on_alarm);
	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

/* --- the C library, the loader, the kernel ------------------------------------- */

static NOINLINE void strings(void)
{
	char a[512], b[512];

	memset(a, 'x', sizeof(a));
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(b));
	memmove(b + 1, b, sizeof(b) - 2);
	sink += strlen(a) + (size_t)strcmp(a, b) + (strchr(a, 'y') != NULL);
	snprintf(a, sizeof(a), "%d %s %f %lx", 42, "text", 1.5, sink);
	sink += strtoul("12345", NULL, 10) + (unsigned long)atof("1.25");
	free(malloc(300));
}

static NOINLINE void times(void)
{
	struct timespec t;
	struct timeval v;

	clock_gettime(CLOCK_MONOTONIC, &t);
	gettimeofday(&v, NULL);
	sink += (unsigned long)t.tv_nsec + getppid();
	usleep(1);
}

/* Resolved at the first call, through the PLT and the loader. */
static NOINLINE void loading(void)
{
#ifdef WITH_DL
	void *m = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
	double (*fn)(double, double) = m ? (double (*)(double, double))
					   dlsym(m, "pow") : NULL;

	if (fn)
		sink += (unsigned long)fn(1.5, 2.5);
	if (m)
		dlclose(m);
#endif
}

static void *thread(void *arg)
{
	sink += fib(8) + (arg != NULL);
	return NULL;
}

static NOINLINE void threads(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, thread, (void *)&sink))
		pthread_join(t, NULL);
}

int main(void)
{
	set_signals();
	for (unsigned int round = 0; ; round++) {
		sink += fib(9) + (unsigned int)even(40);
		sorting();
		with_alloca(2000);
		with_array(100 + round % 100);
		large_frame();
		aligned(5);
		aligned_array(round % 200 + 1);
		sink += (unsigned long)pushing(round);
		sink += (unsigned long)variadic(4, 1L, 2L, 3L, (long)round);
		jumping();
		sink += (unsigned int)computed("abcaabcd");
		tail(20);
		noreturn();
		sink += (unsigned int)nested((int)round);
		strings();
		times();
		raise(SIGUSR1);
		if (round % 16 == 0)
			loading();
		if (round % 16 == 8)
			threads();
	}
}
