package anomaly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

var begin = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// world is a made-up box of GPUs that one job holds.
type world struct {
	gpus int
	days float64
	rng  *rand.Rand
	// set changes a sample of a GPU at a time.
	set func(hours float64, gpu int, s *profile.Sample)
	// gone says that there is no tick at a time.
	gone func(hours float64) bool
	// event adds events.
	event func(hours float64, t *profile.Tick)
}

// find plays the world, a tick a minute, and returns what is found.
func (w *world) find() *Result {
	var devices []*profile.Device
	for i := range w.gpus {
		devices = append(devices, &profile.Device{Index: i, UUID: fmt.Sprint("GPU-", i), Model: "H100", GI: -1, CI: -1})
	}
	var f Finder
	var t profile.Tick
	for m := range int(w.days * 1440) {
		hours := float64(m) / 60
		if w.gone != nil && w.gone(hours) {
			continue
		}
		t.Reset()
		t.At, t.Every, t.LookedAtProcesses = profile.InstantOf(begin.Add(time.Duration(m)*time.Minute)), time.Minute, true
		for i, d := range devices {
			s := t.NextSample(d)
			w.base(s)
			if w.set != nil {
				w.set(hours, i, s)
			}
			t.Processes = append(t.Processes, profile.Process{Device: d, Job: "train-7", User: "mei"})
		}
		if w.event != nil {
			w.event(hours, &t)
		}
		f.Add("gpu-07", &t)
	}
	r, err := f.Result([]string{"made-up"})
	if err != nil {
		panic(err)
	}
	return r
}

// base is a GPU that trains: SM 85 %, 550 W, 62 °C at that power, 60 of 80 GB.
func (w *world) base(s *profile.Sample) {
	n := w.rng.NormFloat64
	sm := math.Min(100, 85+3*n())
	s.Set(profile.SMActive, sm)
	s.Set(profile.UtilGPU, 97)
	s.Set(profile.Power, 550+3*(sm-85)+5*n())
	v, _ := s.Get(profile.Power)
	s.Set(profile.Temp, 27+v/16+n())
	s.Set(profile.MemUsed, 60e9)
	s.Set(profile.MemTotal, 80e9)
	s.Set(profile.ClockSM, 1755+5*n())
	s.Set(profile.Throttle, 0)
	for _, m := range counted {
		s.Set(m, 0)
	}
}

func newWorld(days float64, seed uint64) *world {
	return &world{gpus: 4, days: days, rng: rand.New(rand.NewPCG(seed, 7))}
}

// hoursOf is the time of an anomaly in hours after begin.
func hoursOf(t *testing.T, a *Anomaly) float64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, a.Since)
	if err != nil {
		t.Fatal(err)
	}
	return at.Sub(begin).Hours()
}

func list(r *Result) string {
	var out []string
	for _, a := range r.Anomalies {
		out = append(out, fmt.Sprintf("%s %s job %q gpu %v since %s until %s: %.2f %s, %.2f, %s", a.Severity, a.Kind, a.Job, a.UUID, a.Since, a.Until, a.Size, a.Unit, a.Confidence, a.Evidence))
	}
	return strings.Join(out, "\n")
}

