// SPDX-License-Identifier: Apache-2.0
// mix - frames that the Go compiler makes, for ever; tests/live/test_stops.py
package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func large(n int) int {
	var v [4096]byte
	for i := range v {
		v[i] = byte(i * n)
	}
	if n == 0 {
		return int(v[77])
	}
	return large(n-1) + int(v[n])
}

//go:noinline
func thrower(n int) int {
	defer fib(3)
	if n == 0 {
		panic("thrown")
	}
	return thrower(n-1) + 1
}

//go:noinline
func catcher() (r int) {
	defer func() {
		if recover() != nil {
			r = fib(4)
		}
	}()
	return thrower(5)
}

//go:noinline
func through(f func(int) int, n int) int {
	if n == 0 {
		return f(n)
	}
	return through(func(x int) int { return f(x) + n }, n-1)
}

//go:noinline
func library() int {
	m := map[string]int{}
	for i := 0; i < 20; i++ {
		m[fmt.Sprint(i*7)] = i
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return len(strings.Join(keys, " ")) + len(fmt.Sprintf("%v", m))
}

//go:noinline
func routines() int {
	var wg sync.WaitGroup
	c := make(chan int, 4)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c <- fib(5)
		}()
	}
	wg.Wait()
	return <-c + <-c
}

var sink int

func main() {
	for {
		sink += fib(9) + large(3) + catcher()
		sink += through(func(x int) int { return x + 1 }, 6)
		sink += library() + routines()
	}
}
