package unconstrain

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// cutFit is a Tobit regression on trend and Fourier terms, on one scale of the values, with its
// data.
type cutFit struct {
	tobit
	scale cutScale
	y     []float64 // the values, on the scale
	x     *mat.Dense
	cut   []bool
	prior []float64    // standard deviation of each coefficient about zero; 0 is no prior
	seen  float64      // spread of y
	score float64      // twice the logarithm of the evidence
	fair  float64      // log-likelihood of the values on their own scale
	full  []fullColumn // the last columns of x
}

// cutScale is a power of the values on which their errors may be normal (Box & Cox 1964, "An
// analysis of transformations"); power 0 is the logarithm. A power other than 0 and 1 applies to
// the value plus shift.
type cutScale struct{ power, shift float64 }

// cutScales returns the scales to try on values from low to high: power 1 for errors of constant
// size; power 2 for demand that falls further than it rises, as in a cluster that is nearly full
// except for a few holes; and, where no value is zero, power 0.5 and the logarithm for errors
// that grow with demand.
func cutScales(low, high float64) []cutScale {
	out := []cutScale{{power: 1}, {power: 2, shift: high / 4}}
	if low > 0 {
		out = append(out, cutScale{power: 0.5}, cutScale{})
	}
	return out
}

func (s cutScale) transform(v float64) float64 {
	switch s.power {
	case 1:
		return v
	case 0:
		return math.Log(v)
	}
	return math.Pow(v+s.shift, s.power)
}

func (s cutScale) untransform(v float64) float64 {
	switch s.power {
	case 1:
		return v
	case 0:
		return math.Exp(v)
	}
	return math.Pow(math.Max(0, v), 1/s.power) - s.shift
}

// slope returns the logarithm of the derivative of transform.
func (s cutScale) slope(v float64) float64 {
	switch s.power {
	case 1:
		return 0
	case 0:
		return -math.Log(v)
	}
	return math.Log(s.power) + (s.power-1)*math.Log(v+s.shift)
}

// The most Fourier terms of a season, and how many in a row may fail before the
// search for more ends. A day that is full from nine to five has sharp edges.
const (
	maxHarmonics = 12
	failedTerms  = 3
)

// plainOdds is the prior odds of errors of constant size against those of another scale.
const plainOdds = 7

// leastWhole is the least number of values that are not cut.
const leastWhole = 3

