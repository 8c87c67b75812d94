package store

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

const noon = profile.Instant(1_795_521_600_000_000) // 2026-11-24T12:00:00Z

// keptPart gives t as it must come back: in the order and resolution of the store.
func keptPart(t *profile.Tick) *profile.Tick {
	c := *t
	c.Elapsed, c.Every, c.Took = c.Elapsed.Truncate(time.Microsecond), c.Every.Truncate(time.Microsecond), c.Took.Truncate(time.Microsecond)
	c.Samples, c.Processes, c.Events = slices.Clone(t.Samples), slices.Clone(t.Processes), slices.Clone(t.Events)
	for i := range c.Samples {
		s := &c.Samples[i]
		d := *s.Device
		s.Device = &d
		for m := range profile.NumMetrics {
			if v, ok := s.Get(m); ok {
				step := profile.Metrics[m].Step
				s.Set(m, math.Round(v/step)*step)
			}
		}
	}
	for i := range c.Processes {
		d := *c.Processes[i].Device
		c.Processes[i].Device = &d
	}
	keepSurroundings(&c, t)
	return &c
}

// keepSurroundings sets what c has of the box, of jobs' processes and of programs to that of t, in
// the order of the store.
func keepSurroundings(c, t *profile.Tick) {
	c.Groups, c.Readings = slices.Clone(t.Groups), slices.Clone(t.Readings)
	slices.SortFunc(c.Groups, func(a, b profile.GroupSample) int { return compareOwners(a.Owner, b.Owner) })
	for i := range c.Readings {
		if r := &c.Readings[i]; r.Device != nil {
			d := *r.Device
			r.Device = &d
		}
	}
	slices.SortStableFunc(c.Readings, func(a, b profile.Reading) int {
		of := func(r profile.Reading) string {
			if r.Device == nil {
				return ""
			}
			return r.Device.UUID
		}
		return cmp.Or(compareOwners(a.Owner, b.Owner), cmp.Compare(of(a), of(b)), cmp.Compare(a.Name, b.Name))
	})
}

func compareOwners(a, b profile.Owner) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod),
		cmp.Compare(a.Container, b.Container), cmp.Compare(a.User, b.User))
}

func write(t *testing.T, w *Writer, b *box, n int) []*profile.Tick {
	t.Helper()
	var all []*profile.Tick
	var tick profile.Tick
	for range n {
		b.next(&tick)
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
		all = append(all, keptPart(&tick))
	}
	return all
}

func create(t *testing.T, dir string, o Options) *Writer {
	t.Helper()
	if o.Host == "" {
		o.Host = "box"
	}
	if o.Trouble == nil {
		o.Trouble = func(err error) { t.Error(err) }
	}
	w, _, err := Create(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func shut(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, dir string, q Query) []*profile.Tick {
	t.Helper()
	var all []*profile.Tick
	for tick, err := range OpenDir(nil, dir).Ticks(q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keptPart(tick.Tick))
	}
	return all
}

// same compares ticks, but for the events that the store itself adds to the first.
func checkSameTicks(t *testing.T, got, want []*profile.Tick) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d ticks, want %d", len(got), len(want))
	}
	for i := range want {
		g, w := *got[i], *want[i]
		if len(g.Samples) == 0 && len(w.Samples) == 0 {
			g.Samples = w.Samples
		}
		if len(g.Processes) == 0 && len(w.Processes) == 0 {
			g.Processes = w.Processes
		}
		if len(g.Events) == 0 && len(w.Events) == 0 {
			g.Events = w.Events
		}
		if len(g.Groups) == 0 && len(w.Groups) == 0 {
			g.Groups = w.Groups
		}
		if len(g.Readings) == 0 && len(w.Readings) == 0 {
			g.Readings = w.Readings
		}
		if !reflect.DeepEqual(g, w) {
			t.Fatalf("tick %d:\n got %+v\nwant %+v", i, g, w)
		}
	}
}

func check(t *testing.T, dir string) *Verified {
	t.Helper()
	v, err := Verify(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		t.Errorf("verify: %v", p)
	}
	return v
}

func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{SegmentTime: time.Minute})
	b := newBox(1, 3, noon, time.Second)
	want := write(t, w, b, 150)
	checkSameTicks(t, readAll(t, dir, Query{}), want) // files and segments
	shut(t, w)
	if left := files(t, dir, ".wal/*/*.wal"); len(left) > 0 {
		t.Errorf("segments are left: %v", left)
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	if n := len(files(t, dir, "date=2026-11-24/host=box/samples-*.parquet")); n != 3 {
		t.Errorf("%d files of samples, want 3", n)
	}
	if v := check(t, dir); v.Rows["samples"] != 450 || v.Rows["ticks"] != 150 || v.Rows["processes"] == 0 ||
		v.Rows["hosts"] != 150 || v.Rows["groups"] != 60 || v.Rows["readings"] != 120 {
		t.Errorf("verify counts %+v", v.Rows)
	}
	done, err := Compact(context.Background(), nil, dir, CompactOptions{})
	if err != nil || done.Into != 6 {
		t.Fatalf("compacted %+v, %v", done, err)
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
	if n := len(files(t, dir, "date=*/host=box/*.parquet")); n != 9 { // with three roll-ups
		t.Errorf("%d files, want 9", n)
	}
}

func TestQuery(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{SegmentTime: time.Minute})
	b := newBox(1, 3, noon, time.Second)
	want := write(t, w, b, 150)
	got := readAll(t, dir, Query{From: want[50].At, To: want[100].At, Devices: []string{b.devices[1].UUID}, SamplesOnly: true})
	shut(t, w)
	if len(got) != 50 || got[0].At != want[50].At || got[49].At != want[99].At {
		t.Fatalf("%d ticks", len(got))
	}
	for _, tick := range got {
		if len(tick.Samples) != 1 || tick.Samples[0].Device.Index != 1 || len(tick.Processes) > 0 || tick.LookedAtHost || len(tick.Groups)+len(tick.Readings) > 0 {
			t.Fatalf("got %+v", tick)
		}
	}
	for _, tick := range readAll(t, dir, Query{DevicesOnly: true}) {
		if tick.LookedAtProcesses != (len(tick.Processes) > 0) || tick.LookedAtHost || len(tick.Groups)+len(tick.Readings) > 0 {
			t.Fatalf("got %+v", tick)
		}
	}
	if got := readAll(t, dir, Query{Hosts: []string{"other"}}); len(got) > 0 {
		t.Errorf("%d ticks of another host", len(got))
	}
	if got := readAll(t, dir, Query{From: want[149].At + 1}); len(got) > 0 {
		t.Errorf("%d ticks after the last", len(got))
	}
}

