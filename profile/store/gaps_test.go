package store

import (
	"testing"
	"time"

	"capcli/profile"
)

// Ticks lost to the disk, and a source that failed meanwhile: the time is in one gap, whoever tells it.
func TestGapOfTheDiskAndOfTheSource(t *testing.T) {
	d := newMemDisk()
	d.fault = errCrashed
	w, _, err := Create("dir", Options{Disk: d, Host: "box", Trouble: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(2, 1, noon, time.Second)
	var tick profile.Tick
	put := func(fails bool, more ...profile.Event) profile.Instant {
		t.Helper()
		b.next(&tick)
		tick.Events = append(tick.Events, more...)
		d.mu.Lock()
		d.failAt, d.forever = 0, fails
		if fails {
			d.failAt = d.calls + 1
		}
		d.mu.Unlock()
		if err := w.Write(&tick); (err != nil) != fails {
			t.Fatalf("write: %v", err)
		}
		return tick.At
	}
	first := put(false)
	put(false)
	for range 3 {
		put(true)
	}
	from := b.at
	b.at += 20e6 // the source fails for 20 s, which the next tick tells
	gap := profile.Event{At: from, Kind: profile.Gap, Value: 20e6, Text: "20 ticks missed"}
	put(false, gap)
	last := put(false)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z := profile.NewSummarizer(nil)
	for got, err := range OpenDir(d, "dir").Ticks(Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		z.Add("box", got.Tick)
	}
	sum, passed := z.Summary(), int64(last-first)+1e6
	for _, u := range sum.Devices {
		if u.Use.Seen+sum.Gaps != passed || sum.Gaps < 22e6 {
			t.Errorf("%s: seen %d µs and gaps of %d µs in %d µs", u.Device.UUID, u.Use.Seen, sum.Gaps, passed)
		}
	}
}
