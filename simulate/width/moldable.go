package width

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"capcli"
)

// MoldableJob is a job whose width is chosen once, before it starts.
type MoldableJob struct {
	Submit, Deadline capcli.Seconds
	Points           []Point // the widths that it may have
}

// Start is when a job starts, and on how many GPUs.
type Start struct {
	Job  int            `json:"job"`
	GPUs int            `json:"gpus"`
	At   capcli.Seconds `json:"start_s"`
}

// Moldable returns the least value of an objective over all widths and all schedules of jobs on a number of
// equal GPUs without preemption, and a schedule that has it. No job starts before its submission.
//
// The search is a branch and bound over sequences of (job, width), each of which starts as early as the GPUs
// allow and no earlier than the one before. Some optimal schedule has this form for any objective that does
// not fall when a job ends later: sort its jobs by start and move each to the left in turn. A state is the
// jobs that are left and the times at which GPUs come free; it is dropped where another with the same jobs has
// each GPU no later and is no worse so far, or where a bound says that it cannot win.
//
// It fails with a *LimitError after a number of states (0 is StatesMost), and where a job fits no width.
func Moldable(gpus int, jobs []MoldableJob, goal Objective, states int) (int64, []Start, error) {
	s, err := newMoldable(gpus, jobs, goal, states)
	if err != nil {
		return 0, nil, err
	}
	s.best, s.found = s.greedy()
	root := front{steps: []step{{0, s.gpus}}}
	if len(jobs) >= bits.UintSize {
		return 0, nil, s.tooLarge(s.bound(&root, s.everyJob()))
	}
	root.jobs = 1<<len(jobs) - 1
	s.expand(root)
	if s.bounded < s.best {
		return 0, nil, s.tooLarge(s.bounded)
	}
	return s.best, s.schedule(), nil
}

// moldable is a search for the best widths and starts.
type moldable struct {
	gpus    int
	jobs    []MoldableJob
	goal    Objective
	left    int   // states that may still be visited
	visited int   // states
	best    int64 // of the schedules found
	found   []Start
	path    []Start
	seen    map[uint][]front // states visited, by the jobs that are left
	bounded int64            // least bound of what was left out for want of states
}

// step says that so many GPUs are free from a time on.
type step struct {
	at   capcli.Seconds
	gpus int
}

// front is a state: the jobs that are left, the GPUs by the time when they are free, in order of time, and
// the value so far.
type front struct {
	jobs  uint
	steps []step
	value int64
}

func newMoldable(gpus int, jobs []MoldableJob, goal Objective, states int) (*moldable, error) {
	if gpus < 1 || gpus > 1<<20 {
		return nil, fmt.Errorf("wants 1 to %d GPUs, found %d", 1<<20, gpus)
	}
	s := &moldable{gpus: gpus, goal: goal, left: cmp.Or(states, StatesMost), seen: map[uint][]front{}, bounded: math.MaxInt64}
	var last, sum capcli.Seconds
	for i := range jobs {
		j := jobs[i]
		if j.Submit < 0 || j.Submit > capcli.MaxSeconds {
			return nil, fmt.Errorf("job %d: wants a submission from 0 to %d, found %d", i, capcli.MaxSeconds, j.Submit)
		}
		var err error
		if j.Points, err = usefulPoints(j.Points, gpus); err != nil {
			return nil, fmt.Errorf("job %d: %w", i, err)
		}
		s.jobs = append(s.jobs, j)
		last, sum = max(last, j.Submit), min(sum+j.Points[len(j.Points)-1].Run, capcli.MaxSeconds)
	}
	if int64(last+sum) > math.MaxInt64/4/int64(gpus) {
		return nil, fmt.Errorf("the jobs are too long to add up: %d s on %d GPUs", last+sum, gpus)
	}
	return s, nil
}

// usefulPoints returns the points that fit, the widest first, without those that take more GPUs than another
// and are no faster.
func usefulPoints(points []Point, gpus int) ([]Point, error) {
	var fit []Point
	for _, p := range points {
		if p.GPUs < 1 || p.Run < 1 || p.Run > capcli.MaxSeconds {
			return nil, fmt.Errorf("wants 1 GPU or more for 1 to %d s, found %d GPUs for %d s", capcli.MaxSeconds, p.GPUs, p.Run)
		}
		if p.GPUs <= gpus {
			fit = append(fit, p)
		}
	}
	slices.SortFunc(fit, func(a, b Point) int { return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.Run, b.Run)) })
	var out []Point
	for _, p := range fit {
		if len(out) == 0 || p.Run < out[len(out)-1].Run {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("none of its widths fits on %d GPUs", gpus)
	}
	slices.Reverse(out)
	return out, nil
}

