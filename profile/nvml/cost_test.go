//go:build linux && cgo

package nvml

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"capcli/profile"
)

// The figures are of eight GPUs that answer at once: what is left is the cost of
// asking. A process of its own runs it, as with the tests.
func BenchmarkReadEightGPUs(b *testing.B) {
	library := os.Getenv(libraryVar)
	if os.Getenv(childOf) != b.Name() {
		library = compile(b, "NEW")
		cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^"+b.Name()+"$", "-test.benchmem", "-test.benchtime=500x")
		cmd.Env = append(os.Environ(), childOf+"="+b.Name(), libraryVar+"="+library)
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.Skipf("in a process of its own:\n%s", out)
	}
	l, c := findLibrary(library, os.DirFS("/"))
	if c != success {
		b.Fatal(c)
	}
	s, err := open(l, profile.SourceOptions{}, theBox())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var t profile.Tick
	read := func() {
		t.Reset()
		if err := s.Read(context.Background(), &t); err != nil || len(t.Samples) != 8 {
			b.Fatal(err, len(t.Samples))
		}
		for _, g := range s.gpus {
			g.gpm.at -= time.Second // as if a second had passed
		}
	}
	// GPM compares what is 100 ms apart.
	for range 3 {
		read()
		waitApart()
	}
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// A tick allocates nothing: the results that C writes to by address stay on the stack.
func TestFakeSteadyAllocations(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		os.Unsetenv("FAKE_NVML")
		os.Unsetenv("FAKE_NVML_LOG")
		s := f.open(profile.SourceOptions{}, nil)
		var tick profile.Tick
		read := func() {
			tick.Reset()
			if err := s.Read(t.Context(), &tick); err != nil || len(tick.Samples) != 8 {
				t.Fatal(err, len(tick.Samples))
			}
			for _, g := range s.gpus {
				g.gpm.at -= time.Second
			}
		}
		for range 5 {
			read()
		}
		if n := testing.AllocsPerRun(50, read); n > 0 {
			t.Errorf("%v allocations a tick of 8 GPUs, want none", n)
		}
		if v, ok := tick.Samples[7].Get(profile.SMActive); !ok || v != 12.5 {
			t.Errorf("SM activity %v (%s)", v, tick.Samples[7].Why[profile.SMActive])
		}
	})
}

// A day of ticks, or the first half an hour of it, does not grow. CAPCLI_DAY=1 is
// the whole day, `make soak`.
func TestFakeDayOfTicks(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		os.Unsetenv("FAKE_NVML")
		os.Unsetenv("FAKE_NVML_LOG")
		ticks := 1800
		if os.Getenv("CAPCLI_DAY") != "" {
			ticks = 86400
		}
		s := f.open(profile.SourceOptions{Processes: 5 * time.Second}, nil)
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var tick profile.Tick
		var heap0 uint64
		var threads int
		for i := range ticks {
			tick.Reset()
			if err := s.Read(t.Context(), &tick); err != nil || len(tick.Samples) != 8 {
				t.Fatal(err, len(tick.Samples))
			}
			for _, g := range s.gpus { // as if a second had passed
				g.gpm.at -= time.Second
				g.migAt -= time.Second
				g.neverSince -= time.Second
			}
			s.processAt -= time.Second
			s.stateAt -= time.Second
			if i == ticks/10 {
				heap0, threads = heap(), runtime.NumGoroutine()
			}
		}
		if grew := int64(heap()) - int64(heap0); grew > 1<<20 || runtime.NumGoroutine() > threads {
			t.Errorf("grew by %d bytes, to %d goroutines from %d", grew, runtime.NumGoroutine(), threads)
		}
		var u syscall.Rusage
		if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
			t.Logf("%d ticks of 8 GPUs: at most %.1f MiB resident, %.0f µs of CPU a tick", ticks, float64(u.Maxrss)/1024, float64(u.Utime.Nano()+u.Stime.Nano())/1e3/float64(ticks))
		}
	})
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
