package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/testdata/golden"
)

// drawnBox makes up a recording of a box with all that befalls one: gaps, times when processes are
// not looked at, several jobs on a GPU, MIG instances that come and go, drivers that change, and a
// clock that is set.
type drawnBox struct {
	rng     *rand.Rand
	at      profile.Instant
	every   time.Duration
	devices []*profile.Device
	energy  []float64
	jobs    [][]profile.Process
	sleep   int // ticks for which no processes are looked at
	counter bool
}

func newDrawnBox(seed uint64, at profile.Instant) *drawnBox {
	d := &drawnBox{rng: capcli.Seed(seed).Stream("drawn box"), at: at, counter: true}
	d.every = []time.Duration{20 * time.Second, time.Minute, 7 * time.Second}[d.rng.IntN(3)]
	d.change()
	return d
}

// change draws the devices anew: some are MIG instances.
func (d *drawnBox) change() {
	d.devices = nil
	for i := range 2 {
		g := &profile.Device{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Model: "NVIDIA H100 80GB HBM3", Driver: fmt.Sprint(500 + d.rng.IntN(2)), GI: -1, CI: -1, SMs: 132}
		d.devices = append(d.devices, g)
		for k := range d.rng.IntN(2) * 2 {
			d.devices = append(d.devices, &profile.Device{Index: i, UUID: fmt.Sprintf("MIG-%d-%d", i, k), Model: g.Model, Driver: g.Driver, Parent: g.UUID, Profile: "3g.40gb", GI: k, CI: 0})
		}
	}
	d.energy = make([]float64, len(d.devices))
	d.jobs = make([][]profile.Process, len(d.devices))
}

// hold draws who holds a device.
func (d *drawnBox) hold(i int) {
	d.jobs[i] = nil
	for range d.rng.IntN(4) {
		p := profile.Process{Device: d.devices[i], PID: int64(100 + d.rng.IntN(5)), User: "ana", Command: fmt.Sprint("run ", d.rng.IntN(3)), Kind: "compute"}
		switch d.rng.IntN(3) {
		case 0:
			p.Job = fmt.Sprint(d.rng.IntN(4))
		case 1:
			p.Pod, p.Namespace = fmt.Sprint("pod-", d.rng.IntN(4)), "lab"
		default:
		}
		d.jobs[i] = append(d.jobs[i], p)
	}
}

func (d *drawnBox) next(t *profile.Tick) {
	t.Reset()
	d.at = d.at.Add(d.every + time.Duration(d.rng.IntN(2000))*time.Microsecond)
	switch d.rng.IntN(1500) {
	case 0:
		d.at = d.at.Add(time.Duration(d.rng.IntN(10_000)) * time.Second)
		t.Events = append(t.Events, profile.Event{At: d.at, Kind: profile.Gap, Value: int64(d.rng.IntN(1e9))})
	case 1:
		d.at = d.at.Add(-time.Duration(d.rng.IntN(4000)) * time.Second)
		t.Events = append(t.Events, profile.Event{At: d.at, Kind: profile.ClockJump, Value: -1})
	case 2:
		d.change()
	case 3:
		d.sleep = d.rng.IntN(2000)
	case 4:
		d.counter = !d.counter
	default:
	}
	t.At, t.Every = d.at, d.every
	if d.rng.IntN(4) == 0 {
		t.LookedAtHost = true
		t.Host.Set(profile.IOPressure, 100*d.rng.Float64())
		t.Host.Set(profile.NetRx, 9000*d.rng.Float64())
		g := t.NextGroup(profile.Owner{Job: fmt.Sprint(d.rng.IntN(4))})
		g.Set(profile.GroupIOWait, 100*d.rng.Float64())
	}
	for i, dev := range d.devices {
		if d.rng.IntN(80) == 0 {
			d.hold(i)
		}
		d.energy[i] += d.every.Seconds() * 300 * d.rng.Float64()
		if d.rng.IntN(400) == 0 {
			continue // it is lost for a moment
		}
		d.sample(t.NextSample(dev), i)
	}
	if d.rng.IntN(3) == 0 {
		t.Readings = append(t.Readings, profile.Reading{Owner: profile.Owner{Job: fmt.Sprint(d.rng.IntN(4))}, Name: "tokens_per_s", Value: 1000 * d.rng.Float64()})
		t.Readings = append(t.Readings, profile.Reading{Device: d.devices[d.rng.IntN(len(d.devices))], Name: "step_s", Value: d.rng.Float64()})
	}
	if d.sleep--; d.sleep < 0 && d.rng.IntN(3) == 0 {
		t.LookedAtProcesses = true
		for i := range d.jobs {
			t.Processes = append(t.Processes, d.jobs[i]...)
		}
	}
}

func (d *drawnBox) sample(s *profile.Sample, i int) {
	busy := 100 * d.rng.Float64() * float64(d.rng.IntN(2))
	s.Set(profile.UtilGPU, busy)
	s.Set(profile.SMActive, busy*0.8)
	s.Set(profile.DRAMActive, busy*0.4)
	s.Set(profile.Power, 70+busy*5)
	s.Set(profile.MemUsed, 8e10*d.rng.Float64())
	s.Set(profile.MemTotal, 8e10)
	s.Set(profile.PCIeRx, busy*11)
	s.Set(profile.ThrottlePower, d.energy[i]/7)
	s.Set(profile.Throttle, float64(4*d.rng.IntN(2)))
	if d.counter {
		s.Set(profile.Energy, d.energy[i])
	}
}

