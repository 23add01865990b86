// SPDX-License-Identifier: Apache-2.0
// For names_agree.py: templates and ranges.
module lines;

import std.algorithm;
import std.array;
import std.range;
import std.stdio;
import std.string;

struct Point(T)
{
    T x, y;

    T opBinary(string op)(Point other) const if (op == "*")
    {
        return x * other.x +
            y * other.y;
    }
}

class Shape
{
    double area() const { return 1; }
}

class Square : Shape
{
    double side;
    this(double side) { this.side = side; }
    override double area() const { return side * side; }
}

int[string] words(string text)
{
    int[string] count;
    foreach (word; text.split.map!(w => w.toLower))
        count[word]++;
    return count;
}

long fold(const int[] v)
{
    return v.filter!(x => x % 3)
        .map!(x => cast(long) x * 7)
        .reduce!((a, b) => a ^ b);
}

void main(string[] args)
{
    auto numbers = iota(0, 1000).map!(x => x * x % 977).array;
    auto p = Point!int(1, 2) * Point!int(cast(int) args.length, 4);
    Shape[] shapes = iota(1, 10).map!(i => cast(Shape) new Square(i)).array;

    sort!((a, b) => a > b)(numbers);
    foreach (word, n; words("a b A b c"))
        writeln(word, " ", n);
    writeln(fold(numbers), " ", p, " ", shapes.map!(s => s.area).sum);
}
