package plan_test

import (
	"context"
	"math"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// BenchmarkThreeYears plans the three years of hours of "Shaved Ice" on three
// terms; beside it made-up demand of the same size with five terms, and months
// in which purchases may begin each hour.
func BenchmarkThreeYears(b *testing.B) {
	start, hourly := snowflake(b)
	terms := []plan.Term{term(b, "3mo", "0.85"), term(b, "12mo", "0.693679"), term(b, "36mo", "0.439195")}
	b.Run("real", func(b *testing.B) { solve(b, start, hourly, plan.Market{Terms: terms}) })
	five := append([]plan.Term{term(b, "1mo", "0.92"), term(b, "6mo", "0.77")}, terms...)
	made := wave(26_280)
	b.Run("made-up, five terms", func(b *testing.B) { solve(b, start, made, plan.Market{Terms: five}) })
	week := []plan.Term{term(b, "1w", "0.8"), term(b, "12h", "0.95")}
	b.Run("a month, hourly starts", func(b *testing.B) {
		solve(b, start, made[:720], plan.Market{Terms: week, Every: capcli.Step{Seconds: capcli.Hour}})
	})
}

// wave is demand with a day, a week and growth, of up to 4,000 GPUs.
func wave(hours int) []float64 {
	out := make([]float64, hours)
	for i := range out {
		t := float64(i)
		out[i] = math.Round((1000 + 2000*t/float64(hours)) * (1 + .2*math.Sin(t*2*math.Pi/24) + .1*math.Sin(t*2*math.Pi/168) + .03*math.Sin(t*t)))
	}
	return out
}

func solve(b *testing.B, start capcli.Time, demand []float64, m plan.Market) {
	b.Helper()
	m.OnDemand = rate(b, "1")
	c, err := plan.NewCurve(start, capcli.Step{Seconds: capcli.Hour}, demand)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := m.Solve(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}
