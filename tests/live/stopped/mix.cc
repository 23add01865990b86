// SPDX-License-Identifier: Apache-2.0
// mix - frames that a C++ compiler makes, for ever; tests/live/test_stops.py
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

namespace {

struct guard {
	unsigned long v;
	explicit guard(unsigned long n) : v(n) { sink = sink + 1; }
	NOINLINE ~guard() { sink = sink + v; }
};

NOINLINE unsigned long thrower(int n)
{
	guard g(n);

	if (n == 0)
		throw std::runtime_error("thrown");
	return thrower(n - 1) + g.v;
}

NOINLINE void catcher()
{
	try {
		guard g(3);
		sink = sink + thrower(6);
	} catch (const std::exception &e) {
		sink = sink + std::string(e.what()).size();
	}
}

NOINLINE void again()
{
	try {
		catcher();
		try {
			thrower(2);
		} catch (...) {
			throw;
		}
	} catch (const std::runtime_error &) {
		sink = sink + 1;
	}
}

struct shape {
	virtual ~shape() = default;
	virtual double area(int depth) const = 0;
};

struct square : virtual shape {
	double side = 2;
	NOINLINE double area(int depth) const override
	{
		return depth ? side * area(depth - 1) : side;
	}
};

struct named {
	virtual ~named() = default;
	virtual const char *name() const { return "named"; }
};

struct both : named, square {	// called through thunks
	NOINLINE double area(int depth) const override
	{
		return square::area(depth) + 1;
	}
	NOINLINE const char *name() const override { return "both"; }
};

NOINLINE double virtuals()
{
	std::vector<std::unique_ptr<shape>> v;
	both b;
	const named *n = &b;

	v.push_back(std::make_unique<square>());
	v.push_back(std::make_unique<both>());
	return std::accumulate(v.begin(), v.end(), 0.0,
			       [](double sum, const auto &s) {
				       return sum + s->area(5);
			       }) + n->name()[0];
}

NOINLINE int through(const std::function<int(int)> &f, int n)
{
	return n ? through([&](int x) { return f(x) + n; }, n - 1) : f(n);
}

NOINLINE void sorting()
{
	std::vector<int> v(100);

	std::iota(v.begin(), v.end(), 0);
	std::sort(v.begin(), v.end(), [](int a, int b) {
		return a * 31 % 97 < b * 31 % 97;
	});
	std::stable_sort(v.begin(), v.end(), std::greater<int>());
	sink = sink + v[7];
}

NOINLINE void library()
{
	std::map<std::string, int> m;
	std::ostringstream out;

	for (int i = 0; i < 20; i++)
		m[std::to_string(i * 7)] = i;
	for (const auto &[k, v] : m)
		out << k << ' ' << v * 1.5 << '\n';
	sink = sink + out.str().size() +
	       std::regex_search(out.str(), std::regex("([0-9]+) 1[0-9]"));
}

}

int main()
{
	for (;;) {
		again();
		sink = sink + (unsigned long)virtuals();
		sink = sink + through([](int x) { return x + 1; }, 6);
		sorting();
		library();
	}
}
