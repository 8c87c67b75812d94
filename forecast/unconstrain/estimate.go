// Package unconstrain estimates the demand behind usage that a capacity limited: from the
// queue where one was recorded, else by a Tobit regression on trend and seasons.
package unconstrain

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// Estimate describes the estimate of demand from usage.
type Estimate struct {
	Cut         []bool      // steps in which demand exceeded usage, or may have
	Share       float64     // share of the known steps that are cut
	Queue       int         // number of cut steps whose unmet demand comes from the queue
	Guessed     int         // number of cut steps whose unmet demand comes from the regression
	Sigma       float64     // standard deviation of the regression's errors; 0 without regression
	AR          float64     // correlation of its errors from step to step
	Uncertainty Uncertainty // of the level
	// Draw is one plausible demand; nil without regression. Expected values vary less than
	// demand does, so the ranges of a model fitted to them are too narrow (Rubin 1987, "Multiple
	// imputation for nonresponse in surveys").
	Draw  []float64
	Notes []string
}

// Demand estimates the demand behind usage. Where the queue is known, demand is usage plus the
// queue. Where only a limit is known, it is the expected value
// above the usage, by a Tobit regression on trend and seasons with autocorrelated errors.
// Missing values stay missing. Where the series is too
// short for a regression, demand is usage, and a note says so. It fails where c does not fit the
// series, or no value is known.
func Demand(usage capcli.Series, c Censoring) (capcli.Series, Estimate, error) {
	n := len(usage.Values)
	if err := c.check(n); err != nil {
		return capcli.Series{}, Estimate{}, err
	}
	for i, v := range usage.Values {
		if math.IsInf(v, 0) || v < 0 {
			return capcli.Series{}, Estimate{}, fmt.Errorf("unconstrain: usage %d is %g, want 0 or more: %w", i+1, v, model.ErrUnfit)
		}
	}
	latent := usage
	latent.Values = append([]float64(nil), usage.Values...)
	info := Estimate{Cut: c.cuts(usage.Values)}
	guess := make([]bool, n)
	total := 0
	for i, v := range usage.Values {
		if !model.IsFinite(v) {
			continue
		}
		total++
		queue := c.queue(i)
		if model.IsFinite(queue) {
			latent.Values[i] = v + queue
		}
		switch {
		case !info.Cut[i]:
		case model.IsFinite(queue):
			info.Queue++
		default:
			guess[i] = true
			info.Guessed++
		}
	}
	if total == 0 {
		return capcli.Series{}, info, fmt.Errorf("unconstrain: no value of usage is known: %w", model.ErrTooShort)
	}
	info.Share = float64(info.Queue+info.Guessed) / float64(total)
	if info.Guessed > 0 {
		info.impute(latent.Values, guess, &c)
	}
	return latent, info, nil
}

// impute replaces the values of v that guess marks by their expected values.
func (u *Estimate) impute(v []float64, guess []bool, c *Censoring) {
	var at []int
	for i, x := range v {
		if model.IsFinite(x) {
			at = append(at, i)
		}
	}
	y, cut := make([]float64, len(at)), make([]bool, len(at))
	for k, i := range at {
		y[k], cut[k] = v[i], guess[i]
	}
	fits := fitCut(y, cut, at, c.Seasons)
	if len(fits) == 0 {
		u.Notes = append(u.Notes, fmt.Sprintf("%d of %d steps are at the limit, too many to estimate the demand behind them: usage is used there", u.Guessed, len(at)))
		return
	}
	u.average(v, y, cut, at, fits, c)
}

// average averages the fits over the scales, weighted by their evidence. Ranges use the square
// root of the odds, since evidence about the shape of unobserved values is weak.
func (u *Estimate) average(v, y []float64, cut []bool, at []int, fits []*cutFit, c *Censoring) {
	season := 1
	for _, m := range c.Seasons {
		season = max(season, m)
	}
	low, high := slices.Min(y), slices.Max(y)
	top := high + mostRanges*math.Max(high-low, 0)
	weights, all, wide := scaleWeights(fits)
	full := make([]float64, len(at))
	var levels [][]float64
	var noise []Uncertainty
	for k, f := range fits {
		if weights[k] == 0 {
			continue
		}
		t := newCutChain(f, at, c.Seed).run(season, top)
		for i := range full {
			full[i] += weights[k] / all * t.full[i]
		}
		if k == 0 {
			u.Sigma, u.AR = t.sigma, t.ar
			u.Draw = slices.Clone(v)
			for j, i := range at {
				if cut[j] {
					u.Draw[i] = math.Max(v[i], t.draw[j])
				}
			}
		}
		w := math.Sqrt(weights[k]) / wide
		levels = append(levels, t.level[:int(math.Ceil(w*float64(len(t.level))))]...)
		noise = append(noise, t.noise.times(math.Sqrt(w)))
	}
	for k, i := range at {
		if cut[k] {
			v[i] = math.Max(v[i], full[k])
		}
	}
	u.Uncertainty = uncertaintyOf(levels, noise, noise[0].times(math.Sqrt(wide)), at, len(v))
	u.warn(v, at, fits[0].full)
}

