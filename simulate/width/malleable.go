package width

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// MalleableJob is a job that may hold another number of GPUs in each unit of time.
type MalleableJob struct {
	Submit capcli.Seconds
	Work   int64         // over 0
	Rates  map[int]int64 // work done in a unit, by number of GPUs
}

// Malleable returns the least makespan, counted from 0, or the least sum of completion times of jobs whose
// widths change freely from one unit of time to the next. In each unit a job that has come holds no GPU or
// one of the widths of its Rates. A job ends at the end of the unit in which its work is done.
//
// It is a dynamic programme over units of time. A state is the work that is left of each job, with the value so
// far. A state is dropped where another has no more work left of any job and is no worse so far, or where a
// bound is above what a greedy schedule reaches. In a unit only those widths count that leave no GPUs on which a
// job could do more.
//
// It fails with a *LimitError after a number of states (0 is StatesMost), and where a job fits no width.
func Malleable(gpus int, jobs []MalleableJob, goal Objective, states int) (int64, error) {
	if goal == FewestLate {
		return 0, fmt.Errorf("wants %s or %s, found %s", Makespan, SumCompletion, goal)
	}
	s := &malleable{gpus: gpus, goal: goal, states: cmp.Or(states, StatesMost)}
	if gpus < 1 || gpus > 1<<20 {
		return 0, fmt.Errorf("wants 1 to %d GPUs, found %d", 1<<20, gpus)
	}
	var units int64
	for i := range jobs {
		j, err := newFlexible(&jobs[i], gpus)
		if err != nil {
			return 0, fmt.Errorf("job %d: %w", i, err)
		}
		s.jobs = append(s.jobs, j)
		if units += ceilDiv(j.work, j.gives[0].work); units > unitsMost {
			return 0, fmt.Errorf("the jobs take over %d units of time; count time in longer units", unitsMost)
		}
	}
	s.best = s.greedy()
	return s.search()
}

// workMost is the most work of a job.
const workMost = 1 << 32

// unitsMost is the most units of time that jobs may take one after the other.
const unitsMost = 1_000_000

// malleable is a search for the best widths in each unit of time.
type malleable struct {
	gpus    int
	goal    Objective
	jobs    []flexible
	states  int
	visited int
	best    int64
}

// flexible is a job and the widths that are of use.
type flexible struct {
	submit capcli.Seconds
	work   int64
	gives  []gives
}

// gives is a number of GPUs and the work that they do in a unit.
type gives struct {
	gpus int
	work int64
}

func newFlexible(j *MalleableJob, gpus int) (flexible, error) {
	out := flexible{submit: j.Submit, work: j.Work}
	if j.Work < 1 || j.Work > workMost || j.Submit < 0 || j.Submit > capcli.MaxSeconds {
		return out, fmt.Errorf("wants work from 1 to %d and a submission of 0 or more, found %d at %d", int64(workMost), j.Work, j.Submit)
	}
	var widths []int
	for n := range j.Rates {
		if n >= 1 && n <= gpus {
			widths = append(widths, n)
		}
	}
	slices.Sort(widths)
	most := int64(0)
	for _, n := range widths {
		if r := j.Rates[n]; r > most { // a wider one that does no more is of no use
			out.gives = append(out.gives, gives{n, r})
			most = r
		}
	}
	if most == 0 {
		return out, fmt.Errorf("none of its widths does work on %d GPUs", gpus)
	}
	return out, nil
}

// stand is the work that is left of each job, and the value so far.
type stand struct {
	left  []int64
	value int64
}

// search goes through the units of time, and returns the least value.
func (s *malleable) search() (int64, error) {
	first := stand{left: make([]int64, len(s.jobs))}
	for i := range s.jobs {
		first.left[i] = s.jobs[i].work
	}
	if len(s.jobs) == 0 {
		return 0, nil
	}
	layer := []stand{first}
	for now := capcli.Seconds(0); len(layer) > 0; now++ {
		now = s.idleUntil(layer, now)
		next := map[string]stand{}
		for i := range layer {
			if s.visited++; s.visited > s.states {
				return 0, s.tooLarge(layer[i:], next, now)
			}
			s.follow(&layer[i], now, next)
		}
		layer = s.undominated(next, now+1)
	}
	return s.best, nil
}

// idleUntil returns the time to go on at: the first time from now on at which a job that has come has work in
// some state. It is now where no job has work.
func (s *malleable) idleUntil(layer []stand, now capcli.Seconds) capcli.Seconds {
	first := capcli.MaxSeconds
	for k := range layer {
		for i := range s.jobs {
			if layer[k].left[i] > 0 {
				first = min(first, s.jobs[i].submit)
			}
		}
	}
	if first == capcli.MaxSeconds {
		return now
	}
	return max(now, first)
}

// isOver reports whether all that is left has no work.
func (s *malleable) isOver(layer []stand) bool {
	return !slices.ContainsFunc(layer, func(x stand) bool {
		return slices.ContainsFunc(x.left, func(w int64) bool { return w > 0 })
	})
}

// follow adds the states that follow from x in the unit that begins now.
func (s *malleable) follow(x *stand, now capcli.Seconds, next map[string]stand) {
	var open []int
	for i := range s.jobs {
		if x.left[i] > 0 && s.jobs[i].submit <= now {
			open = append(open, i)
		}
	}
	y := stand{left: slices.Clone(x.left), value: x.value}
	if s.goal == SumCompletion {
		y.value += int64(len(open))
	}
	s.share(x, y, open, s.gpus, now+1, next)
}

