// Package planted does what a worker may not. Each line that ends in "want" is to be found, and no other.
package planted

import (
	"maps"
	"reflect"
	"slices"
	"time"
	clock "time"
)

type table map[string]int

type ages[T comparable] map[T]time.Duration

func readTheClock() (time.Time, time.Duration, func() time.Time) {
	start := time.Now()              // want: reads the clock
	elapsed := time.Since(start)     // want: reads the clock
	return start, elapsed, clock.Now // want: reads the clock
}

func timers() {
	time.Sleep(time.Millisecond) // want: reads the clock
	<-time.After(time.Second)    // want: reads the clock, waits on a channel
	_ = time.Unix(0, 0)
}

func threads(work func()) {
	go work()   // want: starts a goroutine
	go func() { // want: starts a goroutine
		work()
	}()
	work()
}

func channels(c chan int) {
	c <- 1   // want: waits on a channel
	<-c      // want: waits on a channel
	select { // want: waits on a channel
	default:
	}
	for range c { // want: waits on a channel
	}
}

func entries(plain map[int]int, named table, generic ages[string]) int {
	total := 0
	for key := range plain { // want: ranges over a map
		total += key
	}
	for _, value := range named { // want: ranges over a map
		total += value
	}
	for range generic { // want: ranges over a map
		total++
	}
	for key := range maps.Keys(plain) { // want: ranges over a map
		total += key
	}
	for _, key := range reflect.ValueOf(plain).MapKeys() { // want: ranges over a map
		total += int(key.Int())
	}
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		total += key
	}
	for range slices.SortedFunc(maps.Keys(plain), func(a, b int) int {
		return a - b + time.Now().Day() // want: reads the clock
	}) {
		total++
	}
	for i := range []int{1, 2} {
		total += i + plain[i]
	}
	return total
}

func parameters[M ~map[int]int](m M) int {
	total := 0
	for key := range m { // want: ranges over a map
		total += key
	}
	return total
}
