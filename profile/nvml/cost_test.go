//go:build linux && cgo

package nvml

import (
	"context"
	"os"
	"os/exec"
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
		apart()
	}
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// What a tick allocates is go-nvml's own: the results that it hands to C by
// address, 16 a GPU, of which two are the 13 KB of GPM's metrics.
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
		if n := testing.AllocsPerRun(50, read); n > 8*16+4 {
			t.Errorf("%v allocations a tick of 8 GPUs, want at most 16 a GPU", n)
		}
		if v, ok := tick.Samples[7].Get(profile.SMActive); !ok || v != 12.5 {
			t.Errorf("SM activity %v (%s)", v, tick.Samples[7].Why[profile.SMActive])
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
