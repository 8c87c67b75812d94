package unconstrain

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// Censoring describes the limit that held usage down. The more is known, the less is estimated:
// a queue shows when demand was unmet and by how much; a limit alone shows only when usage
// reached it.
type Censoring struct {
	// Pending is the number of GPUs that waited in each step, NaN where it is not known; nil
	// where no queue was recorded.
	Pending []float64
	// Limit is the capacity in GPUs in each step, or one figure for all steps; nil where it is
	// not known.
	Limit   []float64
	Seasons []int
	Seed    capcli.Seed // for the draws of cut values
}

// NearLimit is the share of Limit from which usage counts as held down. The mean of a step is below the limit where
// jobs end within the step: GPUs that are free for 18 seconds of an hour make it 99.5 %.
const NearLimit = 0.995

// limit returns the capacity in step i, +Inf where it is not known.
func (c *Censoring) limit(i int) float64 {
	switch {
	case len(c.Limit) == 0:
		return math.Inf(1)
	case len(c.Limit) == 1:
		i = 0
	}
	if v := c.Limit[i]; model.IsFinite(v) {
		return v
	}
	return math.Inf(1)
}

// queue returns the GPUs that waited in step i, NaN where the number is not known.
func (c *Censoring) queue(i int) float64 {
	if c.Pending == nil {
		return math.NaN()
	}
	return c.Pending[i]
}

// check returns an error where lengths do not match n values of usage, or a figure is out
// of range.
func (c *Censoring) check(n int) error {
	if len(c.Limit) > 1 && len(c.Limit) != n {
		return fmt.Errorf("unconstrain: %d limits for %d values, want one or as many: %w", len(c.Limit), n, model.ErrUnfit)
	}
	if c.Pending != nil && len(c.Pending) != n {
		return fmt.Errorf("unconstrain: %d figures of pending for %d values, want as many: %w", len(c.Pending), n, model.ErrUnfit)
	}
	for i, v := range c.Pending {
		if v < 0 || math.IsInf(v, 0) {
			return fmt.Errorf("unconstrain: pending %d is %g, want 0 or more: %w", i+1, v, model.ErrUnfit)
		}
	}
	return nil
}

// cuts reports the steps in which demand may have exceeded usage. A known, empty queue rules
// that out, even at the limit: a pool that is always just full has no unmet demand.
func (c *Censoring) cuts(usage []float64) []bool {
	cut := make([]bool, len(usage))
	for i, v := range usage {
		if !model.IsFinite(v) {
			continue
		}
		switch queue := c.queue(i); {
		case model.IsFinite(queue):
			cut[i] = queue > 0
		default:
			cut[i] = v >= NearLimit*c.limit(i) && v > 0
		}
	}
	return cut
}
