package forecast

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// Censoring describes the limit that held usage down. More information means less
// estimation: a queue shows when demand was unmet and by how much; a limit alone shows
// only when usage reached it.
type Censoring struct {
	// Pending is the GPUs that waited in each step, NaN where it is not known;
	// nil where no queue was recorded.
	Pending []float64
	// Cut says in which steps demand was at least the usage and perhaps more; nil
	// where it is to be told from Pending or else from Limit.
	Cut []bool
	// Limit is the capacity in each step, or one figure for all steps; nil where
	// it is not known.
	Limit []float64
	// Near is the share of Limit from which usage counts as held down; 0 is
	// NearLimit.
	Near float64
	// Hold is how many steps a started job holds its GPUs on average. Work that
	// waited would, had it not waited, have been over as much earlier: with Hold,
	// the queue of Hold steps ago is taken off again, so that no work is counted
	// twice. 0 leaves the queue in, which is what the users were asking for at
	// each moment.
	Hold    int
	Seasons []int
	Seed    capcli.Seed // of the draws that values cut in a row need
}

// NearLimit is the default of Censoring.Near. A step's mean is under the limit
// when jobs end within the step: GPUs that are free for 18 seconds of an hour make
// it 99.5 %.
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

// check holds the lengths and the signs against n values of usage.
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

// cuts reports the steps in which demand may have exceeded usage. A known, empty queue
// rules that out, whatever the limit: a pool that is always just full has no unmet
// demand.
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
