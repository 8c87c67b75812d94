package plan

import (
	"errors"
	"fmt"
	"math"

	"capcli"
)

// Futures are possible courses of demand, each as likely as any other, all on the same steps.
type Futures struct {
	Grid  capcli.Grid
	Paths [][]float64 // by future, then step: mean demand of the step in GPUs
}

// Limits on the size of a set of futures.
const (
	MaxFutures = 10_000
	maxLevel   = 1e9 // GPUs
	maxCells   = 50_000_000
)

// Steps returns the number of steps.
func (f *Futures) Steps() int {
	if len(f.Paths) == 0 {
		return 0
	}
	return len(f.Paths[0])
}

// Start returns the instant at which the first step starts.
func (f *Futures) Start() capcli.Time { return f.Grid.At(0) }

// End returns the instant at which the last step ends.
func (f *Futures) End() capcli.Time { return f.Grid.At(f.Steps()) }

// Check returns an error where futures have no or unequal length, or levels outside 0 to 1e9 GPUs.
func (f *Futures) Check() error {
	switch n := len(f.Paths); {
	case n == 0 || f.Steps() == 0:
		return errors.New("expected at least one future of at least one step, found none")
	case n > MaxFutures:
		return fmt.Errorf("expected at most %d futures, found %d", MaxFutures, n)
	case n > maxCells/f.Steps():
		return fmt.Errorf("expected at most %d values in all futures, found %d times %d", maxCells, n, f.Steps())
	}
	for i, p := range f.Paths {
		if len(p) != f.Steps() {
			return fmt.Errorf("future %d: expected %d steps as in future 0, found %d", i, f.Steps(), len(p))
		}
		for k, v := range p {
			if !(v >= 0 && v <= maxLevel) {
				return fmt.Errorf("future %d, step %d: expected 0 to %g GPUs, found %g", i, k, float64(maxLevel), v)
			}
		}
	}
	return nil
}

// Wobble is the uncertainty of a single demand: a random factor on it that drifts.
type Wobble struct {
	// Error is the standard deviation of the factor: 0.1 is 10 %.
	Error float64
	// HalfLife is the time after which half of a deviation of the factor is expected to be gone.
	HalfLife capcli.Seconds
}

// Futures draws n demands around one. Each is the demand times a factor exp(s z - s²/2), where z is
// an autoregressive process of order one (an Ornstein-Uhlenbeck process seen at the steps) that
// starts in its stationary state, with correlation 2^(-gap/HalfLife) between two steps, and s² =
// ln(1+Error²). So at each step the factor has mean 1 and standard deviation Error, and demand
// never turns negative. Each future has its own random stream, so drawing more futures leaves the
// first ones as they are.
func (w Wobble) Futures(grid capcli.Grid, demand []float64, n int, seed capcli.Seed) (Futures, error) {
	if !(w.Error >= 0 && w.Error <= 10) || w.HalfLife < 1 {
		return Futures{}, fmt.Errorf("demand error: expected 0 to 10 with a half-life of a second or more, found %g and %d s", w.Error, w.HalfLife)
	}
	if n < 1 || n > MaxFutures || n > maxCells/max(len(demand), 1) {
		return Futures{}, fmt.Errorf("expected 1 to %d futures and at most %d values, found %d of %d steps", MaxFutures, maxCells, n, len(demand))
	}
	sd := math.Sqrt(math.Log1p(w.Error * w.Error))
	keep := math.Exp2(-float64(grid.Step.Length()) / float64(w.HalfLife)) // correlation of neighbours
	out := Futures{Grid: grid, Paths: make([][]float64, n)}
	for k := range out.Paths {
		rng := seed.Child(k).Stream("futures/wobble")
		path := make([]float64, len(demand))
		z := rng.NormFloat64()
		for i, v := range demand {
			if i > 0 {
				z = keep*z + math.Sqrt(1-keep*keep)*rng.NormFloat64()
			}
			path[i] = v * math.Exp(sd*z-sd*sd/2)
		}
		out.Paths[k] = path
	}
	return out, out.Check()
}