// everyJob returns the numbers of all jobs.
func (s *moldable) everyJob() []int {
	all := make([]int, len(s.jobs))
	for i := range all {
		all[i] = i
	}
	return all
}

// unplaced returns the numbers of the jobs that are left.
func (s *moldable) unplaced(f *front) []int {
	var out []int
	for set := f.jobs; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros(set))
	}
	return out
}

// schedule returns the best schedule in order of start. Jobs that were given up as late come after all others.
func (s *moldable) schedule() []Start {
	var end capcli.Seconds
	for _, x := range s.found {
		if x.At >= 0 {
			end = max(end, x.At+s.runTime(x))
		}
		end = max(end, s.jobs[x.Job].Submit)
	}
	for i := range s.found {
		if x := &s.found[i]; x.At < 0 {
			*x = Start{x.Job, s.jobs[x.Job].Points[0].GPUs, end}
			end += s.jobs[x.Job].Points[0].Run
		}
	}
	slices.SortFunc(s.found, func(a, b Start) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job)) })
	return s.found
}

// runTime returns the run time of a job as it starts.
func (s *moldable) runTime(x Start) capcli.Seconds {
	k := slices.IndexFunc(s.jobs[x.Job].Points, func(p Point) bool { return p.GPUs == x.GPUs })
	return s.jobs[x.Job].Points[k].Run
}

func (s *moldable) tooLarge(bound int64) error {
	return &LimitError{Objective: s.goal, Jobs: len(s.jobs), States: s.visited, Bound: bound, Best: s.best}
}

// freeAt returns when so many GPUs are free.
func (f *front) freeAt(gpus int) capcli.Seconds {
	for _, x := range f.steps {
		if gpus -= x.gpus; gpus <= 0 {
			return x.at
		}
	}
	return math.MaxInt64
}

// place returns f after job i starts with point p, as early as it can.
func (s *moldable) place(f *front, i int, p Point) (front, Start) {
	j := &s.jobs[i]
	at := max(j.Submit, f.freeAt(p.GPUs))
	end := at + p.Run
	next := front{jobs: f.jobs &^ (1 << i), steps: make([]step, 0, len(f.steps)+2), value: f.value}
	free := -p.GPUs
	k := 0
	for ; k < len(f.steps) && f.steps[k].at <= at; k++ {
		free += f.steps[k].gpus
	}
	if free > 0 {
		next.steps = append(next.steps, step{at, free})
	}
	for ; k < len(f.steps) && f.steps[k].at <= end; k++ {
		next.steps = append(next.steps, f.steps[k])
	}
	next.steps = append(next.steps, step{end, p.GPUs})
	next.steps = append(next.steps, f.steps[k:]...)
	switch s.goal {
	case Makespan:
		next.value = max(next.value, int64(end))
	case SumCompletion:
		next.value += int64(end - j.Submit)
	case FewestLate:
		if end > j.Deadline {
			next.value++
		}
	}
	return next, Start{i, p.GPUs, at}
}

// child is a state that follows from another.
type child struct {
	front
	bound int64
	start Start
}

// expand searches the states that follow from f.
func (s *moldable) expand(f front) {
	if f.jobs == 0 {
		if f.value < s.best {
			s.best, s.found = f.value, slices.Clone(s.path)
		}
		return
	}
	bound := s.bound(&f, s.unplaced(&f))
	if bound >= s.best {
		return
	}
	if s.left == 0 {
		s.bounded = min(s.bounded, bound)
		return
	}
	if !s.admit(f) {
		return
	}
	s.left--
	s.visited++
	for _, c := range s.children(&f) {
		if c.bound < s.best {
			depth := len(s.path)
			s.path = append(s.path, c.start)
			s.expand(c.front)
			s.path = s.path[:depth]
		}
	}
}

