package traffic

import (
	"math"
	"math/rand/v2"
)

// poisson draws from a Poisson distribution: by transformed rejection (Hörmann, "The transformed
// rejection method for generating Poisson random variables", 1993, PTRS) from a mean of 10 on, else by
// multiplying uniform numbers (Knuth, "Seminumerical Algorithms", 3.4.1).
func poisson(rng *rand.Rand, mean float64) int64 {
	if !(mean > 0) {
		return 0
	}
	if mean < 10 {
		limit, p := math.Exp(-mean), rng.Float64()
		n := int64(0)
		for ; p > limit; n++ {
			p *= rng.Float64()
		}
		return n
	}
	slope := math.Sqrt(mean)
	logMean := math.Log(mean)
	b := 0.931 + 2.53*slope
	a := -0.059 + 0.02483*b
	inverse := 1.1239 + 1.1328/(b-3.4)
	quick := 0.9277 - 3.6224/(b-2)
	for {
		u, v := rng.Float64()-0.5, rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.43)
		if us >= 0.07 && v <= quick {
			return int64(k)
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if math.Log(v)+math.Log(inverse)-math.Log(a/(us*us)+b) <= -mean+k*logMean-logFactorial(k) {
			return int64(k)
		}
	}
}

func logFactorial(k float64) float64 {
	v, _ := math.Lgamma(k + 1)
	return v
}

// binomial draws the successes of n trials: by transformed rejection (Hörmann, "The generation of
// binomial random variates", 1993, BTRS) where 10 or more are expected, else by geometric gaps (Devroye,
// "Non-Uniform Random Variate Generation", 1986, X.4.3).
func binomial(rng *rand.Rand, n int64, p float64) int64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - binomial(rng, n, 1-p)
	case float64(n)*p < 10:
		return binomialByGaps(rng, n, p)
	}
	m := float64(n)
	spread := math.Sqrt(m * p * (1 - p))
	b := 1.15 + 2.53*spread
	a := -0.0873 + 0.0248*b + 0.01*p
	c := m*p + 0.5
	quick := 0.92 - 4.2/b
	alpha := (2.83 + 5.1/b) * spread
	odds := math.Log(p / (1 - p))
	mode := math.Floor((m + 1) * p)
	top := logFactorial(mode) + logFactorial(m-mode)
	for {
		u, v := rng.Float64()-0.5, rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if k < 0 || k > m {
			continue
		}
		if us >= 0.07 && v <= quick {
			return int64(k)
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= top-logFactorial(k)-logFactorial(m-k)+(k-mode)*odds {
			return int64(k)
		}
	}
}

func binomialByGaps(rng *rand.Rand, n int64, p float64) int64 {
	miss := math.Log1p(-p)
	k, at := int64(0), 0.0
	for {
		at += math.Floor(math.Log(1-rng.Float64())/miss) + 1
		if at > float64(n) {
			return k
		}
		k++
	}
}

// gamma draws from a gamma distribution of scale 1 (Marsaglia and Tsang, "A simple method for generating
// gamma variables", 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		u := 1 - rng.Float64()
		return gamma(rng, shape+1) * math.Pow(u, 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64()
		if math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// dispersed draws a number of events with a mean and a variance of spread times the mean: Poisson for 1,
// negative binomial above, binomial below.
func dispersed(rng *rand.Rand, mean, spread float64) int64 {
	switch {
	case mean <= 0:
		return 0
	case spread == 1:
		return poisson(rng, mean)
	case spread > 1:
		return poisson(rng, gamma(rng, mean/(spread-1))*(spread-1))
	case spread == 0:
		whole := math.Floor(mean)
		if rng.Float64() < mean-whole {
			whole++
		}
		return int64(whole)
	}
	n := math.Ceil(mean / (1 - spread))
	return binomial(rng, int64(n), mean/n)
}
