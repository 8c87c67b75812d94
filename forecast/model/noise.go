package model

import "math"

// Noise is the source of randomness of a drawn path. A *rand.Rand is one for the path of a
// single series; Innovations provides those of several series.
type Noise interface {
	NormFloat64() float64
	Float64() float64
	ExpFloat64() float64
	Uint64() uint64
}

// joint is a Noise whose innovations are correlated with those of other series.
type joint interface {
	Noise
	// Innovation returns the standardised one-step error of a step ahead, which counts from 0.
	Innovation(step int) float64
}

// Innovation draws the standardised one-step error of a step ahead, which counts from 0.
func Innovation(rng Noise, step int) float64 {
	if n, ok := rng.(joint); ok {
		return n.Innovation(step)
	}
	return rng.NormFloat64()
}

// Probability draws the probability level of the value of a step ahead, from 0 to 1. Steps count
// from 0.
func Probability(rng Noise, step int) float64 {
	if n, ok := rng.(joint); ok {
		return 1 - math.Erfc(n.Innovation(step)/math.Sqrt2)/2
	}
	return rng.Float64()
}
