//go:build linux && cgo

package nvml

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"capcli/profile"
)

func TestFakeOpenFails(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		tests := []struct {
			name string
			told []any
			want string
		}{
			{"driver and library differ", []any{"init", 18}, "whose kernel module is 550.90.07: the driver was updated: reboot"},
			{"driver not loaded", []any{"init", 9}, "not loaded: run modprobe nvidia"},
			{"no permission", []any{"init", 4}, "/dev/nvidiactl"},
			{"no GPUs", []any{"init", nil, "count", 0}, "the driver shows none: in a container, see NVIDIA_VISIBLE_DEVICES"},
			{"none that may be used", []any{"count", 2, "fail nvmlDeviceGetUUID *", 4}, "none of 2 can be used: no permission (4)"},
			{"listing fails", []any{"fail nvmlDeviceGetCount_v2 -1", 999}, "unknown error (999)"},
		}
		root := fstest.MapFS{"proc/driver/nvidia/version": {Data: []byte("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\nGCC version: 12\n")}}
		for _, tt := range tests {
			f.set(tt.told...)
			l, c := findLibrary(f.library, root)
			if c != success {
				t.Fatal(c)
			}
			_, err := open(l, profile.SourceOptions{}, f.box(root))
			var trouble *trouble
			if !errors.As(err, &trouble) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %q, want %q in a Trouble", tt.name, err, tt.want)
			}
		}
		f.lines = map[string]string{}
		f.set("count", 1)
		if _, err := Open(profile.SourceOptions{Where: f.library, Every: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "100ms") {
			t.Errorf("every 1ms: %v, want a refusal", err)
		}
		s, err := Open(profile.SourceOptions{Where: f.library})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := s.Read(context.Background(), &profile.Tick{}); err == nil {
			t.Error("a closed source is read")
		}
		if err := s.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

func TestLibraryThatIsNone(t *testing.T) {
	for _, where := range []string{"/no/such/libnvidia-ml.so.1", "libm.so.6"} {
		// libm has no nvmlInit: to call it would end the program.
		if _, err := Open(profile.SourceOptions{Where: where}); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("open %s: %v, want an error that names it", where, err)
		}
		r := Examine(profile.SourceOptions{Where: where})
		if r.OK || len(r.Checks) != 1 || r.Checks[0].State != Bad || r.Checks[0].Fix == "" {
			t.Errorf("examine %s: %+v", where, r)
		}
	}
}

func TestFakeGPULostAndBack(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		s := f.open(profile.SourceOptions{Every: 200 * time.Millisecond}, nil)
		see(t, s)
		f.set("0.lost", 1)
		tick := see(t, s)
		e := event(tick, profile.GPULost)
		if e == nil || e.Device != gpu0 || e.Value != 15 || e.At == 0 {
			t.Fatalf("events %+v, want that GPU 0 is lost", tick.Events)
		}
		lost := sampleOf(t, tick, gpu0)
		for m := range profile.NumMetrics {
			wantReasons(t, lost, reasons{m: profile.Lost})
		}
		wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: 50})
		tick = see(t, s)
		if len(tick.Events) != 0 {
			t.Errorf("lost again: %+v", tick.Events)
		}
		if n := f.calls("nvmlDeviceGetHandleByUUID"); n != 0 {
			t.Errorf("the lost GPU was tried %d times at once, want after a second", n)
		}
		f.set("0.lost", nil)
		tick, events := sampleUntil(t, s, 50*time.Millisecond, func(tick *profile.Tick) bool {
			wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: 50})
			return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known
		})
		if kinds(events) != "gpu_back" || events[0].Device != gpu0 {
			t.Errorf("events %+v, want GPU 0 back once", events)
		}
		wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.SMActive: profile.First})
	})
}

// A GPU that needs the library to be set up again is had back so, and the others
// are asked all the while.
func TestFakeGPUBackAfterSetUp(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		s := f.open(profile.SourceOptions{Every: 200 * time.Millisecond}, nil)
		was := sampleOf(t, see(t, s), gpu0).Device
		f.set("0.sticky", 1, "0.lost", 1)
		see(t, s)
		f.set("0.lost", nil)
		for range 3 {
			s.gpus[0].probeAt = 0
			tick := see(t, s)
			wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.UtilGPU: profile.Lost})
			wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: 50})
		}
		if n := f.calls("nvmlInit_v2"); n != 1 {
			t.Errorf("set up %d times within half a minute, want once", n)
		}
		if wait := s.retryAt; wait < 25*time.Second {
			t.Errorf("the library is set up again after %v, which the other GPU pays for", wait)
		}
		s.retryAt = 1
		tick, events := sampleUntil(t, s, 50*time.Millisecond, func(tick *profile.Tick) bool {
			return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known
		})
		if kinds(events) != "gpu_back" {
			t.Errorf("events %+v, want GPU 0 back", events)
		}
		if sampleOf(t, tick, gpu0).Device != was {
			t.Error("the GPU that came back as it was is another device")
		}
		if n := f.calls("nvmlInit_v2"); n != 2 {
			t.Errorf("set up %d times, want twice", n)
		}
		// Xid events come by the new set.
		f.set("event", fmt.Sprintf("1 0 8 31 %d", uint32(0xFFFFFFFF)))
		sampleUntil(t, s, 20*time.Millisecond, func(tick *profile.Tick) bool { return event(tick, profile.Xid) != nil })
	})
}

