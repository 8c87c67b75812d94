package timeline

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

type count struct{ n int64 }

func (c *count) Merge(o *count) { c.n += o.n }

func TestSameInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var hours []int64
		span := 1 + rng.Int64N(5000)
		for range 300 {
			hours = append(hours, 480_000+rng.Int64N(span))
		}
		make1 := func(hours []int64) *Timeline[count, *count] {
			var out Timeline[count, *count]
			for _, h := range hours {
				out.At(h).n++
			}
			return &out
		}
		want := make1(hours)
		got := make1(hours[:100])
		got.Merge(make1(hours[200:]))
		got.Merge(make1(hours[100:200]))
		rng.Shuffle(len(hours), func(i, j int) { hours[i], hours[j] = hours[j], hours[i] })
		for _, x := range []*Timeline[count, *count]{got, make1(hours)} {
			if !reflect.DeepEqual(x.cells, want.cells) || x.shift != want.shift {
				t.Fatalf("span %d: %v cells of %d h, want %v of %d h", span, x.cells, x.Hours(), want.cells, want.Hours())
			}
		}
		if len(want.cells) > Most {
			t.Fatalf("%d cells", len(want.cells))
		}
		sum := int64(0)
		want.All(func(hour int64, c *count) { sum += c.n })
		if sum != 300 {
			t.Fatalf("%d of 300 counted", sum)
		}
	}
}

func TestChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	levels := func(n int, at int, factor, noise float64) (out []Level) {
		for i := range n {
			v := 8.0
			if i >= at {
				v *= factor
			}
			out = append(out, Level{int64(i), v * math.Exp(noise*rng.NormFloat64())})
		}
		return out
	}
	right := 0
	for range 200 {
		if got := Changes(levels(48, 20, 1.3, 0.03)); len(got) == 1 && got[0].Hour >= 19 && got[0].Hour <= 21 && math.Abs(got[0].To/got[0].From-1.3) < 0.05 {
			right++
		}
	}
	if right < 196 {
		t.Errorf("%d of 200 changes by 30 %% are found at their hour", right)
	}
	wrong := 0
	for range 500 {
		wrong += len(Changes(levels(48, 99, 1, 0.08)))
	}
	if wrong > 5 {
		t.Errorf("%d changes in 500 levels that do not change", wrong)
	}
	if got := Changes(levels(5, 2, 2, 0)); len(got) != 0 {
		t.Errorf("%v: too few levels show a change", got)
	}
}