// What is put into a made-up week is found with its date, and nothing else.
func TestFoundWithDate(t *testing.T) {
	ramp := func(hours, from, per float64) float64 { return math.Max(0, hours-from) * per }
	for _, c := range []struct {
		name   string
		kind   string
		days   float64
		at     float64 // hours
		within float64 // hours
		gpu    string  // "" is all of the job
		size   float64 // about; 0 is any
		change func(w *world)
	}{
		{"power falls, with SM activity as it was", powerShift, 7, 100, 0.5, "", -110, func(w *world) {
			w.set = func(h float64, _ int, s *profile.Sample) {
				if h >= 100 {
					v, _ := s.Get(profile.Power)
					s.Set(profile.Power, v-110)
					s.Set(profile.Temp, 27+(v-110)/16)
				}
			}
		}},
		{"found three hours after", powerShift, 4 + 3.5/24, 96, 0.5, "", -110, func(w *world) {
			w.set = func(h float64, _ int, s *profile.Sample) {
				if h >= 96 {
					v, _ := s.Get(profile.Power)
					s.Set(profile.Power, v-110)
					s.Set(profile.Temp, 27+(v-110)/16)
				}
			}
		}},
		{"SM activity halves", smShift, 7, 50, 0.5, "", -40, func(w *world) {
			w.set = func(h float64, _ int, s *profile.Sample) {
				if h >= 50 {
					v, _ := s.Get(profile.SMActive)
					s.Set(profile.SMActive, v-40)
				}
			}
		}},
		{"a fan fails on one GPU", heatShift, 7, 80, 0.5, "GPU-2", 9, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if h >= 80 && gpu == 2 {
					v, _ := s.Get(profile.Temp)
					s.Set(profile.Temp, v+9)
				}
			}
		}},
		{"memory leaks on one GPU", memoryCreep, 4, 40, 3, "GPU-1", 0.1, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 1 {
					s.Set(profile.MemUsed, 60e9+ramp(h, 40, 0.1*(1<<30))+5e7*w.rng.NormFloat64())
				}
			}
		}},
		{"corrected errors rise", eccRising, 7, 120, 1.1, "GPU-3", 0, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 3 {
					s.Set(profile.ECCCorrected, math.Floor(h/24)+math.Floor(ramp(h, 120, 10)))
				}
			}
		}},
		{"an error that is not corrected", eccFatal, 2, 30, 0.1, "GPU-0", 1, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 0 && h >= 30 {
					s.Set(profile.ECCUncorrected, 1)
				}
			}
		}},
		{"a row is replaced", rowsRemapped, 2, 31, 0.1, "GPU-0", 1, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 0 && h >= 31 {
					s.Set(profile.RowsRemapped, 1)
				}
			}
		}},
		{"PCIe replays", linkErrors, 2, 20, 1.1, "GPU-2", 0, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 2 {
					s.Set(profile.PCIeReplays, math.Floor(ramp(h, 20, 5000)))
				}
			}
		}},
		{"one GPU is slower", slowGPU, 3, 24, 0.3, "GPU-1", 8, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 1 && h >= 24 {
					s.Set(profile.ClockSM, 1615)
				}
			}
		}},
		{"heat holds the clocks back", heatCapped, 2, 10, 0.3, "GPU-3", 0, func(w *world) {
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 3 && h >= 10 && h < 14 {
					s.Set(profile.Throttle, 0x20)
				}
			}
		}},
		{"the recorder is down", recorderGap, 2, 33, 0.1, "", 7200, func(w *world) {
			w.gone = func(h float64) bool { return h > 33 && h < 35 }
		}},
		{"an Xid", xids, 1, 5, 0.1, "GPU-1", 1, func(w *world) {
			w.event = func(h float64, t *profile.Tick) {
				if h == 5 {
					t.Events = append(t.Events, profile.Event{At: t.At, Kind: profile.Xid, Device: "GPU-1", Value: 79})
				}
			}
		}},
		{"requests stop coming each day", periodLost, 14, 7 * 24, 14, "", 24, func(w *world) {
			w.set = func(h float64, _ int, s *profile.Sample) {
				day := 50.0
				if h < 7*24 {
					day += 35 * math.Sin(2*math.Pi*h/24)
				}
				s.Set(profile.SMActive, day+3*w.rng.NormFloat64())
				s.Set(profile.Power, 200+4*day)
				s.Set(profile.Temp, 27+(200+4*day)/16)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(c.days, 11)
			c.change(w)
			r := w.find()
			if len(r.Anomalies) != 1 || r.Anomalies[0].Kind != c.kind {
				t.Fatalf("found\n%s\nwant one %s", list(r), c.kind)
			}
			a := r.Anomalies[0]
			if got := hoursOf(t, a); math.Abs(got-c.at) > c.within {
				t.Errorf("since %.2f h, want %.2f within %.2f\n%s", got, c.at, c.within, list(r))
			}
			if a.UUID != c.gpu || c.size != 0 && math.Abs(a.Size-c.size) > 0.1*math.Abs(c.size) || a.Confidence < 0.5 || a.Do == "" || a.Evidence == "" {
				t.Errorf("%s, want gpu %q and about %v", list(r), c.gpu, c.size)
			}
		})
	}
}

// A fortnight of the fake box, on which jobs come and go, has no critical anomaly and at most one a week: its
// jobs do shift, but rarely while one runs.
func TestFalseAlarmsOnTheFakeBox(t *testing.T) {
	const days = 14
	for seed := range uint64(3) {
		fake := profile.NewFake(profile.SourceOptions{Every: time.Minute, Processes: time.Minute, Seed: capcli.Seed(seed + 1)})
		var f Finder
		var tick profile.Tick
		for m := range days * 1440 {
			tick.Reset()
			tick.At, tick.Every = profile.InstantOf(begin.Add(time.Duration(m)*time.Minute)), time.Minute
			if err := fake.Read(t.Context(), &tick); err != nil {
				t.Fatal(err)
			}
			f.Add(fake.Host(), &tick)
		}
		r, err := f.Result(nil)
		if err != nil {
			t.Fatal(err)
		}
		alarms := 0
		for _, a := range r.Anomalies {
			if a.Severity != Info {
				alarms++
			}
		}
		if t.Log(list(r)); alarms > days/7 {
			t.Errorf("seed %d: %d warnings in %d days, want at most one a week", seed+1, alarms, days)
		}
	}
}