// Setting up hangs: reads come back in time and say that all is lost.
func TestFakeHangingSetUp(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.patience = hangs
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		see(t, s)
		f.set("gone", 1)
		see(t, s)
		f.set("gone", nil, "hang nvmlInit_v2 -1", "")
		s.retryAt = 1
		for range 4 {
			tick := see(t, s)
			wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.UtilGPU: profile.Lost})
			wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.UtilGPU: profile.Lost})
		}
		f.set("hang nvmlInit_v2 -1", nil)
		_, events := sampleUntil(t, s, 50*time.Millisecond, func(tick *profile.Tick) bool {
			return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known
		})
		if kinds(events) != "driver_back" {
			t.Errorf("events %+v, want the driver back", events)
		}
	})
}

// All GPUs lost, or the driver unloaded: the library is set up again, and the
// GPUs are known by UUID although their numbers have moved.
func TestFakeDriverReload(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		was := sampleOf(t, see(t, s), gpu0).Device
		f.set("gone", 1, "init", 9)
		tick := see(t, s)
		if kinds(tick.Events) != "driver_gone" || tick.Events[0].Device != "" {
			t.Fatalf("events %+v, want that the driver is gone, once", tick.Events)
		}
		for range 3 {
			tick = see(t, s)
			wantReasons(t, sampleOf(t, tick, gpu0), reasons{profile.UtilGPU: profile.Lost})
			wantReasons(t, sampleOf(t, tick, gpu1), reasons{profile.UtilGPU: profile.Lost})
			if len(tick.Events) != 0 {
				t.Errorf("events %+v, want none more", tick.Events)
			}
		}
		f.set("gone", nil, "init", nil, "order", "10", "driver", "560.35.03", "0.util", 71, "1.util", 17)
		tick, events := sampleUntil(t, s, 100*time.Millisecond, func(tick *profile.Tick) bool {
			return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known
		})
		if kinds(events) != "driver_back" {
			t.Errorf("events %s, want the driver back", kinds(events))
		}
		wantValues(t, sampleOf(t, tick, gpu0), values{profile.UtilGPU: 71})
		wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: 17})
		if d := sampleOf(t, tick, gpu0).Device; d == was || d.Index != 1 || d.Driver != "560.35.03" {
			t.Errorf("device %+v, want another with number 1 and the new driver", d)
		}
		if was.Index != 0 || was.Driver != "550.54.15" {
			t.Errorf("the old device was changed: %+v", was)
		}
	})
}

// The library is not torn down while a call is stuck inside of it.
func TestFakeDriverGoneWhileHanging(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.patience = hangs
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		see(t, s)
		f.set("hang nvmlDeviceGetUtilizationRates 0", "", "fail nvmlDeviceGetUtilizationRates 1", 1)
		if tick := see(t, s); kinds(tick.Events) != "stalled driver_gone" {
			t.Errorf("events %+v", tick.Events)
		}
		f.set("fail nvmlDeviceGetUtilizationRates 1", nil)
		for range 4 {
			s.retryAt = 1
			wantReasons(t, sampleOf(t, see(t, s), gpu1), reasons{profile.UtilGPU: profile.Lost})
		}
		if n := f.calls("nvmlShutdown"); n != 0 {
			t.Errorf("torn down %d times", n)
		}
		f.set("hang nvmlDeviceGetUtilizationRates 0", nil)
		_, events := sampleUntil(t, s, 20*time.Millisecond, func(tick *profile.Tick) bool {
			s.retryAt = min(s.retryAt, 1)
			return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known && sampleOf(t, tick, gpu1).Why[profile.UtilGPU] == profile.Known
		})
		if kinds(events) != "gpu_back driver_back" {
			t.Errorf("events %+v", events)
		}
	})
}

// One GPU's driver call hangs: it is marked, the others go on, nothing piles up.
func TestFakeHangingCall(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.patience = hangs
		s := f.open(profile.SourceOptions{Every: 300 * time.Millisecond}, nil)
		see(t, s)
		for round, symbol := range []string{"nvmlDeviceGetUtilizationRates", "nvmlGpmSampleGet"} {
			hang := "hang " + symbol + " 0"
			f.set(hang, "", "1.util", 60+round)
			waitApart()
			tick := see(t, s)
			if e := event(tick, profile.Stalled); e == nil || e.Device != gpu0 {
				t.Fatalf("events %+v, want GPU 0 stalled", tick.Events)
			}
			all := reasons{}
			for m := range profile.NumMetrics {
				all[m] = profile.Timeout
			}
			wantReasons(t, sampleOf(t, tick, gpu0), all)
			wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: float64(60 + round)})
			began := f.calls(symbol)
			for i := range 5 {
				f.set("1.util", 80+i)
				waitApart()
				tick = see(t, s)
				wantValues(t, sampleOf(t, tick, gpu1), values{profile.UtilGPU: float64(80 + i), profile.SMActive: 12.5})
				wantReasons(t, sampleOf(t, tick, gpu0), all)
				if len(tick.Events) != 0 {
					t.Errorf("events %+v while stalled, want none more", tick.Events)
				}
			}
			if got := f.calls(symbol) - began; got != 5 {
				t.Errorf("%s was called %d times in 5 ticks, want of GPU 1 alone", symbol, got)
			}
			f.set(hang, nil)
			_, events := sampleUntil(t, s, 20*time.Millisecond, func(tick *profile.Tick) bool {
				return sampleOf(t, tick, gpu0).Why[profile.UtilGPU] == profile.Known
			})
			if kinds(events) != "gpu_back" || events[0].Device != gpu0 {
				t.Errorf("events %+v, want GPU 0 back", events)
			}
		}
	})
}