// warn notes the phases of a season in which the data show only that demand exceeded
// usage, and how far demand may lie from the estimate there.
func (u *Estimate) warn(v []float64, at []int, full []fullColumn) {
	for _, f := range full {
		told, below, above, n := 0.0, 0.0, 0.0, 0.0
		for k, i := range at {
			if f.column[k] == 0 {
				continue
			}
			ahead := ((i-len(v))%u.Uncertainty.Steps() + u.Uncertainty.Steps()) % u.Uncertainty.Steps()
			n++
			told += (v[i] - told) / n
			below += (u.Uncertainty.Below[ahead] - below) / n
			above += (u.Uncertainty.Above[ahead] - above) / n
		}
		u.Notes = append(u.Notes, fmt.Sprintf("usage is at the limit in (almost) every step of %d of the %d phases of the season, so the data do not show the demand there; it is estimated at %.4g (95%%: %.4g to %.4g), and the ranges of the forecast include that uncertainty; give the queue to know it",
			f.phases, f.season, told, told-model.ZScore(95)*below, told+model.ZScore(95)*above))
	}
}

// scaleWeights returns the odds of the scales by their evidence, their sum and the sum
// of their roots. The best scale has 1; small odds are zero.
func scaleWeights(fits []*cutFit) (weights []float64, all, roots float64) {
	weights = make([]float64, len(fits))
	for k, f := range fits {
		if w := math.Exp((f.score - fits[0].score) / 2); w >= leastOdds {
			weights[k] = w
			all += w
			roots += math.Sqrt(w)
		}
	}
	return weights, all, roots
}

const (
	leastOdds  = 0.05 // odds below which a scale is ignored
	mostRanges = 9    // how many observed ranges demand may lie above the highest observed value
)

// Censoring describes the limit that held usage down. The more is known, the less is estimated:
// a queue shows when demand was unmet and by how much; a limit alone shows only when usage
// reached it.
type Censoring struct {
	// Pending is the number of GPUs that waited in each step, NaN where it is not known; nil
	// where no queue was recorded.
	Pending []float64
	// Limit is the capacity in GPUs in each step, or one figure for all steps; nil where it is
	// not known.
	Limit   []float64
	Seasons []int
	Seed    capcli.Seed // for the draws of cut values
}

// NearLimit is the share of Limit from which usage counts as held down. The mean of a step is below the limit where
// jobs end within the step: GPUs that are free for 18 seconds of an hour make it 99.5 %.
const NearLimit = 0.995

// limit returns the capacity in step i, +Inf where it is not known.
func (c *Censoring) limit(i int) float64 {
	switch {
	case len(c.Limit) == 0:
		return math.Inf(1)
	case len(c.Limit) == 1:
		i = 0
	}
	if v := c.Limit[i]; model.IsFinite(v) {
		return v
	}
	return math.Inf(1)
}

// queue returns the GPUs that waited in step i, NaN where the number is not known.
func (c *Censoring) queue(i int) float64 {
	if c.Pending == nil {
		return math.NaN()
	}
	return c.Pending[i]
}

// check returns an error where lengths do not match n values of usage, or a figure is out
// of range.
func (c *Censoring) check(n int) error {
	if len(c.Limit) > 1 && len(c.Limit) != n {
		return fmt.Errorf("unconstrain: %d limits for %d values, want one or as many: %w", len(c.Limit), n, model.ErrUnfit)
	}
	if c.Pending != nil && len(c.Pending) != n {
		return fmt.Errorf("unconstrain: %d figures of pending for %d values, want as many: %w", len(c.Pending), n, model.ErrUnfit)
	}
	for i, v := range c.Pending {
		if v < 0 || math.IsInf(v, 0) {
			return fmt.Errorf("unconstrain: pending %d is %g, want 0 or more: %w", i+1, v, model.ErrUnfit)
		}
	}
	return nil
}

// cuts reports the steps in which demand may have exceeded usage. A known, empty queue rules
// that out, even at the limit: a pool that is always just full has no unmet demand.
func (c *Censoring) cuts(usage []float64) []bool {
	cut := make([]bool, len(usage))
	for i, v := range usage {
		if !model.IsFinite(v) {
			continue
		}
		switch queue := c.queue(i); {
		case model.IsFinite(queue):
			cut[i] = queue > 0
		default:
			cut[i] = v >= NearLimit*c.limit(i) && v > 0
		}
	}
	return cut
}

