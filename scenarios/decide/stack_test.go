package decide

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/testdata/golden"
)

// Where fenced GPUs and commitments that cover can both be had, the answer is never dearer than the best of all sizes of
// both with all values of patience, each of which is played with the jobs of all futures and paid by its invoice.
// Questions of four weeks have one date of purchase, and the two are the same.
func TestStackEnumerated(t *testing.T) {
	golden.SkipLong(t)
	found := map[string]int{}
	for seed, x := range []struct {
		place         string
		bill          float64
		risk, horizon string
	}{
		{"1.20", 2, "mean", "4w"},
		{"1.40", 1.9, "cvar50", "4w"},
		{"2.40", 1.5, "mean", "4w"},
		{"1.00", 2.2, "mean", "4w"},
		{"1.20", 1.8, "mean", "13w"},
		{"1.40", 2.2, "mean", "13w"},
	} {
		m := made{seed: capcli.Seed(seed + 2), days: 35, fenced: true, rate: x.place, bill: fmt.Sprintf("%.2f", x.bill)}
		files, q := m.files(), m.request()
		q.Horizon, q.WaitCost, q.Risk, q.Origins = x.horizon, "0", x.risk, 0
		risk := plan.Risk{}
		if x.risk != "mean" {
			risk = plan.Risk{Kind: plan.CVaR, Level: 500_000}
		}
		r, err := Decide(t.Context(), q, &World{Open: opened(files)})
		if err != nil {
			t.Fatalf("%+v: %v", x, err)
		}
		s, err := q.settle()
		if err != nil {
			t.Fatal(err)
		}
		best, at := enumerate(t, r, q, files, (&chain{settled: s}).waits(), 16, x.bill, s.wait, risk, s.hold)
		if got := *r.Mix.Best.Cost; got > best+20 || x.horizon == "4w" && got < best-20 { // coverage is counted in thousandths of a second
			t.Errorf("%+v: the plan costs %s, the best of all is %v at %s", x, got.Decimal(), at, best.Decimal())
		}
		found[r.Plan.As]++
		checkWays(t, r)
		t.Logf("%+v: %s", x, r.Answer)
	}
	if found[asBill] == 0 || found[asPlace] == 0 {
		t.Errorf("the worlds want no different ways to commit: %v", found)
	}
}

// checkWays checks that the ways to commit stand beside a plan, none cheaper on the same jobs, and that the orders of a
// plan of both add up.
func checkWays(t *testing.T, r *Result) {
	t.Helper()
	beside, costs := map[string]int{}, map[string]capcli.USD{}
	for _, a := range r.Alternatives {
		if a.Played > 0 || a.Name == "recommended" {
			beside[a.As]++
			if old, has := costs[a.As]; !has || a.Cost < old {
				costs[a.As] = a.Cost
			}
		}
	}
	for _, as := range []string{asPlace, asBill} {
		if beside[as] == 0 {
			t.Errorf("%s does not stand beside the plan, a %s", as, r.Plan.As)
		}
	}
	if r.Plan.As == asBill {
		return
	}
	for as, cost := range costs {
		if cost < r.Plan.Cost && r.Risk == "mean" {
			t.Errorf("%s costs %s and the plan %s", as, cost, r.Plan.Cost)
		}
	}
	if r.Plan.As != asBoth {
		return
	}
	o := r.Order
	var total capcli.USD
	gpus := 0.0
	for _, p := range o.Parts {
		total, gpus = total+p.Total, gpus+p.GPUs
	}
	if len(o.Parts) < 1 || o.Parts[0].As != asPlace || total != o.Total || int(gpus) != o.GPUs || o.GPUs != r.Plan.GPUs || r.Plan.Place > r.Plan.GPUs {
		t.Errorf("the order %+v does not add up to the plan %+v", o, r.Plan)
	}
	if !strings.Contains(r.Answer, " fenced H100 for 3mo from ") || !strings.Contains(r.Answer, "as a bill ") {
		t.Errorf("the answer does not name both orders: %s", r.Answer)
	}
	if list := r.Purchases(); len(list) != len(r.Plan.Commitments)+1 || list[0].GPUs != float64(r.Plan.Place) {
		t.Errorf("the purchases do not begin with the place: %+v", list)
	}
}

// Six GPUs are in use all the time, and six more in a month of campaign: a place for the first and a bill for that month
// are the cheapest, by more than a tenth against either alone. No size of the place with any level of bills throughout,
// by hand, is cheaper.
func TestCampaignStacked(t *testing.T) {
	golden.SkipLong(t)
	m := made{seed: 5, days: 35, fenced: true, rate: "1.20", bill: "2.20"}
	files, q := m.files(), m.request()
	files["log.csv"] = logOf(levelLog(35, 5, func(int) int { return 6 }))
	files["events.yaml"] = []byte("capcli: events/v1\ntimezone: UTC\nevents:\n  - {name: campaign, kind: pulse, from: 2026-03-09, to: 2026-04-08, gpus: 6, low: 6, high: 6}\n")
	q.Events, q.WaitCost, q.Origins = []string{"events.yaml"}, "0", 0
	r, err := Decide(t.Context(), q, &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Plan.As != asBoth {
		t.Fatalf("the plan is a %s: %s", r.Plan.As, r.Answer)
	}
	checkWays(t, r)
	hours := 6. * 24 * 31 // some futures may differ by what is cut at 0
	if len(r.Requests) != 1 || math.Abs(r.Requests[0].GPUHours-hours) > 0.01*hours {
		t.Fatalf("requests %+v, want one of %g GPU-hours", r.Requests, hours)
	}
	if a := r.Requests[0]; a.Cost.Float() < hours*1.2 || a.Cost.Float() > hours*4 || !strings.Contains(strings.Join(r.Notes, " "), "Fenced GPUs count in it as if they covered") {
		t.Errorf("the campaign costs %s, want between the fenced rate and on demand: %v", a.Cost, r.Notes)
	}
	for _, a := range r.Alternatives {
		if (a.Name == placeAlone || a.Name == billAlone) && a.Difference < r.Plan.Cost/10 {
			t.Errorf("%s costs only %s more than %s", a.Name, a.Difference, r.Plan.Cost)
		}
	}
	s, err := q.settle()
	if err != nil {
		t.Fatal(err)
	}
	best, at := enumerate(t, r, q, files, (&chain{settled: s}).waits(), 14, 2.2, s.wait, plan.Risk{}, s.hold)
	if r.Plan.Cost > best+20 {
		t.Errorf("the plan costs %s, %v %s", r.Plan.Cost, at, best)
	}
	t.Logf("%s; of bills throughout the best is %v at %s", r.Answer, at, best)
}
