// SPDX-License-Identifier: Apache-2.0
// mix - frames that rustc makes, for ever; tests/live/test_stops.py
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::hint::black_box;
use std::panic;

#[inline(never)]
fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

trait Shape {
    fn area(&self, depth: u32) -> f64;
}

struct Square(f64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, depth: u32) -> f64 {
        if depth == 0 { self.0 } else { self.0 * self.area(depth - 1) }
    }
}

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        *self.0 += fib(4);
    }
}

#[inline(never)]
fn thrower(n: u32, sum: &mut u64) -> u64 {
    let guard = Guard(sum);
    if n == 0 {
        panic!("thrown");
    }
    let v = thrower(n - 1, guard.0);
    v + *guard.0
}

#[inline(never)]
fn catcher() -> u64 {
    let r = panic::catch_unwind(|| {
        let mut sum = 0;
        thrower(black_box(6), &mut sum)
    });
    r.unwrap_or(1)
}

#[inline(never)]
fn iterators(n: u64) -> u64 {
    let mut v: Vec<u64> = (0..n).map(|x| x * 31 % 97).filter(|x| x % 3 != 0).collect();
    v.sort_by(|a, b| b.cmp(a));
    v.sort_unstable_by_key(|x| x ^ 21);
    v.iter().zip(v.iter().rev()).map(|(a, b)| a ^ b).sum()
}

#[inline(never)]
fn through(f: &dyn Fn(u64) -> u64, n: u64) -> u64 {
    if n == 0 { f(n) } else { through(&|x| f(x) + n, n - 1) }
}

#[inline(never)]
fn library() -> u64 {
    let mut m = HashMap::new();
    let mut b = BTreeMap::new();
    let mut out = String::new();
    for i in 0..20u64 {
        m.insert(format!("{}", i * 7), i);
        b.insert(i * 13 % 20, i);
    }
    for (k, v) in &m {
        write!(out, "{k} {:.3}\n", *v as f64 * 1.5).unwrap();
    }
    out.len() as u64 + b.values().sum::<u64>()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0)), Box::new(Square(0.5))];
    let mut sum = 0u64;
    loop {
        sum = sum.wrapping_add(fib(black_box(9)));
        sum = sum.wrapping_add(shapes.iter().map(|s| s.area(black_box(5))).sum::<f64>() as u64);
        sum = sum.wrapping_add(catcher());
        sum = sum.wrapping_add(iterators(black_box(100)));
        sum = sum.wrapping_add(through(&|x| x + 1, black_box(6)));
        sum = sum.wrapping_add(library());
        black_box(sum);
    }
}
