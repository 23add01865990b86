// SPDX-License-Identifier: Apache-2.0

// Go calls C, which calls Go, for the tests: go_cgo SECONDS WHAT.
package main

/*
static volatile unsigned long c_sink;

static __attribute__((noinline)) void c_burn(int n)
{
	for (int i = 0; i < n; i++)
		c_sink += i * c_sink;
}

static __attribute__((noinline)) void c_outer(int n)
{
	c_burn(n);
	c_sink++;
}

extern void goCallback(int);

static __attribute__((noinline)) void c_back(int n)
{
	goCallback(n);
	c_sink++;
}
*/
import "C"

import (
	"os"
	"strconv"
	"time"
)

var sink uint64

//export goCallback
func goCallback(n C.int) {
	burn(int(n))
	sink++
}

//go:noinline
func burn(n int) {
	for i := 0; i < n; i++ {
		sink += uint64(i) * sink
	}
}

//go:noinline
func calls(end time.Time) {
	for time.Now().Before(end) {
		C.c_outer(1000000)
	}
}

//go:noinline
func callsBack(end time.Time) {
	for time.Now().Before(end) {
		C.c_back(1000000)
	}
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	if os.Args[2] == "back" {
		callsBack(end)
	} else {
		calls(end)
	}
}
