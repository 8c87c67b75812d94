package plan

import (
	"context"
	"errors"
	"testing"

	"capcli"
)

// TestSignalsByEnumeration tries every plan of small worlds of five days and a term of two. Without the signal
// no purchase of the last days can tell the futures apart; with it each side has its own. The costs are those
// that Wait finds, and knowing never costs.
func TestSignalsByEnumeration(t *testing.T) {
	const days, told, most = 5, 2, 2
	const rate, open = 5, 8 // a GPU-day, committed and on demand
	saved := 0
	for seed := range capcli.Seed(40) {
		rng := seed.Stream("world")
		count := 2 + rng.IntN(4)
		futures := Futures{Grid: capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Days: 1}}}
		values := make([]int, count)
		before := []float64{float64(rng.IntN(3)), float64(rng.IntN(3))}
		for s := range count {
			values[s] = rng.IntN(2)
			path := append(append([]float64{}, before...), 0, 0, 0)
			for d := told; d < days-1; d++ {
				path[d] = float64(min(most, rng.IntN(2)+values[s]*rng.IntN(3)))
			}
			futures.Paths = append(futures.Paths, path)
		}
		f, err := NewField(&futures, &Market{OnDemand: Flat(open * 1_000_000), Every: capcli.Step{Days: 1}, Terms: []Term{{Name: "2d", Length: capcli.Step{Days: 2}, Rate: Flat(rate * 1_000_000)}}})
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
		group := func(of func(s int) int, value int) (out []int) {
			for s := range count {
				if of(s) == value {
					out = append(out, s)
				}
			}
			return out
		}
		cost := func(futuresOf []int, bought [days]int) int {
			sum := 0
			for _, s := range futuresOf {
				for d := range days {
					covered := bought[d]
					if d > 0 {
						covered += bought[d-1]
					}
					sum += bought[d]*rate*min(2, days-d) + open*max(0, int(futures.Paths[s][d])-covered)
				}
			}
			return sum
		}
		sizes := func(from, to int, bought [days]int, try func(bought [days]int)) {
			var rec func(d int)
			rec = func(d int) {
				if d == to {
					try(bought)
					return
				}
				for bought[d] = 0; bought[d] <= most; bought[d]++ {
					rec(d + 1)
				}
			}
			rec(from)
		}
		best := func(parts [][]int) int {
			least := 1 << 30
			sizes(0, told, [days]int{}, func(first [days]int) {
				sum := 0
				for _, p := range parts {
					one := 1 << 30
					sizes(told, days, first, func(all [days]int) { one = min(one, cost(p, all)) })
					sum += one
				}
				least = min(least, sum)
			})
			return least
		}
		everyone := func(int) int { return 0 }
		side := func(s int) int { return values[s] }
		untold, known := best([][]int{group(everyone, 0)}), best([][]int{group(side, 0), group(side, 1)})
		stages := Stages{Every: capcli.Step{Days: told}, Count: 1, Branches: 3, Signals: []Signal{{At: told * capcli.Day, Values: values}}}
		w, err := f.Wait(ctx, stages, now, alone)
		if err != nil && !errors.Is(err, ErrNothingAhead) {
			t.Fatal(err)
		}
		dollars := func(v int) capcli.USD { return capcli.USDOf(float64(v) * 24 / float64(count)) }
		near := func(a, b capcli.USD) bool { return max(a-b, b-a) <= 10 }
		if !near(w.Again, dollars(known)) || !near(w.Untold, dollars(untold)) || w.Again > w.Untold {
			t.Errorf("seed %d: told %s, by hand %s; untold %s, by hand %s", seed, w.Again, dollars(known), w.Untold, dollars(untold))
		}
		if known < untold {
			saved++
		}
	}
	if saved < 10 {
		t.Errorf("only in %d worlds the signal was worth something", saved)
	}
}

// TestSignalsNeverCost plans for more futures than can be told apart one by one, where a signal leaves fewer
// groups by demand: it is never worth less than nothing.
func TestSignalsNeverCost(t *testing.T) {
	for seed := range capcli.Seed(6) {
		demand := []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
		futures, err := Wobble{Error: 0.4, HalfLife: 90 * capcli.Day}.Futures(capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Months: 1}}, demand, 44, seed)
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewField(&futures, &Market{OnDemand: Flat(4_000_000), Terms: []Term{{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(2_600_000)}}})
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
		rng := seed.Stream("noise") // a signal of nothing
		values := make([]int, 44)
		for s := range values {
			values[s] = rng.IntN(2)
		}
		stages := Stages{Every: capcli.Step{Months: 3}, Branches: 3}
		without, err := f.Wait(ctx, stages, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		at := f.deal.c.AddSteps(0, capcli.Step{Months: 1}, 4)
		stages.Signals = []Signal{{At: at, Values: values}}
		w, err := f.Wait(ctx, stages, now, alone)
		if err != nil {
			t.Fatal(err)
		}
		if w.Untold != without.Again || w.Again > w.Untold || w.Bound > w.Again {
			t.Errorf("seed %d: %s with the signal, %s without (%s), at least %s", seed, w.Again, without.Again, w.Untold, w.Bound)
		}
		seen := false
		for _, n := range w.Plan.Nodes {
			seen = seen || n.From == at
		}
		if !seen {
			t.Errorf("seed %d: no decision on the date of the signal", seed)
		}
	}
}
