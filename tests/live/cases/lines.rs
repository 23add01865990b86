// SPDX-License-Identifier: Apache-2.0
// For names_agree.py: iterators, closures and generics, much of it inlined.
use std::collections::{BTreeMap, HashMap};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Square(f64),
    Circle { radius: f64 },
}

trait Area {
    fn area(&self) -> f64;
    fn doubled(&self) -> f64 {
        self.area() * 2.0
    }
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match self {
            Shape::Square(side) => side * side,
            Shape::Circle { radius } => 3.14159 * radius * radius,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?} of {:.1}", self, self.doubled())
    }
}

fn words(text: &str) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for word in text.split_whitespace().map(|w| w.to_lowercase()) {
        *count.entry(word).or_insert(0) += 1;
    }
    count
}

fn fold(v: &[u64]) -> u64 {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    v.iter()
        .filter(|x| *x % 3 != 0)
        .map(|&x| *seen.entry(x % 31).or_insert_with(|| x.wrapping_mul(7)))
        .fold(0, |a, b| a ^ b)
}

fn sorted<T: Ord + Clone>(v: &[T]) -> Vec<T> {
    let mut v = v.to_vec();
    v.sort_by(|a, b| b.cmp(a));
    v.dedup();
    v
}

fn main() {
    let n = std::env::args().count();
    let shapes: Vec<Shape> = (0..n + 10)
        .map(|i| if i & 1 == 0 { Shape::Square(i as f64) } else { Shape::Circle { radius: i as f64 } })
        .collect();
    let numbers: Vec<u64> = (0..1000u64).map(|x| x * x % 977).collect();
    for s in &shapes {
        println!("{}", s);
    }
    for (word, count) in words("a b A b c") {
        println!("{word} {count}");
    }
    println!("{} {:?}", fold(&numbers), sorted(&numbers).first());
}
