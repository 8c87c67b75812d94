package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// TestTiesByHand prices levels of one term over made-up futures by hand, hour by hour: the costs are the
// same, and the ties are those sizes whose difference is within its noise.
func TestTiesByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const hours = 24 * 28
		rate, onDemand := capcli.Rate(rapid.IntRange(5, 19).Draw(t, "rate")*100_000), capcli.Rate(2_000_000)
		f := &Futures{Grid: capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Seconds: capcli.Hour}}}
		for range rapid.IntRange(2, 6).Draw(t, "futures") {
			level := rapid.IntRange(0, 40).Draw(t, "level")
			path := make([]float64, hours)
			for i := range path {
				path[i] = float64(max(0, level+i%7-3))
			}
			f.Paths = append(f.Paths, path)
		}
		m := &Market{OnDemand: Flat(onDemand), Terms: []Term{{Name: "4w", Length: capcli.Step{Days: 28}, Rate: Flat(rate)}}}
		field, err := NewField(f, m)
		if err != nil {
			t.Fatal(err)
		}
		c, err := field.Choose(t.Context(), Risk{})
		if err != nil {
			t.Fatal(err)
		}
		best, err := field.Assess("", "", c)
		if err != nil {
			t.Fatal(err)
		}
		byHand := func(k int64, s int) float64 {
			sum := rate.Float() * float64(k) * hours
			for _, v := range f.Paths[s] {
				sum += onDemand.Float() * max(0, v-float64(k))
			}
			return sum
		}
		k := FirstMilli(best.Purchases) / 1000
		ties, err := field.Ties(best, 0.5, 1.5)
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(0); at <= 50; at++ {
			a, err := field.Reprice("", "", ScaleFirst(best.Purchases, 1000*at, 1000))
			if err != nil {
				t.Fatal(err)
			}
			var mean, squares, cost float64
			n := float64(len(f.Paths))
			for s := range f.Paths {
				want := byHand(at, s)
				if got := a.Outcomes[s].Cost.Float(); math.Abs(got-want) > 1e-5 {
					t.Fatalf("%d GPUs in future %d cost %g, by hand %g", at, s, got, want)
				}
				d := want - byHand(k, s)
				mean, squares, cost = mean+d/n, squares+d*d/n, cost+byHand(k, s)/n
			}
			if mean < -1e-6 {
				t.Fatalf("%d GPUs cost %g less than the best, %d", at, -mean, k)
			}
			room := max(2*math.Sqrt(max(0, squares-mean*mean)/(n-1)), 1e-3*cost)
			if inside := at >= ties.Least/1000 && at <= ties.Most/1000; inside && mean > room+1e-4 {
				t.Errorf("%d GPUs are within %d to %d, and cost %g more, over the noise of %g", at, ties.Least/1000, ties.Most/1000, mean, room)
			} else if beside := at == ties.Least/1000-1 || at == ties.Most/1000+1; beside && mean < room-1e-4 {
				t.Errorf("%d GPUs are beside %d to %d, and cost only %g more, under the noise of %g", at, ties.Least/1000, ties.Most/1000, mean, room)
			}
		}
		for _, w := range ties.Wrong {
			var mean float64
			for s := range f.Paths {
				mean += (byHand(w.Milli/1000, s) - byHand(k, s)) / float64(len(f.Paths))
			}
			if math.Abs(mean-w.Added.Float()) > 1e-5 {
				t.Errorf("%d GPUs add %s, by hand %g", w.Milli/1000, w.Added.Decimal(), mean)
			}
		}
	})
}

// TestRenewed buys a level again whenever it ends: the purchases follow each other and lie within the
// futures.
func TestRenewed(t *testing.T) {
	f := &Futures{Grid: capcli.Grid{Origin: 1_799_020_800, Step: capcli.Step{Days: 1}}, Paths: [][]float64{make([]float64, 84)}}
	m := &Market{OnDemand: Flat(2_000_000), Every: capcli.Step{Days: 7}, Terms: []Term{{Name: "2w", Length: capcli.Step{Days: 14}, Rate: Flat(1_000_000)}, {Name: "3w", Length: capcli.Step{Days: 21}, Rate: Flat(900_000)}}}
	field, err := NewField(f, m)
	if err != nil {
		t.Fatal(err)
	}
	for term, want := range []int{6, 4} {
		list := field.Renewed(term, 5000)
		if len(list) != want || list[0].From != 0 || list[len(list)-1].To != field.deal.c.Len() {
			t.Errorf("term %d: %d purchases, want %d from the start to the end: %v", term, len(list), want, list)
		}
		for i := 1; i < len(list); i++ {
			if list[i].From != list[i-1].To {
				t.Errorf("term %d: purchase %d starts at %d, after one that ends at %d", term, i, list[i].From, list[i-1].To)
			}
		}
	}
	if list := field.Renewed(0, 0); len(list) != 0 {
		t.Errorf("nothing is bought again: %v", list)
	}
}
