package store

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// recordedBox is half an hour or so of the made-up box.
func recordedBox(t *testing.T, seed uint64, n int) []profile.Tick {
	t.Helper()
	box := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: capcli.Seed(seed)})
	out := make([]profile.Tick, n)
	for i := range out {
		out[i].At, out[i].Every = noon.Add(time.Duration(i)*time.Second), time.Second
		if err := box.Read(context.Background(), &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// keepFolder writes the ticks that pick picks into a directory in memory.
func keepFolder(t *testing.T, name, host string, ticks []profile.Tick, pick func(i int) bool) Folder {
	t.Helper()
	disk := newMemDisk()
	w := create(t, "all", Options{Host: host, SegmentRows: 200, Disk: disk})
	for i := range ticks {
		if pick == nil || pick(i) {
			if err := w.Write(&ticks[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	shut(t, w)
	return Folder{Name: name, Disk: disk, Root: "all"}
}

func sumUp(t *testing.T, q Query, all ...Folder) *profile.Result {
	t.Helper()
	f := OpenFolders(all)
	z := profile.NewSummarizer(nil)
	last := map[string]profile.Instant{}
	for tick, err := range f.Ticks(q) {
		if err != nil {
			t.Fatal(err)
		}
		if tick.At <= last[tick.Host] {
			t.Fatalf("%s at %v after %v", tick.Host, tick.At, last[tick.Host])
		}
		last[tick.Host] = tick.At
		z.Add(tick.Host, tick.Tick)
	}
	s := z.Summary()
	f.Describe(s)
	return s.Result(nil, nil, time.UTC)
}

// summarised sums up as commands do, from roll-ups where there are some.
func summarised(t *testing.T, all ...Folder) *profile.Result {
	t.Helper()
	for _, d := range all {
		if _, err := Compact(t.Context(), d.Disk, d.Root, CompactOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := OpenFolders(all).Summarise(t.Context(), SummaryRequest{Zone: time.UTC}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return s.Result(nil, nil, time.UTC)
}

// documentWithout gives the document of a result without what it says of folders.
func documentWithout(t *testing.T, r *profile.Result) string {
	t.Helper()
	c := *r
	c.Overlaps, c.SameNames = nil, nil
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTicksOfSeveralFoldersCountOnce: a recording that is scattered over folders, with any part of it
// in several, is summed up as the recording, whatever the order of the folders.
func TestTicksOfSeveralFoldersCountOnce(t *testing.T) {
	ticks := recordedBox(t, 1, 600)
	whole := sumUp(t, Query{}, keepFolder(t, "whole", "box", ticks, nil))
	if len(whole.Overlaps)+len(whole.SameNames) > 0 {
		t.Errorf("one folder: %+v, %+v", whole.Overlaps, whole.SameNames)
	}
	for _, c := range []struct {
		name  string
		parts []func(i int) bool
		ticks int64 // in common
		from  int   // the first of them
		to    int
	}{
		{"a copy", []func(i int) bool{func(int) bool { return true }, func(int) bool { return true }}, 600, 0, 599},
		{"uploads that overlap", []func(i int) bool{func(i int) bool { return i < 400 }, func(i int) bool { return i >= 300 }}, 100, 300, 399},
		{"one after the other", []func(i int) bool{func(i int) bool { return i < 300 }, func(i int) bool { return i >= 300 }}, 0, 0, 0},
		{"in turns", []func(i int) bool{func(i int) bool { return i%2 == 0 }, func(i int) bool { return i%2 == 1 }}, 0, 0, 0},
		{"three", []func(i int) bool{func(i int) bool { return i < 200 }, func(i int) bool { return i >= 200 }, func(i int) bool { return i == 500 }}, 1, 500, 500},
	} {
		var all []Folder
		for i, pick := range c.parts {
			all = append(all, keepFolder(t, c.name+"/"+string(rune('a'+i)), "box", ticks, pick))
		}
		for range 2 {
			got := sumUp(t, Query{}, all...)
			if documentWithout(t, got) != documentWithout(t, whole) {
				t.Errorf("%s:\ngot  %s\nwant %s", c.name, documentWithout(t, got), documentWithout(t, whole))
			}
			n := int64(0)
			for _, o := range got.Overlaps {
				n += o.Ticks
			}
			if n != c.ticks || n > 0 && (got.Overlaps[0].From != ticks[c.from].At.Stamp() || got.Overlaps[0].To != ticks[c.to].At.Stamp() || got.Overlaps[0].Host != "box") {
				t.Errorf("%s: overlaps %+v, want %d ticks from %d to %d", c.name, got.Overlaps, c.ticks, c.from, c.to)
			}
			if c.ticks > 0 && !slices.ContainsFunc(got.Notes(), func(s string) bool { return strings.Contains(s, "count once") }) {
				t.Errorf("%s: no note: %q", c.name, got.Notes())
			}
			slices.Reverse(all)
		}
	}
}

// TestScatteredTicks scatters by chance.
func TestScatteredTicks(t *testing.T) {
	ticks := recordedBox(t, 2, 300)
	r := rand.New(rand.NewPCG(1, 2))
	whole := sumUp(t, Query{}, keepFolder(t, "w", "box", ticks, nil))
	for range 6 {
		in := make([]int, len(ticks)) // bits of the folders
		for i := range in {
			in[i] = 1 + r.IntN(7)
		}
		var all []Folder
		for k := range 3 {
			all = append(all, keepFolder(t, string(rune('a'+k)), "box", ticks, func(i int) bool { return in[i]>>k&1 == 1 }))
		}
		r.Shuffle(3, func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := sumUp(t, Query{}, all...); documentWithout(t, got) != documentWithout(t, whole) {
			t.Fatalf("got  %s\nwant %s", documentWithout(t, got), documentWithout(t, whole))
		}
	}
}

// TestTwoBoxesOfOneName: boxes whose GPUs at the same time are different are different boxes.
func TestTwoBoxesOfOneName(t *testing.T) {
	one, other := recordedBox(t, 1, 120), recordedBox(t, 1, 120)
	devices := map[*profile.Device]*profile.Device{}
	for i := range other { // two hours, of which roll-ups have one whole
		for _, t := range []*profile.Tick{&one[i], &other[i]} {
			t.At, t.Every = noon.Add(time.Duration(i)*time.Minute), time.Minute
		}
		for k := range other[i].Samples {
			d := other[i].Samples[k].Device
			if devices[d] == nil {
				c := *d
				c.UUID = "GPU-other" + c.UUID[8:]
				devices[d] = &c
			}
			other[i].Samples[k].Device = devices[d]
		}
		for k := range other[i].Processes {
			other[i].Processes[k].Device = devices[other[i].Processes[k].Device]
		}
	}
	a, b, c := keepFolder(t, "a", "box", one, nil), keepFolder(t, "b", "box", other, nil), keepFolder(t, "c", "box", other, func(i int) bool { return i > 50 })
	for _, all := range [][]Folder{{a, b, c}, {c, b, a}} {
		r := sumUp(t, Query{}, all...)
		if len(r.GPUs) != 16 || len(r.SameNames) != 1 || !slices.Equal(r.SameNames[0].Names, []string{"box", "box (b)"}) {
			t.Fatalf("%d GPUs, names %+v", len(r.GPUs), r.SameNames)
		}
		for _, g := range r.GPUs {
			if want := 2.0; float64(g.Seen) != want || strings.HasPrefix(g.UUID, "GPU-other") != (g.Host == "box (b)") {
				t.Errorf("%s of %s: %v h", g.UUID, g.Host, g.Seen)
			}
		}
		if got := summarised(t, all...); documentWithout(t, got) != documentWithout(t, r) || len(got.Overlaps) != 1 {
			t.Errorf("summarised, overlaps %+v\ngot  %s\nwant %s", got.Overlaps, documentWithout(t, got), documentWithout(t, r))
		}
		if len(r.Overlaps) != 1 || r.Overlaps[0].Ticks != 69 || r.Overlaps[0].Host != "box (b)" {
			t.Errorf("overlaps %+v", r.Overlaps)
		}
		for host, want := range map[string]int{"box": 16, "box (b)": 8, "b": 0} {
			if got := sumUp(t, Query{Hosts: []string{host}}, all...); len(got.GPUs) != want {
				t.Errorf("host %q: %d GPUs, want %d", host, len(got.GPUs), want)
			}
		}
	}
}

// TestNewGPUsOfABox: a box whose GPUs were changed is one box.
func TestNewGPUsOfABox(t *testing.T) {
	ticks := recordedBox(t, 1, 200)
	fresh := *ticks[0].Samples[0].Device
	fresh.UUID = "GPU-new"
	for i := range ticks {
		if i >= 100 {
			ticks[i].Samples[0].Device = &fresh
			ticks[i].Processes, ticks[i].LookedAtProcesses = nil, false
		}
	}
	a := keepFolder(t, "a", "box", ticks, nil)
	want := sumUp(t, Query{}, a)
	for _, first := range []int{50, 100, 150} {
		b := keepFolder(t, "b"+string(rune('0'+first/50)), "box", ticks, func(i int) bool { return i >= first })
		got := sumUp(t, Query{}, a, b)
		if len(got.SameNames) > 0 || documentWithout(t, got) != documentWithout(t, want) {
			t.Errorf("from %d: names %+v, %d GPUs", first, got.SameNames, len(got.GPUs))
		}
	}
}

// TestTwoRecordersOfOneBox: two recorders of different GPUs of a box are one box, and their ticks at
// one instant one tick.
func TestTwoRecordersOfOneBox(t *testing.T) {
	ticks := recordedBox(t, 1, 120)
	part := func(keepGPU func(i int) bool) []profile.Tick {
		out := make([]profile.Tick, len(ticks))
		for i := range ticks {
			out[i] = ticks[i]
			out[i].Samples, out[i].Processes, out[i].Events = nil, nil, nil
			for _, s := range ticks[i].Samples {
				if keepGPU(s.Device.Index) {
					out[i].Samples = append(out[i].Samples, s)
				}
			}
			for _, p := range ticks[i].Processes {
				if keepGPU(p.Device.Index) {
					out[i].Processes = append(out[i].Processes, p)
				}
			}
		}
		return out
	}
	for i := range ticks {
		ticks[i].Events = nil
	}
	whole := sumUp(t, Query{}, keepFolder(t, "w", "box", ticks, nil))
	got := sumUp(t, Query{}, keepFolder(t, "a", "box", part(func(i int) bool { return i >= 5 }), nil), keepFolder(t, "b", "box", part(func(i int) bool { return i < 6 }), nil))
	if documentWithout(t, got) != documentWithout(t, whole) || len(got.SameNames) > 0 || len(got.Overlaps) != 1 || got.Overlaps[0].Ticks != 120 {
		t.Errorf("names %+v, overlaps %+v\ngot  %s\nwant %s", got.SameNames, got.Overlaps, documentWithout(t, got), documentWithout(t, whole))
	}
}