// Drawn weeks without any anomaly give false alarms in at most one of fifty box-weeks: noise that is correlated
// over hours, heavy tails, the course of a day, and bursts.
func TestFalseAlarmsOnNoise(t *testing.T) {
	const weeks = 40
	alarms, boxes := 0, 0
	for seed := range uint64(weeks) {
		for kind := range 4 {
			w := newWorld(7, seed*10+uint64(kind))
			w.gpus = 2
			slow, spike := 0.0, 0.0
			w.set = func(h float64, gpu int, s *profile.Sample) {
				if gpu == 0 {
					slow = 0.99*slow + math.Sqrt(1-0.99*0.99)*w.rng.NormFloat64() // correlated over 100 minutes
					if spike *= 0.8; w.rng.IntN(300) == 0 {
						spike = 60
					}
				}
				level := 60.0
				switch kind {
				case 0:
					level += 8 * slow
				case 1:
					level += 30*math.Sin(2*math.Pi*h/24) + 4*slow
				case 2:
					level += 3 * w.rng.NormFloat64() / (0.1 + w.rng.Float64())
				default:
					level += -30 + spike + 5*slow
				}
				level = math.Min(100, math.Max(0, level))
				s.Set(profile.SMActive, level)
				s.Set(profile.Power, 120+4*level+5*w.rng.NormFloat64())
				v, _ := s.Get(profile.Power)
				s.Set(profile.Temp, 27+v/16+w.rng.NormFloat64())
				s.Set(profile.MemUsed, 40e9+1e9*slow)
			}
			boxes++
			if r := w.find(); len(r.Anomalies) > 0 {
				alarms += len(r.Anomalies)
				t.Logf("kind %d, week %d:\n%s", kind, seed, list(r))
			}
		}
	}
	t.Logf("%d false alarms in %d box-weeks", alarms, boxes)
	if alarms*50 > boxes {
		t.Errorf("%d false alarms in %d box-weeks, want at most one in fifty", alarms, boxes)
	}
}

// Only a GPU that is hotter than its peers is found: neither a cooler one, nor one that comes back from a cool time, nor
// a room that warms.
func TestOnlyHotterThanPeers(t *testing.T) {
	for _, c := range []struct {
		name  string
		by    func(h float64, gpu int) float64
		found int
		until float64 // hours, of the first; 0 where it goes on
	}{
		{name: "one is 8 °C cooler", by: func(h float64, gpu int) float64 {
			if h >= 80 && gpu == 1 {
				return -8
			}
			return 0
		}},
		{name: "one is cooler for a day", by: func(h float64, gpu int) float64 {
			if h >= 80 && h < 104 && gpu == 1 {
				return -8
			}
			return 0
		}},
		{name: "the room warms", by: func(h float64, _ int) float64 {
			if h >= 80 {
				return 8
			}
			return 0
		}},
		{name: "all others get cooler", by: func(h float64, gpu int) float64 {
			if h >= 80 && gpu != 1 {
				return -8
			}
			return 0
		}},
		{name: "one is hotter for a day", found: 1, until: 104, by: func(h float64, gpu int) float64 {
			if h >= 80 && h < 104 && gpu == 1 {
				return 8
			}
			return 0
		}},
		{name: "two are hotter", found: 2, by: func(h float64, gpu int) float64 {
			if h >= 80 && gpu < 2 {
				return 8
			}
			return 0
		}},
		{name: "the room warms, and one more so", found: 1, by: func(h float64, gpu int) float64 {
			switch {
			case h >= 80 && gpu == 1:
				return 16
			case h >= 80:
				return 8
			}
			return 0
		}},
	} {
		w := newWorld(7, 5)
		w.set = func(h float64, gpu int, s *profile.Sample) {
			v, _ := s.Get(profile.Temp)
			s.Set(profile.Temp, v+c.by(h, gpu))
		}
		r := w.find()
		if len(r.Anomalies) != c.found || r.Counts[heatShift] != c.found {
			t.Errorf("%s: found\n%s\nwant %d", c.name, list(r), c.found)
			continue
		}
		if c.found == 0 {
			continue
		}
		a := r.Anomalies[0]
		if got := hoursOf(t, a); math.Abs(got-80) > 0.5 || a.Size < 7 {
			t.Errorf("%s: %s", c.name, list(r))
		}
		if c.until > 0 {
			if at, err := time.Parse(time.RFC3339, a.Until); err != nil || math.Abs(at.Sub(begin).Hours()-c.until) > 0.5 {
				t.Errorf("%s: until %q, want %.0f h", c.name, a.Until, c.until)
			}
		}
	}
}
