// Package fluid is a queue in which whole requests flow in steps, first come, first served.
package fluid

// Queue holds the requests that wait, by the step in which they came. The zero value is empty.
type Queue struct {
	LateSteps int   // requests served more than so many steps after theirs are late
	Backlog   int64 // requests that wait
	Arrived   int64
	Served    int64
	Late      int64 // of Served

	waiting []batch
	head    int
}

// batch is the requests of one step that still wait.
type batch struct {
	step int
	n    int64
}

// Step lets load requests arrive in a step and serves at most capacity, oldest first. It returns how many
// it served. Steps come in order.
func (q *Queue) Step(step int, load, capacity int64) int64 {
	if load > 0 {
		q.waiting = append(q.waiting, batch{step, load})
	}
	q.Arrived += load
	served := min(q.Backlog+load, max(0, capacity))
	q.Backlog += load - served
	q.Served += served
	for left := served; left > 0; {
		b := &q.waiting[q.head]
		n := min(left, b.n)
		if step-b.step > q.LateSteps {
			q.Late += n
		}
		left -= n
		if b.n -= n; b.n == 0 {
			q.head++
		}
	}
	if q.head > len(q.waiting)/2 {
		q.waiting = q.waiting[:copy(q.waiting, q.waiting[q.head:])]
		q.head = 0
	}
	return served
}

// LateByEnd returns the requests that were served late or still wait.
func (q *Queue) LateByEnd() int64 { return q.Late + q.Backlog }
