package scale_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/serving/scale"
)

// drawScaler draws a scaler of a kind with settings of its own.
func drawScaler(t *rapid.T, kind string) *scale.Settings {
	if kind == "none" {
		return &scale.Settings{Kind: kind}
	}
	lo := rapid.IntRange(0, 3).Draw(t, "min")
	s := &scale.Settings{Kind: kind, Min: lo, Max: rapid.IntRange(max(lo, 1), 12).Draw(t, "max"), Values: map[string]float64{}}
	own, err := scale.OwnSettings.Get(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range own {
		if !x.Required && !rapid.Bool().Draw(t, x.Name+" given") {
			continue
		}
		top := min(x.Hi, x.Lo+200)
		if x.Unit == scale.Number {
			s.Values[x.Name] = rapid.Float64Range(max(x.Lo, 1e-3), max(top, 1e-3)).Draw(t, x.Name)
		} else {
			s.Values[x.Name] = float64(rapid.IntRange(int(x.Lo), int(top)).Draw(t, x.Name))
		}
	}
	switch kind {
	case "hpa":
		s.Behavior = scale.Behavior{Up: drawRates(t), Down: drawRates(t)}
	case "forecast":
		s.Foreseen = rapid.SliceOfN(rapid.Float64Range(0, 60), 1, 40).Draw(t, "forecast")
	case "scheduled":
		delete(s.Values, "units")
		s.Schedule = []scale.Window{{Days: [7]bool{1: true}, To: 300, Units: s.Max, Min: -1, Max: -1}}
	case "predictive":
		s.Values["from"], s.Values["to"] = 10, 250
	}
	return s
}

func drawRates(t *rapid.T) scale.Rates {
	r := scale.Rates{Select: rapid.SampledFrom([]string{"", "Max", "Min", "Disabled"}).Draw(t, "select")}
	if r.HasWindow = rapid.Bool().Draw(t, "window given"); r.HasWindow {
		r.Window = capcli.Seconds(rapid.IntRange(0, 120).Draw(t, "window"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "rates") {
		r.Rates = append(r.Rates, scale.Rate{
			Kind: rapid.SampledFrom([]string{scale.Percent, scale.Pods}).Draw(t, "kind"), Value: rapid.IntRange(0, 200).Draw(t, "value"),
			Period: capcli.Seconds(rapid.IntRange(1, 120).Draw(t, "period")),
		})
	}
	return r
}

// drawCase draws a short service.
func drawCase(t *rapid.T, kind string) *scale.Case {
	c := &scale.Case{
		Length: capcli.Seconds(rapid.SampledFrom([]int{1, 2, 15}).Draw(t, "length")), PerUnit: int64(rapid.IntRange(1, 10).Draw(t, "mu")),
		ColdSteps: rapid.IntRange(0, 6).Draw(t, "cold"), LateSteps: rapid.IntRange(0, 4).Draw(t, "late"), Initial: rapid.IntRange(0, 5).Draw(t, "initial"),
		Scaler: drawScaler(t, kind),
	}
	c.Load = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
		return int64(rapid.IntRange(0, 40).Draw(t, "n") * rapid.IntRange(0, 1).Draw(t, "any"))
	}), 1, 60).Draw(t, "load")
	return c
}

// limitScaler draws what limits a scaler, and what is lost.
func limitScaler(t *rapid.T, c *scale.Case) {
	if rapid.Bool().Draw(t, "zero") {
		if c.Scaler.Values == nil {
			c.Scaler.Values = map[string]float64{}
		}
		c.Scaler.Values["zero_after"] = float64(rapid.IntRange(0, 6).Draw(t, "zero_after"))
		c.Scaler.Values["cooldown"] = float64(rapid.IntRange(0, 60).Draw(t, "cooldown"))
	}
	for step := range len(c.Load) {
		if rapid.IntRange(0, 9).Draw(t, "loss") == 0 {
			c.Losses = append(c.Losses, scale.Loss{Step: step, Units: rapid.IntRange(0, 4).Draw(t, "units")})
		}
	}
}

func play(t rapid.TB, c *scale.Case) *scale.Run {
	t.Helper()
	run, err := scale.Play(c)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Every scaler keeps the laws: no request is lost, limits hold, every unit is paid, and the same case gives
// the same run.
func TestLawsOfEveryScaler(t *testing.T) {
	for _, kind := range scale.Catalog.Names() {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawCase(t, kind)
				limitScaler(t, c)
				run := play(t, c)
				checkLaws(t, c, run)
				if again := play(t, c); !reflect.DeepEqual(run, again) {
					t.Fatal("the same case gives two runs")
				}
			})
		})
	}
}