// A source whose driver hangs is closed all the same.
func TestFakeCloseWhileHanging(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.patience = hangs
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		see(t, s)
		f.set("hang nvmlDeviceGetFanSpeed 0", "", "hang nvmlDeviceGetMemoryInfo_v2 1", "")
		s.stateAt = 0
		see(t, s)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Read(ctx, &profile.Tick{}); !errors.Is(err, context.Canceled) {
			t.Errorf("read with an ended context: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		f.set("hang nvmlDeviceGetFanSpeed 0", nil, "hang nvmlDeviceGetMemoryInfo_v2 1", nil)
	})
}

// All goroutines end with the source, and the library is let go.
func TestFakeNothingIsLeft(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		before := runtime.NumGoroutine()
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond, Processes: 100 * time.Millisecond}, nil)
		for range 5 {
			see(t, s)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for runtime.NumGoroutine() > before { // else until the test as a whole is over time
			time.Sleep(10 * time.Millisecond)
		}
		for _, pair := range [][2]string{{"nvmlInit_v2", "nvmlShutdown"}, {"nvmlGpmSampleAlloc", "nvmlGpmSampleFree"}, {"nvmlEventSetCreate", "nvmlEventSetFree"}} {
			if made, freed := f.calls(pair[0]), f.calls(pair[1]); made == 0 || made != freed {
				t.Errorf("%s called %d times, %s %d times", pair[0], made, pair[1], freed)
			}
		}
	})
}

func TestFakeEvents(t *testing.T) {
	withFake(t, "NEW", func(t *testing.T, f *fake) {
		f.set("1.events", 8, "0.field4.0", 0, "1.field4.0", 5)
		s := f.open(profile.SourceOptions{Every: 100 * time.Millisecond}, nil)
		see(t, s)
		reading := func(kind profile.EventKind) profile.Event {
			t.Helper()
			_, events := sampleUntil(t, s, 20*time.Millisecond, func(tick *profile.Tick) bool { return event(tick, kind) != nil })
			if len(events) != 1 {
				t.Errorf("events %+v, want one", events)
			}
			return events[0]
		}
		f.set("event", fmt.Sprintf("1 1 8 79 %d", uint32(0xFFFFFFFF)))
		if e := reading(profile.Xid); e.Device != gpu1 || e.Value != 79 || !strings.Contains(e.Text, "fell off the bus") || e.At == 0 {
			t.Errorf("event %+v, want Xid 79 of GPU 1", e)
		}
		f.set("event", "2 0 8 94 3")
		if e := reading(profile.Xid); e.Device != gpu0 || e.Value != 94 || !strings.Contains(e.Text, "instance 3") {
			t.Errorf("event %+v, want Xid 94 of GPU 0", e)
		}
		// The counters are asked at once after an error, not after five seconds.
		f.set("0.field4.0", 1, "event", fmt.Sprintf("3 0 2 0 %d", uint32(0xFFFFFFFF)))
		if e := reading(profile.ECCError); e.Device != gpu0 {
			t.Errorf("event %+v, want an ECC error of GPU 0", e)
		}
		wantValues(t, sampleOf(t, see(t, s), gpu0), values{profile.ECCUncorrected: 1})
		// A wait that fails is not the last.
		f.set("fail nvmlEventSetWait_v2 -1", 999)
		for n := f.calls("nvmlEventSetWait_v2"); f.calls("nvmlEventSetWait_v2") < n+2; {
			time.Sleep(10 * time.Millisecond)
		}
		f.set("fail nvmlEventSetWait_v2 -1", nil, "event", "4 0 8 13 0")
		if e := reading(profile.Xid); e.Value != 13 {
			t.Errorf("event %+v, want Xid 13", e)
		}
		// GPU 1 has no such event: its counter tells.
		f.set("1.field4.0", 7)
		s.stateAt = 0
		tick := see(t, s)
		if e := event(tick, profile.ECCError); e == nil || e.Device != gpu1 || e.Value != 2 {
			t.Errorf("events %+v, want 2 errors of GPU 1", tick.Events)
		}
		wantValues(t, sampleOf(t, tick, gpu1), values{profile.ECCUncorrected: 7})
	})
}
