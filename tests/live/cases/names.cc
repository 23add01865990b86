// SPDX-License-Identifier: Apache-2.0
// Names as a C++ compiler mangles them; runs for argv[1] seconds.
#include <ctime>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shop {

static volatile unsigned long sold;

struct Counter {
	// an operator, const
	[[gnu::noinline]] bool operator()(int n) const
	{
		for (int i = 0; i < 20000; i++)
			sold = sold + (unsigned long)n;
		return sold != 0;
	}
};

template <typename T> struct Queue {
	std::map<std::string, std::vector<T>> items;

	[[gnu::noinline]] bool pop(const std::string &key)
	{
		return items[key].at(0)(3) && sold;
	}
};

namespace {
[[gnu::noinline]] bool hidden(Queue<Counter> &q)
{
	auto each = [&](const char *key) __attribute__((noinline)) {
		return q.pop(key) && sold;
	};
	return each("a") && sold;
}
}

}

int main(int argc, char **argv)
{
	std::clock_t end = (std::clock_t)(std::atof(argv[1]) * CLOCKS_PER_SEC);
	shop::Queue<shop::Counter> q;

	q.items["a"].resize(1);
	while (std::clock() < end && shop::hidden(q))
		;
	return argc == 0;
}