// Uncertainty describes how uncertain the level of an estimated demand is: standard deviations
// below and above its expected value, for each of the next steps of one season. It adds to a
// model's own spread, since the model takes its history for known. The zero value is no
// uncertainty.
type Uncertainty struct{ Below, Above []float64 }

// uncertaintyOf returns the uncertainty from draws of the level in the last steps, which end at
// the indices at, for the steps from next on. To it adds the noise about the level, by scale and
// weighted by the root of the odds, as far as that exceeds the noise of the best scale: models
// see the latter in its draw.
func uncertaintyOf(levels [][]float64, noise []Uncertainty, best Uncertainty, at []int, next int) Uncertainty {
	n := best.Steps()
	out := Uncertainty{Below: make([]float64, n), Above: make([]float64, n)}
	row := make([]float64, len(levels))
	for i := range n {
		for k, l := range levels {
			row[k] = l[i]
		}
		mean := model.Mean(row)
		slices.Sort(row)
		k, ahead := len(row)/40, ((at[len(at)-n+i]-next)%n+n)%n
		below, above := math.Max(0, mean-row[k])/model.ZScore(95), math.Max(0, row[len(row)-1-k]-mean)/model.ZScore(95)
		lower, upper := -best.Below[i]*best.Below[i], -best.Above[i]*best.Above[i]
		for _, o := range noise {
			lower, upper = lower+o.Below[i]*o.Below[i], upper+o.Above[i]*o.Above[i]
		}
		out.Below[ahead] = math.Hypot(below, math.Sqrt(math.Max(0, lower)))
		out.Above[ahead] = math.Hypot(above, math.Sqrt(math.Max(0, upper)))
	}
	return out
}

func (u Uncertainty) times(by float64) Uncertainty {
	out := Uncertainty{Below: slices.Clone(u.Below), Above: slices.Clone(u.Above)}
	for i := range out.Below {
		out.Below[i] *= by
		out.Above[i] *= by
	}
	return out
}

// Steps returns the length of the cycle of steps. Step i ahead uses entry i modulo
// Steps.
func (u Uncertainty) Steps() int { return len(u.Below) }

// Coarse returns the uncertainty for steps that each combine the given number of these steps: of
// their sum where sum is set, else of their mean.
func (u Uncertainty) Coarse(each int, sum bool) Uncertainty {
	n := u.Steps()
	if each <= 1 || n == 0 {
		return u
	}
	var out Uncertainty
	for from := 0; from < max(n, each); from += each {
		below, above := 0.0, 0.0
		for i := from; i < from+each; i++ {
			below, above = below+u.Below[i%n], above+u.Above[i%n]
		}
		if !sum {
			below, above = below/float64(each), above/float64(each)
		}
		out.Below, out.Above = append(out.Below, below), append(out.Above, above)
	}
	return out
}

// Plus returns the uncertainty of the sum of two levels whose errors are independent.
func (u Uncertainty) Plus(o Uncertainty) Uncertainty {
	if o.Steps() > u.Steps() {
		u, o = o, u
	}
	if o.Steps() == 0 {
		return u
	}
	out := Uncertainty{Below: slices.Clone(u.Below), Above: slices.Clone(u.Above)}
	for i := range out.Below {
		k := i % o.Steps()
		out.Below[i], out.Above[i] = math.Hypot(out.Below[i], o.Below[k]), math.Hypot(out.Above[i], o.Above[k])
	}
	return out
}

// Widen widens the intervals of a forecast, in place: it adds the spread of the level to that of
// the model, in squares.
func (u Uncertainty) Widen(f model.Forecast) {
	n := u.Steps()
	if n == 0 {
		return
	}
	for _, iv := range f.Intervals {
		q := model.ZScore(iv.Level)
		for i, mean := range f.Mean {
			iv.Lo[i] = mean - math.Hypot(math.Max(0, mean-iv.Lo[i]), q*u.Below[i%n])
			iv.Hi[i] = mean + math.Hypot(math.Max(0, iv.Hi[i]-mean), q*u.Above[i%n])
		}
	}
}

// Move shifts a drawn future, in place, to one possible level: all steps to the same side.
func (u Uncertainty) Move(path []float64, rng model.Noise) {
	n := u.Steps()
	if n == 0 {
		return
	}
	draw := rng.NormFloat64()
	for i := range path {
		if draw < 0 {
			path[i] += draw * u.Below[i%n]
		} else {
			path[i] += draw * u.Above[i%n]
		}
	}
}
