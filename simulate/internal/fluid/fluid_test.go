package fluid_test

import (
	"testing"

	"pgregory.net/rapid"

	"capcli/simulate/internal/fluid"
)

// The queue serves what a list of single requests would: arrived = served + backlog, and late ones are
// counted one by one.
func TestQueueEqualsSingleRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := fluid.Queue{LateSteps: rapid.IntRange(0, 4).Draw(t, "late")}
		var waiting []int
		var late int64
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			load, capacity := rapid.IntRange(0, 9).Draw(t, "load"), rapid.IntRange(0, 9).Draw(t, "capacity")
			for range load {
				waiting = append(waiting, step)
			}
			n := min(capacity, len(waiting))
			for _, came := range waiting[:n] {
				if step-came > q.LateSteps {
					late++
				}
			}
			waiting = waiting[n:]
			if served := q.Step(step, int64(load), int64(capacity)); served != int64(n) {
				t.Fatalf("step %d served %d, want %d", step, served, n)
			}
			if q.Backlog != int64(len(waiting)) || q.Late != late || q.Arrived != q.Served+q.Backlog {
				t.Fatalf("step %d: %+v, want a backlog of %d and %d late", step, q, len(waiting), late)
			}
		}
	})
}
