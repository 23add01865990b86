// SPDX-License-Identifier: Apache-2.0
// For names_agree.py: much that is inlined, from headers of its own and of the library.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#define TWICE(x) ((x) + \
		  (x))

namespace lines {

template <class T> struct Node {
	T value;
	std::unique_ptr<Node> left, right;
	explicit Node(T v) : value(std::move(v)) {}
};

template <class T> class Tree {
	std::unique_ptr<Node<T>> root;
	size_t n = 0;

	static void each(const Node<T> *node, const std::function<void(const T &)> &f)
	{
		if (!node)
			return;
		each(node->left.get(), f);
		f(node->value);
		each(node->right.get(), f);
	}

public:
	bool add(const T &v)
	{
		auto *at = &root;

		while (*at) {
			if (v == (*at)->value)
				return false;
			at = v < (*at)->value ? &(*at)->left : &(*at)->right;
		}
		*at = std::make_unique<Node<T>>(v);
		n++;
		return true;
	}

	void each(const std::function<void(const T &)> &f) const
	{
		each(root.get(), f);
	}

	size_t size() const { return n; }
};

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const { return "shape"; }
};

struct Square : Shape {
	double side;
	explicit Square(double s) : side(s)
	{
		if (s < 0)
			throw std::invalid_argument("side " + std::to_string(s));
	}
	double area() const override { return side * side; }
	std::string name() const override { return "square"; }
};

struct Circle final : Shape {
	double radius;
	explicit Circle(double r) : radius(r) {}
	double area() const override { return 3.14159 * radius * radius; }
};

static std::map<std::string, int> words(const std::string &text)
{
	std::map<std::string, int> count;
	std::istringstream in(text);
	std::string word;

	while (in >> word) {
		std::transform(word.begin(), word.end(), word.begin(),
			       [](unsigned char c) { return std::tolower(c); });
		count[word]++;
	}
	return count;
}

template <class It> static auto median(It begin, It end)
{
	auto middle = begin + (end - begin) / 2;

	std::nth_element(begin, middle, end,
			 [](auto a, auto b) { return TWICE(a) < TWICE(b); });
	return *middle;
}

static long fold(const std::vector<int> &v)
{
	std::unordered_map<int, long> seen;
	long sum = 0;

	for (int x : v) {
		auto it = seen.find(x);

		if (it != seen.end()) {
			sum += it->second;
			continue;
		}
		switch (x % 7) {
		case 0:
			seen[x] = x;
			break;
		case 1:
			seen[x] = std::accumulate(v.begin(), v.end(), 0L);
			break;
		case 2: case 3:
			seen[x] = x << 2;
			break;
		default:
			seen[x] = TWICE(x) - 1;
		}
		sum ^= seen[x];
	}
	return sum;
}

} // namespace lines

int main(int argc, char **argv)
{
	using namespace lines;
	std::vector<std::unique_ptr<Shape>> shapes;
	std::vector<int> numbers(1000 + argc);
	Tree<std::string> tree;
	std::set<double> areas;

	std::iota(numbers.begin(), numbers.end(), argc);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a % 97 < b % 97; });
	try {
		for (int i = 0; i < argc + 10; i++) {
			if (i & 1)
				shapes.push_back(std::make_unique<Square>(9 - i));
			else
				shapes.push_back(std::make_unique<Circle>(i));
		}
	} catch (const std::exception &e) {
		std::cerr << e.what() << '\n';
	}
	for (const auto &s : shapes) {
		areas.insert(s->area());
		tree.add(s->name());
	}
	for (const auto &[word, n] : words(argc > 1 ? argv[1] : "a b A b c"))
		std::cout << word << ' ' << n << '\n';
	tree.each([](const std::string &s) { std::cout << s << '\n'; });
	std::cout << fold(numbers) << ' ' << median(numbers.begin(), numbers.end()) << ' '
		  << areas.size() << ' ' << tree.size() << '\n';
	return 0;
}
