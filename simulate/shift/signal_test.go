package shift

import (
	"fmt"

	"capcli"
)

// NewSignal returns the signal of steps in order of time; the last ends at end. It fails where there is
// no step, times do not grow, or a value is outside 0 to Dearest.
func NewSignal(steps []Step, end capcli.Time) (*Signal, error) {
	if len(steps) == 0 {
		return nil, fmt.Errorf("a signal needs at least one step")
	}
	s := &Signal{end: steps[0].From}
	for i, x := range steps {
		until := end
		if i+1 < len(steps) {
			until = steps[i+1].From
		}
		if err := s.add(x.Value, until); err != nil {
			return nil, err
		}
	}
	return s, nil
}
