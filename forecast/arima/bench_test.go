package arima

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"capcli"
)

// drawnSeries returns series of n values: autocorrelated around a line, random walks, and noise
// around a line, one after the other, with a season of m steps where m is over 1.
func drawnSeries(count, n, m int) [][]float64 {
	rng := rand.New(rand.NewPCG(7, 1))
	out := make([][]float64, count)
	for i := range out {
		level, slope, height, x := 50+100*rng.Float64(), 0.3*rng.NormFloat64(), 15*rng.Float64(), 0.0
		for t := range n {
			switch e := rng.NormFloat64(); i % 3 {
			case 0:
				x = 0.7*x + 4*e
			case 1:
				x += 3 * e
			default:
				x = 5 * e
			}
			y := level + slope*float64(t) + x
			if m > 1 {
				y += height * math.Sin(2*math.Pi*float64(t)/float64(m))
			}
			out[i] = append(out[i], y)
		}
	}
	return out
}

// BenchmarkAutoARIMA chooses the order of one drawn series after the other.
func BenchmarkAutoARIMA(b *testing.B) {
	for _, c := range []struct{ n, m int }{{26, 1}, {50, 1}, {50, 4}, {120, 12}, {300, 1}} {
		all := drawnSeries(60, c.n, c.m)
		b.Run(fmt.Sprintf("values=%d/season=%d", c.n, c.m), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := (AutoARIMA{Period: c.m}).FitARIMA(capcli.Series{Values: all[i%len(all)]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
