package review

import (
	"context"
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
)

// Ninety days by hand: 10 GPUs by day and 4 by night are used, 6 are committed to
// the end and 6 more until 60 days after it.
func TestReviewByHand(t *testing.T) {
	use := &plan.Curve{Start: capcli.NoTime, Step: capcli.Step{Seconds: 12 * capcli.Hour}}
	for range 100 { // days; the first ten are too long ago
		use.Work = append(use.Work, 4*12*3600*1000, 10*12*3600*1000)
	}
	m := &plan.Market{OnDemand: plan.Flat(capcli.Dollar), Every: capcli.Step{Months: 1}, Terms: []plan.Term{{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: plan.Flat(600_000)}}}
	const day = capcli.Day
	r, err := review(context.Background(), market.Frame{Curve: use, Market: m}, []market.Contract{
		{Name: "dear", From: 0, To: 160 * day, Milli: 6000, Rate: 700_000, Priced: true},
		{Name: "cheap", From: -300 * day, To: 1000 * day, Milli: 6000, Rate: 400_000, Priced: true},
	}, 90*day)
	if err != nil {
		t.Fatal(err)
	}
	hours := func(n int64) capcli.GPUTime { return capcli.GPUTime(n * 3600 * 1000) }
	if r.Length != 90*day || r.Used != hours(90*12*14) || r.Covered != r.Used || r.OnDemand != 0 || r.Committed != hours(90*24*12) {
		t.Errorf("%+v", r)
	}
	cheap, dear := r.Commitments[0], r.Commitments[1]
	if cheap.Name != "cheap" || cheap.Used != hours(90*12*(4+6)) || *cheap.UnusedUSD != 90*12*2*400_000 {
		t.Errorf("%+v", cheap)
	}
	if dear.Used != hours(90*12*4) || *dear.UnusedUSD != 90*12*8*700_000 {
		t.Errorf("%+v", dear)
	}
	// Half of the time is over the 40 % of the cheap one, and under the 70 %.
	if *cheap.Idle != 0 || *dear.Idle != 6 {
		t.Errorf("idle %v and %v, want 0 and 6", *cheap.Idle, *dear.Idle)
	}
	// When the dear ones end, 4 GPUs are wanted by day for half of the time: less than
	// the 60 % that a term costs.
	if len(r.Advice) != 1 || r.Advice[0] != (Advice{Date: inMonths(float64(60*day) / float64(capcli.Step{Months: 1}.Length())), Do: "let expire", GPUs: 6}) || r.Best != r.DoNothing {
		t.Errorf("advice %+v, %s against %s", r.Advice, r.Best, r.DoNothing)
	}
}

// With nothing committed, the advice is the optimum of the time ahead; what ends is
// renewed where that is the optimum.
func TestReviewAdvice(t *testing.T) {
	use := &plan.Curve{Start: 1_798_761_600, Step: capcli.Step{Days: 1}, Work: slices.Repeat([]capcli.GPUTime{10 * 86400 * 1000}, 120)}
	m := &plan.Market{OnDemand: plan.Flat(capcli.Dollar), Every: capcli.Step{Days: 1}, Terms: []plan.Term{{Name: "30d", Length: capcli.Step{Days: 30}, Rate: plan.Flat(500_000)}, {Name: "90d", Length: capcli.Step{Days: 90}, Rate: plan.Flat(400_000)}}}
	r, err := review(context.Background(), market.Frame{Curve: use, Market: m}, nil, 90*capcli.Day)
	if err != nil {
		t.Fatal(err)
	}
	const end = capcli.Time(1_798_761_600 + 120*86400) // of the use
	if len(r.Advice) == 0 || !isAdvice(r.Advice[0], end, "buy", "90d", 10) || *r.Advice[0].Cost != 10*90*24*400_000 || r.Best >= r.DoNothing {
		t.Errorf("nothing committed: %+v, %s against %s", r.Advice, r.Best, r.DoNothing)
	}
	r, err = review(context.Background(), market.Frame{Curve: use, Market: m}, []market.Contract{{Name: "a", From: 0, To: 125 * capcli.Day, Milli: 10_000}}, 90*capcli.Day)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Advice) == 0 || !isAdvice(r.Advice[0], end+5*86400, "renew", *r.Advice[0].Term, 10) {
		t.Errorf("ten that end: %+v", r.Advice)
	}
	if r.Commitments[0].Rate != nil || r.Commitments[0].UnusedUSD != nil || r.Unused != 0 {
		t.Errorf("%+v", r.Commitments[0])
	}
}

// inMonths is an instant of a demand without dates.
func inMonths(n float64) market.Instant { return market.Instant{Time: capcli.NoTime, Period: n} }

func isAdvice(a Advice, at capcli.Time, do, term string, gpus float64) bool {
	return a.Date.Time == at && a.Do == do && *a.Term == term && a.GPUs == gpus
}
