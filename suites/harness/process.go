package harness

import (
	"runtime"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/stalepage/stalepage/reports/journal"
)

// CoreSeconds is the processor time that this process has used so far.
func CoreSeconds() float64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// MemoryPeakBytes is the largest resident size of this process so far.
func MemoryPeakBytes() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss * 1024
}

// Side is what is worth knowing of a run and differs from one machine to the next.
func Side(kit *Kit, r Result, wallSeconds, coreSeconds float64) journal.Side {
	return journal.Side{
		WallSeconds: wallSeconds, CoreSeconds: coreSeconds, Kernel: kit.Model.Variant(), CPU: processor(),
		Cores: runtime.NumCPU(), HugePagesAsked: r.HugePagesAsked, HugePagesGot: r.HugePagesGot,
		MemoryPeakBytes: MemoryPeakBytes(), GoVersion: runtime.Version(),
	}
}

// processor names the instruction sets that matter here.
func processor() string {
	name := runtime.GOARCH
	if cpu.X86.HasAVX2 {
		name += " avx2"
	}
	if cpu.X86.HasAVX512VNNI {
		name += " avx512-vnni"
	}
	return name
}
