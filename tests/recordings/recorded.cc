// SPDX-License-Identifier: Apache-2.0
// What the recordings of C++ are of: calls as compilers make them, a signal handler,
// qsort()'s callback, a thread; the innermost of each waits.
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#define APART __attribute__((__noinline__))

static volatile int sink;

static void APART wait_here()
{
	char c;

	if (write(1, "ready\n", 6) == 6)
		sink = (int)read(0, &c, 1);
}

static void APART with_array(int n)
{
	volatile char room[300];

	room[n] = 1;
	if (n)
		with_array(n - 1);
	else
		wait_here();
	sink = room[n];
}

static void APART with_alloca(int n)
{
	volatile char *room = static_cast<volatile char *>(alloca(n * 100));

	room[0] = 1;
	with_array(n);
	sink = room[0];
}

static void on_signal(int)
{
	with_alloca(3);
	sink++;
}

static int compare(const void *, const void *)
{
	raise(SIGUSR2);
	return sink & 1;
}

struct Base {
	virtual void call() = 0;
	virtual ~Base() = default;
};

template <typename T> struct Derived : Base {
	void call() override
	{
		T two[2] = { 1, 2 };

		qsort(two, 2, sizeof(T), compare);
		sink = two[0];
	}
};

static void *thread(void *arg)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	while (!sigwait(&set, &got))
		sink = got;
	return arg;
}

int main()
{
	Derived<int> d;
	Base *volatile base = &d;
	struct sigaction sa = {};
	sigset_t set;
	pthread_t t;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, nullptr);
	sa.sa_handler = on_signal;
	sigaction(SIGUSR2, &sa, nullptr);
	if (pthread_create(&t, nullptr, thread, nullptr))
		return 1;
	base->call();
	return 0;
}
