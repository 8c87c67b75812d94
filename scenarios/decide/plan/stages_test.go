package plan

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// policies tries every plan that decides again: at each stage everything that a
// group may buy, then each group that its demand so far tells apart by itself.
func (f *Field) policies(group []int, at []capcli.Seconds, stage int, bought []int64, most int64) int64 {
	from, to := at[stage], f.deal.c.Len()
	if stage+1 < len(at) {
		to = at[stage+1]
	}
	var open []int
	for i, x := range f.deal.options {
		if x.from >= from && x.from < to {
			open = append(open, i)
		}
	}
	best := int64(1) << 62
	for {
		var sum int64
		if stage+1 == len(at) {
			costs, err := f.costs(bought, group...)
			if err != nil {
				panic(err)
			}
			for _, c := range costs {
				sum += c
			}
		} else {
			for _, part := range groupFutures(group, func(a, b int) bool { return f.sameUntil(a, b, to) }) {
				sum += f.policies(part, at, stage+1, slices.Clone(bought), most)
			}
		}
		best = min(best, sum)
		k := 0
		for ; k < len(open); k++ { // the next choice, as an odometer counts
			if bought[open[k]]++; bought[open[k]] <= most {
				break
			}
			bought[open[k]] = 0
		}
		if k == len(open) {
			return best
		}
	}
}

func TestDecideAgainEqualsEveryPolicy(t *testing.T) {
	ctx := context.Background()
	proven, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := &Futures{Grid: capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Seconds: capcli.Hour}}}
		trunk := rapid.SliceOfN(rapid.IntRange(0, 3), 4, 4).Draw(t, "trunk")
		for range rapid.IntRange(1, 4).Draw(t, "futures") {
			path := make([]float64, 4)
			leaves := rapid.IntRange(0, 4).Draw(t, "leaves the trunk at")
			for k := range path {
				path[k] = float64(trunk[k])
				if k >= leaves {
					path[k] = float64(rapid.IntRange(0, 3).Draw(t, "GPUs"))
				}
			}
			f.Paths = append(f.Paths, path)
		}
		after := After{rapid.SampledFrom([]AfterRule{InFull, Prorated, Tail}).Draw(t, "after"), 1000}
		m := &Market{Every: capcli.Step{Seconds: capcli.Hour}, After: after, OnDemand: Flat(1_000_000), Terms: []Term{
			{Name: "a", Length: capcli.Step{Seconds: capcli.Seconds(rapid.Int64Range(2, 4).Draw(t, "hours")) * capcli.Hour}, Rate: Flat(capcli.USD(rapid.Int64Range(3, 9).Draw(t, "price")) * 100_000)},
		}}
		field, err := NewField(f, m)
		if err != nil {
			t.Fatal(err)
		}
		now, err := field.Choose(ctx, Risk{})
		if err != nil {
			t.Fatal(err)
		}
		every := capcli.Seconds(rapid.Int64Range(1, 3).Draw(t, "decides every")) * capcli.Hour
		alone, err := field.OptimumOfEach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w, err := field.Wait(ctx, Stages{Every: capcli.Step{Seconds: every}, Count: 3, Branches: 3}, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		at := []capcli.Seconds{0}
		for s := every; s < 4*capcli.Hour; s += every {
			at = append(at, s)
		}
		best := field.policies(field.all, at, 0, make([]int64, len(field.cost)), 3)
		want := new(big.Rat).SetFrac64(best, int64(field.Count()))
		if w.Plan.Bound.Cmp(want) > 0 || w.Plan.Cost.Cmp(want) < 0 {
			t.Fatalf("costs %s, at least %s; the best policy costs %s", w.Plan.Cost, w.Plan.Bound, want)
		}
		if all++; w.Plan.Exact() {
			proven++
		}
		if field.Count() == 1 && w.Plan.Cost.Cmp(now.Value) != 0 {
			t.Fatalf("with one future there is nothing to learn: %s, all now %s", w.Plan.Cost, now.Value)
		}
		assessed, err := field.AssessStaged("again", "", w.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := field.Risk(assessed, Risk{}); err != nil || got != w.Again {
			t.Fatalf("the futures cost %s on the mean, the plan says %s (%v)", got.Decimal(), w.Again.Decimal(), err)
		}
	})
	if proven != all {
		t.Errorf("%d of %d trees were proven", proven, all)
	}
}

// A year of months. Who waits for the spring to tell pays 3 months on demand.
func TestDecideAgainByHand(t *testing.T) {
	const month = 730 * capcli.Dollar
	low, high := slices.Repeat([]float64{4}, 12), slices.Concat(slices.Repeat([]float64{4}, 3), slices.Repeat([]float64{10}, 9))
	// The two differ in the third month, so that the decision after it knows.
	low[2], high[2] = 3, 5
	f, err := NewField(&Futures{Grid: capcli.Grid{Origin: capcli.NoTime, Step: capcli.Step{Seconds: 730 * capcli.Hour}}, Paths: [][]float64{low, high}}, &Market{
		OnDemand: Flat(capcli.Dollar), Terms: []Term{{Name: "9mo", Length: capcli.Step{Months: 9}, Rate: Flat(600_000)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	now, err := f.Choose(ctx, Risk{})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := f.OptimumOfEach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Wait(ctx, Stages{Every: capcli.Step{Months: 3}, Count: 1, Branches: 2}, now, alone)
	if err != nil {
		t.Fatal(err)
	}
	// From the fourth month: 4 or 10 GPUs for 9 months at 0.60. Before: 4, 4 and 3
	// or 5 on demand. One purchase lasts from month 0 to 8 or from 3 to 11.
	late := (4*9 + 10*9) * month * 60 / 100 / 2
	early := (4 + 4 + 4) * month
	if want := late + early; w.Later != want {
		t.Errorf("deciding in the fourth month costs %s, want %s", w.Later.Decimal(), want.Decimal())
	}
	if !w.Plan.Exact() || w.Again > w.Later || len(w.Plan.Nodes) != 3 {
		t.Errorf("%d nodes, %s, at least %s", len(w.Plan.Nodes), w.Again.Decimal(), w.Bound.Decimal())
	}
}

func BenchmarkDecideAgain(b *testing.B) {
	ctx := context.Background()
	grid := capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Seconds: 24 * capcli.Hour}}
	demand := make([]float64, 365)
	for i := range demand {
		demand[i] = 200 + float64(i)/3
	}
	futures, err := Wobble{Error: 0.2, HalfLife: 90 * 24 * capcli.Hour}.Futures(grid, demand, 200, capcli.Seed(1))
	if err != nil {
		b.Fatal(err)
	}
	f, err := NewField(&futures, &Market{OnDemand: Flat(2 * capcli.Dollar), After: After{Rule: InFull}, Terms: []Term{
		{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(1_600_000)},
		{Name: "12mo", Length: capcli.Step{Months: 12}, Rate: Flat(1_200_000)},
		{Name: "6mo", Length: capcli.Step{Months: 6}, Rate: Flat(1_400_000)},
	}})
	if err != nil {
		b.Fatal(err)
	}
	now, err := f.Choose(ctx, Risk{})
	if err != nil {
		b.Fatal(err)
	}
	alone, err := f.OptimumOfEach(ctx)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w, err := f.Wait(ctx, Stages{Every: capcli.Step{Months: 3}, Count: 3, Branches: 3}, now, alone)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((&Choice{Value: w.Plan.Cost, Bound: w.Plan.Bound}).Gap(), "gap")
		b.ReportMetric(float64(w.Plan.Solved), "programs")
		b.ReportMetric(float64(w.Now-w.Again)/float64(w.Now), "saved")
	}
}