// children returns the states that follow from f, the most promising first. Of equal jobs only the first that
// is left is placed. For the fewest late jobs, a job that would be late is put last, where it delays none.
func (s *moldable) children(f *front) []child {
	var out []child
	for _, i := range s.unplaced(f) {
		if s.hasTwinBefore(f.jobs, i) {
			continue
		}
		for _, p := range s.jobs[i].Points {
			next, start := s.place(f, i, p)
			if s.goal == FewestLate && start.At+p.Run > s.jobs[i].Deadline {
				continue
			}
			out = append(out, child{next, s.bound(&next, s.unplaced(&next)), start})
		}
		if s.goal == FewestLate {
			late := front{jobs: f.jobs &^ (1 << i), steps: f.steps, value: f.value + 1}
			out = append(out, child{late, s.bound(&late, s.unplaced(&late)), Start{Job: i, At: -1}})
		}
	}
	slices.SortStableFunc(out, func(a, b child) int {
		return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.value, b.value))
	})
	return out
}

// hasTwinBefore reports whether a job that is left and comes before i is equal to it.
func (s *moldable) hasTwinBefore(left uint, i int) bool {
	for k := range i {
		if a, b := &s.jobs[k], &s.jobs[i]; left&(1<<k) != 0 && a.Submit == b.Submit && a.Deadline == b.Deadline && slices.Equal(a.Points, b.Points) {
			return true
		}
	}
	return false
}

// admit reports whether no state seen so far is at least as good as f, and remembers f.
func (s *moldable) admit(f front) bool {
	earliest := capcli.Seconds(math.MaxInt64)
	for _, i := range s.unplaced(&f) {
		earliest = min(earliest, s.jobs[i].Submit)
	}
	g := front{jobs: f.jobs, value: f.value, steps: make([]step, 0, len(f.steps))}
	for _, x := range f.steps { // GPUs that are free before the next submission are free then
		x.at = max(x.at, earliest)
		if n := len(g.steps); n > 0 && g.steps[n-1].at == x.at {
			g.steps[n-1].gpus += x.gpus
			continue
		}
		g.steps = append(g.steps, x)
	}
	kept := s.seen[f.jobs]
	for i := range kept {
		if kept[i].value <= g.value && kept[i].isFreeBy(&g) {
			return false
		}
	}
	kept = slices.DeleteFunc(kept, func(k front) bool { return g.value <= k.value && g.isFreeBy(&k) })
	s.seen[f.jobs] = append(kept, g)
	return true
}

// isFreeBy reports whether f has each GPU free no later than g has.
func (f *front) isFreeBy(g *front) bool {
	k, free, want := 0, 0, 0
	for _, x := range g.steps {
		want += x.gpus
		for ; k < len(f.steps) && f.steps[k].at <= x.at; k++ {
			free += f.steps[k].gpus
		}
		if free < want {
			return false
		}
	}
	return true
}

// greedy returns a schedule to start from: the best of some lists, each job with the width that ends soonest or
// takes the least GPU time.
func (s *moldable) greedy() (int64, []Start) {
	best, found := int64(math.MaxInt64), []Start(nil)
	keys := []func(j *MoldableJob) capcli.Seconds{
		func(j *MoldableJob) capcli.Seconds { return j.Submit },
		func(j *MoldableJob) capcli.Seconds { return j.Deadline },
		func(j *MoldableJob) capcli.Seconds { return j.Points[0].Run },
		func(j *MoldableJob) capcli.Seconds { return -j.Points[0].Run },
		leastArea,
	}
	order := s.everyJob()
	for _, key := range keys {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(&s.jobs[a]), key(&s.jobs[b])) })
		for _, narrow := range []bool{false, true} {
			if value, starts := s.list(order, narrow); value < best {
				best, found = value, starts
			}
		}
	}
	return best, found
}

// list places jobs in an order, each with the width of the least GPU time or of the soonest end.
func (s *moldable) list(order []int, narrow bool) (int64, []Start) {
	f := front{steps: []step{{0, s.gpus}}}
	var out []Start
	for _, i := range order {
		j := &s.jobs[i]
		p := slices.MinFunc(j.Points, func(a, b Point) int {
			if narrow {
				return cmp.Compare(a.area(), b.area())
			}
			return cmp.Compare(max(j.Submit, f.freeAt(a.GPUs))+a.Run, max(j.Submit, f.freeAt(b.GPUs))+b.Run)
		})
		var start Start
		f, start = s.place(&f, i, p)
		out = append(out, start)
	}
	return f.value, out
}

// area returns the GPU time of a point.
func (p Point) area() capcli.Seconds { return capcli.Seconds(p.GPUs) * p.Run }

// leastArea returns the least GPU time that a job can take.
func leastArea(j *MoldableJob) capcli.Seconds {
	least := j.Points[0].area()
	for _, p := range j.Points {
		least = min(least, p.area())
	}
	return least
}
