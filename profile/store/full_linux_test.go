package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"capcli/profile"
	"capcli/testdata/golden"
)

// On a disk of 32 sizes, a page of memory apart, that fills up: a clear error, nothing that was there
// before is touched, nothing that was acknowledged is lost, and with room again
// all becomes files.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sizes := 32
	if golden.Short() {
		sizes = 8
	}
	for i := range sizes {
		if !t.Run(fmt.Sprint(i), func(t *testing.T) { fullDisk(t, dir, (112+i*(32/sizes)*4)<<10) }) {
			return
		}
	}
}

func fullDisk(t *testing.T, dir string, size int) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("mounting needs more rights: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Fatal(err)
		}
	}()
	b := newBox(8, 8, noon, time.Second)
	w := create(t, dir, Options{})
	old := write(t, w, b, 10)
	shut(t, w)
	w = create(t, dir, Options{SegmentTime: 100 * time.Second, Trouble: func(error) {}})
	var acked []profile.Instant
	var tick profile.Tick
	var fault *DiskError
	for fault == nil && len(acked) < 5000 {
		b.next(&tick)
		switch err := w.Write(&tick); {
		case err == nil:
			acked = append(acked, tick.At)
		case !errors.As(err, &fault):
			t.Fatal(err)
		}
	}
	if fault == nil || !fault.Full {
		t.Fatalf("after %d ticks on %d bytes: %v", len(acked), size, fault)
	}
	b.next(&tick)
	if err := w.Write(&tick); err == nil { // what a retired segment leaves may make room
		acked = append(acked, tick.At)
	}
	if err := w.Close(); err != nil && !errors.As(err, &fault) {
		t.Fatal(err)
	}
	holds(t, dir, old, acked)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	w = create(t, dir, Options{})
	shut(t, w)
	holds(t, dir, old, acked)
	if v := check(t, dir); v.Segments > 0 {
		t.Errorf("%d segments are left", v.Segments)
	}
}

// holds that a directory has the old ticks as they were and all of acked, each once.
func holds(t *testing.T, dir string, old []*profile.Tick, acked []profile.Instant) {
	t.Helper()
	got := readAll(t, dir, Query{})
	if len(got) < len(old)+len(acked) {
		t.Fatalf("%d ticks, want %d and %d", len(got), len(old), len(acked))
	}
	checkSameTicks(t, got[:len(old)], old)
	seen := map[profile.Instant]int{}
	for _, tick := range got {
		seen[tick.At] += len(tick.Samples)
	}
	for _, at := range acked {
		if seen[at] != 8 {
			t.Fatalf("acknowledged tick has %d samples, want 8", seen[at])
		}
	}
}

// A directory that cannot be written is an error at once, not a store that
// keeps nothing.
func TestReadOnlyDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting needs more rights: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	w := create(t, dir, Options{})
	b := newBox(9, 1, noon, time.Second)
	want := write(t, w, b, 10)
	shut(t, w)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, _, err := Create(dir, Options{Host: "box"})
	var fault *DiskError
	if !errors.As(err, &fault) || !errors.Is(err, syscall.EROFS) || fault.Full {
		t.Errorf("got %v", err)
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
}
