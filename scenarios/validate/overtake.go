package validate

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// jobTree is a k-d tree of jobs by queue time, size, limit and start (Bentley, "Multidimensional
// Binary Search Trees Used for Associative Searching", CACM 18:9, 1975). It counts the jobs in an
// orthant without looking at each.
type jobTree struct {
	jobs  []Job
	order []int32 // the jobs; each node holds a range of it
	nodes []treeNode
}

// treeNode is a range of jobs and the box around them.
type treeNode struct {
	from, to    int32
	least, most [4]int64 // queued, units, limit, start
}

const treeLeaf = 16

func (j *Job) coordinates() [4]int64 {
	return [4]int64{int64(j.Queued), j.Units, int64(j.Limit), int64(j.Start)}
}

func newJobTree(jobs []Job) *jobTree {
	t := &jobTree{jobs: jobs, order: make([]int32, len(jobs))}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	size := 1
	for n := len(jobs); n > treeLeaf; n = (n + 1) / 2 {
		size *= 2
	}
	t.nodes = make([]treeNode, 2*size)
	t.build(1, 0, int32(len(jobs)), 0)
	return t
}

// build makes the node at and those below it of a range of jobs, split by the coordinate axis.
func (t *jobTree) build(at int, from, to int32, axis int) {
	n := &t.nodes[at]
	n.from, n.to = from, to
	for k := range n.least {
		n.least[k], n.most[k] = math.MaxInt64, math.MinInt64
	}
	for _, i := range t.order[from:to] {
		for k, v := range t.jobs[i].coordinates() {
			n.least[k], n.most[k] = min(n.least[k], v), max(n.most[k], v)
		}
	}
	if 2*at+1 >= len(t.nodes) {
		return
	}
	slices.SortFunc(t.order[from:to], func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.jobs[a].coordinates()[axis], t.jobs[b].coordinates()[axis]), cmp.Compare(a, b))
	})
	mid := (from + to) / 2
	t.build(2*at, from, mid, (axis+1)%4)
	t.build(2*at+1, mid, to, (axis+1)%4)
}

// overtook counts the jobs below node at that overtook j, and returns the latest of their starts.
func (t *jobTree) overtook(at int, j *Job) (by int, last int64) {
	n := &t.nodes[at]
	want := j.coordinates()
	if n.from == n.to || n.most[0] <= want[0] || n.most[1] < want[1] || n.most[2] < want[2] || n.least[3] >= want[3] {
		return 0, math.MinInt64
	}
	if n.least[0] > want[0] && n.least[1] >= want[1] && n.least[2] >= want[2] && n.most[3] < want[3] {
		return int(n.to - n.from), n.most[3]
	}
	if 2*at+1 < len(t.nodes) {
		a, lastA := t.overtook(2*at, j)
		b, lastB := t.overtook(2*at+1, j)
		return a + b, max(lastA, lastB)
	}
	last = math.MinInt64
	for _, i := range t.order[n.from:n.to] {
		v := t.jobs[i].coordinates()
		if v[0] > want[0] && v[1] >= want[1] && v[2] >= want[2] && v[3] < want[3] {
			by++
			last = max(last, v[3])
		}
	}
	return by, last
}

// Overtaking is a job that others overtook: queued later, no smaller and with no
// shorter limit, they started before it. In a queue of the order of submission
// this cannot happen, with backfill or without, so the job was held back by
// something else: a dependency, a limit of its tenant, another priority.
type Overtaking struct {
	Job   int         // of Log.Jobs
	By    int         // jobs that overtook it
	Until capcli.Time // the last of their starts: it was not eligible before
}

// leastOvertaken is the wait below which a job does not count as overtaken.
const leastOvertaken = hour

// Overtaken returns the jobs that waited an hour or more and were overtaken, in
// the order of the queue.
func (l *Log) Overtaken() []Overtaking {
	tree := newJobTree(l.Jobs)
	var found []Overtaking
	for i := range l.Jobs {
		if i < l.Seeded || l.Jobs[i].Wait() < leastOvertaken {
			continue
		}
		if by, last := tree.overtook(1, &l.Jobs[i]); by > 0 {
			found = append(found, Overtaking{Job: i, By: by, Until: capcli.Time(last)})
		}
	}
	return found
}
