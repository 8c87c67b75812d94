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
