package store

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/testdata/golden"
)

// A day of eight GPUs takes no more memory at its end than at its beginning, and
// not a tick is missing.
func TestSteadyDay(t *testing.T) {
	if golden.Short() {
		t.Skip("a whole day")
	}
	dir := t.TempDir()
	w := create(t, dir, Options{})
	b := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 1})
	tick := profile.Tick{At: noon - 12*3600e6}
	var early uint64
	const day = 24 * 3600
	for i := range day {
		at := tick.At.Add(time.Second)
		tick.Reset()
		tick.At, tick.Elapsed, tick.Every = at, time.Duration(i)*time.Second, time.Second
		if err := b.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
		if i%600 == 599 { // a day on a clock has ten minutes for each segment
			settle(w)
		}
		if i == 2*3600 {
			early = heap()
		}
	}
	late := heap()
	shut(t, w)
	if late > early+2<<20 {
		t.Errorf("%d bytes in memory after two hours, %d after a day", early, late)
	}
	t.Logf("in memory: %d KiB after two hours, %d after a day; the most of the process %s", early>>10, late>>10, mostMemory())
	if v := check(t, dir); v.Rows["ticks"] != day || v.Rows["samples"] != 8*day {
		t.Errorf("%+v", v.Rows)
	}
}

// settle waits until all ended segments are files.
func settle(w *Writer) {
	for {
		w.mu.Lock()
		done := len(w.waiting) == 0 && !w.busy
		w.mu.Unlock()
		if done {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	for range 3 { // pools let go of what they hold at the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// mostMemory is the highest resident memory so far, where the system tells it.
func mostMemory() string {
	s, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "is not known"
	}
	_, rest, _ := strings.Cut(string(s), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
