package change

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// Changepoint is a lasting move of the level of a series.
type Changepoint struct {
	Index         int     // index of the first value at the new level; Series.At gives its date
	Before, After float64 // median level of the stretches on either side, without seasons
	Gain          float64 // cost that this change saves, in penalties; at 1 the change just pays
}

const (
	changeClip    = 3.0   // robust standard deviations by which a value may differ from its neighbours
	changePenalty = 3.0   // times log n: the level, its place, and Zhang & Siegmund's (2007) allowance for choosing it
	changeLeast   = 5     // least number of values between changes; one season where that is more
	changeMost    = 4000  // number of values above which the search uses means of blocks
	changeFloor   = 1e-10 // least variance of noise, in squares of the largest value: less is rounding
)

// findChangepoints finds the lasting moves of the level by PELT, which is exact (Killick,
// Fearnhead & Eckley 2012, "Optimal detection of changepoints with a linear
// computational cost"): it minimises the squared error about the level of each stretch
// plus a BIC penalty for each change. Four rules keep it to changes that last: strong
// seasons are removed; values are clipped to the usual distance from the values beside
// them, so that a spike is no change; the penalty grows with the correlation of the
// noise, as autocorrelated errors drift without any change; and where one straight
// slope costs less than all steps, there is no change. Series of more than 4,000 values
// are searched in means of blocks, and each change is then placed to the step.
func findChangepoints(y capcli.Series, seasons []int) ([]Changepoint, error) {
	v, err := interpolateGaps(y.Values)
	if err != nil {
		return nil, fmt.Errorf("changepoints: %w", err)
	}
	season := strongSeasons(v, seasons, robustVariance)
	for i := range v {
		v[i] -= season[i]
	}
	unit := model.Largest(v)
	if unit == 0 {
		return nil, nil
	}
	clean := clipOutliers(model.Scaled(v, 1/unit))
	block := (len(clean)-1)/changeMost + 1
	coarse := blockMeans(clean, block)
	least := changeLeast
	if len(seasons) > 0 {
		least = max(least, slices.Min(seasons)/block)
	}
	noise := longRunVariance(coarse)
	noise = math.Max(noise, changeFloor)
	penalty := changePenalty * math.Log(float64(len(coarse))) * noise
	sums := newStretches(coarse)
	cuts := pelt(sums, penalty, least)
	if sums.line()+penalty <= sums.total(cuts)+penalty*float64(len(cuts)) {
		return nil, nil // one straight slope costs less than all steps
	}
	if block > 1 {
		fine := newStretches(clean)
		for k := range cuts {
			cuts[k] *= block
		}
		for k := range cuts {
			from, to := 0, len(clean)
			if k > 0 {
				from = cuts[k-1]
			}
			if k+1 < len(cuts) {
				to = cuts[k+1]
			}
			cuts[k] = fine.place(max(from+1, cuts[k]-block), min(to-1, cuts[k]+block), from, to)
		}
		sums, penalty = fine, penalty*float64(block)
	}
	return describe(cuts, v, sums, penalty), nil
}

// describe returns the changes at cuts, with the levels around each.
func describe(cuts []int, v []float64, sums *stretches, penalty float64) []Changepoint {
	var out []Changepoint
	from := 0
	for k, at := range cuts {
		to := len(v)
		if k+1 < len(cuts) {
			to = cuts[k+1]
		}
		gain := sums.cost(from, to) - sums.cost(from, at) - sums.cost(at, to)
		out = append(out, Changepoint{Index: at, Before: model.Median(v[from:at]), After: model.Median(v[at:to]), Gain: gain / penalty})
		from = at
	}
	return out
}

// clipOutliers clips values to the usual distance from the median of the 7 values around
// them (Hampel's filter).
func clipOutliers(v []float64) []float64 {
	const half = 3
	middles, off := make([]float64, len(v)), make([]float64, len(v))
	for i := range v {
		middles[i] = model.Median(v[max(0, i-half):min(len(v), i+half+1)])
		off[i] = math.Abs(v[i] - middles[i])
	}
	edge := changeClip * 1.4826 * model.Median(off)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Min(middles[i]+edge, math.Max(middles[i]-edge, x))
	}
	return out
}

