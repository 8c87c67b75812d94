package store

import (
	"context"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
)

// A segment of a version that knew devices, processes and events only reads as it did.
func TestSegmentOfDevicesOnly(t *testing.T) {
	b, err := os.ReadFile("testdata/devices-only.wal")
	if err != nil {
		t.Fatal(err)
	}
	r, ok := newReplay(b)
	if !ok {
		t.Fatal("its header is not sound")
	}
	made := newBox(6, 2, noon, time.Second)
	var got, want profile.Tick
	n, looked := 0, 0
	for ; r.nextTick(&got); n++ {
		if len(got.Samples) != 2 || got.LookedAtHost || len(got.Groups)+len(got.Readings) > 0 {
			t.Fatalf("tick %d: %+v", n, got)
		}
		if n == 0 {
			made.next(&want)
			if s, w := got.Samples[1], want.Samples[1]; s.Values != w.Values && s.Device.UUID != w.Device.UUID {
				t.Errorf("got %+v, want %+v", s, w)
			}
		}
		if got.LookedAtProcesses {
			looked++
		}
	}
	if bytes, _ := r.rest(); n != 7 || looked != 2 || bytes != 0 {
		t.Errorf("%d ticks, %d with processes, %d bytes are left", n, looked, bytes)
	}
}

// A tick may have groups and readings of which earlier ones had none, of devices that have no
// samples, with figures that are missing or beyond the resolution; each comes back.
func TestSurroundingsComeBack(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{SegmentTime: 20 * time.Second})
	gpu := &profile.Device{Index: 3, UUID: "GPU-c", Model: "x", GI: -1, CI: -1, PeakPCIeMiBPerS: 30000, PeakNVLinkMiBPerS: 0.5}
	var want []*profile.Tick
	for i := range 60 {
		tick := &profile.Tick{At: noon + profile.Instant(i)*1e6, Elapsed: time.Duration(i) * time.Second, Every: time.Second}
		if i%4 > 0 {
			tick.LookedAtHost = true
			for m := range profile.NumHostMetrics {
				if tick.Host.Miss(m, profile.Reason(i+int(m))%numReasons); tick.Host.Why[m] == profile.Known {
					tick.Host.Set(m, float64(i*int(m))*1e6)
				}
			}
		}
		for k := range i % 3 {
			g := tick.NextGroup(profile.Owner{Job: strings.Repeat("7", 1+(i+k)%4), Pod: "päd"})
			for m := range profile.NumGroupMetrics {
				if m != profile.GroupMetric(i)%profile.NumGroupMetrics {
					g.Set(m, float64(1+i*int(m))*0.125)
				}
			}
		}
		if i%2 == 1 {
			tick.NextSample(gpu).Set(profile.UtilGPU, 5)
			tick.Readings = []profile.Reading{
				{Owner: profile.Owner{User: "ana"}, Device: gpu, Name: "mfu_pct", Value: 41.25}, {Name: "loss", Value: -1.0 / float64(i)}, {Name: "grad_norm", Value: 1e300},
			}
		}
		if err := w.Write(tick); err != nil {
			t.Fatal(err)
		}
		want = append(want, keptPart(tick))
	}
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	shut(t, w)
	checkSameTicks(t, readAll(t, dir, Query{}), want)
	check(t, dir)
	for _, tick := range readAll(t, dir, Query{Devices: []string{"GPU-other"}}) {
		if slices.ContainsFunc(tick.Readings, func(r profile.Reading) bool { return r.Device != nil }) {
			t.Fatalf("readings of another device: %+v", tick.Readings)
		}
	}
}

// A recording that is played again has all that was recorded.
func TestReplayHasSurroundings(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	want := write(t, w, newBox(4, 2, noon, time.Second), 12)
	shut(t, w)
	s, err := replayJournal(nil, profile.SourceOptions{Where: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []*profile.Tick
	var tick profile.Tick
	for {
		tick.Reset()
		if err := s.Read(context.Background(), &tick); err != nil {
			break
		}
		got = append(got, keptPart(&tick))
	}
	checkSameTicks(t, got, want)
}

// What is not a number is no reading.
func TestReadingsAreNumbers(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	for i, v := range []float64{1, math.NaN(), math.Inf(1), 2} {
		if err := w.Write(&profile.Tick{At: noon + profile.Instant(i), Readings: []profile.Reading{{Name: "x", Value: v}}}); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, w)
	var got []float64
	for _, tick := range readAll(t, dir, Query{}) {
		for _, r := range tick.Readings {
			got = append(got, r.Value)
		}
	}
	if !reflect.DeepEqual(got, []float64{1, 2}) {
		t.Errorf("got %v", got)
	}
}

// Many owners and names end a segment, so that its memory stays bounded.
func TestManyOwners(t *testing.T) {
	e := newEncoder(nil, noon)
	var tick profile.Tick
	n := 0
	for ; e.knows(&tick) && n <= maxKnown; n++ {
		tick.Reset()
		tick.At = noon
		tick.Readings = append(tick.Readings, profile.Reading{Owner: profile.Owner{Job: string(rune(n + 0x20000))}, Name: "x"})
		if _, err := e.tick(nil, &tick, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n > maxKnown {
		t.Errorf("%d owners in a segment, the limit is %d", n, maxKnown)
	}
}

// A tick with the figures of the box, of jobs and of programs allocates nothing once each has
// occurred.
func TestSurroundingsAllocateNothing(t *testing.T) {
	b := newBox(3, 8, noon, time.Second)
	var ticks [20]profile.Tick
	for i := range ticks {
		b.next(&ticks[i])
		ticks[i].Processes = nil
	}
	e := newEncoder(devicesOf(&ticks[0]), noon)
	var buf []byte
	i := 0
	write := func() {
		var err error
		if buf, err = e.tick(buf[:0], &ticks[i%len(ticks)], nil); err != nil {
			t.Fatal(err)
		}
		i++
	}
	for range 2 * len(ticks) {
		write()
	}
	if n := testing.AllocsPerRun(100, write); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
}
