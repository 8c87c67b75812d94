package upkeep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/store"
	"capcli/testdata/golden"
)

// On a disk that fills up: while old days may be removed no tick is lost; while they are not uploaded
// none of them is removed and the recording goes on, with a log and a message.
func TestRetentionOnAFillingDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("free to go", func(t *testing.T) { fillDisk(t, dir, "") })
	if golden.Short() {
		return
	}
	t.Run("not uploaded", func(t *testing.T) { fillDisk(t, dir, "s3://nowhere") })
}

func fillDisk(t *testing.T, dir, bucket string) {
	const size = 1 << 20
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting needs more rights: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	room := func() (int64, int64, bool) {
		var s syscall.Statfs_t
		err := syscall.Statfs(dir, &s)
		return int64(s.Bavail) * s.Bsize, size, err == nil
	}
	said := &notes{}
	var k *Keeper
	w, _, err := store.Create(dir, store.Options{Host: "box", SegmentTime: 6 * time.Hour, Trouble: func(err error) { k.Trouble(err) }})
	if err != nil {
		t.Fatal(err)
	}
	keep, err := store.ParseKeep("1000d")
	if err != nil {
		t.Fatal(err)
	}
	k = &Keeper{Sink: w, Host: "box", Prunes: true, Room: room, Note: said.note, Run: func(today profile.Instant, full bool) (*Result, error) {
		r := Request{Dir: dir, Today: today, Before: today, Compact: true, Keep: keep, MakeRoom: full}
		if bucket != "" { // the upload always fails
			u := &store.Upload{Host: "box", Box: "b", To: bucket}
			if err := u.Write(store.System{}, dir); err != nil {
				said.note(err.Error())
			}
		}
		return Run(t.Context(), r, Sources{Room: room})
	}}
	src := profile.NewFake(profile.SourceOptions{Every: time.Second, Seed: 3})
	var tick profile.Tick
	lost, ticks, days := 0, 0, 36
	last := map[int]int{}
	for day := range days {
		for i := range 36 {
			tick.Reset()
			at := time.Duration(day)*24*time.Hour + time.Duration(i)*40*time.Minute
			tick.At, tick.Elapsed, tick.Every = noon.Add(at-12*time.Hour), at, 40*time.Minute
			if err := src.Read(t.Context(), &tick); err != nil {
				t.Fatal(err)
			}
			if err := k.Write(&tick); err != nil {
				t.Fatalf("the recording ended: %v", err)
			}
			k.wg.Wait()
			if k.full {
				lost++
			} else {
				last[day]++
			}
			ticks++
		}
	}
	if err := k.Close(); err != nil {
		var disk *store.DiskError
		if !errors.As(err, &disk) || !disk.Full {
			t.Fatal(err)
		}
	}
	got := map[int]int{}
	for tick, err := range store.OpenDir(nil, dir).Ticks(store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(tick.Samples) > 0 {
			got[int((tick.At-noon+12*3600e6)/usPerDay)]++
		}
	}
	t.Logf("%d of %d ticks lost; days %v", lost, ticks, got)
	for day := range days {
		switch {
		case got[day] != last[day] && (bucket != "" || got[day] > 0):
			t.Errorf("day %d has %d ticks of %d", day, got[day], last[day])
		case bucket == "" && day >= days-2 && got[day] == 0:
			t.Errorf("day %d is gone", day)
		}
	}
	if bucket == "" && (lost > 0 || got[0] > 0) {
		t.Errorf("%d ticks lost, %d of the first day kept: %s", lost, got[0], said)
	}
	if bucket != "" && (lost == 0 || !strings.Contains(said.String(), "not uploaded to s3://nowhere yet")) {
		t.Errorf("%d ticks lost: %s", lost, said)
	}
}
