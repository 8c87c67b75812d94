package rhythm

// Images returns the steps shorter than two samples that would look like the period, both in seconds, when
// sampled every so many seconds.
func Images(period, every float64) (long, short float64) {
	f := every / period
	return every / (1 - f), every / (1 + f)
}
