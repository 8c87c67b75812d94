package profile_test

import (
	"context"
	"math"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/accelerator"
	"capcli/profile/judge"
)

// script is a box of one device whose every second a test writes down.
type script struct {
	z    *profile.Summarizer
	dev  *profile.Device
	at   profile.Instant
	jobs []profile.Process
}

func newScript() *script {
	return &script{z: profile.NewSummarizer(nil), dev: &profile.Device{UUID: "GPU-a", GI: -1}, at: noon}
}

// run goes on for some seconds at an activity in percent.
func (s *script) run(seconds int, sm float64) {
	for range seconds {
		var t profile.Tick
		t.At, t.Every, t.LookedAtProcesses = s.at, time.Second, true
		one := t.NextSample(s.dev)
		one.Set(profile.UtilGPU, min(100, 2*sm))
		one.Set(profile.SMActive, sm)
		one.Set(profile.Power, 100+sm)
		one.Set(profile.MemUsed, 10<<30)
		one.Set(profile.MemTotal, 80<<30)
		for _, p := range s.jobs {
			p.Device = s.dev
			t.Processes = append(t.Processes, p)
		}
		s.z.Add("box", &t)
		s.at = s.at.Add(time.Second)
	}
}

func job(id string) profile.Process { return profile.Process{Job: id, User: "u-" + id} }

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(s *script)
		want judge.Kind
	}{
		{"free", func(s *script) { s.run(100, 0) }, judge.Free},
		{"held, never busy", func(s *script) { s.jobs = []profile.Process{job("1")}; s.run(100, 0) }, judge.NeverBusy},
		{"works", func(s *script) { s.jobs = []profile.Process{job("1")}; s.run(100, 80) }, judge.Working},
		{"light", func(s *script) { s.jobs = []profile.Process{job("1")}; s.run(100, 10) }, judge.Light},
		{"starved", func(s *script) {
			s.jobs = []profile.Process{job("1")}
			for range 20 {
				s.run(2, 80)
				s.run(5, 0)
			}
		}, judge.Starved},
		{"left alone after work", func(s *script) { s.jobs = []profile.Process{job("1")}; s.run(60, 80); s.run(700, 0) }, judge.MostlyIdle},
		{"long pauses are no starvation", func(s *script) {
			s.jobs = []profile.Process{job("1")}
			for range 3 {
				s.run(60, 80)
				s.run(900, 0)
			}
		}, judge.MostlyIdle},
		{"too short", func(s *script) { s.run(5, 80) }, judge.TooShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			c.play(s)
			if got := s.z.Summary().Devices[0].Use.Judge(); got.Kind != c.want {
				t.Errorf("got %s (%s), want %s", got.Kind, got.Words, c.want)
			}
		})
	}
}

// Figures that can be counted by hand.
func TestUse(t *testing.T) {
	s := newScript()
	s.run(30, 0) // free
	s.jobs = []profile.Process{job("1")}
	for range 4 { // 40 s: 4 bursts of 3 s, pauses of 7 s, the last of which nothing follows
		s.run(3, 40)
		s.run(7, 0)
	}
	s.jobs = []profile.Process{job("1"), job("2")}
	s.run(10, 20) // shared: work follows the last pause of job 1 after all
	s.jobs = nil
	s.run(20, 0)
	sum := s.z.Summary()
	u := sum.Devices[0].Use
	sec := func(n int64) int64 { return n * 1_000_000 }
	for _, c := range []struct {
		name      string
		got, want int64
	}{
		{"seen", u.Seen, sec(100)},
		{"held", u.Held, sec(50)},
		{"idle while held", u.Idle, sec(28)},
		{"shared", u.Shared, sec(10)},
		{"jobs", int64(len(sum.Jobs)), 2},
		{"job 1 held", sum.Jobs[0].Use.Held, sec(45)},
		{"job 2 held", sum.Jobs[1].Use.Held, sec(5)},
		{"job 1 starved", sum.Jobs[0].Use.Starved, sec(28)},
		{"job 1 pauses", sum.Jobs[0].Use.Pauses, 4},
		{"longest pause", u.Longest, sec(7)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, c.got, c.want)
		}
	}
	if got := sum.Jobs[0].Use.Burst(); got != 3 {
		t.Errorf("bursts last %v s, want 3", got)
	}
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	near("used GPU-hours", u.UsedHours(), (12*0.8+10*0.4)/3600)
	near("energy", u.Joules(), 100*100+12*40+10*20)
	near("energy of jobs", sum.Jobs[0].Use.Joules()+sum.Jobs[1].Use.Joules(), 50*100+12*40+10*20)
	near("memory p95", u.Memory.Quantile(0.95), 12.5)
	near("SM mean", u.SM.Mean(), (12*40+10*20)/100.0)
}