// longRunVariance returns the variance of the noise times the factor by which its
// correlation raises the variance of a mean, (1+a)/(1-a) for an autoregression with
// coefficient a. It estimates both from the differences, few of which contain a change:
// their variance is 2 s^2 (1-a) and their first correlation -(1-a)/2. The largest few
// are left out.
func longRunVariance(v []float64) float64 {
	d := make([]float64, 0, len(v))
	for i := 1; i < len(v); i++ {
		d = append(d, v[i]-v[i-1])
	}
	if len(d) < 3 {
		return 0
	}
	size := capcli.Map(d, math.Abs)
	slices.Sort(size)
	edge := math.Max(5*model.Quantile(size, 0.5), model.Quantile(size, 0.95))
	square, cross, n, pairs := 0.0, 0.0, 0.0, 0.0
	for i, x := range d {
		if math.Abs(x) > edge {
			continue
		}
		square += x * x
		n++
		if i > 0 && math.Abs(d[i-1]) <= edge {
			cross += x * d[i-1]
			pairs++
		}
	}
	if !(square > 0) || pairs == 0 {
		return 0
	}
	variance := square / n
	a := math.Max(-0.5, math.Min(0.95, 1+2*cross/pairs/variance))
	return variance * (1 + a) / (2 * (1 - a) * (1 - a))
}

func blockMeans(v []float64, block int) []float64 {
	if block == 1 {
		return v
	}
	out := make([]float64, 0, len(v)/block+1)
	for i := 0; i < len(v); i += block {
		out = append(out, model.Mean(v[i:min(len(v), i+block)]))
	}
	return out
}

// robustVariance returns the square of the scaled median distance from the median.
func robustVariance(v, _ []float64) float64 {
	middle, off := model.Median(v), make([]float64, len(v))
	for i, x := range v {
		off[i] = math.Abs(x - middle)
	}
	d := 1.4826 * model.Median(off)
	return d * d
}

// stretches holds running sums, from which cost computes the squared error of any stretch about
// its mean.
type stretches struct{ sum, square []float64 }

func newStretches(v []float64) *stretches {
	s := &stretches{make([]float64, len(v)+1), make([]float64, len(v)+1)}
	centre := model.Mean(v)
	for i, x := range v {
		x -= centre
		s.sum[i+1] = s.sum[i] + x
		s.square[i+1] = s.square[i] + x*x
	}
	return s
}

func (s *stretches) cost(from, to int) float64 {
	sum := s.sum[to] - s.sum[from]
	return math.Max(0, s.square[to]-s.square[from]-sum*sum/float64(to-from))
}

// total returns the summed squared error of all stretches between cuts.
func (s *stretches) total(cuts []int) float64 {
	sum, from := 0.0, 0
	for _, at := range cuts {
		sum += s.cost(from, at)
		from = at
	}
	return sum + s.cost(from, len(s.sum)-1)
}

// line returns the squared error about one straight line through all values.
func (s *stretches) line() float64 {
	n := len(s.sum) - 1
	middle, cross := float64(n-1)/2, 0.0
	for i := range n {
		cross += (float64(i) - middle) * (s.sum[i+1] - s.sum[i])
	}
	spread := float64(n) * (float64(n)*float64(n) - 1) / 12
	if !(spread > 0) {
		return s.cost(0, n)
	}
	return math.Max(0, s.cost(0, n)-cross*cross/spread)
}

// place returns the index of the best single change between low and high in the stretch
// from..to.
func (s *stretches) place(low, high, from, to int) int {
	best, least := low, math.Inf(1)
	for at := max(low, from+1); at <= min(high, to-1); at++ {
		if c := s.cost(from, at) + s.cost(at, to); c < least {
			best, least = at, c
		}
	}
	return best
}

// pelt returns the changes of the best segmentation, in order. f(t), the least cost of the
// first t values, is the minimum over s of f(s) + cost(s, t) + penalty. A start s that
// is worse by more than the penalty at t stays worse, and is dropped.
func pelt(s *stretches, penalty float64, least int) []int {
	n := len(s.sum) - 1
	f, from := make([]float64, n+1), make([]int, n+1)
	for t := range f {
		f[t] = math.Inf(1)
	}
	f[0] = -penalty
	// The stretch from at may end up to until.
	type start struct{ at, until int }
	var starts []start
	for t := least; t <= n; t++ {
		if !math.IsInf(f[t-least], 1) {
			starts = append(starts, start{t - least, n})
		}
		for _, s0 := range starts {
			if c := f[s0.at] + s.cost(s0.at, t) + penalty; c < f[t] {
				f[t], from[t] = c, s0.at
			}
		}
		kept := starts[:0]
		for _, s0 := range starts {
			if f[s0.at]+s.cost(s0.at, t) > f[t] {
				s0.until = min(s0.until, t+least-1) // from there on a stretch from t is long enough to take its place
			}
			if s0.until > t {
				kept = append(kept, s0)
			}
		}
		starts = kept
	}
	var cuts []int
	for t := n; t > 0 && from[t] > 0; t = from[t] {
		cuts = append(cuts, from[t])
	}
	slices.Reverse(cuts)
	return cuts
}
