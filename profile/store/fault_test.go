package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"capcli/profile"
	"capcli/testdata/golden"
)

// tale writes ticks on a disk that may fail, compacts now and then, and tells
// which ticks were acknowledged. wait is called after each.
func tale(d Disk, n int, wait func()) (acked []profile.Instant, errs []error) {
	w, _, err := Create("dir", Options{Disk: d, Host: "box", SegmentTime: 6 * time.Second, Trouble: func(error) {}})
	if err != nil {
		return nil, []error{err}
	}
	b := newBox(4, 1, noon, time.Second)
	var tick profile.Tick
	for i := range n {
		b.next(&tick)
		if err := w.Write(&tick); err != nil {
			errs = append(errs, err)
		} else {
			acked = append(acked, tick.At)
		}
		wait()
		if i%12 == 11 {
			if _, err := Compact(context.Background(), d, "dir", CompactOptions{}); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		errs = append(errs, err)
	}
	return acked, errs
}

// recovered opens the store again on a disk that is well, and gives all ticks.
func recovered(t *testing.T, d *memDisk) map[profile.Instant]int {
	t.Helper()
	got := readMem(t, d)
	w, _, err := Create("dir", Options{Disk: d, Host: "box", Trouble: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again := readMem(t, d)
	if len(again) != len(got) {
		t.Errorf("%d ticks before recovery, %d after", len(got), len(again))
	}
	if _, err := Compact(context.Background(), d, "dir", CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(d, "dir")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		t.Errorf("verify: %v", p)
	}
	for _, n := range v.Notes {
		t.Errorf("verify: %v", n)
	}
	if v.Segments > 0 {
		t.Errorf("%d segments are left", v.Segments)
	}
	compacted := readMem(t, d)
	if int(v.Rows["samples"]) != len(compacted) || len(compacted) != len(got) {
		t.Errorf("%d rows of samples, %d ticks, %d before compaction", v.Rows["samples"], len(compacted), len(got))
	}
	return compacted
}

func readMem(t *testing.T, d Disk) map[profile.Instant]int {
	t.Helper()
	got := map[profile.Instant]int{}
	last := profile.Instant(0)
	for tick, err := range OpenDir(d, "dir").Ticks(Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if tick.At <= last {
			t.Fatalf("tick of %d after that of %d", tick.At, last)
		}
		last = tick.At
		got[tick.At] += len(tick.Samples)
	}
	return got
}

// stride tries each call, or in short runs every third.
func stride() int {
	if golden.Short() {
		return 3
	}
	return 1
}

func calls(t *testing.T, n int) int {
	t.Helper()
	d := newMemDisk()
	if _, errs := tale(d, n, func() {}); len(errs) > 0 {
		t.Fatal(errs)
	}
	return d.calls
}

// Whichever call fails, once or from then on, by a full disk: every tick that was
// acknowledged is there, once; and the failure was told.
func TestEveryCallThatFails(t *testing.T) {
	golden.SkipLong(t)
	t.Parallel()
	const n = 24
	all := calls(t, n)
	for at := 1; at <= all; at += stride() {
		for _, forever := range []bool{false, true} {
			d := newMemDisk()
			d.failAt, d.forever, d.fault, d.half = at, forever, errFull, at%2 == 0
			acked, errs := tale(d, n, func() {})
			for _, err := range errs {
				var disk *DiskError
				if !errors.As(err, &disk) || !disk.Full {
					t.Fatalf("call %d: %v", at, err)
				}
			}
			if forever && len(errs) == 0 && at < all/2 {
				t.Fatalf("call %d and all after failed: nobody was told", at)
			}
			checkWithin(t, fmt.Sprintf("call %d, forever %v", at, forever), d.diskAfterLoss(false), acked)
		}
	}
}

// within holds that a disk has all of acked, and each once.
func checkWithin(t *testing.T, what string, d *memDisk, acked []profile.Instant) {
	t.Helper()
	got := recovered(t, d)
	for _, at := range acked {
		if got[at] != 1 {
			t.Fatalf("%s: an acknowledged tick is there %d times", what, got[at])
		}
	}
	if t.Failed() {
		t.Fatal(what)
	}
}

// Whichever call is the last before the program is killed: the same.
func TestKilledAtEveryCall(t *testing.T) {
	golden.SkipLong(t)
	t.Parallel()
	const n = 24
	for at, all := 1, calls(t, n); at <= all; at += stride() {
		d := newMemDisk()
		d.failAt, d.forever, d.fault, d.half = at, true, errCrashed, at%2 == 0
		acked, _ := tale(d, n, func() {})
		checkWithin(t, fmt.Sprintf("killed at call %d", at), d.diskAfterLoss(false), acked)
	}
}

// Whichever call is the last before the power goes: all that was synced is
// there. Here each tick is, before the next one comes.
func TestPowerLostAtEveryCall(t *testing.T) {
	golden.SkipLong(t)
	t.Parallel()
	const n = 24
	for at, all := 1, calls(t, n); at <= all; at += stride() {
		d := newMemDisk()
		d.failAt, d.forever, d.fault = at, true, errCrashed
		acked, _ := tale(d, n, func() {
			for !d.synced() {
				runtime.Gosched()
			}
		})
		d = d.diskAfterLoss(true)
		got := readMem(t, d)
		for i, tick := range acked {
			if got[tick] != 1 && i < len(acked)-1 {
				t.Fatalf("power lost at call %d: tick %d of %d is gone", at, i, len(acked))
			}
		}
		checkWithin(t, fmt.Sprintf("power lost at call %d", at), d, nil)
	}
}
