package mix

import (
	"context"
	"math"
	"strconv"
	"testing"

	"capcli/scenarios"
	"capcli/scenarios/play"
)

// shortPlan plans a week of the default scenario, and returns its planner too.
func shortPlan(t *testing.T, most string, vary ...string) (*Planner, *Result) {
	t.Helper()
	text, _ := scenarios.Library("default")
	s, err := scenarios.Parse("default.yaml", text, "period=2027-03-01 to 2027-03-07")
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRequest(c)
	r.Runs, r.Vary, r.Max = 2, vary, []string{most}
	p, err := NewPlanner(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Study(context.Background(), found)
	if err != nil {
		t.Fatal(err)
	}
	return p, res
}

// TestSizedAreRunsOfTheMix: each row is what its mix gives when it is simulated alone, the best mix
// is one of them, and the numbers of GPUs go from none to the largest.
func TestSizedAreRunsOfTheMix(t *testing.T) {
	for _, most := range []string{"wait_p95=1h", "jct_mean=1s"} { // no mix holds jct_mean=1s
		p, r := shortPlan(t, most, "capacity.base.gpus=0..96:4", "overflow.patience=0,1h")
		if len(r.Sizes) < sizesAsked || r.Sizes[0].GPUs != 0 || r.Sizes[len(r.Sizes)-1].GPUs != 96 {
			t.Fatalf("%s: %d sizes: %+v", most, len(r.Sizes), r.Sizes)
		}
		bests := 0
		for i, row := range r.Sizes {
			if i > 0 && row.GPUs <= r.Sizes[i-1].GPUs {
				t.Errorf("%s: row %d has %d GPUs after %d", most, i, row.GPUs, r.Sizes[i-1].GPUs)
			}
			if row.Choices[0].Value != strconv.FormatInt(row.GPUs, 10) {
				t.Errorf("%s: %d GPUs committed of a mix with %s", most, row.GPUs, row.Choices[0].Value)
			}
			if row.Best {
				bests++
				if row.Mix != r.Best.Mix || row.Cost != *r.Best.PerYear {
					t.Errorf("%s: best %+v, want mix %d", most, row, r.Best.Mix)
				}
			}
			var cost, wait, length float64
			for run := range r.Runs {
				o, err := p.problem.Outcome(context.Background(), row.Mix, run)
				if err != nil {
					t.Fatal(err)
				}
				cost, wait, length = cost+o.Cost.Float()/2, wait+float64(o.WaitP95)/2, length+float64(o.Length)/2
			}
			if year := cost * 365.25 * 86400 / length; math.Abs(row.Cost.Float()-year) > 0.01 || row.Wait != nil && math.Abs(*row.Wait-wait) > 1e-6 {
				t.Errorf("%s, %d GPUs: %s a year, wait %v; simulated alone %.6f and %v", most, row.GPUs, row.Cost, *row.Wait, year, wait)
			}
		}
		if want := map[bool]int{true: 1}[r.Best != nil]; bests != want {
			t.Errorf("%s: %d rows are the best mix, want %d", most, bests, want)
		}
	}
}

// TestBuysAreTheBestMix: what a plan says to buy is the size that it chose.
func TestBuysAreTheBestMix(t *testing.T) {
	_, r := shortPlan(t, "wait_p95=1h", "capacity.base.gpus=0..96:16")
	if len(r.Buys) != 1 || strconv.FormatInt(r.Buys[0].GPUs, 10) != r.Best.Choices[0].Value || r.Buys[0].Terms != "reserved" || r.Buys[0].Term != "1y" {
		t.Errorf("%+v, best %+v", r.Buys, r.Best.Choices)
	}
	if _, r = shortPlan(t, "wait_p95=1h", "overflow.patience=0,1h"); len(r.Sizes) != 0 {
		t.Errorf("a plan of no sizes has %d", len(r.Sizes))
	}
	if _, r = shortPlan(t, "jct_mean=1s", "capacity.base.gpus=0..96:48"); r.Best != nil || len(r.Buys) != 0 {
		t.Errorf("a plan without a mix buys %+v", r.Buys)
	}
}
