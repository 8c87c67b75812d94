package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate/serving/scale"
	"capcli/testdata/golden"
)

// follow is what became of the services of a run.
type follow struct {
	late  float64 // share of the requests
	hours float64 // of replicas, ready and loading
	bound float64 // replica-hours of a plan that knows the future
	cost  float64 // dollars
}

// playFollow plays a scenario of the library, in which every service has the scaler; "" keeps their own.
func playFollow(t *testing.T, name, scaler string, seed int) follow {
	t.Helper()
	sets := []string{seedSet(seed)}
	if scaler != "" {
		sets = append(sets, "services[0].scaler="+scaler)
	}
	return followed(t, play(t, name, sets...))
}

// followed sums up the services of a run.
func followed(t *testing.T, p played) follow {
	t.Helper()
	out := follow{cost: p.inv.Total.Cost.Float()}
	late, requests := int64(0), int64(0)
	for i := range p.r.Services {
		r := &p.r.Services[i]
		late, requests = late+r.Late, requests+r.Requests
		load, steps := []int64{}, int64(0)
		for _, x := range r.Steps {
			load, steps = append(load, x.Load), steps+int64(x.Ready+x.Loading)
		}
		out.hours += float64(steps) * r.Length.Hours()
		v := &p.s.Services[i]
		c := scale.Case{Length: r.Length, PerUnit: v.PerStep, ColdSteps: v.ColdStepCount(), Scaler: v.Scaler, Load: load}
		bound := c.Bound()
		if bound == nil {
			t.Fatalf("%s: no plan serves every request", v.Name)
		}
		out.bound += float64(*bound) * r.Length.Hours()
	}
	out.late = float64(late) / float64(requests)
	return out
}

// A four-fold swing between night and day: what each scaler takes over the bound, and who is late.
func TestDayNight(t *testing.T) {
	tests := []struct {
		scaler           string
		over, band, late float64
	}{
		{"{kind: hpa, min: 1, max: 40, target: 480}", 0.185, 0.02, 0},
		{"{kind: hpa, min: 1, max: 40, target: 540}", 0.058, 0.02, 0.00005},
		{"{kind: kpa, min: 1, max: 40, target: 480}", 0.203, 0.02, 0.00002},
		{"{kind: predictive, min: 1, max: 40}", 0.300, 0.02, 0},
		{"{kind: predictive, min: 1, max: 40, percent: 95}", 0.095, 0.02, 0.00005},
		{"{kind: util, min: 1, max: 40}", 0.67, 0.06, 0},
		{"{kind: queue, min: 1, max: 40, depth: 600}", 0.027, 0.02, 0.0173},
	}
	for seed := range storySeeds {
		cost := map[string]float64{}
		for _, tt := range tests {
			f := playFollow(t, "day-night", tt.scaler, seed)
			cost[tt.scaler] = f.cost
			checkNear(t, fmt.Sprintf("seed %d, %s: over the bound", seed+1, tt.scaler), f.hours/f.bound-1, tt.over, tt.band)
			checkNear(t, fmt.Sprintf("seed %d, %s: late", seed+1, tt.scaler), f.late, tt.late, 0.00005+tt.late/10)
			if tt.late == 0 && f.late > 0 {
				t.Errorf("seed %d, %s: %v are late, none are told", seed+1, tt.scaler, f.late)
			}
		}
		checkNear(t, "a forecast against the rule of two minutes", cost[tests[4].scaler]/cost[tests[5].scaler]-1, -0.345, 0.025)
		if cost[tests[4].scaler] < cost[tests[1].scaler] {
			t.Error("a forecast is cheaper than HPA with little room")
		}
	}
}

// A launch: only what is told of it is in time.
func TestLaunchDay(t *testing.T) {
	tests := []struct {
		scaler      string
		late, hours float64
	}{
		{"{kind: hpa, min: 2, max: 32, target: 1200}", 0.094, 239},
		{"{kind: kpa, min: 2, max: 32, target: 1200}", 0.063, 238},
		{"{kind: predictive, min: 2, max: 32}", 0.058, 259},
		{"{kind: util, min: 2, max: 32}", 0.271, 324},
		{"", 0, 246},
	}
	for seed := range storySeeds {
		var reacts, knows follow
		for i, tt := range tests {
			f := playFollow(t, "launch-day", tt.scaler, seed)
			checkNear(t, fmt.Sprintf("seed %d, %s: late", seed+1, tt.scaler), f.late, tt.late, 0.008)
			checkNear(t, fmt.Sprintf("seed %d, %s: replica-hours", seed+1, tt.scaler), f.hours, tt.hours, 2)
			if i == 0 {
				reacts = f
			}
			knows = f
		}
		if knows.late > 0.0005 {
			t.Errorf("seed %d: %v late with the schedule", seed+1, knows.late)
		}
		checkNear(t, "what the schedule costs more", knows.cost/reacts.cost-1, 0.017, 0.005)
	}
}

// Fifty models that go to zero: GPU-hours against requests that wait for a start.
func TestFiftyModels(t *testing.T) {
	golden.SkipLong(t)
	b, ok := Library("fifty-models")
	if !ok {
		t.Fatal("no scenario fifty-models")
	}
	always := 50 * 28 * 24.0
	for seed := range 2 { // each of a hundred and fifty services
		for after, want := range map[string][2]float64{"5m": {0.159, 0.621}, "15m": {0.293, 0.405}, "1h": {0.612, 0.159}} {
			text := strings.ReplaceAll(string(b), "zero_after: 15m", "zero_after: "+after)
			f := followed(t, playText(t, "fifty-models", []byte(text), seedSet(seed)))
			checkNear(t, "share of the GPU-hours, asleep after "+after, f.hours/always, want[0], 0.006)
			checkNear(t, "share that waits, asleep after "+after, f.late, want[1], 0.01)
			if f.hours < f.bound {
				t.Errorf("asleep after %s: %.0f replica-hours, below the bound of %.0f", after, f.hours, f.bound)
			}
		}
	}
}

// A budget on the pool on demand degrades to the spot pool beside it: cheaper, and jobs wait.
func TestBudgetDegradesToSpot(t *testing.T) {
	golden.SkipLong(t)
	const guard = "capacity.on-demand.buy.scaler={kind: blend, rest: 1, cap: 64, max: 60, model: seasonal-ar, budget: {hours: 200, then: stop}}"
	for seed := range 2 {
		free, held := play(t, "nodes-ahead", seedSet(seed)), play(t, "nodes-ahead", seedSet(seed), guard)
		checkNear(t, "cost with a budget", held.inv.Total.Cost.Float()/free.inv.Total.Cost.Float()-1, -0.30, 0.04)
		if free.r.Jobs.Waiting > 0 || held.r.Jobs.Finished < free.r.Jobs.Finished-20 {
			t.Errorf("seed %d: %d jobs finished, %d with a budget", seed+1, free.r.Jobs.Finished, held.r.Jobs.Finished)
		}
		for p := range held.r.Record.Pools {
			if held.r.Record.Pools[p].Name != "on-demand" {
				continue
			}
			hours := func(x played) float64 {
				sum := capcli.GPUTime(0)
				for m := range x.r.Record.Months {
					sum += x.r.Record.Months[m].Pools[p].Offered
				}
				return sum.Hours()
			}
			if was, is := hours(free), hours(held); is > 200*8*1.5 || is > was/5 {
				t.Errorf("seed %d: %.0f GPU-hours on demand, %.0f with a budget of 1,600", seed+1, was, is)
			}
		}
	}
}
