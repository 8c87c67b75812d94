package simulate

import (
	"slices"
	"strings"
)

// PriorityClass gives jobs a priority in place of that of their log. The first class that matches a
// job applies; a job that none matches keeps the priority of its log. A class matches the jobs of
// its Classes of work, Partitions and Tenants, with the tenants below these; an empty list matches
// all.
type PriorityClass struct {
	Name          string
	Value         int      // larger is more urgent
	NeverPreempts bool     // its jobs go before others that wait, but take no GPUs away
	Preempts      []string // slurm: names of the classes whose jobs it may preempt
	Caps          Caps     // of all its jobs together (Slurm's GrpTRES, GrpJobs)
	EachTenant    Caps     // of its jobs of one tenant (MaxTRESPU, MaxJobsPU)
	Classes       []string
	Partitions    []string
	Tenants       []string
}

func (c *PriorityClass) matches(l *Live) bool {
	if len(c.Classes) > 0 && !slices.Contains(c.Classes, l.Class) || len(c.Partitions) > 0 && !slices.Contains(c.Partitions, l.Partition) {
		return false
	}
	return len(c.Tenants) == 0 || slices.ContainsFunc(c.Tenants, func(t string) bool {
		return l.Tenant == t || strings.HasPrefix(l.Tenant, t+"/")
	})
}

// prioritise sets the priority of the new job l.
func (e *engine) prioritise(l *Live) {
	for i := range e.cfg.Priorities {
		if c := &e.cfg.Priorities[i]; c.matches(l) {
			l.Priority, l.priority = c.Value, c
			return
		}
	}
}

// NeverPreempts reports whether l may not take GPUs away from other jobs: see PriorityClass.
func (l *Live) NeverPreempts() bool { return l.priority != nil && l.priority.NeverPreempts }

// PriorityClass returns the class of l and the largest value of the classes: nil and 0 if it has none.
func (l *Live) PriorityClass() (class *PriorityClass, top int) {
	if l.priority == nil {
		return nil, 0
	}
	return l.priority, l.queue.topClass
}
