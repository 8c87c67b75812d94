package capcli

import "math"

// Series is a list of figures at regular times. NaN is a missing value.
type Series struct {
	Name   string
	Unit   string // "GPUs"; "" is none
	Start  Time   // time of the first value; NoTime if only the order is known
	Step   Seconds
	Values []float64
}

// Missing returns the number of missing values.
func (s *Series) Missing() int {
	n := 0
	for _, v := range s.Values {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// At returns the time of value i, which may lie beyond the end.
func (s *Series) At(i int) Time {
	if !s.Start.IsKnown() {
		return NoTime
	}
	return s.Start + Time(int64(s.Step)*int64(i))
}
