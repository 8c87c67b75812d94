package workflow

import (
	"cmp"
	"slices"

	"capcli"
)

// Bounds are times before which no schedule of all the jobs can end, on GPUs of which any will do, all
// jobs there from the beginning and none preempted.
type Bounds struct {
	CriticalPath capcli.Seconds // of the dependencies alone
	Area         capcli.Seconds // all GPU time over the GPUs, rounded up
	Optimum      capcli.Seconds // the least end, if Exact; else the largest bound
	Exact        bool
}

// mostExact is the most jobs for which the optimum is sought, and mostSteps the work spent on it.
const (
	mostExact = 24
	mostSteps = 4_000_000
)

// Bounds returns the bounds of the jobs, of which g is the graph, on that many GPUs. Jobs that want more
// are left out. The optimum is sought by branch and bound where the jobs are few, and given up after a
// fixed amount of work.
func (g *Graph) Bounds(jobs []capcli.Job, gpus int) Bounds {
	run := func(i int) capcli.Seconds { return jobs[i].Run }
	t := g.Times(run, nil)
	b := Bounds{CriticalPath: t.Span}
	var work capcli.GPUTime
	fits := true
	for i := range jobs {
		if jobs[i].GPUs <= gpus {
			work += jobs[i].Work()
		} else {
			fits = false
		}
	}
	if all := capcli.GPUTime(gpus) * capcli.GPUSecond; all > 0 {
		b.Area = capcli.Seconds((work + all - 1) / all)
	}
	b.Optimum = max(b.CriticalPath, b.Area)
	if len(jobs) > mostExact || gpus <= 0 || !fits {
		return b
	}
	s := &search{g: g, jobs: jobs, gpus: int64(gpus) * 1000, tails: g.Tails(run), best: capcli.MaxSeconds}
	for _, k := range [2]bool{false, true} { // a first schedule by list, so that the search prunes
		s.list(k)
	}
	s.prove(b.Optimum)
	if b.Exact = s.steps < mostSteps; b.Exact {
		b.Optimum = s.best
	}
	return b
}

// search finds the least end by depth-first branch and bound. A schedule that ends first can be moved left
// until each job starts at 0, or at an end of another or a delay after one (semi-active schedules, Baker,
// "Introduction to Sequencing and Scheduling", 1974), so that the search looks only at these instants.
type search struct {
	g     *Graph
	jobs  []capcli.Job
	gpus  int64 // thousandths
	tails []capcli.Seconds
	best  capcli.Seconds
	steps int
	floor capcli.Seconds
}

// node is a partial schedule: the start of each job, or -1.
type node struct {
	start []capcli.Seconds
	now   capcli.Seconds
}

func (s *search) prove(floor capcli.Seconds) {
	if s.floor = floor; s.best <= floor {
		return
	}
	start := make([]capcli.Seconds, len(s.jobs))
	for i := range start {
		start[i] = -1
	}
	s.branch(&node{start, 0}, 0)
}

// readyAt returns when job i may start by its dependencies; false if one of them has not started yet.
func (s *search) readyAt(n *node, i int) (at capcli.Seconds, known bool) {
	for _, e := range s.g.After(i) {
		from := n.start[e.Job]
		if from < 0 {
			return 0, false
		}
		if e.When != capcli.AfterStart {
			from += s.jobs[e.Job].Run
		}
		at = max(at, from+e.Delay)
	}
	return at, true
}

// look returns what is free now, the next instant at which something changes, and a bound on the end.
func (s *search) look(n *node) (free int64, next, bound capcli.Seconds, open bool) {
	free, next = s.gpus, capcli.MaxSeconds
	var work, last int64
	for i := range s.jobs {
		j := &s.jobs[i]
		if n.start[i] >= 0 {
			end := n.start[i] + j.Run
			last = max(last, int64(end))
			if end > n.now {
				free -= j.Milli()
				next = min(next, end)
				work += j.Milli() * int64(end-n.now)
			}
			continue
		}
		open = true
		work += j.Milli() * int64(j.Run)
		at, known := s.readyAt(n, i)
		bound = max(bound, max(n.now, at)+s.tails[i])
		if known && at > n.now {
			next = min(next, at)
		}
	}
	bound = max(bound, capcli.Seconds(last), n.now+capcli.Seconds((work+s.gpus-1)/s.gpus))
	return free, next, bound, open
}

// branch tries each job from index from on at this instant, then goes on to the next instant.
func (s *search) branch(n *node, from int) {
	if s.steps++; s.steps >= mostSteps || s.best <= s.floor {
		return
	}
	free, next, bound, open := s.look(n)
	if bound >= s.best {
		return
	}
	if !open {
		s.best = bound
		return
	}
	for i := from; i < len(s.jobs); i++ {
		if n.start[i] >= 0 || s.jobs[i].Milli() > free {
			continue
		}
		if at, known := s.readyAt(n, i); known && at <= n.now {
			n.start[i] = n.now
			s.branch(n, i+1)
			n.start[i] = -1
		}
	}
	if next < capcli.MaxSeconds {
		now := n.now
		n.now = next
		s.branch(n, 0)
		n.now = now
	}
}

// list makes the schedule by longest path first, or by order, and keeps its end if it is the best.
func (s *search) list(byOrder bool) {
	n := &node{start: make([]capcli.Seconds, len(s.jobs))}
	line := make([]int, len(s.jobs))
	for i := range line {
		n.start[i], line[i] = -1, i
	}
	if !byOrder {
		slices.SortStableFunc(line, func(a, b int) int { return cmp.Compare(s.tails[b], s.tails[a]) })
	}
	for {
		free, next, bound, open := s.look(n)
		if !open {
			s.best = min(s.best, bound)
			return
		}
		started := false
		for _, i := range line {
			if at, known := s.readyAt(n, i); n.start[i] < 0 && known && at <= n.now && s.jobs[i].Milli() <= free {
				n.start[i], started = n.now, true
				free -= s.jobs[i].Milli()
			}
		}
		switch {
		case started: // a job of no time may have ended
		case next == capcli.MaxSeconds:
			return
		default:
			n.now = next
		}
	}
}
