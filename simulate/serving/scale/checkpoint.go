package scale

import (
	"capcli"
	"capcli/simulate"
)

// checkpoint takes units back only at multiples of a time since the run's start. Where the units work for
// training that saves its state at these times, a fall then loses no work. In a step that passes a
// multiple the fall comes at the end of the step.
type checkpoint capcli.Seconds

func (c checkpoint) bound(s *simulate.ScaleState, want int) int {
	every := capcli.Seconds(c)
	if current := s.Ready + s.Loading; want < current && s.Now/every == (s.Now-s.Length)/every {
		return current
	}
	return want
}
