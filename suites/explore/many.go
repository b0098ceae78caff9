package explore

import (
	"sync"

	"github.com/stalepage/stalepage/suites/harness"
)

// batchSeeds is how many neighbouring seeds a goroutine takes at a time.
const batchSeeds = 16

// Many calls do for count seeds, from first on, on so many goroutines with an explorer each, and then take with each
// result in the order of the seeds, so that what take sees does not depend on workers. It stops at the first error, by
// seed.
func Many[R any](
	kit *harness.Kit, first uint64, count, workers int, do func(x *Explorer, seed uint64) (R, error), take func(R),
) error {
	results, errs := make([]R, count), make([]error, count)
	batches := make(chan int)
	var wait sync.WaitGroup
	for range max(1, workers) {
		wait.Go(func() {
			x := NewExplorer(kit)
			for start := range batches {
				for i := start; i < min(start+batchSeeds, count); i++ {
					results[i], errs[i] = do(x, first+uint64(i))
				}
			}
		})
	}
	for start := 0; start < count; start += batchSeeds {
		batches <- start
	}
	close(batches)
	wait.Wait()
	for i := range results {
		if errs[i] != nil {
			return errs[i]
		}
		take(results[i])
	}
	return nil
}
