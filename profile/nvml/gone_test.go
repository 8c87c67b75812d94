//go:build linux && cgo

package nvml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"capcli/profile"
)

// readUntilGone reads until the source is gone for good.
func readUntilGone(t *testing.T, s *source) *profile.GoneError {
	t.Helper()
	for ; ; time.Sleep(50 * time.Millisecond) { // until the test as a whole is over time
		err := s.Read(context.Background(), &profile.Tick{})
		if err == nil {
			continue
		}
		gone, ok := errors.AsType[*profile.GoneError](err)
		if !ok || gone.Hint == "" {
			t.Fatalf("error %v, want a GoneError with a hint", err)
		}
		return gone
	}
}

func TestFakeDriverReplaced(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		see(t, s)
		f.set("gone", 1, "init", 18)
		if gone := readUntilGone(t, s); !strings.Contains(gone.Text, "replaced by another version") {
			t.Errorf("gone: %v", gone)
		}
	})
}

// What may pass is waited for, but not for ever: a driver that is not loaded, GPUs that all need a
// reset. One GPU of several, and calls that hang, end nothing.
func TestFakeGoneForLong(t *testing.T) {
	for _, c := range []struct {
		name string
		told []any
		want string // "" where the source goes on
	}{
		{"driver", []any{"gone", 1, "init", 9}, "the driver is gone: driver not loaded (9)"},
		{"library", []any{"gone", 1, "init", 12}, "library not found (12)"},
		{"reset", []any{"fail nvmlDeviceGetUtilizationRates *", 16, "fail nvmlDeviceGetHandleByUUID *", 16}, "all GPUs are lost: GPU needs a reset (16)"},
		{"one", []any{"0.lost", 1}, ""},
		{"stuck", []any{"0.lost", 1, "hang nvmlDeviceGetUtilizationRates 1", ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			withFake(t, "NEW", func(t *testing.T, f *fake) {
				f.patience = hangs
				s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
				s.out.giveUp = 1200 * time.Millisecond
				see(t, s)
				f.set(c.told...)
				if c.want == "" {
					for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
						see(t, s)
					}
					f.set("hang nvmlDeviceGetUtilizationRates 1", nil)
					return
				}
				if gone := readUntilGone(t, s); !strings.Contains(gone.Text, c.want) {
					t.Errorf("gone: %v, want %q", gone, c.want)
				}
			})
		})
	}
}

// A library that was replaced on disk is not loaded beside the old one: where the driver still
// answers the old one goes on, even though a GPU is lost.
func TestFakeLibraryReplacedOnDisk(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		file := &fstest.MapFile{Data: []byte("old")}
		root := fstest.MapFS{strings.TrimPrefix(f.library, "/"): file}
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, root)
		see(t, s)
		file.Data = []byte("another")
		f.set("0.lost", 1)
		see(t, s)
		for range 3 {
			s.retryAt = 1
			wantValues(t, sampleOf(t, see(t, s), gpu1), values{profile.UtilGPU: 50})
		}
		f.set("0.lost", nil, "gone", 1)
		if gone := readUntilGone(t, s); !strings.Contains(gone.Text, "replaced") {
			t.Errorf("gone: %v", gone)
		}
		if n := f.calls("nvmlInit_v2"); n != 1 {
			t.Errorf("the library was set up %d times, want once", n)
		}
	})
}

// A list of processes that fails does not say that a GPU is free: the holders stay, and where no list was
// ever had they are not known.
func TestFakeProcessListFails(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		for _, symbol := range []string{"Compute", "Graphics", "MPSCompute"} {
			f.set("fail nvmlDeviceGet"+symbol+"RunningProcesses_v3 *", 4)
		}
		f.set("0.compute", "100:1073741824")
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond, Processes: time.Hour}, nil)
		look := func() *profile.Tick {
			s.processAt = -2 * time.Hour
			return see(t, s)
		}
		if tick := look(); tick.LookedAtProcesses || len(tick.Processes) > 0 {
			t.Errorf("processes %+v of a driver that tells none", tick.Processes)
		}
		for _, symbol := range []string{"Compute", "Graphics", "MPSCompute"} {
			f.set("fail nvmlDeviceGet"+symbol+"RunningProcesses_v3 *", nil)
		}
		if tick := look(); !tick.LookedAtProcesses || len(tick.Processes) != 1 {
			t.Errorf("processes %+v, want one", tick.Processes)
		}
		f.set("fail nvmlDeviceGetComputeRunningProcesses_v3 0", 999)
		for range 2 {
			if tick := look(); !tick.LookedAtProcesses || len(tick.Processes) != 1 || tick.Processes[0].PID != 100 || tick.Processes[0].SMWhy != profile.Failed {
				t.Errorf("processes %+v, want the one that was there", tick.Processes)
			}
		}
		f.set("fail nvmlDeviceGetComputeRunningProcesses_v3 0", nil, "0.compute", nil)
		if tick := look(); !tick.LookedAtProcesses || len(tick.Processes) != 0 {
			t.Errorf("processes %+v, want none", tick.Processes)
		}
	})
}

// GPUs that come later are seen, within a minute, and said.
func TestFakeGPUsThatComeLater(t *testing.T) {
	const gpu2 = "GPU-00000002-0000-0000-0000-000000000000"
	for _, c := range []struct {
		name         string
		before, then []any
		uuid         string
	}{
		{"the driver counts one more", nil, []any{"count", 3}, gpu2},
		{"the kernel module has one more", []any{"late", 1}, []any{"count", 3}, gpu2},
		{"one was lost at the start", []any{"fail nvmlDeviceGetUUID 1", 15}, []any{"fail nvmlDeviceGetUUID 1", nil}, gpu1},
		{"one was forbidden at the start", []any{"fail nvmlDeviceGetUUID 1", 4}, []any{"fail nvmlDeviceGetUUID 1", nil}, gpu1},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			withFake(t, "NEW", func(t *testing.T, f *fake) {
				root := fstest.MapFS{}
				bind := func(n int) {
					for i := range n {
						root[fmt.Sprintf("proc/driver/nvidia/gpus/0000:%d9:00.0/information", i)] = &fstest.MapFile{}
					}
				}
				bind(2)
				f.set(c.before...)
				s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, root)
				before := len(see(t, s).Samples)
				for range 3 {
					see(t, s)
				}
				asked := f.calls("nvmlDeviceGetCount_v2")
				if asked != 1 {
					t.Errorf("GPUs counted %d times within a minute, want at the set-up alone", asked)
				}
				f.set(c.then...)
				if len(c.before) > 0 && c.before[0] == "late" {
					bind(3)
				}
				s.censusAt = -time.Hour
				tick, events := sampleUntil(t, s, 10*time.Millisecond, func(tick *profile.Tick) bool { return len(tick.Samples) == before+1 })
				if kinds(events) != "gpu_back" || events[0].Device != c.uuid || !strings.Contains(events[0].Text, "not there before") {
					t.Errorf("events %+v, want the new GPU", events)
				}
				wantValues(t, sampleOf(t, tick, c.uuid), values{profile.UtilGPU: 50})
				s.censusAt = -time.Hour
				for range 3 {
					if tick := see(t, s); len(tick.Events) != 0 {
						t.Errorf("events %+v, want none more", tick.Events)
					}
				}
				if n := f.calls("nvmlInit_v2"); n != 2 {
					t.Errorf("the library was set up %d times, want twice", n)
				}
			})
		})
	}
}
