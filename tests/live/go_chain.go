// SPDX-License-Identifier: Apache-2.0

// A Go program of known call chains, for the tests: go_chain SECONDS WHAT [N].
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

var sink uint64

//go:noinline
func burn(n int) {
	for i := 0; i < n; i++ {
		sink += uint64(i) * sink
	}
}

// Prints its callers, as Go sees them: innermost first.
//
//go:noinline
func report(int) {
	pcs := make([]uintptr, 2000)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		fmt.Printf("%s %s:%d\n", f.Function, f.File, f.Line)
		if !more {
			break
		}
	}
	fmt.Println()
}

// These two are inlined into chain3.
func inlineInner(f func(int), x int) {
	f(x * 2)
	sink++
}

func inlineOuter(f func(int), x int) {
	sink++
	inlineInner(f, x+1)
}

//go:noinline
func chain3(end time.Time, x int) {
	for f := report; ; f = burn {
		inlineOuter(f, x)
		if time.Now().After(end) {
			return
		}
	}
}

//go:noinline
func chain2(end time.Time, s string) {
	chain3(end, 100000+len(s))
	sink++
}

//go:noinline
func chain1(end time.Time) {
	chain2(end, "a")
	sink++
}

//go:noinline
func deep(n int, end time.Time) {
	if n > 0 {
		deep(n-1, end)
	} else {
		chain1(end)
	}
	sink++
}

var keep [][]byte

// The collector and much of the allocator run on the stack of the thread.
//
//go:noinline
func allocate(end time.Time) {
	for time.Now().Before(end) {
		keep = nil
		for i := 0; i < 2000; i++ {
			keep = append(keep, make([]byte, 1000+i))
		}
		runtime.GC()
	}
}

//go:noinline
func calls(end time.Time) {
	for time.Now().Before(end) {
		for i := 0; i < 1000; i++ {
			syscall.Getppid()
		}
	}
}

//go:noinline
func clock(end time.Time) {
	for time.Now().Before(end) {
		sink++
	}
}

//go:noinline
func signals(end time.Time) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	for time.Now().Before(end) {
		syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	}
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	switch os.Args[2] {
	case "chain":
		chain1(end)
	case "goroutine":
		go chain1(end)
		time.Sleep(time.Until(end))
	case "deep":
		n, _ := strconv.Atoi(os.Args[3])
		deep(n, end)
	case "allocate":
		allocate(end)
	case "calls":
		calls(end)
	case "clock":
		clock(end)
	case "signals":
		signals(end)
	}
}
