package store

import (
	"context"
	"testing"
	"time"

	"capcli/profile"
)

// fakeTicks gives ticks of the made-up box.
func fakeTicks(n int, every time.Duration) []*profile.Tick {
	f := profile.NewFake(profile.SourceOptions{Every: every, Processes: 5 * time.Second, Seed: 1})
	all := make([]*profile.Tick, n)
	for i := range all {
		t := &profile.Tick{At: noon.Add(time.Duration(i) * every), Elapsed: time.Duration(i) * every, Every: every, Took: 3 * time.Millisecond}
		if err := f.Read(context.Background(), t); err != nil {
			panic(err)
		}
		all[i] = t
	}
	return all
}

// BenchmarkWriteTick is what a tick of eight GPUs costs in the log.
func BenchmarkWriteTick(b *testing.B) {
	all := fakeTicks(600, time.Second)
	w, _, err := Create(b.TempDir(), Options{Host: "box", SegmentTime: 1 << 60, SegmentBytes: 1 << 40, SegmentRows: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	size, n := 0, 0
	var t profile.Tick
	for b.Loop() {
		t = *all[n%len(all)]
		t.At = noon + profile.Instant(n)*1000
		if err := w.Write(&t); err != nil {
			b.Fatal(err)
		}
		size += len(w.buf)
		n++
	}
	b.ReportMetric(float64(size)/float64(n), "B/tick")
}

// BenchmarkConvert makes the files of ten minutes of eight GPUs.
func BenchmarkConvert(b *testing.B) {
	d := newMemDisk()
	w, _, err := Create("dir", Options{Disk: d, Host: "box"})
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range fakeTicks(600, time.Second) {
		if err := w.Write(t); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c := d.after(false)
		l, err := list(c, "dir", "box")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.convert(1, ""); err != nil {
			b.Fatal(err)
		}
	}
}
