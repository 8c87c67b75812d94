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
	// Cut marks the steps in which demand was at least the usage. nil: Pending decides, or Limit
	// where Pending is not known.
	Cut []bool
	// Limit is the capacity in GPUs in each step, or one figure for all steps; nil where it is
	// not known.
	Limit []float64
	// Near is the share of Limit from which usage counts as held down; 0 is
	// NearLimit.
	Near float64
	// Hold is the mean number of steps for which a started job holds its GPUs. Work that did not
	// have to wait would also have ended earlier: with Hold, the queue of Hold steps ago is
	// subtracted again, so that no work counts twice. With 0, demand is what users asked for at
	// each moment.
	Hold    int
	Seasons []int
	Seed    capcli.Seed // for the draws of cut values
}

// NearLimit is the default of Censoring.Near. The mean of a step is below the limit where
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
	if c.Cut != nil && len(c.Cut) != n {
		return fmt.Errorf("unconstrain: %d flags for %d values, want as many: %w", len(c.Cut), n, model.ErrUnfit)
	}
	if c.Near < 0 || c.Near > 1 || math.IsNaN(c.Near) {
		return fmt.Errorf("unconstrain: near is %g, want a share of the limit from 0 to 1: %w", c.Near, model.ErrUnfit)
	}
	if c.Hold < 0 {
		return fmt.Errorf("unconstrain: hold is %d, want 0 or more steps: %w", c.Hold, model.ErrUnfit)
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
	near := c.Near
	if near == 0 {
		near = NearLimit
	}
	cut := make([]bool, len(usage))
	for i, v := range usage {
		if !model.IsFinite(v) {
			continue
		}
		switch queue := c.queue(i); {
		case c.Cut != nil:
			cut[i] = c.Cut[i]
		case model.IsFinite(queue):
			cut[i] = queue > 0
		default:
			cut[i] = v >= near*c.limit(i) && v > 0
		}
	}
	return cut
}
