package scale

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/internal/fluid"
)

// Case is a service in steps: what comes, what a replica serves, and who decides how many there are.
type Case struct {
	Length    capcli.Seconds // of a step
	PerUnit   int64          // requests that a ready replica serves in a step
	ColdSteps int            // from the order of a replica to its first step, beyond the next one
	LateSteps int            // requests served more than so many steps after theirs are late
	Initial   int            // replicas that are ready at the start
	Scaler    *Settings      // nil is none
	Load      []int64        // requests that come in each step
	Losses    []Loss         // in order of step
}

// Loss takes ready replicas away. They are replaced at once.
type Loss struct{ Step, Units int }

// Row is a step.
type Row struct {
	Step    int   `json:"step"`
	Load    int64 `json:"load"`
	Ready   int   `json:"ready"`
	Loading int   `json:"loading"`
	Served  int64 `json:"served"`
	Backlog int64 `json:"backlog"`
	Desired int   `json:"desired"` // for the next step
}

// Run is a case that was played.
type Run struct {
	Rows    []Row
	Sights  []Sight // of scaler kpa
	Summary Summary
}

// Sight is what scaler kpa saw at the end of a step.
type Sight struct {
	Now           capcli.Seconds
	Ready         int
	Stable, Panic float64 // mean demand of the windows
	Desired       int     // before limits
}

// Limits of a case.
const (
	MaxSteps    = 20_000_000
	maxPerUnit  = 1_000_000_000_000
	maxRequests = 1 << 61
)

// Check returns a *capcli.RequestError that says what is wrong with the case.
func (c *Case) Check() error {
	switch {
	case len(c.Load) == 0:
		return fault("load", "is empty: one number of requests for each step")
	case len(c.Load) > MaxSteps:
		return fault("load", "has %d steps; at most %d are allowed", len(c.Load), MaxSteps)
	case c.Length < 1:
		return fault("dt", "wants a step of at least a second, found %d", c.Length)
	case c.PerUnit < 1 || c.PerUnit > maxPerUnit:
		return fault("mu", "wants 1 to %d requests of a replica in a step, found %d", int64(maxPerUnit), c.PerUnit)
	case c.ColdSteps < 0 || c.ColdSteps > maxSteps:
		return fault("cold_steps", "wants 0 to %d, found %d", int(maxSteps), c.ColdSteps)
	case c.LateSteps < 0 || c.LateSteps > maxSteps:
		return fault("late_steps", "wants 0 to %d, found %d", int(maxSteps), c.LateSteps)
	case c.Initial < 0 || c.Initial > maxUnits:
		return fault("initial", "wants 0 to %d replicas, found %d", maxUnits, c.Initial)
	}
	var total int64
	for t, n := range c.Load {
		if n < 0 || n > maxRequests-total {
			return fault("load", "wants whole numbers from 0 to %d in all, found %d in step %d", int64(maxRequests), n, t)
		}
		total += n
	}
	last := 0
	for _, l := range c.Losses {
		if l.Step < last || l.Units < 0 {
			return fault("losses", "wants [step, replicas] in order of step, found [%d, %d] after step %d", l.Step, l.Units, last)
		}
		last = l.Step
	}
	return nil
}

// Play plays the case. In each step, replicas become ready, losses come, requests are served oldest first,
// and the scaler decides; what it takes back goes at once, loading replicas first, the newest first.
//
// The error is a *capcli.RequestError whose Field names what is wrong.
func Play(c *Case) (*Run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	newScaler, err := NewScaler(c.Scaler)
	if err != nil {
		return nil, err
	}
	p := player{
		Case: c, scaler: newScaler(), units: fleet{ready: c.Initial}, queue: fluid.Queue{LateSteps: c.LateSteps},
		run: &Run{Rows: make([]Row, 0, len(c.Load))},
	}
	for t := range c.Load {
		p.step(t)
	}
	p.run.Summary = p.summary()
	return p.run, nil
}

// player is a case being played.
type player struct {
	*Case
	scaler simulate.Scaler
	units  fleet
	queue  fluid.Queue
	losses int   // losses that came
	paid   int64 // replica-steps
	run    *Run
}

func (p *player) step(t int) {
	p.units.wake(t)
	for ; p.losses < len(p.Losses) && p.Losses[p.losses].Step <= t; p.losses++ {
		n := min(p.Losses[p.losses].Units, p.units.ready)
		p.units.ready -= n
		p.units.order(n, t+p.ColdSteps)
	}
	p.units.wake(t)
	s := simulate.ScaleState{
		Step: t, Length: p.Length, Now: capcli.Seconds(t+1) * p.Length, Ready: p.units.ready, Loading: p.units.loading,
		PerUnit: p.PerUnit, Load: p.Load[t], Demand: p.queue.Backlog + p.Load[t],
	}
	if p.Scaler != nil {
		s.Start = p.Scaler.Start
	}
	s.Served = p.queue.Step(t, s.Load, int64(s.Ready)*p.PerUnit)
	s.Backlog = p.queue.Backlog
	p.paid += int64(s.Ready + s.Loading)
	s.Spent = p.paid * int64(p.Length) / 36 * 10
	seconds := p.paid * int64(p.Length)
	s.Spent = seconds/3600*1000 + seconds%3600*1000/3600
	desired := p.scaler.Desired(&s)
	p.run.Rows = append(p.run.Rows, Row{t, s.Load, s.Ready, s.Loading, s.Served, s.Backlog, desired})
	p.look(&s)
	switch current := s.Ready + s.Loading; {
	case desired > current:
		p.units.order(desired-current, t+1+p.ColdSteps)
	case desired < current:
		p.units.release(current - desired)
	}
}

// look takes down what scaler kpa saw.
func (p *player) look(s *simulate.ScaleState) {
	l, _ := p.scaler.(*limited)
	if l == nil {
		return
	}
	if k, ok := l.scaler.(*kpa); ok {
		p.run.Sights = append(p.run.Sights, Sight{s.Now, s.Ready, k.last.stable, k.last.panic, k.last.desired})
	}
}

// fleet is replicas, ready and loading.
type fleet struct {
	ready, loading int
	coming         []arrival // in order of step
}

// arrival is replicas that become ready in a step.
type arrival struct{ step, n int }

// order adds n replicas that are ready at a step, which is not before that of any other.
func (f *fleet) order(n, step int) {
	if n > 0 {
		f.coming = append(f.coming, arrival{step, n})
		f.loading += n
	}
}

// wake makes the replicas ready whose step has come.
func (f *fleet) wake(step int) {
	n := 0
	for n < len(f.coming) && f.coming[n].step <= step {
		f.ready += f.coming[n].n
		f.loading -= f.coming[n].n
		n++
	}
	if n > 0 {
		f.coming = f.coming[:copy(f.coming, f.coming[n:])]
	}
}

// release takes n replicas back: those that load, newest first, then ready ones.
func (f *fleet) release(n int) {
	for n > 0 && len(f.coming) > 0 {
		last := &f.coming[len(f.coming)-1]
		k := min(n, last.n)
		last.n -= k
		f.loading -= k
		n -= k
		if last.n == 0 {
			f.coming = f.coming[:len(f.coming)-1]
		}
	}
	f.ready -= n
}

// String returns the case in a few words, for errors.
func (c *Case) String() string { return fmt.Sprintf("%d steps of %s", len(c.Load), c.Length) }

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
