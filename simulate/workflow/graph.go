// Package workflow reads the dependencies between jobs as a graph: what waits for what, the critical path
// and the slack of each job, bounds on the time that a workflow needs, and what an hour earlier costs.
package workflow

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Edge is one dependency, seen from one of its ends.
type Edge struct {
	Job   int32 // the job at the other end, as an index in the list
	When  capcli.AfterWhen
	Delay capcli.Seconds
}

// Graph is the dependencies between the jobs of a list. Nothing changes it once it is made, so that runs
// can share it.
type Graph struct {
	// Missing is the number of dependencies on jobs that are not in the list. They count as satisfied.
	Missing int64
	// FirstMissing is the first of them: the id of the job that is not there. By is the job that names it.
	FirstMissing, By string

	out, in []int32 // out[i] to out[i+1] are the edges of job i in next; in is the same for after
	next    []Edge
	after   []Edge
	order   []int32 // the jobs so that each comes after those that it waits for
	some    []bool  // whether a job waits for one
}

// maxEdges is the most dependencies of a graph.
const maxEdges = 1 << 27

// NewGraph returns the graph of the jobs. A dependency names a job by its id; where several jobs have the id it
// is on the first of them, and where none has it, on all tasks ID_1, ID_2 … of the job array ID. It fails
// with *capcli.InputError where jobs wait for each other in a circle.
func NewGraph(jobs []capcli.Job) (*Graph, error) {
	g := &Graph{out: make([]int32, len(jobs)+1), in: make([]int32, len(jobs)+1), some: make([]bool, len(jobs))}
	ids := newNames(jobs)
	for i := range jobs {
		g.in[i] = int32(len(g.after))
		s := jobs[i].Stage
		if s == nil {
			continue
		}
		gone := g.Missing
		for _, a := range s.After {
			found := ids.find(a.ID)
			if len(found) == 0 {
				if g.Missing++; g.Missing == 1 {
					g.FirstMissing, g.By = a.ID, jobs[i].ID
				}
				continue
			}
			g.some[i] = true
			for _, j := range found {
				g.after = append(g.after, Edge{j, a.When, a.Delay})
				g.out[j+1]++
			}
		}
		if s.One && g.Missing > gone { // one is enough, and one counts as satisfied
			g.drop(i)
		}
		if len(g.after) > maxEdges {
			return nil, &capcli.InputError{Field: "after", Text: "the jobs have more than 134 million dependencies", Hint: "let jobs wait for one job that waits for the others"}
		}
	}
	g.in[len(jobs)] = int32(len(g.after))
	g.turn(len(jobs))
	return g, g.sort(jobs)
}

// drop takes the edges of job i, the last so far, out again.
func (g *Graph) drop(i int) {
	for _, e := range g.after[g.in[i]:] {
		g.out[e.Job+1]--
	}
	g.after, g.some[i] = g.after[:g.in[i]], false
}

// turn makes the edges in the other direction.
func (g *Graph) turn(n int) {
	for i := range n {
		g.out[i+1] += g.out[i]
	}
	g.next = make([]Edge, len(g.after))
	fill := slices.Clone(g.out[:n])
	for i := range n {
		for _, e := range g.After(i) {
			g.next[fill[e.Job]] = Edge{int32(i), e.When, e.Delay}
			fill[e.Job]++
		}
	}
}

// sort finds the order of the jobs (Kahn, "Topological sorting of large networks", CACM 1962), the lowest
// index first among those that are free.
func (g *Graph) sort(jobs []capcli.Job) error {
	n := len(jobs)
	open := make([]int32, n)
	g.order = make([]int32, 0, n)
	for i := range n {
		if open[i] = g.in[i+1] - g.in[i]; open[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for k := 0; k < len(g.order); k++ {
		for _, e := range g.Next(int(g.order[k])) {
			if open[e.Job]--; open[e.Job] == 0 {
				g.order = append(g.order, e.Job)
			}
		}
	}
	if len(g.order) == n {
		return nil
	}
	return g.circle(jobs, open)
}

// mostNamed is the most jobs of a circle that an error names.
const mostNamed = 100

// circle returns the error of the first circle. open is what each job still waits for.
func (g *Graph) circle(jobs []capcli.Job, open []int32) error {
	at := int32(slices.IndexFunc(open, func(n int32) bool { return n > 0 }))
	seen := map[int32]int{}
	var path []int32
	for {
		if from, again := seen[at]; again {
			path = path[from:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		at = g.after[slices.IndexFunc(g.after[g.in[at]:g.in[at+1]], func(e Edge) bool { return open[e.Job] > 0 })+int(g.in[at])].Job
	}
	least := slices.Index(path, slices.Min(path))
	path = append(path[least:], path[:least]...)
	names := make([]string, 0, len(path)+1)
	for _, i := range path[:min(len(path), mostNamed)] {
		names = append(names, capcli.Quoted(jobs[i].ID))
	}
	if len(path) > mostNamed {
		names = append(names, fmt.Sprintf("%d more", len(path)-mostNamed))
	}
	text := "expected jobs that can start one after another, found a circle: " + strings.Join(append(names, names[0]), " waits for ")
	if len(path) == 1 {
		text = "expected jobs that can start one after another, found one that waits for itself: " + names[0]
	}
	return &capcli.InputError{Field: "after", Text: text, Hint: "take one of these dependencies out", Err: &CircleError{jobs[path[0]].ID}}
}

// CircleError is the cause of the error of jobs that wait for each other.
type CircleError struct {
	ID string // the first job of the circle, in the order of the list
}

func (e *CircleError) Error() string { return "job " + e.ID + " waits for itself" }

// Len returns the number of jobs.
func (g *Graph) Len() int { return len(g.some) }

// Edges returns the number of dependencies.
func (g *Graph) Edges() int { return len(g.after) }

// After returns what job i waits for.
func (g *Graph) After(i int) []Edge { return g.after[g.in[i]:g.in[i+1]] }

// Next returns the jobs that wait for job i.
func (g *Graph) Next(i int) []Edge { return g.next[g.out[i]:g.out[i+1]] }

// Waits reports whether job i waits for another.
func (g *Graph) Waits(i int) bool { return g.some[i] }

// names finds jobs by id.
type names struct {
	jobs   []capcli.Job
	byID   map[string]int32
	arrays map[string][]int32 // tasks of job arrays; nil until one is asked for
	one    [1]int32
}

// newNames notes the ids that some dependency names.
func newNames(jobs []capcli.Job) *names {
	n := &names{jobs: jobs, byID: map[string]int32{}}
	for i := range jobs {
		if s := jobs[i].Stage; s != nil {
			for _, a := range s.After {
				n.byID[a.ID] = -1
			}
		}
	}
	if len(n.byID) == 0 {
		return n
	}
	for i := range jobs {
		if at, named := n.byID[jobs[i].ID]; named && at < 0 {
			n.byID[jobs[i].ID] = int32(i)
		}
	}
	return n
}

// find returns the jobs of an id. The list is valid until the next call.
func (n *names) find(id string) []int32 {
	if n.one[0] = n.byID[id]; n.one[0] >= 0 {
		return n.one[:]
	}
	if n.arrays == nil {
		n.arrays = map[string][]int32{}
		for i := range n.jobs {
			array, task, is := strings.Cut(n.jobs[i].ID, "_")
			if _, named := n.byID[array]; is && named && task != "" && strings.Trim(task, "0123456789") == "" {
				n.arrays[array] = append(n.arrays[array], int32(i))
			}
		}
	}
	return n.arrays[id]
}
