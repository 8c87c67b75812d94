package plan

import (
	"context"
	"slices"
	"testing"

	"capcli"
)

// Ninety days by hand: 10 GPUs by day and 4 by night are used, 6 are committed to
// the end and 6 more until 60 days after it.
func TestReviewByHand(t *testing.T) {
	use := &Curve{Start: capcli.NoTime, Step: capcli.Step{Seconds: 12 * capcli.Hour}}
	for range 100 { // days; the first ten are too long ago
		use.Work = append(use.Work, 4*12*3600*1000, 10*12*3600*1000)
	}
	m := &Market{OnDemand: Flat(capcli.Dollar), Terms: []Term{{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(600_000)}}}
	const day = capcli.Day
	r, err := NewReview(context.Background(), use, m, []Contract{
		{Name: "dear", From: 0, To: 160 * day, Milli: 6000, Rate: 700_000, Priced: true},
		{Name: "cheap", From: -300 * day, To: 1000 * day, Milli: 6000, Rate: 400_000, Priced: true},
	}, 90*day)
	if err != nil {
		t.Fatal(err)
	}
	hours := func(n int64) capcli.GPUTime { return capcli.GPUTime(n * 3600 * 1000) }
	if r.From != 10*day || r.Used != hours(90*12*14) || r.Covered != r.Used || r.OnDemand != 0 || r.Committed != hours(90*24*12) {
		t.Errorf("%+v", r)
	}
	cheap, dear := r.Contracts[0], r.Contracts[1]
	if cheap.Name != "cheap" || cheap.Used != hours(90*12*(4+6)) || cheap.Unused != 90*12*2*400_000 {
		t.Errorf("%+v", cheap)
	}
	if dear.Used != hours(90*12*4) || dear.Unused != 90*12*8*700_000 {
		t.Errorf("%+v", dear)
	}
	// Half of the time is over the 40 % of the cheap one, and under the 70 %.
	if cheap.Idle != 0 || dear.Idle != 6000 {
		t.Errorf("idle %d and %d, want 0 and 6000", cheap.Idle, dear.Idle)
	}
	// When the dear ones end, 4 GPUs are wanted by day for half of the time: less than
	// the 60 % that a term costs.
	want := []Advice{{At: 60 * day, Do: Expire, Term: -1, Milli: 6000}}
	if !slices.Equal(r.Advice, want) || r.Best != r.DoNothing {
		t.Errorf("advice %+v, %s against %s", r.Advice, r.Best, r.DoNothing)
	}
}

// With nothing committed, the advice is the optimum of the time ahead; what ends is
// renewed where that is the optimum.
func TestReviewAdvice(t *testing.T) {
	use := &Curve{Start: 1_798_761_600, Step: capcli.Step{Days: 1}, Work: slices.Repeat([]capcli.GPUTime{10 * 86400 * 1000}, 120)}
	m := &Market{OnDemand: Flat(capcli.Dollar), Every: capcli.Step{Days: 1}, Terms: []Term{{Name: "30d", Length: capcli.Step{Days: 30}, Rate: Flat(500_000)}, {Name: "90d", Length: capcli.Step{Days: 90}, Rate: Flat(400_000)}}}
	r, err := NewReview(context.Background(), use, m, nil, 90*capcli.Day)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Advice) == 0 || r.Advice[0] != (Advice{0, Buy, 1, 10_000, 10 * 90 * 24 * 400_000}) || r.Best >= r.DoNothing {
		t.Errorf("nothing committed: %+v, %s against %s", r.Advice, r.Best, r.DoNothing)
	}
	r, err = NewReview(context.Background(), use, m, []Contract{{Name: "a", From: 0, To: 125 * capcli.Day, Milli: 10_000}}, 90*capcli.Day)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Advice) == 0 || r.Advice[0].At != 5*capcli.Day || r.Advice[0].Do != Renew || r.Advice[0].Milli != 10_000 {
		t.Errorf("ten that end: %+v", r.Advice)
	}
	if r.Contracts[0].Priced || r.Contracts[0].Unused != 0 {
		t.Errorf("%+v", r.Contracts[0])
	}
}
