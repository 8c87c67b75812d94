package forecast

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// cutFit is a Tobit regression on trend and Fourier terms with what it was
// fitted to.
type cutFit struct {
	Tobit
	y   []float64
	x   *mat.Dense
	cut []bool
}

// maxHarmonics bounds the Fourier terms of one season.
const maxHarmonics = 4

// fitCut chooses trend and Fourier terms by BIC, one after the other and twice
// round, since a trend that is small beside the seasons shows only once they are
// in, and gives nil where not even a mean can be told. at are the places of y in
// the series. Errors that hang together tell less than as many that do not, so
// the likelihood counts for (1-a)/(1+a) of itself, a being their correlation
// from step to step: else noise that lingers is taken for seasons.
func fitCut(y []float64, cut []bool, at, seasons []int) *cutFit {
	n := len(y)
	terms, worth := make([]int, len(seasons)), 1.0
	try := func(trend bool) (*cutFit, float64) {
		x := waves(at, trend, seasons, terms)
		t, err := FitTobit(y, x, cut)
		if err != nil || !(t.Sigma > 0) || math.IsNaN(t.LogLik) {
			return nil, math.Inf(1)
		}
		_, p := x.Dims()
		return &cutFit{t, y, x, cut}, float64(p+1)*math.Log(float64(n)) - 2*worth*t.LogLik
	}
	for k, m := range seasons {
		if m > 1 && n >= 2*m {
			terms[k] = min(2, m/2)
		}
	}
	if f, _ := try(true); f != nil {
		worth = f.worth(at)
	}
	clear(terms)
	best, score := try(false)
	if best == nil {
		return nil
	}
	c := cutChoice{best: best, score: score, terms: terms, try: try}
	for range 2 {
		was := c.best
		if !c.trend {
			c.trend = c.take(true)
		}
		for k, m := range seasons {
			if m > 1 && n >= 2*m {
				c.harmonics(k, min(maxHarmonics, m/2))
			}
		}
		if c.best == was {
			break
		}
	}
	return c.best
}

// cutChoice is the best fit so far.
type cutChoice struct {
	best  *cutFit
	score float64
	trend bool
	terms []int // of each season
	try   func(trend bool) (*cutFit, float64)
}

// take keeps the fit with the terms as they stand where it is better.
func (c *cutChoice) take(trend bool) bool {
	f, s := c.try(trend)
	if s >= c.score {
		return false
	}
	c.best, c.score = f, s
	return true
}

// harmonics chooses the number of terms of season k.
func (c *cutChoice) harmonics(k, most int) {
	chosen := c.terms[k]
	for j := 1; j <= most; j++ {
		if c.terms[k] = j; c.take(c.trend) {
			chosen = j
		}
	}
	c.terms[k] = chosen
}

// waves are the columns: one, time from -1 to 1, and the sines and cosines of
// each season.
func waves(at []int, trend bool, seasons, terms []int) *mat.Dense {
	p := 1
	if trend {
		p++
	}
	for k, m := range seasons {
		p += 2 * terms[k]
		if 2*terms[k] == m {
			p-- // the sine of half the season is nought at every step
		}
	}
	x := mat.NewDense(len(at), p, nil)
	first, span := at[0], math.Max(1, float64(at[len(at)-1]-at[0]))
	for i, t := range at {
		row := append(x.RawRowView(i)[:0], 1)
		if trend {
			row = append(row, 2*float64(t-first)/span-1)
		}
		for k, m := range seasons {
			for j := 1; j <= terms[k]; j++ {
				a := 2 * math.Pi * float64(j) * float64(t%m) / float64(m)
				row = append(row, math.Cos(a))
				if 2*j < m {
					row = append(row, math.Sin(a))
				}
			}
		}
	}
	return x
}

// worth is the share of independent steps that the steps are worth, from the
// errors next to each other that are both known.
func (f *cutFit) worth(at []int) float64 {
	cross, square, last := 0.0, 0.0, math.NaN()
	for i, y := range f.y {
		if f.cut[i] {
			last = math.NaN()
			continue
		}
		e := y - dot(f.x.RawRowView(i), f.Coef)
		if known(last) && at[i]-at[i-1] == 1 {
			cross += e * last
			square += (e*e + last*last) / 2
		}
		last = e
	}
	if !(square > 0) {
		return 1
	}
	a := math.Max(0, math.Min(0.95, cross/square))
	return (1 - a) / (1 + a)
}