// fitCut fits the regression on each scale that the values allow and returns the fits, best
// first; nil where there is none. It chooses the columns on the first scale, the values
// themselves. at are the indices of y in the series.
func fitCut(y []float64, cut []bool, at, seasons []int) []*cutFit {
	var out []*cutFit
	var chosen *cutColumns
	for _, scale := range cutScales(slices.Min(y), slices.Max(y)) {
		s := newCutSearch(scale, y, cut, at, seasons)
		if chosen == nil {
			if chosen = s.bestColumns(fullPhases(cut, at, seasons)); chosen == nil {
				return nil
			}
		}
		s.cutColumns = *chosen
		if f := s.fit(); f != nil {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return nil
	}
	// Autocorrelated errors say as much about the scale as their innovations do.
	a := out[0].lag(at)
	for _, f := range out {
		_, p := f.x.Dims()
		f.score = 2*(1-a*a)*f.fair - float64(p+1)*math.Log(float64(len(y)))
		if f.scale.power == 1 {
			f.score += 2 * math.Log(plainOdds)
		}
	}
	slices.SortStableFunc(out, func(a, b *cutFit) int { return cmp.Compare(b.score, a.score) })
	return out
}

// cutColumns are the columns of a regression.
type cutColumns struct {
	trend bool
	terms []int        // Fourier terms of each season
	full  []fullColumn // columns of the phases that are always full
}

// cutSearch chooses the columns of the regression on one scale.
type cutSearch struct {
	scale    cutScale
	y        []float64 // on the scale
	jacobian float64
	seen     float64
	cut      []bool
	at       []int
	seasons  []int
	worth    float64 // number of independent steps that carry as much information, as a share of the steps
	cutColumns
	found *cutFit
}

func newCutSearch(scale cutScale, values []float64, cut []bool, at, seasons []int) *cutSearch {
	s := &cutSearch{scale: scale, y: make([]float64, len(values)), cut: cut, at: at, seasons: seasons, worth: 1}
	for i, v := range values {
		s.y[i] = scale.transform(v)
		if !cut[i] {
			s.jacobian += scale.slope(v)
		}
	}
	s.seen = seenSpread(s.y)
	return s
}

// bestColumns returns the best columns by BIC, with or without those of full phases; nil
// where not even a mean can be fitted. Autocorrelated errors carry less information
// than independent ones, so the likelihood is weighted by (1-a)/(1+a), a being their
// correlation from step to step; otherwise slow noise passes for seasons. a is the
// smaller of the correlations with and without full phases.
func (s *cutSearch) bestColumns(full []fullColumn) *cutColumns {
	ways := [][]fullColumn{nil}
	if len(full) > 0 {
		ways = append(ways, full)
	}
	s.trend, s.terms = true, make([]int, len(s.seasons))
	for k, m := range s.seasons {
		if s.hasSeason(k) {
			s.terms[k] = min(2, m/2)
		}
	}
	lag := 1.0
	for _, way := range ways {
		s.full = way
		if f := s.fit(); f != nil {
			lag = math.Min(lag, f.lag(s.at))
		}
	}
	if lag < 1 {
		s.worth = (1 - lag) / (1 + lag)
	}
	var out *cutColumns
	score := math.Inf(-1)
	for _, way := range ways {
		s.cutColumns = cutColumns{terms: make([]int, len(s.seasons)), full: way}
		if s.run(); s.found != nil && s.found.score > score {
			chosen := s.cutColumns
			out, score = &chosen, s.found.score
		}
	}
	return out
}

// run chooses trend and Fourier terms by BIC, one after the other. It does so twice,
// since a trend that is small beside the seasons shows only after they are chosen. Terms
// have a prior of the size of the observed spread: where a phase of a season is always
// cut, the likelihood alone has no maximum.
func (s *cutSearch) run() {
	if s.found = s.fit(); s.found == nil {
		return
	}
	for range 2 {
		was := s.found
		if !s.trend {
			s.trend = true
			s.trend = s.take()
		}
		for k := range s.seasons {
			if s.hasSeason(k) {
				s.harmonics(k, mostTerms(s.seasons, k))
			}
		}
		if s.found == was {
			break
		}
	}
}

// hasSeason reports whether season k has a shape and two whole cycles.
func (s *cutSearch) hasSeason(k int) bool { return s.seasons[k] > 1 && len(s.y) >= 2*s.seasons[k] }

// fit fits the current columns. It returns nil where that fails.
func (s *cutSearch) fit() *cutFit {
	prior := wavePrior(s.trend, s.seasons, s.terms, s.seen)
	x := waves(s.at, len(prior), s.trend, s.seasons, s.terms)
	n, p := x.Dims()
	if len(s.full) > 0 {
		more := mat.NewDense(n, p+len(s.full), nil)
		more.Slice(0, n, 0, p).(*mat.Dense).Copy(x)
		for k, c := range s.full {
			more.SetCol(p+k, c.column)
			prior = append(prior, fullPrior*s.seen)
		}
		x, p = more, p+len(s.full)
	}
	t, err := fitTobit(s.y, x, s.cut, prior, leastWhole)
	if err != nil || !(t.Sigma > 0) || math.IsNaN(t.LogLik) {
		return nil
	}
	fair := t.LogLik + s.jacobian
	return &cutFit{t, s.scale, s.y, x, s.cut, prior, s.seen, 2*s.worth*fair - float64(p+1)*math.Log(float64(n)), fair, s.full}
}

// take keeps the fit of the current terms where it is better.
func (s *cutSearch) take() bool {
	f := s.fit()
	if f == nil || f.score <= s.found.score {
		return false
	}
	s.found = f
	return true
}

// harmonics chooses the number of terms of season k.
func (s *cutSearch) harmonics(k, most int) {
	chosen := s.terms[k]
	for j, failed := 1, 0; j <= most && failed < failedTerms; j++ {
		if s.terms[k] = j; s.take() {
			chosen, failed = j, 0
		} else {
			failed++
		}
	}
	s.terms[k] = chosen
}

const (
	fullShare   = 0.85 // share of the steps of a full stretch that are cut, at least
	fullStretch = 42   // a stretch is as long as this part of the season, or longer
	fullPrior   = 0.75 // standard deviation of the unmet demand there, in spreads of the observed values
)

// fullPhases returns columns that are one in the phases of a season in which (almost)
// every step is cut: the other phases contain no information on the level there, and
// Fourier terms fitted to them run away. A phase that is full by a shorter season is not
// counted again for a longer one.
func fullPhases(cut []bool, at, seasons []int) []fullColumn {
	var out []fullColumn
	counted := make([]bool, len(at))
	for _, m := range seasons {
		if m < 2 || len(at) < 2*m {
			continue
		}
		phases := fullOf(cut, at, m)
		c, in, rest := fullColumn{season: m, column: make([]float64, len(at))}, map[int]bool{}, 0
		for i, t := range at {
			switch {
			case phases[t%m] && !counted[i]:
				c.column[i], counted[i], in[t%m] = 1, true, true
			case !counted[i]:
				rest++
			}
		}
		if c.phases = len(in); c.phases > 0 && rest > 0 {
			out = append(out, c)
		}
	}
	return out
}

// fullColumn is one in the full phases of a season; it also holds their number.
type fullColumn struct {
	season, phases int
	column         []float64
}

// fullOf reports which phases of a season of m steps are full: those that are mostly cut
// and lie in a stretch of which fullShare is cut.
func fullOf(cut []bool, at []int, m int) []bool {
	steps, full := make([]float64, m), make([]float64, m)
	for i, t := range at {
		steps[t%m]++
		if cut[i] {
			full[t%m]++
		}
	}
	out, length := make([]bool, m), max(1, m/fullStretch)
	for k := range out {
		all, held := 0.0, 0.0
		for j := k; j < k+length; j++ {
			all, held = all+steps[j%m], held+full[j%m]
		}
		for j := k; j < k+length && all > 0 && held >= fullShare*all; j++ {
			out[j%m] = full[j%m] > steps[j%m]/2
		}
	}
	return out
}

// seenSpread returns the distance between the low and the high observed values. It is
// never zero where they differ.
func seenSpread(y []float64) float64 {
	v := slices.Clone(y)
	slices.Sort(v)
	if d := v[len(v)-1-len(v)/50] - v[len(v)/50]; d > 0 {
		return d
	}
	return v[len(v)-1] - v[0]
}

// mostTerms returns how many Fourier terms season k may have, without those of a shorter
// season that divides it.
func mostTerms(seasons []int, k int) int {
	m := seasons[k]
	most := min(maxHarmonics, m/2)
	for _, shorter := range seasons {
		if shorter > 1 && shorter < m && m%shorter == 0 {
			most = min(most, m/shorter-1)
		}
	}
	return max(1, most)
}

// waves returns p columns: one, time from -1 to 1, and the cosines and sines of each
// season. The sine of half a season is left out, as it is zero at every step.
func waves(at []int, p int, trend bool, seasons, terms []int) *mat.Dense {
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

// wavePrior returns the prior standard deviation of the coefficient of each column of
// waves: none for the mean, half of the observed spread for the trend and the first term
// of a season, and that over j for term j, as in the Fourier series of a step.
func wavePrior(trend bool, seasons, terms []int, seen float64) []float64 {
	out := []float64{0}
	if trend {
		out = append(out, seen/2)
	}
	for k, m := range seasons {
		for j := 1; j <= terms[k]; j++ {
			out = append(out, seen/2/float64(j))
			if 2*j < m {
				out = append(out, seen/2/float64(j))
			}
		}
	}
	return out
}

// lag returns the correlation of adjacent errors of values that are not cut, about their
// own mean, which is low as high values are cut.
func (f *cutFit) lag(at []int) float64 {
	e, whole := make([]float64, len(f.y)), []float64{}
	for i, y := range f.y {
		e[i] = y - model.Dot(f.x.RawRowView(i), f.Coef)
		if !f.cut[i] {
			whole = append(whole, e[i])
		}
	}
	middle, cross, square := model.Mean(whole), 0.0, 0.0
	for i := 1; i < len(e); i++ {
		if a, b := e[i-1]-middle, e[i]-middle; !f.cut[i-1] && !f.cut[i] && at[i]-at[i-1] == 1 {
			cross += a * b
			square += (a*a + b*b) / 2
		}
	}
	if !(square > 0) {
		return 0
	}
	return math.Max(0, math.Min(0.95, cross/square))
}
