// SPDX-License-Identifier: Apache-2.0
// Names as rustc mangles them, in both ways; runs until it is killed.
mod shop {
    use std::ptr::{read_volatile, write_volatile};

    static mut LAST: u64 = 0;

    // what a function does last, so that no call is one
    #[inline(always)]
    fn done(n: u64) -> u64 {
        unsafe { write_volatile(std::ptr::addr_of_mut!(LAST), n) };
        n | 1
    }

    pub trait Sell {
        fn sell(&mut self, n: u64) -> u64;
    }

    #[derive(Default)]
    pub struct Till<T> {
        sum: T,
    }

    impl Sell for Till<u64> {
        #[inline(never)]
        fn sell(&mut self, n: u64) -> u64 {
            for _ in 0..20000 {
                unsafe { write_volatile(&mut self.sum, read_volatile(&self.sum).wrapping_add(n)) }
            }
            self.sum
        }
    }

    #[inline(never)]
    pub fn each<S: Sell>(s: &mut S, n: u64) -> u64 {
        done(s.sell(n))
    }

    #[inline(never)]
    fn with(f: &mut dyn FnMut(u64) -> u64) -> u64 {
        done(f(3))
    }

    #[inline(never)]
    pub fn open() -> u64 {
        let mut till = Till::<u64>::default();
        done(with(&mut |n| each(&mut till, n)))
    }
}

fn main() {
    while shop::open() > 0 {}
}
