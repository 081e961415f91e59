// Goroutines that allocate, so that the collector interrupts their threads by SIGURG; and calls of C.
package main

// static double halves(int n) { double x = 0; for (int i = 0; i < n; i++) x += i * 0.5; return x; }
import "C"

import (
	"fmt"
	"runtime"
	"sync"
)

type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func main() {
	var all sync.WaitGroup
	runtime.GOMAXPROCS(2)
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 150; j++ {
				tree(14)
				C.halves(1000000)
			}
		}()
	}
	all.Wait()
	fmt.Println("done")
}