// record writes n ticks of the box to a directory.
func (d *drawnBox) record(t *testing.T, disk Disk, root, host string, n int) {
	t.Helper()
	w := create(t, root, Options{Disk: disk, Host: host, SegmentTime: 3 * time.Hour})
	var tick profile.Tick
	for range n {
		d.next(&tick)
		if len(tick.Samples) == 0 {
			continue
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// document is the summary that a command prints.
func document(t *testing.T, f *Folders, r SummaryRequest) string {
	t.Helper()
	s, err := f.Summarise(context.Background(), r, func(_, _ int64) {})
	if err != nil {
		t.Fatal(err)
	}
	zone := r.Zone
	if zone == nil {
		zone = time.UTC
	}
	b, err := json.MarshalIndent(s.Result(nil, nil, zone), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func checkSameDocument(t *testing.T, f *Folders, r SummaryRequest) {
	t.Helper()
	got := document(t, f, r)
	r.SamplesAlone = true
	if want := document(t, f, r); got != want {
		a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("%+v: line %d: by roll-ups\n%s\nby samples\n%s", r, i, strings.Join(a[max(0, i-3):min(len(a), i+3)], "\n"), strings.Join(b[max(0, i-3):min(len(b), i+3)], "\n"))
			}
		}
		t.Fatalf("%+v: %d lines by roll-ups, %d by samples", r, len(a), len(b))
	}
}

// A summary of roll-ups is that of samples, byte for byte, whatever part of a recording it is of, when
// days changed after their roll-ups were made, and where two folders have the same box.
func TestRollUpsTellWhatSamplesTell(t *testing.T) {
	golden.SkipLong(t)
	tokyo := time.FixedZone("+05:45", 345*60)
	seeds := testSeeds
	if golden.Short() {
		seeds = 1
	}
	for seed := range uint64(seeds) {
		disk := newMemDisk()
		rng := capcli.Seed(seed).Stream("questions")
		compact := func(root string) {
			if _, err := Compact(context.Background(), disk, root, CompactOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		begin := noon - profile.Instant(rng.IntN(24))*oneHour
		a, b := newDrawnBox(seed, begin), newDrawnBox(seed+1000, begin)
		a.record(t, disk, "one", "box-a", 4000)
		compact("one")
		a.record(t, disk, "one", "box-a", 500)
		b.record(t, disk, "one", "box-b", 3000)
		if seed%2 == 0 {
			compact("one")
		}
		// Another folder has box-b a while later, and sometimes at the same time.
		b.at -= profile.Instant(rng.IntN(2)) * 30 * oneHour
		b.record(t, disk, "two", "box-b", 3000)
		compact("two")
		f := OpenFolders([]Folder{{Name: "one", Disk: disk, Root: "one"}, {Name: "two", Disk: disk, Root: "two"}})
		if seed%3 == 0 {
			f = OpenFolders([]Folder{{Name: "one", Disk: disk, Root: "one"}})
		}
		checkSameDocument(t, f, SummaryRequest{})
		for range 4 {
			r := SummaryRequest{Zone: []*time.Location{nil, tokyo}[rng.IntN(2)]}
			if rng.IntN(4) > 0 {
				r.From = begin + profile.Instant(rng.Int64N(int64(3*oneDay)))
				if rng.IntN(2) == 0 {
					r.From -= r.From % oneHour
				}
			}
			if rng.IntN(4) > 0 {
				r.To = begin + oneHour + profile.Instant(rng.Int64N(int64(4*oneDay)))
			}
			if rng.IntN(4) == 0 {
				r.Hosts = []string{"box-b"}
			}
			if rng.IntN(3) == 0 {
				r.Devices = [][]string{{"GPU-1"}, {"MIG-0-0"}, {"MIG-0-1", "GPU-1"}, {"no such"}}[rng.IntN(4)]
			}
			checkSameDocument(t, f, r)
		}
	}
}

const testSeeds = 4

// A question about whole hours reads no samples: those of a day can be gone.
func TestRollUpsAreRead(t *testing.T) {
	disk := newMemDisk()
	newDrawnBox(5, noon-12*oneHour).record(t, disk, "dir", "box", 3000)
	done, err := Compact(context.Background(), disk, "dir", CompactOptions{})
	if err != nil || done.RolledUp == 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := Compact(context.Background(), disk, "dir", CompactOptions{}); err != nil || again.RolledUp != 0 {
		t.Errorf("a second time %+v, %v", again, err)
	}
	f := OpenFolders([]Folder{{Name: "dir", Disk: disk, Root: "dir"}})
	want := document(t, f, SummaryRequest{SamplesAlone: true})
	for _, name := range slices.Collect(disk.names()) {
		if strings.Contains(name, "/samples-") || strings.Contains(name, "/processes-") {
			if err := disk.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := document(t, f, SummaryRequest{}); got != want {
		t.Errorf("without samples:\n%.300s\nwant\n%.300s", got, want)
	}
}
