package store

import (
	"context"
	"os"
	"testing"
	"time"

	"capcli/profile"
	"capcli/testdata/golden"
)

// bytesOn gives the bytes of all files of a directory, by the first word of their names.
func bytesOn(t testing.TB, dir string) (all int64) {
	t.Helper()
	l, err := list(System{}, dir, "box")
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.pieces {
		info, err := os.Stat(dir + "/" + l.pieces[i].path())
		if err != nil {
			t.Fatal(err)
		}
		all += info.Size()
		t.Logf("%s %d", l.pieces[i].name, info.Size())
	}
	return all
}

// Twelve bytes are the most that a GPU-sample may take on disk once compacted,
// with all that belongs to it: ticks, processes, events, footers.
func TestBytesPerSample(t *testing.T) {
	golden.SkipLong(t)
	hours := 6
	if golden.Short() {
		hours = 2
	}
	dir := t.TempDir()
	w := create(t, dir, Options{})
	b := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 1})
	tick := profile.Tick{At: noon - 9*3600e6}
	var log int64
	for i := range hours * 3600 {
		at := tick.At.Add(time.Second + time.Duration(i%7)*time.Microsecond)
		tick.Reset()
		tick.At, tick.Elapsed, tick.Every = at, time.Duration(i)*time.Second, time.Second
		if err := b.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		tick.Took = time.Duration(3000+i*7919%600) * time.Microsecond
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
		log += int64(len(w.buf))
	}
	shut(t, w)
	samples := float64(hours * 3600 * 8)
	before := float64(bytesOn(t, dir)) / samples
	if _, err := Compact(context.Background(), nil, dir, CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	after := float64(bytesOn(t, dir)) / samples
	t.Logf("a GPU-sample: %.1f bytes in the log, %.2f in files of ten minutes, %.2f compacted", float64(log)/samples, before, after)
	if after > 12 {
		t.Errorf("%.2f bytes a GPU-sample, the mark is 12", after)
	}
}
