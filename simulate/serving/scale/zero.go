package scale

import "capcli/simulate"

// zero takes all units back after some steps without demand.
type zero struct {
	v    *values
	idle int // steps without demand in a row
}

func (z *zero) bound(s *simulate.ScaleState, want int) int {
	if z.idle++; s.Demand > 0 {
		z.idle = 0
	}
	if z.idle >= z.v.steps("zero_after", s.Length) {
		return 0
	}
	return want
}
