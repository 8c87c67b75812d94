package roadmap

import (
	"errors"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// timesEvery are the bounds of n steps.
func timesEvery(start capcli.Time, step capcli.Seconds, n int) []capcli.Time {
	out := make([]capcli.Time, n+1)
	for i := range out {
		out[i] = start + capcli.Time(int64(step)*int64(i))
	}
	return out
}

const hour = 3600

// TestBegunEventsAddTheRest: what a history has of an event is not added twice.
func TestBegunEventsAddTheRest(t *testing.T) {
	const now = 1000
	for _, row := range []struct {
		name string
		e    Event
		want []float64 // of 4 hours from now
	}{
		{"step taken", Event{Shape: Step, Start: now - 5*hour, Size: 10}, []float64{0, 0, 0, 0}},
		{"pulse over", Event{Shape: Pulse, Start: now - 5*hour, End: now - hour, Size: 10}, []float64{0, 0, 0, 0}},
		{"pulse that runs", Event{Shape: Pulse, Start: now - 5*hour, End: now + 5*hour/2, Size: 10}, []float64{0, 0, -5, -10}},
		{"ramp half done", Event{Shape: Ramp, Start: now - 2*hour, End: now + 2*hour, Size: 8}, []float64{1, 3, 4, 4}},
		{"late, but begun", Event{Shape: Ramp, Start: now - 2*hour, End: now + 2*hour, Size: 8, Delay: 100 * hour}, []float64{1, 3, 4, 4}},
		{"at the end itself", Event{Shape: Step, Start: now, Size: 10}, []float64{10, 10, 10, 10}},
	} {
		r := Roadmap{Events: []Event{row.e}, Known: now}
		got, _, err := r.Apply(model.Forecast{Mean: make([]float64, 4)}, timesEvery(now, hour, 4))
		if err != nil {
			t.Fatal(err)
		}
		path := make([]float64, 4)
		r.ApplyPath(path, timesEvery(now, hour, 4), 1)
		_, added, err := r.Apply(model.Forecast{Mean: make([]float64, 4)}, timesEvery(now, hour, 4))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range row.want {
			if math.Abs(got.Mean[i]-want) > 1e-3 || math.Abs(path[i]-want) > 1e-3 || math.Abs(added[0][i]-want) > 1e-3 {
				t.Errorf("%s: %v, path %v, added %v, want %v", row.name, got.Mean, path, added[0], row.want)
				break
			}
		}
	}
}

func TestEventShapes(t *testing.T) {
	for _, row := range []struct {
		name string
		e    Event
		want []float64
	}{
		{"step", Event{Shape: Step, Start: 1000 + 2*hour, End: capcli.NoTime}, []float64{0, 0, 1, 1, 1, 1}},
		{"step in mid-step", Event{Shape: Step, Start: 1000 + 2*hour + hour/4}, []float64{0, 0, 0.75, 1, 1, 1}},
		{"pulse", Event{Shape: Pulse, Start: 1000 + hour, End: 1000 + 5*hour/2}, []float64{0, 1, 0.5, 0, 0, 0}},
		{"ramp", Event{Shape: Ramp, Start: 1000 + hour, End: 1000 + 5*hour}, []float64{0, 0.125, 0.375, 0.625, 0.875, 1}},
	} {
		if got := row.e.regressor(timesEvery(1000, hour, 6)); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
		if err := row.e.Check(); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestRoadmapMovesAndWidens(t *testing.T) {
	f := model.Forecast{Mean: slices.Repeat([]float64{100}, 4)}
	f.Intervals = model.NormalIntervals(f.Mean, slices.Repeat([]float64{10}, 4), []float64{80, 95})
	sure := Roadmap{Events: []Event{{Shape: Step, Start: 1000 + 2*hour, Size: 40}}}
	got, _, err := sure.Apply(f, timesEvery(1000, hour, 4))
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{100, 100, 140, 140}; !slices.Equal(got.Mean, want) || f.Mean[3] != 100 {
		t.Errorf("mean %v, want %v; given %v", got.Mean, want, f.Mean)
	}
	if d := got.Intervals[1].Hi[3] - got.Mean[3] - 10*model.ZScore(95); math.Abs(d) > 1e-9 {
		t.Errorf("a sure event changed the interval's width by %v", d)
	}
	// 10 and 30 independent: the sum has a spread of sqrt(1000)
	unsure := Roadmap{Events: []Event{{Shape: Step, Start: 1000 + 2*hour, Size: 40, SizeSD: 30}}, Seed: 1}
	got, _, err = unsure.Apply(f, timesEvery(1000, hour, 4))
	if err != nil {
		t.Fatal(err)
	}
	for k, level := range []float64{80, 95} {
		if w, want := got.Intervals[k].Hi[3]-got.Mean[3], math.Sqrt(1000)*model.ZScore(level); math.Abs(w/want-1) > 0.06 {
			t.Errorf("half the %v %% interval is %v, want %v", level, w, want)
		}
		if w := got.Intervals[k].Hi[1] - got.Mean[1]; math.Abs(w-10*model.ZScore(level)) > 1e-9 {
			t.Errorf("the interval before the event is %v wide", w)
		}
	}
	// half likely, a fifth of all, half a day late on average
	late := Roadmap{Events: []Event{{Shape: Step, Start: 1000, Size: 0.2, Relative: true, Chance: 0.5, Delay: 12 * hour}}, Seed: 2}
	long := model.Forecast{Mean: slices.Repeat([]float64{100}, 97)}
	got, _, err = late.Apply(long, timesEvery(1000, hour, 97))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{6, 12, 96} {
		from := float64(i) / 12
		want := 100 + 10*(1-12*(math.Exp(-from)-math.Exp(-from-1.0/12)))
		if math.Abs(got.Mean[i]-want) > 0.6 {
			t.Errorf("hour %d: mean %v, want %v", i, got.Mean[i], want)
		}
	}
	sum := 0.0
	for k := range 4000 {
		path := slices.Clone(long.Mean)
		late.ApplyPath(path, timesEvery(1000, hour, 97), capcli.Seed(3).Child(k))
		sum += path[96] / 4000
	}
	if math.Abs(sum-110) > 0.5 {
		t.Errorf("mean of paths %v, want 110", sum)
	}
}

func TestEventsAreChecked(t *testing.T) {
	good := Event{Name: "x", Shape: Pulse, Start: 10, End: 20, Size: 1}
	for field, e := range map[string]Event{
		"shape":   {Shape: "jump", Start: 1},
		"start":   {Shape: Step, Start: capcli.NoTime},
		"end":     {Shape: Ramp, Start: 10},
		"size":    {Shape: Step, Start: 10, Size: math.NaN()},
		"size_sd": {Shape: Step, Start: 10, SizeSD: -1},
		"delay":   {Shape: Step, Start: 10, Delay: -1},
		"chance":  {Shape: Step, Start: 10, Chance: 1.5},
	} {
		err := (&Roadmap{Events: []Event{good, e}}).Check()
		var in *capcli.InputError
		if !errors.As(err, &in) || in.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// TestCampaignCost holds the cost against figures published for Llama 3.1 405B:
// 3.8e25 operations on 16,384 H100 at 38 to 43 % of 989 TFLOPS (Grattafiori et
// al. 2024) and 30.84 million GPU-hours in all (its model card).
func TestCampaignCost(t *testing.T) {
	c := Campaign{Parameters: 405e9, Tokens: 15.6e12, PeakFLOPS: 989e12, MFU: 0.41, GPUs: 16384, Failures: -1}
	got, err := c.Cost()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.FLOPs/3.8e25-1) > 0.01 || got.GPUHours < 24e6 || got.GPUHours > 30.84e6 {
		t.Errorf("%.3g operations and %.4g GPU-hours, want 3.8e25 and 24 to 31 million", got.FLOPs, got.GPUHours)
	}
	c.Failures = 0
	if with, _ := c.Cost(); math.Abs(with.GPUHours/got.GPUHours-1.2) > 1e-12 || math.Abs(with.Lo/got.GPUHours-1.15) > 1e-12 || math.Abs(with.Hi/got.GPUHours-1.25) > 1e-12 {
		t.Errorf("with failures %+v, want 1.2 (1.15 to 1.25) of %v", with, got.GPUHours)
	}
	// A past run of 1000 GPU-hours on 10 GPUs, 95 % parallel: it took 100 h. Twice
	// the data and twice the size on 40 GPUs: by Amdahl 0.05+0.095 = 0.145 and
	// 0.05+0.95/40 = 0.07375 of one GPU's time.
	p := Campaign{Parameters: 2, Tokens: 2, GPUs: 40, Parallel: 0.95, Failures: -1, Past: &PastRun{Parameters: 1, Tokens: 1, GPUHours: 1000, GPUs: 10}}
	got, err = p.Cost()
	if want := 4 * 100 * 0.07375 / 0.145; err != nil || math.Abs(got.Hours-want) > 1e-9 || math.Abs(got.GPUHours-40*want) > 1e-6 {
		t.Errorf("%+v, %v, want %v hours", got, err, want)
	}
	e, err := p.Event(1000)
	if err != nil || e.Size != 40 || e.Check() != nil || math.Abs(float64(e.End-e.Start)-got.Hours*hour) > 1 {
		t.Errorf("%+v, %v", e, err)
	}
	for field, bad := range map[string]Campaign{
		"parameters": {},
		"gpus":       {Parameters: 1, Tokens: 1},
		"peak_flops": {Parameters: 1, Tokens: 1, GPUs: 1},
		"mfu":        {Parameters: 1, Tokens: 1, GPUs: 1, PeakFLOPS: 1, MFU: 1.2},
		"past":       {Parameters: 1, Tokens: 1, GPUs: 1, Past: &PastRun{}},
	} {
		var in *capcli.InputError
		if _, err := bad.Cost(); !errors.As(err, &in) || in.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// What an event is expected to add is what it says, however unsure it is.
func TestUnsureEventAddsWhatItSays(t *testing.T) {
	bounds := make([]capcli.Time, 11)
	for i := range bounds {
		bounds[i] = capcli.Time(1_800_000_000 + 3600*i)
	}
	r := Roadmap{Seed: 1, Events: []Event{
		{Name: "sure", Shape: Step, Start: bounds[3], Size: 40},
		{Name: "unsure", Shape: Step, Start: bounds[5], Size: 64, SizeSD: 9},
		{Name: "perhaps", Shape: Step, Start: bounds[7], Size: 10, SizeSD: 1, Chance: 0.3},
	}}
	_, got, err := r.Apply(model.Forecast{Mean: make([]float64, 10)}, bounds)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{40, 64, 3} {
		if v := got[k][9]; math.Abs(v-want) > 1e-9 {
			t.Errorf("%s adds %v, want %v", r.Events[k].Name, v, want)
		}
	}
}

// TestSureSizeWithAChance: 64 GPUs that come with 3 % are 64 or none, under any seed.
func TestSureSizeWithAChance(t *testing.T) {
	bounds := []capcli.Time{1_800_000_000, 1_800_003_600}
	for seed := range capcli.Seed(20) {
		r := Roadmap{Seed: seed, Events: []Event{{Name: "rare", Shape: Step, Start: bounds[0], Size: 64, Chance: 0.03}}}
		flat := func() []float64 { return []float64{100} }
		got, _, err := r.Apply(model.Forecast{Mean: flat(), Intervals: []model.Interval{{Level: 95, Lo: flat(), Hi: flat()}, {Level: 80, Lo: flat(), Hi: flat()}}}, bounds)
		if err != nil {
			t.Fatal(err)
		}
		golden.CheckNear(t, "mean and high end at 95 %", []float64{got.Mean[0], got.Intervals[0].Hi[0]}, []float64{100 + 0.03*64, 164}, 1e-9)
		happened := 0
		for k := range 1000 {
			path := flat()
			r.ApplyPath(path, bounds, seed.Child(k))
			switch path[0] {
			case 100:
			case 164:
				happened++
			default:
				t.Fatalf("a future has %v, want 100 or 164", path[0])
			}
		}
		if happened < 10 || happened > 55 {
			t.Errorf("it happens in %d of 1000 futures, want about 30", happened)
		}
	}
}

// TestCampaignHoldsItsGPUs: a run of 512 GPUs holds 512 while it runs; what is not
// sure is when it ends.
func TestCampaignHoldsItsGPUs(t *testing.T) {
	c := Campaign{Name: "run", Parameters: 70e9, Tokens: 2e12, PeakFLOPS: 989e12, MFU: 0.4, GPUs: 512}
	e, err := c.Event(1_800_000_000)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 120
	length := (e.End - e.Start) / 100
	bounds, base := []capcli.Time{}, make([]float64, steps)
	for i := range steps + 1 {
		bounds = append(bounds, e.Start+capcli.Time(i)*length)
	}
	for i := range base {
		base[i] = 100
	}
	for _, known := range []capcli.Time{0, bounds[50]} { // from before it, and while it runs
		r := Roadmap{Seed: 1, Known: known, Events: []Event{e}}
		got, _, err := r.Apply(model.Forecast{Mean: base, Intervals: []model.Interval{{Level: 80, Lo: base, Hi: base}}}, bounds)
		if err != nil {
			t.Fatal(err)
		}
		running, over := 612.0, 100.0
		if known != 0 {
			running, over = 100, -412
		}
		lo, hi := got.Intervals[0].Lo, got.Intervals[0].Hi
		golden.CheckNear(t, "while it runs", []float64{got.Mean[60], lo[60], hi[60]}, []float64{running, running, running}, 1e-9)
		golden.CheckNear(t, "long after", []float64{got.Mean[119], lo[119], hi[119]}, []float64{over, over, over}, 1e-9)
		if !(lo[99] < hi[99] && lo[100] < hi[100]) {
			t.Errorf("at its end the range is from %v to %v and from %v to %v, want it unsure", lo[99], hi[99], lo[100], hi[100])
		}
	}
}

// regressor is the event's course over steps, of which the i-th reaches from
// bounds[i] to bounds[i+1], for a model with regressors: 0 before it, 1 at its
// full size. A step that it covers in part has that part.
func (e *Event) regressor(bounds []capcli.Time) []float64 {
	out := make([]float64, max(0, len(bounds)-1))
	for i := range out {
		out[i] = e.share(bounds[i], bounds[i+1], 0, 0)
	}
	return out
}
