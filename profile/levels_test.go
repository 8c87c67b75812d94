package profile_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
)

// fleet feeds Levels with boxes that a test writes down.
type fleet struct {
	t *testing.T
	l *profile.Levels
}

func newFleet(t *testing.T, m profile.LevelMeasure) *fleet {
	f := &fleet{t, &profile.Levels{Measure: m, Step: capcli.Step{Seconds: capcli.Hour}}}
	f.l.Places = func(host string, _ *profile.Device) []string { return []string{"all", host} }
	f.l.Groups = func(host string, _ *profile.Device, tenant string) []string {
		if tenant == "" {
			return []string{"all", host}
		}
		return []string{"all", host, "of " + tenant}
	}
	return f
}

// run samples a box of so many GPUs every 10 s for a time; the first held of them have
// a process of the tenant u.
func (f *fleet) run(host string, at profile.Instant, long time.Duration, gpus, held int, util float64) {
	f.t.Helper()
	for i := range int(long / (10 * time.Second)) {
		t := profile.Tick{At: at.Add(time.Duration(i+1) * 10 * time.Second), Every: 10 * time.Second, LookedAtProcesses: true}
		for k := range gpus {
			d := &profile.Device{UUID: host + string(rune('a'+k)), GI: -1}
			s := t.NextSample(d)
			s.Set(profile.UtilGPU, util)
			s.Set(profile.Power, 100)
			if k < held {
				t.Processes = append(t.Processes, profile.Process{Device: d, User: "u", PID: int64(k)})
			}
		}
		if err := f.l.Add(host, &t); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fleet) want(name string, want ...float64) {
	f.t.Helper()
	got := f.l.GroupLevel(name).Values
	if !slices.EqualFunc(got, want, func(a, b float64) bool {
		return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b)
	}) {
		f.t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

var (
	gap   = math.NaN()
	start = profile.InstantOf(time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC))
)

func TestLevels(t *testing.T) {
	f := newFleet(t, profile.LevelHeld)
	f.run("a", start, 90*time.Minute, 4, 2, 50) // steps 0 and half of 1
	f.run("a", start.Add(90*time.Minute), 30*time.Minute, 4, 4, 50)
	f.run("a", start.Add(3*time.Hour), 45*time.Minute, 4, 1, 50) // step 2 is missing, of step 3 the end
	f.run("a", start.Add(4*time.Hour+50*time.Minute), 70*time.Minute, 4, 3, 50)
	f.want("all", 2, 3, gap, 1, gap, 3)
	f.want("of u", 2, 3, gap, 1, gap, 3)
	got := f.l.GroupLevel("all")
	if got.Scaled != 1 || got.There[0] != 4 || math.Abs(got.There[3]-4) > 1e-9 {
		t.Errorf("got %d steps scaled and %v GPUs there, want 1 and 4", got.Scaled, got.There)
	}
	if f.l.GroupLevel("of u").There != nil {
		t.Error("GPUs there of a tenant, who has none of his own")
	}
}

// Over boxes: one is not sampled for a while, another comes later.
func TestLevelsOfBoxes(t *testing.T) {
	f := newFleet(t, profile.LevelBusy)
	f.run("a", start, 4*time.Hour, 4, 0, 50) // 2 busy
	f.run("b", start, 2*time.Hour, 4, 4, 100)
	f.run("b", start.Add(3*time.Hour), time.Hour, 4, 4, 100) // 4 busy, missing in step 2
	f.run("c", start.Add(3*time.Hour), time.Hour, 1, 1, 100)
	f.want("all", 6, 6, 4, 7) // in step 2 b counts as a does
	f.want("a", 2, 2, 2, 2)
	f.want("b", 4, 4, gap, 4)
	f.want("c", gap, gap, gap, 1)
	f.want("of u", 4, 4, gap, 5)
	if got := f.l.LateBoxes(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("came late: %v, want c", got)
	}
	if err := f.l.Check(); err != nil {
		t.Error(err)
	}
	f.run("b", start.Add(90*time.Minute), time.Hour, 4, 4, 100)
	if f.l.Check() == nil {
		t.Error("the same half hour twice is not refused")
	}
}

// Days begin at midnight of the zone.
func TestLevelsOfDays(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	f := newFleet(t, profile.LevelHeld)
	f.l.Step, f.l.Zone = capcli.Step{Days: 1}, berlin
	f.run("a", start, 11*time.Hour, 3, 0, 0) // to midnight
	f.run("a", start.Add(11*time.Hour), 24*time.Hour, 3, 1, 0)
	f.run("a", start.Add(35*time.Hour), 12*time.Hour, 3, 3, 0) // of the last day, over half a day is missing
	f.run("a", start.Add(58*time.Hour+30*time.Minute), 31*time.Minute, 3, 3, 0)
	f.want("all", 1, 3)
	if grid, _ := f.l.Range(); grid.Origin.String() != "2026-11-16T23:00:00Z" {
		t.Errorf("days begin at %s", grid.Origin)
	}
}

// First and last steps that are not whole are left out, and the peak is that of
// five minutes over all boxes together.
func TestLevelsPeaks(t *testing.T) {
	f := newFleet(t, profile.LevelHeld)
	f.l.Peaks = true
	f.run("a", start.Add(-20*time.Minute), 50*time.Minute, 2, 0, 0)
	f.run("a", start.Add(30*time.Minute), 5*time.Minute, 2, 2, 0)
	f.run("a", start.Add(35*time.Minute), 110*time.Minute, 2, 0, 0)
	f.run("b", start, 20*time.Minute, 2, 1, 0)
	f.run("b", start.Add(20*time.Minute), 100*time.Minute, 2, 0, 0)
	f.want("all", 2, 0)
	f.want("b", 1, 0)
}

func TestLevelsOfPowerAndSlices(t *testing.T) {
	f := newFleet(t, profile.LevelPower)
	f.run("a", start, time.Hour, 3, 1, 0)
	f.want("all", 300)
	f.want("of u", 100)

	// Of a divided GPU two instances are there, of which one is held.
	f = newFleet(t, profile.LevelHeld)
	gpu := &profile.Device{UUID: "G", GI: -1}
	three := &profile.Device{UUID: "M1", Parent: "G", Profile: "3g.40gb", GI: 1}
	one := &profile.Device{UUID: "M2", Parent: "G", Profile: "1g.10gb", GI: 2}
	for i := range 60 {
		tick := profile.Tick{At: start.Add(time.Duration(i+1) * time.Minute), Every: time.Minute, LookedAtProcesses: true}
		for _, d := range []*profile.Device{gpu, three, one} {
			tick.NextSample(d)
		}
		tick.Processes = []profile.Process{{Device: three, User: "u"}, {Device: three, User: "v"}}
		if err := f.l.Add("a", &tick); err != nil {
			t.Fatal(err)
		}
	}
	f.want("all", 1./2) // half of the memory is more than three sevenths of the SMs
	f.want("of u", 1./4)
	if got := f.l.GroupLevel("all").There[0]; math.Abs(got-1) > 1e-9 {
		t.Errorf("%v of a GPU there, want 1: what no instance has is there too", got)
	}
}

// What was not reported is no zero.
func TestLevelsNotTold(t *testing.T) {
	f := newFleet(t, profile.LevelSM)
	f.run("a", start, 2*time.Hour, 2, 1, 50)
	f.want("all", gap, gap)
	f.l.MaxCells = 10
	tick := profile.Tick{At: start.Add(1000 * time.Hour), Every: time.Second}
	tick.NextSample(&profile.Device{UUID: "aa", GI: -1})
	if err := f.l.Add("a", &tick); err == nil {
		t.Error("a thousand steps fit into 10 cells")
	}
}