// share gives a width to the first of the open jobs, and goes on with the others. It adds no state that leaves
// GPUs on which a job could have done more.
func (s *malleable) share(x *stand, y stand, open []int, gpus int, end capcli.Seconds, next map[string]stand) {
	if len(open) == 0 {
		if !s.couldDoMore(x, &y, gpus, end) {
			s.add(y, end, next)
		}
		return
	}
	i := open[0]
	s.share(x, y, open[1:], gpus, end, next)
	for _, g := range s.jobs[i].gives {
		if g.gpus > gpus {
			break
		}
		z := stand{left: slices.Clone(y.left), value: y.value}
		z.left[i] = max(0, x.left[i]-g.work)
		s.share(x, z, open[1:], gpus-g.gpus, end, next)
		if z.left[i] == 0 {
			break // a wider one does no more
		}
	}
}

// couldDoMore reports whether a job that has come would do more from x to y with GPUs that are left over.
func (s *malleable) couldDoMore(x, y *stand, gpus int, end capcli.Seconds) bool {
	for i := range s.jobs {
		j := &s.jobs[i]
		if y.left[i] == 0 || j.submit >= end {
			continue
		}
		held, done := 0, x.left[i]-y.left[i]
		for _, g := range j.gives {
			switch {
			case g.work == done:
				held = g.gpus
			case g.work > done && g.gpus-held <= gpus:
				return true
			}
		}
	}
	return false
}

// add keeps a state at a time, unless it ends the jobs or cannot win.
func (s *malleable) add(y stand, now capcli.Seconds, next map[string]stand) {
	if s.goal == Makespan {
		y.value = int64(now)
	}
	bound := s.bound(&y, now)
	if bound >= s.best {
		return
	}
	if s.isOver([]stand{y}) {
		s.best = y.value // below the best, by its bound
		return
	}
	key := make([]byte, 0, 4*len(y.left))
	for _, w := range y.left {
		key = binary.AppendVarint(key, w)
	}
	if old, ok := next[string(key)]; !ok || y.value < old.value {
		next[string(key)] = y
	}
}

// bound returns a value that nothing that follows from y at a time is below.
func (s *malleable) bound(y *stand, now capcli.Seconds) int64 {
	var ends, areas []int64
	from, last := capcli.MaxSeconds, int64(0)
	for i := range s.jobs {
		j := &s.jobs[i]
		if y.left[i] == 0 {
			continue
		}
		begin := max(now, j.submit)
		ends = append(ends, int64(begin)+ceilDiv(y.left[i], j.gives[len(j.gives)-1].work))
		areas = append(areas, j.leastArea(y.left[i]))
		from = min(from, begin)
		last = max(last, ends[len(ends)-1])
	}
	if len(ends) == 0 {
		return y.value
	}
	slices.Sort(ends)
	slices.Sort(areas)
	value, area := y.value, int64(0)
	for k := range ends {
		area += areas[k]
		end := max(ends[k], int64(from)+ceilDiv(area, int64(s.gpus)))
		last = max(last, end)
		value += end
	}
	if s.goal == Makespan {
		return last
	}
	for i := range s.jobs { // the time up to now is in the value
		if y.left[i] > 0 {
			value -= int64(max(now, s.jobs[i].submit))
		}
	}
	return value
}

// leastArea returns a number of GPU-units that work takes at least.
func (j *flexible) leastArea(work int64) int64 {
	least := int64(math.MaxInt64)
	for _, g := range j.gives {
		least = min(least, ceilDiv(work*int64(g.gpus), g.work))
	}
	return least
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// undominated returns the states that may win at a time, in a fixed order.
func (s *malleable) undominated(states map[string]stand, now capcli.Seconds) []stand {
	var all []stand
	for _, y := range states { // sorted below
		if s.bound(&y, now) < s.best {
			all = append(all, y)
		}
	}
	slices.SortFunc(all, func(a, b stand) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(sum(a.left), sum(b.left)), slices.Compare(a.left, b.left))
	})
	var out []stand
	for _, y := range all {
		rivals := out[:min(len(out), rivalsMost)]
		if !slices.ContainsFunc(rivals, func(x stand) bool { return x.value <= y.value && noMore(x.left, y.left) }) {
			out = append(out, y)
		}
	}
	return out
}

// rivalsMost is the most states with which a state is compared. A comparison left out costs time alone.
const rivalsMost = 1000

func sum(list []int64) int64 {
	var out int64
	for _, v := range list {
		out += v
	}
	return out
}

// noMore reports whether no number of a is above that of b.
func noMore(a, b []int64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}

// greedy returns the value of a schedule: in each unit the job that gains most of its work per GPU is widened
// first.
func (s *malleable) greedy() int64 {
	left := make([]int64, len(s.jobs))
	for i := range left {
		left[i] = s.jobs[i].work
	}
	value := int64(0)
	for now := capcli.Seconds(0); ; now++ {
		now = s.idleUntil([]stand{{left: left}}, now)
		if s.isOver([]stand{{left: left}}) {
			if s.goal == Makespan {
				return int64(now)
			}
			return value
		}
		gpus := s.gpus
		for i := range s.jobs {
			j := &s.jobs[i]
			if left[i] == 0 || j.submit > now {
				continue
			}
			value++
			for _, g := range slices.Backward(j.gives) {
				if g.gpus <= gpus {
					left[i] = max(0, left[i]-g.work)
					gpus -= g.gpus
					break
				}
			}
		}
	}
}

func (s *malleable) tooLarge(layer []stand, next map[string]stand, now capcli.Seconds) error {
	e := &LimitError{Objective: s.goal, Jobs: len(s.jobs), States: s.visited, Bound: s.best, Best: s.best}
	for i := range layer {
		e.Bound = min(e.Bound, s.bound(&layer[i], now))
	}
	for _, y := range next { // a minimum: the order does not matter
		e.Bound = min(e.Bound, s.bound(&y, now+1))
	}
	return e
}