// A tick is kept under the day of its instant, and the clock may go back.
func TestMidnightAndClockBack(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	b := newBox(2, 2, noon+12*3600e6-20e6, time.Second)
	want := write(t, w, b, 40)
	b.at -= 30e6
	want = append(want, write(t, w, b, 40)...)
	shut(t, w)
	slices.SortStableFunc(want, func(a, b *profile.Tick) int { return int(a.At - b.At) })
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
	for _, day := range []string{"date=2026-11-24", "date=2026-11-25"} {
		if n := len(files(t, dir, day+"/host=box/samples-*.parquet")); n != 2 {
			t.Errorf("%s: %d files of samples, want 2", day, n)
		}
	}
	if _, err := Compact(context.Background(), nil, dir, CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
}

func TestReasonsAndOddValuesComeBack(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	gpu := &profile.Device{Index: 0, UUID: "GPU-a", Model: "x", GI: -1, CI: -1}
	mig := &profile.Device{Index: 0, UUID: "MIG-b", Model: "x", Parent: "GPU-a", Profile: "1g.10gb", GI: 7, CI: 0}
	var want []*profile.Tick
	for i := range 30 {
		tick := &profile.Tick{At: noon + profile.Instant(i)*1e6, Elapsed: time.Duration(i) * time.Second, Every: time.Second, LookedAtProcesses: i%2 == 0}
		for r := range numReasons {
			s := tick.NextSample(gpu)
			if r%2 == 1 {
				s.Device = mig
			}
			for m := range profile.NumMetrics {
				if why := (r + profile.Reason(i) + profile.Reason(m)) % numReasons; why == profile.Known {
					s.Set(m, float64(i)*float64(m)*1000)
				} else {
					s.Miss(m, why)
				}
			}
			if r == 1 {
				break
			}
		}
		tick.Processes = []profile.Process{
			{Device: gpu, PID: int64(i / 10), User: "änne", Command: "a;b=c\x00", MemWhy: profile.UnderMIG, SMWhy: profile.First, Start: noon.Second()},
			{Device: mig, PID: 1 << 40, Job: strings.Repeat("j", maxText), MemBytes: 5, SMPct: 12.5, Start: -1 << 63},
		}
		tick.Events = []profile.Event{{At: tick.At - 5, Kind: profile.Xid, Device: "GPU-a", Value: 79, Text: "fell off"}, {At: tick.At, Kind: "to come"}}
		if err := w.Write(tick); err != nil {
			t.Fatal(err)
		}
		want = append(want, keptPart(tick))
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	shut(t, w)
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
}

func TestDeviceTwiceIsRefused(t *testing.T) {
	w := create(t, t.TempDir(), Options{})
	defer w.Close()
	d := &profile.Device{UUID: "GPU-a", GI: -1, CI: -1}
	tick := &profile.Tick{At: noon}
	tick.NextSample(d)
	tick.NextSample(d)
	if err := w.Write(tick); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("got %v", err)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{Holder: "pid 4711"})
	_, _, err := Create(dir, Options{Host: "box"})
	var held *lockedError
	if !errors.As(err, &held) || held.Holder != "pid 4711" {
		t.Errorf("got %v", err)
	}
	other := create(t, dir, Options{Host: "other"})
	shut(t, other)
	shut(t, w)
	shut(t, create(t, dir, Options{}))
}

// A gap between runs is an event and nothing else.
func TestGapBetweenRuns(t *testing.T) {
	dir := t.TempDir()
	b := newBox(3, 1, noon, time.Second)
	w := create(t, dir, Options{})
	write(t, w, b, 5)
	shut(t, w)
	b.at += 600e6
	w = create(t, dir, Options{})
	want := write(t, w, b, 5)
	shut(t, w)
	got := readAll(t, dir, Query{})
	if len(got) != 10 || len(got[5].Events) != 1 {
		t.Fatalf("%d ticks", len(got))
	}
	e := got[5].Events[0]
	if e.Kind != profile.Gap || e.At != got[4].At || e.Value != int64(want[0].At-got[4].At)-want[0].Every.Microseconds() {
		t.Errorf("got %+v", e)
	}
	// What samples stand for and the gap are the time that passed.
	z := profile.NewSummarizer(nil)
	for _, tick := range got {
		z.Add("box", tick)
	}
	sum := z.Summary()
	passed := int64(got[9].At-got[0].At) + want[0].Every.Microseconds()
	for _, d := range sum.Devices {
		if d.Use.Seen+sum.Gaps != passed {
			t.Errorf("%s: seen %d µs and gaps of %d µs in %d µs", d.Device.UUID, d.Use.Seen, sum.Gaps, passed)
		}
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("CAPCLI_STORE_CHILD") != "" {
		child()
		return
	}
	os.Exit(m.Run())
}
