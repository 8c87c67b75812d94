package model

// Noise is where a drawn path takes its chance from. A *rand.Rand is one, for the
// path of a series alone; Innovations give those of several series.
type Noise interface {
	NormFloat64() float64
	Float64() float64
	ExpFloat64() float64
	Uint64() uint64
}

// Joint is a Noise whose innovations go together with those of other series.
type Joint interface {
	Noise
	// Innovation returns the standardised one-step error of a step ahead, from 0.
	Innovation(step int) float64
}

// Innovation draws the standardised one-step error of a step ahead, from 0.
func Innovation(rng Noise, step int) float64 {
	if n, ok := rng.(Joint); ok {
		return n.Innovation(step)
	}
	return rng.NormFloat64()
}
