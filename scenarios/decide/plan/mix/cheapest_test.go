package mix_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
	"capcli/testdata/golden"
)

// drawPlan plans a drawn world of some tens of jobs in three days.
func drawPlan(t *testing.T, seed uint64) (*mix.Planner, *mix.Result) {
	t.Helper()
	rng := capcli.Seed(seed).Stream("worlds")
	text := fmt.Sprintf(`capcli: scenario/v1
name: world
period: 2027-03-01 to 2027-03-03
seed: %d
jobs:
  generate:
    classes:
      - {name: a, mean_gpus: %d, sizes: [{gpus: 1, weight: 3}, {gpus: 2, weight: 1}], run_median: %dm, run_p95: 6h, run_max: 12h, tenants: [{name: x, weight: 1}]}
capacity:
  - {name: base, kind: owned, gpus: 4, price: 1.%02d}
  - {name: od, kind: on_demand, price: 2.%02d%s}
policy: %s
overflow: {patience: 30m}
`, seed+1, 2+rng.IntN(5), 20+rng.IntN(100), rng.IntN(100), 10+rng.IntN(90), []string{"", "", ", max_gpus: 4"}[rng.IntN(3)], []string{"fifo", "sjf"}[rng.IntN(2)])
	s, err := scenarios.Parse("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := mix.NewRequest(c)
	q.Runs, q.Hold = []int{1, 4, 8, 8}[rng.IntN(4)], []float64{0.95, 0.75}[rng.IntN(2)]
	q.Vary = []string{"capacity.base.gpus=0..12:" + fmt.Sprint(1+rng.IntN(3))}
	if rng.IntN(2) == 0 {
		q.Vary = append(q.Vary, "overflow.patience=0,1h")
	}
	q.Max = []string{[]string{"wait_p95=20m", "wait_p95=45m", "wait_mean=10m", "cost=$400"}[rng.IntN(4)]}
	q.WaitCost = []string{"", "0", "50"}[rng.IntN(3)]
	if rng.IntN(2) == 0 {
		q.Goal, err = mix.ParseGoal("cheapest")
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := mix.NewPlanner(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Study(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// TestTheCheapestIsThePlan draws worlds and runs every mix of them in full. No mix that holds the limits counts less than the
// plan; where there is no plan, none holds them, and the limit that binds is named. A row of the marginal table that holds the
// limits and costs less than the plan is explained, and the reason is true.
func TestTheCheapestIsThePlan(t *testing.T) {
	none, cheaper, waits, noChoice := 0, 0, 0, 0
	worlds := uint64(golden.Draws(60))
	if os.Getenv("CAPCLI_LONG") != "" {
		worlds = 312
	}
	for seed := range worlds {
		p, r := drawPlan(t, seed)
		var all [][]string
		var walk func(sets []string, axes []mix.Axis)
		walk = func(sets []string, axes []mix.Axis) {
			if len(axes) == 0 {
				all = append(all, sets)
				return
			}
			for _, v := range axes[0].Values {
				walk(append(sets[:len(sets):len(sets)], axes[0].Path+"="+v), axes[1:])
			}
		}
		walk(nil, r.Axes)
		mixes, err := p.Assess(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		holding := 0
		for i, m := range mixes {
			if !m.Holds(r.Hold) {
				continue
			}
			if holding++; r.Best != nil && m.Entry.CostWithWaits() < r.Best.Entry.CostWithWaits() {
				t.Errorf("world %d: %v holds the limits and counts %s, the plan %v %s (%+v)", seed, all[i], m.Entry.CostWithWaits(), r.Best.Choices, r.Best.Entry.CostWithWaits(), r.Counts)
			}
		}
		if r.Best == nil {
			if none++; holding > 0 || r.Binding == nil || !strings.Contains(r.NoPlan().Error(), *r.Binding) {
				t.Errorf("world %d: no plan, %d mixes hold the limits, %v binds", seed, holding, r.Binding)
			}
			continue
		}
		for _, m := range r.Marginal {
			if !m.Holds || m.Cost >= *r.Best.Cost {
				if m.Why != "" {
					t.Errorf("world %d: %d GPUs need no reason: %+v", seed, m.GPUs, m)
				}
				continue
			}
			cheaper++
			sets := []string{fmt.Sprintf("capacity.base.gpus=%d", m.GPUs)}
			for _, c := range r.Best.Choices[1:] {
				sets = append(sets, c.Path+"="+c.Value)
			}
			own, err := p.Assess(t.Context(), [][]string{sets})
			if err != nil {
				t.Fatal(err)
			}
			switch longer := own[0].Entry.CostWithWaits() >= r.Best.Entry.CostWithWaits(); {
			case longer && m.WhyBrief() == "cheaper, but jobs wait longer":
				waits++
			case !longer && m.WhyBrief() == "cheaper, but no choice of this plan" && !isChoice(r.Axes[0].Values, m.GPUs):
				noChoice++
			default:
				t.Errorf("world %d: %d GPUs at %s hold the limits, the plan costs %s, and the reason is %q", seed, m.GPUs, m.Cost, *r.Best.Cost, m.Why)
			}
		}
	}
	t.Logf("%d worlds without a plan; %d cheaper rows: %d for their waits, %d no choice", none, cheaper, waits, noChoice)
	if golden.Full() && (none == 0 || waits == 0 || noChoice == 0) {
		t.Error("the worlds show too little")
	}
}

func isChoice(values []string, gpus int) bool {
	for _, v := range values {
		if v == fmt.Sprint(gpus) {
			return true
		}
	}
	return false
}