func checkLaws(t *rapid.T, c *scale.Case, run *scale.Run) {
	s := &run.Summary
	var requests, served, paid, backlog int64
	current := c.Initial
	for i, r := range run.Rows {
		requests += r.Load
		served += r.Served
		paid += int64(r.Ready + r.Loading)
		if r.Served != min(backlog+r.Load, int64(r.Ready)*c.PerUnit) {
			t.Fatalf("step %d: %d ready served %d of %d", i, r.Ready, r.Served, backlog+r.Load)
		}
		if backlog = r.Backlog; requests != served+backlog || r.Ready < 0 || r.Loading < 0 || r.Ready+r.Loading != current {
			t.Fatalf("step %d: %+v after %d units, %d requests and %d served", i, r, current, requests, served)
		}
		switch {
		case c.Scaler.Kind == "none", r.Desired == current, r.Desired == 1 && backlog > 0:
		case r.Desired > max(c.Scaler.Max, current-1), r.Desired < 0, r.Desired > 0 && r.Desired < c.Scaler.Min && r.Desired < current:
			t.Fatalf("step %d: %d units are wanted with limits of %d and %d", i, r.Desired, c.Scaler.Min, c.Scaler.Max)
		case r.Desired == 0 && c.Scaler.Min > 0 && c.Scaler.Values["zero_after"] == 0:
			t.Fatalf("step %d: no unit is wanted; min is %d", i, c.Scaler.Min)
		}
		if r.Desired == 0 && backlog > 0 {
			t.Fatalf("step %d: no unit is wanted while %d requests wait", i, backlog)
		}
		current = r.Desired
	}
	if s.Requests != requests || s.Served != served || s.BacklogEnd != backlog || s.ReplicaSteps != paid || s.Late > s.Requests || s.Late < s.BacklogEnd {
		t.Fatalf("%+v, want %d requests, %d served, %d left, %d replica-steps", s, requests, served, backlog, paid)
	}
}

// A run in which nobody waits is no cheaper than the clairvoyant bound, and none without late requests is
// cheaper than the bound with lateness.
func TestNoRunIsBelowTheBound(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, rapid.SampledFrom(scale.Catalog.Names()).Draw(t, "kind"))
		run := play(t, c)
		s := run.Summary
		if s.Late > 0 || c.Scaler.Kind != "none" && c.Initial > c.Scaler.Max || slices.ContainsFunc(run.Rows, func(r scale.Row) bool { return r.Ready < c.Scaler.Min }) {
			return
		}
		checked++
		late, err := c.BoundLate()
		if err != nil || late == nil || s.ReplicaSteps < *late {
			t.Fatalf("%d replica-steps with nobody late, bound %v, %v", s.ReplicaSteps, late, err)
		}
		if s.MaxBacklog == 0 && (s.BoundNoneLate == nil || s.ReplicaSteps < *s.BoundNoneLate) {
			t.Fatalf("%d replica-steps with nobody waiting, bound %v", s.ReplicaSteps, s.BoundNoneLate)
		}
	})
	if checked == 0 {
		t.Error("no run without late requests was drawn")
	}
}

// The bounds are those of all plans, tried one by one.
func TestBoundsEqualExhaustiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, 2).Draw(t, "min")
		c := &scale.Case{
			Length: 1, PerUnit: int64(rapid.IntRange(1, 3).Draw(t, "mu")), ColdSteps: rapid.IntRange(0, 4).Draw(t, "cold"), LateSteps: rapid.IntRange(0, 3).Draw(t, "late"),
			Scaler: &scale.Settings{Kind: "util", Min: lo, Max: rapid.IntRange(max(1, lo), 3).Draw(t, "max")},
			Load:   rapid.SliceOfN(rapid.Int64Range(0, 7), 1, 7).Draw(t, "load"),
		}
		for _, late := range []int{0, c.LateSteps} {
			want := cheapestPlan(c, late)
			at := *c
			at.LateSteps = late
			got, err := at.BoundLate()
			if err != nil || !equal(got, want) {
				t.Fatalf("bound with %d late steps: %v, want %d, %v", late, got, want, err)
			}
			if none := c.BoundNoneLate(); late == 0 && !equal(none, want) {
				t.Fatalf("bound with nobody late: %v, want %d", none, want)
			}
		}
	})
}

func equal(got *int64, want int64) bool {
	if got == nil {
		return want == math.MaxInt64
	}
	return *got == want
}

