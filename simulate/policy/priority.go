package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("priority", "larger priority first; the head of the line waits, or with skip is passed over", func(s simulate.Settings) simulate.Policy {
		return priority{s.Skip}
	})
	Catalog.Add("priority-preempt", "larger priority first, taking GPUs away from jobs of less", func(simulate.Settings) simulate.Policy {
		return &priorityPreempt{}
	})
}

// priority starts jobs in order of priority, by arrival among equals: static
// priorities without preemption (Cobham, "Priority assignment in waiting line
// problems", 1954).
type priority struct{ skip bool }

func (p priority) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

func (priority) Key(l *simulate.Live, _ capcli.Seconds) int64 { return -int64(l.Priority) }

// priorityPreempt is the same with preemption; jobs of equal priority never
// take each other's place.
type priorityPreempt struct{ contest }

// Preempts declares that jobs lose their GPUs to others.
func (*priorityPreempt) Preempts() {}

func (p *priorityPreempt) Schedule(t *simulate.Turn) { p.rank(t, p) }

func (*priorityPreempt) Key(l *simulate.Live, _ capcli.Seconds) int64 { return -int64(l.Priority) }