// A job of two boxes holds the GPUs of both at once, also where the ticks of one box come after those of
// the other, and one that moves holds one.
func TestGPUsAtOnce(t *testing.T) {
	z := profile.NewSummarizer(nil)
	for _, host := range []string{"box-1", "box-2"} {
		a, b := &profile.Device{UUID: host + "-a", GI: -1}, &profile.Device{UUID: host + "-b", Index: 1, GI: -1}
		for i := range 60 {
			tick := profile.Tick{At: noon.Add(time.Duration(i) * time.Second), Every: time.Second, LookedAtProcesses: true}
			tick.NextSample(a).Set(profile.SMActive, 50)
			tick.NextSample(b).Set(profile.SMActive, 50)
			add := func(d *profile.Device, id string) {
				tick.Processes = append(tick.Processes, profile.Process{Device: d, Job: id, User: "u"})
			}
			if i < 50 { // it ended on each box before the recording did
				add(a, "both")
			}
			if host == "box-1" && i < 30 {
				add(b, "moves")
			} else if host == "box-1" && i >= 50 {
				add(a, "moves")
			}
			z.Add(host, &tick)
		}
	}
	for _, j := range z.Summary().Jobs {
		if want := map[string]int{"both": 2, "moves": 1}[j.ID]; j.Devices != want {
			t.Errorf("%s holds %d GPUs at once, want %d", j.ID, j.Devices, want)
		}
	}
}

// A hole in the samples is not time that was seen, nor a pause of a job.
func TestHole(t *testing.T) {
	s := newScript()
	s.jobs = []profile.Process{job("1")}
	s.run(10, 50)
	s.run(3, 0)
	s.at = s.at.Add(time.Hour)
	s.run(10, 50)
	u := s.z.Summary().Devices[0].Use
	if u.Seen != 23_000_000 || u.Starved != 0 {
		t.Errorf("got %d us seen and %d us starved, want 23 s and none", u.Seen, u.Starved)
	}
}

// Over the made-up box: what jobs and tenants held is what devices were held for,
// the hours of the week sum to all that was seen, and the box's cast is known for
// what it is.
func TestSummaryOfFake(t *testing.T) {
	f := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 3})
	z := profile.NewSummarizer(nil)
	var tick profile.Tick
	const n = 20_000
	for i := range n {
		tick.Reset()
		tick.At, tick.Every = noon.Add(time.Duration(i)*time.Second), time.Second
		if err := f.Read(context.Background(), &tick); err != nil {
			t.Fatal(err)
		}
		z.Add(f.Host(), &tick)
	}
	sum := z.Summary()
	total := sum.Total()
	if total.Seen != 8*n*1_000_000 {
		t.Errorf("seen %d us, want %d", total.Seen, 8*n*1_000_000)
	}
	var jobs, tenants, heatSeen, heatHeld int64
	var joules float64
	for _, j := range sum.Jobs {
		jobs += j.Use.Held
		joules += j.Use.Joules()
	}
	for _, x := range sum.Tenants() {
		tenants += x.Use.Held
	}
	for d := range sum.Heat {
		for h := range sum.Heat[d] {
			heatSeen += sum.Heat[d][h].Seen / accelerator.WholeGPU
			heatHeld += sum.Heat[d][h].Held / accelerator.WholeGPU
		}
	}
	if jobs != total.Held || tenants != total.Held || heatSeen != total.Seen || heatHeld != total.Held {
		t.Errorf("devices were held %d us, jobs %d, tenants %d, hours of the week %d of %d seen", total.Held, jobs, tenants, heatHeld, heatSeen)
	}
	if joules > total.Joules() || total.Joules() < 8*70*n {
		t.Errorf("jobs used %.0f J of %.0f J", joules, total.Joules())
	}
	for i, want := range []judge.Kind{judge.Working, judge.Working, judge.Working, judge.Working, judge.Starved, judge.Starved, judge.MostlyIdle} {
		if got := sum.Devices[i].Use.Judge(); got.Kind != want {
			t.Errorf("GPU %d: got %s (%s), want %s", i, got.Kind, got.Words, want)
		}
	}
}

func BenchmarkSummarizer(b *testing.B) {
	f := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 3})
	ticks := make([]profile.Tick, 1000)
	for i := range ticks {
		ticks[i].At, ticks[i].Every = noon.Add(time.Duration(i)*time.Second), time.Second
		_ = f.Read(context.Background(), &ticks[i])
	}
	z := profile.NewSummarizer(nil)
	b.ReportAllocs()
	for i := range b.N {
		t := ticks[i%len(ticks)]
		t.At = noon.Add(time.Duration(i) * time.Second)
		z.Add("box", &t)
	}
}