// cheapestPlan tries all plans, and serves requests one by one.
func cheapestPlan(c *scale.Case, late int) int64 {
	best := int64(math.MaxInt64)
	plan := make([]int, len(c.Load))
	var try func(t int)
	try = func(t int) {
		if t == len(plan) {
			if cost, ok := planCost(c, plan, late); ok {
				best = min(best, cost)
			}
			return
		}
		for n := c.Scaler.Min; n <= c.Scaler.Max; n++ {
			plan[t] = n
			try(t + 1)
		}
	}
	try(0)
	return best
}

func planCost(c *scale.Case, plan []int, late int) (cost int64, ok bool) {
	var waiting []int
	for t, n := range plan {
		cost += int64(n)
		if t > 0 && n > plan[t-1] {
			cost += int64((n - plan[t-1]) * c.ColdSteps)
		}
		for range c.Load[t] {
			waiting = append(waiting, t)
		}
		waiting = waiting[min(len(waiting), n*int(c.PerUnit)):]
		if len(waiting) > 0 && t-waiting[0] >= late {
			return 0, false
		}
	}
	return cost, true
}

// Long loads and many replicas take no time: a year of minutes with up to 1000 replicas.
func TestBoundOfAYear(t *testing.T) {
	c := &scale.Case{Length: 60, PerUnit: 10, ColdSteps: 7, Scaler: &scale.Settings{Kind: "util", Min: 2, Max: 2000}}
	want := int64(0)
	for i := range 365 * 1440 {
		n := int64(1000 + math.Round(900*math.Sin(float64(i)/229)))
		c.Load = append(c.Load, n*10)
		want += n
	}
	got := c.BoundNoneLate()
	if got == nil || *got < want || float64(*got) > 1.05*float64(want) {
		t.Errorf("bound %v, want a little over %d", got, want)
	}
	if _, err := c.BoundLate(); err == nil {
		c.LateSteps = 2
		if _, err = c.BoundLate(); err == nil {
			t.Error("the exact bound of a year was computed")
		}
	}
}

