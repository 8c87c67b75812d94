package workflow

import "capcli"

// RunTime says how long a job runs, by its index in the list.
type RunTime func(i int) capcli.Seconds

// Tails returns for each job the longest path from its start to an end of its workflow, its own run
// included: the level of Hu ("Parallel Sequencing and Assembly Line Problems", Operations Research 1961).
// Failures are not known: all jobs count.
func (g *Graph) Tails(run RunTime) []capcli.Seconds {
	tails := make([]capcli.Seconds, g.Len())
	for k := len(g.order) - 1; k >= 0; k-- {
		i := int(g.order[k])
		own := run(i)
		longest := own
		for _, e := range g.Next(i) {
			from := own
			if e.When == capcli.AfterStart {
				from = 0
			}
			longest = max(longest, from+e.Delay+tails[e.Job])
		}
		tails[i] = longest
	}
	return tails
}

// Times are the earliest and the latest start of each job if nothing but the dependencies holds it up
// (Kelley and Walker, "Critical-Path Planning and Scheduling", 1959).
type Times struct {
	Early, Late []capcli.Seconds // starts
	Span        capcli.Seconds   // the last end, of the earliest starts
}

// Slack returns how much later job i may start without making the last end later.
func (t *Times) Slack(i int) capcli.Seconds { return t.Late[i] - t.Early[i] }

// Times returns the earliest and the latest starts. ready is when each job may start at the earliest, from
// some instant on; nil is 0 for all.
func (g *Graph) Times(run, ready RunTime) Times {
	n := g.Len()
	t := Times{Early: make([]capcli.Seconds, n), Late: make([]capcli.Seconds, n)}
	for _, at := range g.order {
		i := int(at)
		if ready != nil {
			t.Early[i] = ready(i)
		}
		for _, e := range g.After(i) {
			from := t.Early[e.Job] + e.Delay
			if e.When != capcli.AfterStart {
				from += run(int(e.Job))
			}
			t.Early[i] = max(t.Early[i], from)
		}
		t.Span = max(t.Span, t.Early[i]+run(i))
	}
	for k := len(g.order) - 1; k >= 0; k-- {
		i := int(g.order[k])
		own := run(i)
		t.Late[i] = t.Span - own
		for _, e := range g.Next(i) {
			latest := t.Late[e.Job] - e.Delay
			if e.When != capcli.AfterStart {
				latest -= own
			}
			t.Late[i] = min(t.Late[i], latest)
		}
	}
	return t
}

// Path returns a critical path: the jobs, first to last, whose runs and delays make the span. Where
// several are as long, it is the one through the jobs of lower index.
func (g *Graph) Path(run RunTime, t *Times) []int {
	at := -1
	for i := range g.Len() {
		if t.Early[i]+run(i) == t.Span {
			at = i
			break
		}
	}
	var path []int
	for at >= 0 {
		path = append(path, at)
		before := -1
		for _, e := range g.After(at) {
			from := t.Early[e.Job] + e.Delay
			if e.When != capcli.AfterStart {
				from += run(int(e.Job))
			}
			if from == t.Early[at] && (before < 0 || int(e.Job) < before) {
				before = int(e.Job)
			}
		}
		at = before
	}
	for i, k := 0, len(path)-1; i < k; i, k = i+1, k-1 {
		path[i], path[k] = path[k], path[i]
	}
	return path
}
