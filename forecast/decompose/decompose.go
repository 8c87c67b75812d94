// Package decompose splits a series into trend, seasons and remainder: by loess (STL, and
// MSTL for several seasons), by moving averages, and without season by the super smoother.
package decompose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"capcli/forecast/model"
)

// Parts is a series split into components that sum to it.
type Parts struct {
	Trend     []float64
	Periods   []int       // lengths of the seasons in steps, shortest first
	Seasons   [][]float64 // one series for each of Periods
	Remainder []float64
}

// Adjusted returns the series without its seasons.
func (d *Parts) Adjusted() []float64 {
	out := make([]float64, len(d.Trend))
	for i := range out {
		out[i] = d.Trend[i] + d.Remainder[i]
	}
	return out
}

// Season returns the sum of the seasons at step i after the end, which counts from 0. It repeats
// the last cycle of each season.
func (d *Parts) Season(i int) float64 {
	sum := 0.0
	for k, p := range d.Periods {
		s := d.Seasons[k]
		sum += s[len(s)-p+i%p]
	}
	return sum
}

// MSTL splits a series with several seasons by STL for one season after another, in two rounds
// (Bandara, Hyndman & Bergmeir 2021, "MSTL: A Seasonal-Trend Decomposition Algorithm for Time
// Series with Multiple Seasonal Patterns"). A single season takes one round. The windows of the
// seasons are 11, 15, 19, ... cycles. Seasons with two cycles or fewer in the data are left out.
// Without any season the trend comes from Friedman's super smoother, as in R.
func MSTL(y []float64, periods []int) (Parts, error) {
	if err := model.CheckPresent(y); err != nil {
		return Parts{}, fmt.Errorf("mstl: %w", err)
	}
	if len(y) < 3 {
		return Parts{}, fmt.Errorf("mstl: %d values, want 3 or more: %w", len(y), model.ErrTooShort)
	}
	return Split(y, UsableSeasons(len(y), periods), false)
}

// Split is MSTL with periods that UsableSeasons returned, with robust STL where robust is set. y
// has no missing values.
func Split(y []float64, periods []int, robust bool) (Parts, error) {
	d := Parts{Periods: periods}
	rest := slices.Clone(y)
	if len(d.Periods) == 0 {
		d.Trend = SuperSmooth(rest)
	}
	d.Seasons = make([][]float64, len(d.Periods))
	rounds := 2
	if len(d.Periods) < 2 {
		rounds = 1
	}
	for range rounds {
		for k, p := range d.Periods {
			if s := d.Seasons[k]; s != nil {
				for i := range rest {
					rest[i] += s[i]
				}
			}
			trend, season, _, err := STL(rest, p, Options{Window: 11 + 4*k, Robust: robust})
			if err != nil {
				return Parts{}, err
			}
			d.Trend, d.Seasons[k] = trend, season
			for i := range rest {
				rest[i] -= season[i]
			}
		}
	}
	d.Remainder = rest
	for i := range rest {
		rest[i] -= d.Trend[i]
	}
	return d, nil
}

// Total returns the sum of the seasons at each step.
func (d *Parts) Total() []float64 {
	sum := make([]float64, len(d.Trend))
	for _, s := range d.Seasons {
		for i, v := range s {
			sum[i] += v
		}
	}
	return sum
}

// UsableSeasons returns the periods of which n values contain more than two cycles, in ascending
// order without duplicates.
func UsableSeasons(n int, periods []int) []int {
	var out []int
	for _, p := range periods {
		if p > 1 && 2*p < n {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SeasonalStrength returns 1 - var(remainder)/var(season + remainder), at least 0, for the
// season with index k: 0 without season, 1 where there is nothing but season (Wang, Smith &
// Hyndman 2006).
func (d *Parts) SeasonalStrength(k int) float64 {
	both := make([]float64, len(d.Remainder))
	for i, r := range d.Remainder {
		both[i] = r + d.Seasons[k][i]
	}
	all := stat.Variance(both, nil)
	if all <= 0 {
		return 0
	}
	return math.Min(1, math.Max(0, 1-stat.Variance(d.Remainder, nil)/all))
}
