package scale

import (
	"fmt"
	"math"
	"slices"
)

// smallCase is the largest product of steps and most replicas for which a summary has bound_late_steps.
const smallCase = 1400

// min returns the least replicas of the scaler, and max the most.
func (c *Case) min() int {
	if c.Scaler == nil {
		return 0
	}
	return c.Scaler.Min
}

func (c *Case) max() int {
	if c.Scaler == nil || c.Scaler.Max == 0 {
		return maxUnits
	}
	return c.Scaler.Max
}

// BoundNoneLate returns the clairvoyant bound: the least replica-steps of any plan that knows the future,
// lets no request wait beyond its step, and has min to max replicas. Any number may be ready at the start,
// unpaid before; each rise by one costs ColdSteps more. Losses are ignored. It is nil where more than max
// replicas are needed.
//
// Replica k is needed in the steps whose need is at least k. Between two of them it is kept, or given back
// and loaded again: the gap costs min(gap, ColdSteps). As the gaps of a higher replica hold those of a
// lower one, the cheapest choices of all replicas make a plan, and their sum is the bound. One pass finds
// the gaps: a stack holds, for each number of replicas, the last step that needed them.
func (c *Case) BoundNoneLate() *int64 {
	// The entries are in falling order of levels: replicas above the next entry's levels up to levels were
	// needed in step last.
	type entry struct {
		levels int64
		last   int
	}
	stack := []entry{{int64(c.max()), -1}}
	var total int64
	for t, n := range c.Load {
		need := max(c.need(n), int64(c.min()))
		if need > int64(c.max()) {
			return nil
		}
		total += need
		var covered int64 // levels whose gap is counted
		for covered < need {
			top := &stack[len(stack)-1]
			upTo := min(top.levels, need)
			total += (upTo - covered) * int64(min(t-top.last-1, c.ColdSteps))
			covered = upTo
			if top.levels <= need {
				stack = stack[:len(stack)-1]
			}
		}
		if need > 0 {
			stack = append(stack, entry{need, t})
		}
	}
	return &total
}

// Bound is BoundNoneLate with the least replicas that the scaler itself may leave: none where it has
// zero_after, whatever its min.
func (c *Case) Bound() *int64 {
	if c.Scaler == nil || c.Scaler.Min == 0 || c.Scaler.Values["zero_after"] == 0 && c.Scaler.Lengths["zero_after"] == 0 {
		return c.BoundNoneLate()
	}
	settings, at := *c.Scaler, *c
	settings.Min, at.Scaler = 0, &settings
	return at.BoundNoneLate()
}

// maxLateWork is the most steps × backlogs × replicas that BoundLate looks at, and maxLateStates the most
// backlogs × replicas.
const (
	maxLateWork   = 400_000_000
	maxLateStates = 4_000_000
)

// BoundLate returns the least replica-steps of any plan that knows the future and in which no request is
// late: each is served at most LateSteps after its step. Requests whose time is not over may wait at the
// end. The other rules are those of BoundNoneLate. It is nil where no plan can, and an error says that the
// case is too large.
//
// It is a dynamic program over (backlog, ready). Requests are served in order, so none is late exactly if
// the backlog after step t is at most what came in the last LateSteps steps.
func (c *Case) BoundLate() (*int64, error) {
	most, limit := 0, make([]int64, len(c.Load)) // the largest backlog after each step
	var window int64
	for t, n := range c.Load {
		window += n
		if t >= c.LateSteps {
			window -= c.Load[t-c.LateSteps]
		}
		if limit[t] = window; window > maxLateWork {
			return nil, fmt.Errorf("a backlog of %d requests is too large for the exact bound", limit[t])
		}
		most = max(most, int(limit[t]))
	}
	units := min(c.max(), int(min(c.highest(), maxUnits)))
	if units < c.min() {
		return nil, nil
	}
	states := float64(most+1) * float64(units+1)
	if work := float64(len(c.Load)) * states; work > maxLateWork || states > maxLateStates {
		return nil, fmt.Errorf("%.1e steps × backlogs × replicas are too many for the exact bound", work)
	}
	d := lateTable{Case: c, units: units, now: newTable(units, most), next: newTable(units, most)}
	d.start()
	for t := range c.Load {
		backlogs := int64(0)
		if t > 0 {
			backlogs = limit[t-1]
		}
		d.step(t, int(backlogs), limit[t])
	}
	best := int64(math.MaxInt64)
	for b := range limit[len(limit)-1] + 1 {
		best = min(best, slices.Min(d.now[b]))
	}
	if best >= unreachable {
		return nil, nil
	}
	return &best, nil
}

// highest returns more replicas than any good plan has: what serves the largest demand at once, or min.
func (c *Case) highest() int64 {
	var window, most int64
	for t, n := range c.Load {
		window += n
		if t > c.LateSteps {
			window -= c.Load[t-c.LateSteps-1]
		}
		most = max(most, window)
	}
	return max(c.need(most), int64(c.min()))
}

// lateTable is the dynamic program of BoundLate: the least cost so far by backlog and ready replicas.
type lateTable struct {
	*Case
	units     int
	now, next [][]int64
}

const unreachable = math.MaxInt64 / 4

func newTable(units, backlog int) [][]int64 {
	t := make([][]int64, backlog+1)
	cells := make([]int64, (backlog+1)*(units+1))
	for i := range cells {
		cells[i] = unreachable
	}
	for i := range t {
		t[i], cells = cells[:units+1], cells[units+1:]
	}
	return t
}

// start makes any number of ready replicas free before step 0.
func (d *lateTable) start() { clear(d.now[0]) }

// step goes on from the states after step t-1, whose backlogs are at most backlogs, to those after step t,
// whose backlogs are at most limit.
func (d *lateTable) step(t, backlogs int, limit int64) {
	for b := range int(limit) + 1 {
		for n := range d.next[b] {
			d.next[b][n] = unreachable
		}
	}
	cold := int64(d.ColdSteps)
	for b := range backlogs + 1 {
		cost := d.now[b]
		for n := 1; n <= d.units; n++ { // a rise to n from any lower number
			cost[n] = min(cost[n], cost[n-1]+cold)
		}
		for n := d.units - 1; n >= 0; n-- { // a fall is free
			cost[n] = min(cost[n], cost[n+1])
		}
		demand := int64(b) + d.Load[t]
		for n := d.min(); n <= d.units; n++ {
			left := max(0, demand-int64(n)*d.PerUnit)
			if left <= limit && cost[n] < unreachable {
				d.next[left][n] = min(d.next[left][n], cost[n]+int64(n))
			}
		}
	}
	d.now, d.next = d.next, d.now
}