// desire asks a scaler for its number in each of some steps, all of whose orders come at once.
func desire(t *testing.T, s *scale.Settings, initial int, length capcli.Seconds, perUnit int64, load ...int64) []int {
	t.Helper()
	run, err := scale.Play(&scale.Case{Length: length, PerUnit: perUnit, Initial: initial, Scaler: s, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, r := range run.Rows {
		out = append(out, r.Desired)
	}
	return out
}

func TestStories(t *testing.T) {
	all := [7]bool{true, true, true, true, true, true, true}
	hpa := func(change func(*scale.Settings)) *scale.Settings {
		s := &scale.Settings{Kind: "hpa", Min: 1, Max: 20, Values: map[string]float64{"target": 10}}
		change(s)
		return s
	}
	tests := []struct {
		name    string
		scaler  *scale.Settings
		initial int
		load    []int64
		want    []int
	}{
		{"hpa doubles, or adds four, in 15 s", hpa(func(*scale.Settings) {}), 2, []int64{200, 200, 200}, []int{6, 12, 20}},
		{"hpa up disabled", hpa(func(s *scale.Settings) { s.Behavior.Up.Select = "Disabled" }), 2, []int64{200, 200}, []int{2, 2}},
		{"hpa by the smaller change", hpa(func(s *scale.Settings) {
			s.Behavior.Up = scale.Rates{Select: "Min", Rates: []scale.Rate{{Kind: scale.Percent, Value: 100, Period: 60}, {Kind: scale.Pods, Value: 1, Period: 60}}}
		}), 2, []int64{200, 200, 200, 200, 200}, []int{3, 3, 3, 3, 4}},
		{"hpa holds the least of its window on the way up", hpa(func(s *scale.Settings) {
			s.Behavior.Up = scale.Rates{Window: 31, HasWindow: true}
		}), 1, []int64{10, 40, 60, 50}, []int{1, 1, 1, 4}},
		{"hpa decides at each third step", hpa(func(s *scale.Settings) { s.Values["every"] = 3 }), 1, []int64{40, 40, 40, 40}, []int{1, 1, 5, 5}},
		{"hpa is off at zero", hpa(func(*scale.Settings) {}), 0, []int64{0, 0}, []int{0, 0}},
		{"a waiting request wakes one, and hpa goes on", hpa(func(*scale.Settings) {}), 0, []int64{80, 0, 80}, []int{1, 5, 10}},
		{"hpa above max and below min", hpa(func(s *scale.Settings) { s.Min, s.Max = 3, 4 }), 9, []int64{0, 0}, []int{4, 4}},
		{"hpa from min zero", hpa(func(s *scale.Settings) { s.Min = 0; s.Behavior.Down = scale.Rates{HasWindow: true} }), 1, []int64{0, 0, 35}, []int{0, 0, 4}},
		{"zero after two steps", hpa(func(s *scale.Settings) { s.Values["zero_after"] = 2 }), 3, []int64{30, 0, 0, 0, 5}, []int{3, 3, 0, 0, 1}},
		{"zero after 30 s, as a time", hpa(func(s *scale.Settings) { s.Lengths = map[string]capcli.Seconds{"zero_after": 30} }), 3, []int64{30, 0, 0}, []int{3, 3, 0}},
		{"schedule limits hpa", hpa(func(s *scale.Settings) {
			s.Schedule = []scale.Window{{Days: all, From: 0, To: 46, Units: -1, Min: 5, Max: 6}}
		}), 1, []int64{0, 100, 100, 10}, []int{5, 6, 6, 10}},
		{"cooldown after a change", hpa(func(s *scale.Settings) {
			s.Behavior.Down = scale.Rates{HasWindow: true}
			s.Values["cooldown"] = 30
		}), 1, []int64{40, 10, 10, 10}, []int{4, 4, 1, 1}},
		{"units go only at checkpoints", hpa(func(s *scale.Settings) {
			s.Behavior.Down = scale.Rates{HasWindow: true}
			s.Values["checkpoint"] = 60
		}), 4, []int64{10, 10, 10, 10, 10}, []int{4, 4, 4, 1, 1}},
		{"no unit over the budget", hpa(func(s *scale.Settings) { s.Budget = &scale.Budget{Hours: 0.02, Then: scale.BudgetQueue} }), 2, []int64{20, 20, 20, 90}, []int{2, 2, 2, 2}},
		{"few units over the budget", hpa(func(s *scale.Settings) {
			s.Budget = &scale.Budget{Hours: 0.02, Then: scale.BudgetDegrade, Keep: 1}
		}), 2, []int64{20, 20, 20, 20}, []int{2, 2, 1, 1}},
		{"a budget stops", hpa(func(s *scale.Settings) { s.Budget = &scale.Budget{Hours: 0.02, Then: scale.BudgetStop} }), 2, []int64{20, 20, 20, 20}, []int{2, 2, 0, 0}},
		{"queue depth", &scale.Settings{Kind: "queue", Max: 9, Values: map[string]float64{"depth": 20, "down_window": 30}}, 1, []int64{50, 60, 0, 0, 0, 0}, []int{2, 4, 4, 4, 4, 3}},
		{"scheduled, a step ahead", &scale.Settings{Kind: "scheduled", Min: 1, Max: 9, Values: map[string]float64{"ahead": 15}, Schedule: []scale.Window{
			{Days: all, From: 45, To: 90, Units: 7, Min: -1, Max: -1},
		}}, 1, []int64{0, 0, 0, 0, 0, 0}, []int{1, 7, 7, 7, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := desire(t, tt.scaler, tt.initial, 15, 10, tt.load...); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// A window that passes midnight belongs to the day on which it begins, in its own zone.
func TestScheduleAcrossMidnight(t *testing.T) {
	s := &scale.Settings{
		Kind: "scheduled", Max: 9, Start: 4*86400 + 22*3600, // a Monday at 22:00
		Schedule: []scale.Window{{Days: [7]bool{1: true}, From: 23 * 3600, To: 3600, Units: 5, Min: -1, Max: -1}},
	}
	if got, want := desire(t, s, 0, 1800, 1, 0, 0, 0, 0, 0, 0, 0), []int{0, 5, 5, 5, 5, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// 200 GPU-hours that wait order nodes before any job holds more: 100 GPUs, of which spot takes 70.
func TestBlendOrdersForWhatWaits(t *testing.T) {
	state := simulate.ScaleState{Length: 60, Now: 60, PerUnit: 8000, Pending: 200 * 3600 * capcli.GPUSecond}
	for rest, want := range []int{9, 4} { // 70 and 30 GPUs on nodes of 8
		if got := blend(t, rest, 200, &state); got != want {
			t.Errorf("rest %d: %d nodes, want %d", rest, got, want)
		}
	}
	if got := blend(t, 0, 50, &state); got != 5 { // 35 GPUs
		t.Errorf("with a cap of 50 GPUs: %d nodes, want 5", got)
	}
	state.Served, state.Elsewhere, state.Pending = 60_000, 40_000, 0
	if got := blend(t, 0, 200, &state); got != 11 { // 70% of 1.2 × 100 GPUs: 84
		t.Errorf("for 100 GPUs in use: %d nodes, want 11", got)
	}
}

func blend(t *testing.T, rest int, most float64, s *simulate.ScaleState) int {
	t.Helper()
	n, err := scale.NewScaler(&scale.Settings{Kind: "blend", Max: 100, Unit: 1000, Values: map[string]float64{"cap": most, "rest": float64(rest)}})
	if err != nil {
		t.Fatal(err)
	}
	return n().Desired(s)
}

// From the second day on, a scaler that foresees has its replicas ready when the load comes; one that
// reacts lets requests wait.
func TestPredictiveActsBeforeTheLoad(t *testing.T) {
	c := &scale.Case{Length: 60, PerUnit: 10, ColdSteps: 10, LateSteps: 1, Initial: 2}
	for i := range 4 * 1440 {
		n := int64(20)
		if i%1440 >= 540 && i%1440 < 1020 {
			n = 200
		}
		c.Load = append(c.Load, n)
	}
	late := map[string]int64{}
	for _, kind := range []string{"util", "predictive"} {
		c.Scaler = &scale.Settings{Kind: kind, Min: 1, Max: 40}
		late[kind] = play(t, c).Summary.Late
	}
	first := int64(200 * (c.ColdSteps + 20)) // of the first morning, which nobody can foresee
	if late["predictive"] > first || late["util"] < 5*late["predictive"] {
		t.Errorf("late: %v", late)
	}
}

func TestWrongSettings(t *testing.T) {
	good := func() *scale.Settings {
		return &scale.Settings{Kind: "hpa", Min: 1, Max: 9, Values: map[string]float64{"target": 8}}
	}
	if _, err := scale.NewScaler(good()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		field  string
		change func(*scale.Settings)
	}{
		{"kind", func(s *scale.Settings) { s.Kind = "hpaa" }},
		{"max", func(s *scale.Settings) { s.Max = 0 }},
		{"min", func(s *scale.Settings) { s.Min = 10 }},
		{"target", func(s *scale.Settings) { s.Values = nil }},
		{"target", func(s *scale.Settings) { s.Values["target"] = math.NaN() }},
		{"stable_window", func(s *scale.Settings) { s.Values["stable_window"] = 60 }},
		{"every", func(s *scale.Settings) { s.Values["every"] = 1.5 }},
		{"tolerance", func(s *scale.Settings) { s.Lengths = map[string]capcli.Seconds{"tolerance": 5} }},
		{"behavior", func(s *scale.Settings) { s.Behavior.Up.Select = "Most" }},
		{"behavior", func(s *scale.Settings) { s.Behavior.Up.Rates = []scale.Rate{{Kind: "Pod", Value: 1, Period: 1}} }},
		{"behavior", func(s *scale.Settings) { s.Kind, s.Behavior.Up.Select = "kpa", "Max" }},
		{"forecast", func(s *scale.Settings) { s.Foreseen = []float64{1} }},
		{"forecast", func(s *scale.Settings) { s.Kind, s.Values = "forecast", nil }},
		{"schedule", func(s *scale.Settings) { s.Kind, s.Values = "scheduled", nil }},
		{"schedule", func(s *scale.Settings) { s.Schedule = []scale.Window{{To: 3600, Units: -1, Min: 1, Max: -1}} }},
		{"budget", func(s *scale.Settings) { s.Budget = &scale.Budget{Hours: 5, Then: "halt"} }},
		{"max", func(s *scale.Settings) { *s = scale.Settings{Kind: "none", Max: 3} }},
	}
	for _, tt := range tests {
		s := good()
		tt.change(s)
		_, err := scale.NewScaler(s)
		if request, ok := errors.AsType[*capcli.RequestError](err); !ok || request.Field != tt.field {
			t.Errorf("error %v, want one of %s", err, tt.field)
		}
	}
}

// With scale to zero a plan may have no replica, whatever min says.
func TestBoundFollowsScaleToZero(t *testing.T) {
	c := &scale.Case{Length: 60, PerUnit: 10, Scaler: &scale.Settings{Kind: "util", Min: 1, Max: 5}, Load: []int64{0, 20, 0, 0}}
	if got := c.Bound(); !equal(got, 5) {
		t.Errorf("bound %v, want 5", *got)
	}
	c.Scaler.Lengths = map[string]capcli.Seconds{"zero_after": 60}
	if got := c.Bound(); !equal(got, 2) {
		t.Errorf("bound with scale to zero %v, want 2", *got)
	}
}
