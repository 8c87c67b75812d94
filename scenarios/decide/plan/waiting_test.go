package plan

import (
	"context"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// TestDecidingMoreOftenIsNeverWorthLess revises a plan for two years at several intervals: the mean
// cost never rises with more decisions, and there is a decision at each interval of the horizon. A
// signal that tells two halves of the futures apart has a decision of its own, and is worth
// something.
func TestDecidingMoreOftenIsNeverWorthLess(t *testing.T) {
	ctx := context.Background()
	for _, count := range []int{8, 60} { // scenarios, and groups
		demand := slices.Repeat([]float64{100}, 24)
		futures, err := Wobble{Error: 0.3, HalfLife: 180 * capcli.Day}.Futures(capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Months: 1}}, demand, count, 7)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]int, count)
		for s := range values {
			if values[s] = s % 2; s%2 == 1 { // a campaign in the second year, decided on in August
				for k := 12; k < 24; k++ {
					futures.Paths[s][k] += 80
				}
			}
		}
		f, err := NewField(&futures, &Market{OnDemand: Flat(4_000_000), Terms: []Term{
			{Name: "1mo", Length: capcli.Step{Months: 1}, Rate: Flat(3_400_000)}, {Name: "1y", Length: capcli.Step{Months: 12}, Rate: Flat(2_500_000)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		now, err := f.Choose(ctx, Risk{})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := f.OptimumOfEach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		again := map[int]capcli.USD{}
		for _, months := range []int{12, 6, 3, 2, 1} {
			w, err := f.Wait(ctx, Stages{Every: capcli.Step{Months: months}, Branches: 3}, now, alone)
			if err != nil {
				t.Fatal(err)
			}
			again[months] = w.Again
			for _, seldom := range []int{2, 3, 6, 12} {
				if seldom%months == 0 && w.Again > again[seldom] {
					t.Errorf("%d futures: revised every %d months it costs %s, every %d months %s", count, months, w.Again, seldom, again[seldom])
				}
			}
			if w.Again > w.Later || w.Again > w.Rest || w.Again < w.Known || w.Bound > w.Again {
				t.Errorf("every %d months: %s again, %s later, %s rest, %s known, at least %s", months, w.Again, w.Later, w.Rest, w.Known, w.Bound)
			}
			last := w.Plan.Nodes[len(w.Plan.Nodes)-1]
			if last.Stage != 24/months-1 {
				t.Errorf("every %d months: %d decisions after the first in two years", months, last.Stage)
			}
			for i, n := range w.Plan.Nodes {
				if i > 0 && (n.Parent >= i || w.Plan.Nodes[n.Parent].To != n.From) {
					t.Errorf("every %d months: decision %d is after %d", months, i, n.Parent)
				}
			}
		}
		half := Stages{Every: capcli.Step{Months: 12}, Branches: 3}
		seldom, err := f.Wait(ctx, half, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		august := f.deal.c.AddSteps(0, capcli.Step{Months: 7}, 1)
		half.Signals = []Signal{{At: august, Values: values}}
		told, err := f.Wait(ctx, half, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		if told.Again > seldom.Again || !slices.ContainsFunc(told.Plan.Nodes, func(n Node) bool { return n.From == august }) {
			t.Errorf("%d futures: told in August it costs %s, without %s", count, told.Again, seldom.Again)
		}
	}
}

// TestWaitingWithLargeAmounts decides again for demand whose costs, in all futures together, are
// more than int64 holds: a year of 100,000 GPUs at prices whose smallest unit is a millionth of a dollar.
// Its costs are those of a thousandth of the demand, times a thousand.
func TestWaitingWithLargeAmounts(t *testing.T) {
	golden.SkipLong(t)
	ctx := context.Background()
	cost := func(gpus float64) *Waiting {
		futures, err := Wobble{Error: 0.3, HalfLife: 60 * capcli.Day}.Futures(capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Days: 1}}, slices.Repeat([]float64{100}, 365), 200, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range futures.Paths {
			for k := range path {
				path[k] = math.Round(path[k]*1000)/1000*gpus/100 + 0.001
			}
		}
		f, err := NewField(&futures, &Market{OnDemand: Flat(4_567_891), Terms: []Term{{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(2_500_003)}}})
		if err != nil {
			t.Fatal(err)
		}
		now, err := f.Choose(ctx, Risk{})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := f.OptimumOfEach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Wait(ctx, Stages{Every: capcli.Step{Months: 3}, Branches: 3}, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	few, many := cost(100), cost(100_000)
	for _, x := range []struct {
		name      string
		few, many capcli.USD
	}{{"now", few.Now, many.Now}, {"again", few.Again, many.Again}, {"later", few.Later, many.Later}, {"bound", few.Bound, many.Bound}} {
		if got := float64(x.many) / (1000 * float64(x.few)); got < 0.999 || got > 1.001 {
			t.Errorf("%s: %s for 100,000 GPUs, %s for 100", x.name, x.many, x.few)
		}
	}
}
