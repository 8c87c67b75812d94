package generate

import (
	"math"
	"math/rand/v2"

	"capcli"
)

// lognormal is the distribution of run times whose logarithm is normal, truncated to [low, high]:
// values outside are not drawn, rather than moved to the border.
type lognormal struct {
	mu, sigma float64
	low, high float64 // seconds
	from, to  float64 // probability of values below low, and below high, before truncation
}

// z95 is the 95 % quantile of the standard normal distribution.
const z95 = 1.6448536269514722

// lognormal returns the distribution of the class's run times. Median, percentile and mean are
// those before truncation: ln p95 = mu + z95 sigma, ln mean = mu + sigma²/2.
func (c *Class) lognormal() lognormal {
	d := lognormal{mu: math.Log(float64(max(1, c.RunMedian))), low: float64(max(1, c.RunMin)), high: math.Inf(1), to: 1}
	switch {
	case c.RunP95 > c.RunMedian:
		d.sigma = (math.Log(float64(c.RunP95)) - d.mu) / z95
	case c.RunMean > c.RunMedian:
		d.sigma = math.Sqrt(2 * (math.Log(float64(c.RunMean)) - d.mu))
	}
	if c.RunMax > 0 {
		d.high = float64(c.RunMax)
	}
	if d.sigma > 0 {
		d.from, d.to = normalCDF(d.score(d.low)), normalCDF(d.score(d.high))
	}
	return d
}

// score returns how many standard deviations ln x is above mu.
func (d *lognormal) score(x float64) float64 { return (math.Log(x) - d.mu) / d.sigma }

// normalCDF is the distribution function of the standard normal.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// quantile returns the run time, in seconds, of quantile u of the truncated distribution.
func (d *lognormal) quantile(u float64) float64 {
	x := math.Exp(d.mu)
	if d.sigma > 0 {
		x = math.Exp(d.mu - d.sigma*math.Sqrt2*math.Erfcinv(2*(d.from+u*(d.to-d.from))))
	}
	return min(max(d.low, x), d.high)
}

// mean returns the mean of the truncated distribution: that of the whole one, exp(mu + sigma²/2),
// times the share of it between the bounds, over the probability between them.
func (d *lognormal) mean() float64 {
	if d.sigma == 0 || d.to <= d.from {
		return d.quantile(0.5)
	}
	part := normalCDF(d.score(d.high)-d.sigma) - normalCDF(d.score(d.low)-d.sigma)
	return math.Exp(d.mu+d.sigma*d.sigma/2) * part / (d.to - d.from)
}

// draw returns a random run time in whole seconds.
func (d *lognormal) draw(rng *rand.Rand) capcli.Seconds {
	return capcli.Seconds(math.Round(min(d.quantile(rng.Float64()), maxRun)))
}
