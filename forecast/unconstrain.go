package forecast

import (
	"fmt"
	"math"

	"capcli"
)

// Unconstrained says how demand was told from usage.
type Unconstrained struct {
	Cut     []bool  // steps in which demand was more than usage, or may have been
	Share   float64 // of the known steps that are cut
	Queue   int     // cut steps whose unmet demand the queue tells
	Guessed int     // cut steps whose unmet demand the regression tells
	Usage   float64 // mean of usage
	Latent  float64 // mean of latent demand
	Tobit   Tobit   // the regression; Sigma is 0 where there was none
	AR      float64 // correlation of its errors from step to step
	// Draw is one demand that may have been, nil where the regression tells
	// nothing: what is expected of the steps that are cut varies less than demand
	// does, and a model fitted to it thinks itself too sure (Rubin 1987, "Multiple
	// imputation for nonresponse in surveys").
	Draw  []float64
	Notes []string
}

// Unconstrain estimates the demand behind usage that a limit held down. Where
// the queue is known, demand is usage and the queue together (see
// Censoring.Hold). Where only a flag or a limit is, it is the value expected
// above the usage seen, by a Tobit regression on trend and seasons whose errors
// hang together over time. Values that are missing stay so. Latent demand is
// never under usage, but for Hold. A series that tells too little for a
// regression gives usage back and says so in the notes.
func Unconstrain(usage capcli.Series, c Censoring) (capcli.Series, Unconstrained, error) {
	n := len(usage.Values)
	if err := c.check(n); err != nil {
		return capcli.Series{}, Unconstrained{}, err
	}
	for i, v := range usage.Values {
		if math.IsInf(v, 0) || v < 0 {
			return capcli.Series{}, Unconstrained{}, fmt.Errorf("unconstrain: usage %d is %g, want 0 or more: %w", i+1, v, ErrUnfit)
		}
	}
	latent := usage
	latent.Values = append([]float64(nil), usage.Values...)
	info := Unconstrained{Cut: c.cuts(usage.Values)}
	guess := make([]bool, n)
	total := 0
	for i, v := range usage.Values {
		if !known(v) {
			continue
		}
		total++
		queue := c.queue(i)
		if known(queue) {
			latent.Values[i] = v + queue
		}
		switch {
		case !info.Cut[i]:
		case known(queue):
			info.Queue++
		default:
			guess[i] = true
			info.Guessed++
		}
	}
	if total == 0 {
		return capcli.Series{}, info, fmt.Errorf("unconstrain: no value of usage is known: %w", ErrTooShort)
	}
	info.Share = float64(info.Queue+info.Guessed) / float64(total)
	if info.Guessed > 0 {
		info.impute(latent.Values, guess, &c)
	}
	c.settle(latent.Values)
	if info.Draw != nil {
		c.settle(info.Draw)
	}
	info.Usage, info.Latent = knownMean(usage.Values), knownMean(latent.Values)
	return latent, info, nil
}

// settle takes off the work that a queue of Hold steps ago made late.
func (c *Censoring) settle(latent []float64) {
	if c.Hold == 0 || c.Pending == nil {
		return
	}
	for i := c.Hold; i < len(latent); i++ {
		if late := c.Pending[i-c.Hold]; known(late) && known(latent[i]) {
			latent[i] = math.Max(0, latent[i]-late)
		}
	}
}

// impute replaces the values to be guessed by what is expected of them. Where
// more than half are cut, the middle of the distribution is not seen, and what
// lies above it rests on its assumed shape alone: the excess then counts for the
// odds of a whole step, whole/cut, which goes to usage as all steps are cut.
func (u *Unconstrained) impute(v []float64, guess []bool, c *Censoring) {
	var at []int
	for i, x := range v {
		if known(x) {
			at = append(at, i)
		}
	}
	y, cut := make([]float64, len(at)), make([]bool, len(at))
	for k, i := range at {
		y[k], cut[k] = v[i], guess[i]
	}
	f := fitCut(y, cut, at, c.Seasons)
	if f == nil {
		u.Notes = append(u.Notes, fmt.Sprintf("%d of %d steps are at the limit, which leaves too little to tell what more was wanted: usage stands there", u.Guessed, len(at)))
		return
	}
	u.Tobit = f.Tobit
	full, draw, ar := f.chain(at, c.Seed)
	u.AR = ar
	trust := 1.0
	if whole := len(at) - u.Guessed; whole < u.Guessed {
		trust = float64(whole) / float64(u.Guessed)
		u.Notes = append(u.Notes, fmt.Sprintf("%d of %d steps are at the limit, more than not: %.0f %% of what the regression adds is counted", u.Guessed, len(at), 100*trust))
	}
	u.Draw = append([]float64(nil), v...)
	for k, i := range at {
		if cut[k] {
			u.Draw[i] += trust * math.Max(0, draw[k]-v[i])
			v[i] += trust * math.Max(0, full[k]-v[i])
		}
	}
}

// knownMean is the mean of the values that are not missing, NaN of none.
func knownMean(v []float64) float64 {
	mean, n := math.NaN(), 0.0
	for _, x := range v {
		if !known(x) {
			continue
		}
		if n++; n == 1 {
			mean = 0
		}
		mean += (x - mean) / n
	}
	return mean
}
