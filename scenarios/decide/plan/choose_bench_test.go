package plan

import (
	"context"
	"math"
	"testing"

	"capcli"
)

// yearOfFutures is a year of hours with days, weeks and growth, which may be 20 %
// wrong.
func yearOfFutures(tb testing.TB, n int, level float64) *Futures {
	grid := capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Seconds: capcli.Hour}}
	demand := make([]float64, 8760)
	for i := range demand {
		x := float64(i)
		demand[i] = level * (1 + x/8760) * (1 + 0.3*math.Sin(x*2*math.Pi/24) + 0.15*math.Sin(x*2*math.Pi/168))
	}
	f, err := Wobble{Error: 0.2, HalfLife: 90 * capcli.Day}.Futures(grid, demand, n, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return &f
}

func yearMarket() *Market {
	m := &Market{OnDemand: Flat(3_900_000)}
	for name, rate := range map[int]capcli.Rate{1: 3_500_000, 3: 3_100_000, 6: 2_800_000, 12: 2_200_000} {
		m.Terms = append(m.Terms, Term{Length: capcli.Step{Months: name}, Rate: Flat(rate)})
	}
	return m
}

func BenchmarkChooseYear(b *testing.B) {
	for _, size := range []struct {
		name  string
		level float64
	}{{"100 GPUs", 60}, {"1000 GPUs", 600}} {
		f := yearOfFutures(b, 200, size.level)
		field, err := NewField(f, yearMarket())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name+"/lay out", func(b *testing.B) {
			for b.Loop() {
				if _, err := NewField(f, yearMarket()); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, risk := range []Risk{{}, {Kind: CVaR, Level: 950_000}, {Kind: Quantile, Level: 800_000}} {
			b.Run(size.name+"/"+risk.String(), func(b *testing.B) {
				for b.Loop() {
					c, err := field.Choose(context.Background(), risk)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(c.Gap()*1e6, "gap-ppm")
					b.ReportMetric(float64(c.Rounds), "rounds")
				}
			})
		}
		b.Run(size.name+"/alone", func(b *testing.B) {
			for b.Loop() {
				if _, err := field.OptimumOfEach(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
