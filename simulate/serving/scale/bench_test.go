package scale_test

import (
	"math"
	"testing"

	"capcli/simulate/serving/scale"
)

// BenchmarkPlay plays a year of minutes with each of some scalers, the bound included.
func BenchmarkPlay(b *testing.B) {
	c := &scale.Case{Length: 60, PerUnit: 10, ColdSteps: 7, LateSteps: 2, Initial: 10}
	for i := range 365 * 1440 {
		c.Load = append(c.Load, int64(5000+4500*math.Sin(float64(i)/229)))
	}
	for _, kind := range []string{"hpa", "kpa", "util", "predictive"} {
		b.Run(kind, func(b *testing.B) {
			c.Scaler = &scale.Settings{Kind: kind, Min: 1, Max: 1000}
			if c.Scaler.Declares("target") {
				c.Scaler.Values = map[string]float64{"target": 8}
			}
			for b.Loop() {
				if _, err := scale.Play(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bound", func(b *testing.B) {
		for b.Loop() {
			c.BoundNoneLate()
		}
	})
}
