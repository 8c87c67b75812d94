package generate

import (
	"math"
	"math/rand/v2"

	"capcli"
)

// lognormal is run times whose logarithm is normal, cut to [low, high]: a draw
// outside does not happen, rather than count as the border.
type lognormal struct {
	mu, sigma float64
	low, high float64 // seconds
	from, to  float64 // chance of being below low, and below high
}

// z95 is the 95 % quantile of the normal distribution.
const z95 = 1.6448536269514722

// lognormal is the distribution of the class's run times. Its median is that of
// the uncut one, and so are the percentile and the mean: ln p95 = mu + z95
// sigma, ln mean = mu + sigma²/2.
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

// score is how many standard deviations x is over the median.
func (d *lognormal) score(x float64) float64 { return (math.Log(x) - d.mu) / d.sigma }

// normalCDF is the normal distribution function.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// quantile is the run time with a share u of the others below it.
func (d *lognormal) quantile(u float64) float64 {
	x := math.Exp(d.mu)
	if d.sigma > 0 {
		x = math.Exp(d.mu - d.sigma*math.Sqrt2*math.Erfcinv(2*(d.from+u*(d.to-d.from))))
	}
	return min(max(d.low, x), d.high)
}

// mean is the mean of the cut distribution: that of the uncut one, exp(mu +
// sigma²/2), times the share of it between the cuts.
func (d *lognormal) mean() float64 {
	if d.sigma == 0 || d.to <= d.from {
		return d.quantile(0.5)
	}
	part := normalCDF(d.score(d.high)-d.sigma) - normalCDF(d.score(d.low)-d.sigma)
	return math.Exp(d.mu+d.sigma*d.sigma/2) * part / (d.to - d.from)
}

// draw is a run time in whole seconds.
func (d *lognormal) draw(rng *rand.Rand) capcli.Seconds {
	return capcli.Seconds(math.Round(min(d.quantile(rng.Float64()), maxRun)))
}
