package scale

// Summary is the figures of a run. Its fields are those of the published step tables.
type Summary struct {
	Requests     int64   `json:"requests"`
	ReplicaSteps int64   `json:"replica_steps"` // ready and loading
	ReplicaHours float64 `json:"replica_hours"`
	Late         int64   `json:"late"` // served late, or not by the end
	LateShare    float64 `json:"late_share"`
	Served       int64   `json:"served"`
	BacklogEnd   int64   `json:"backlog_end"`
	MaxBacklog   int64   `json:"max_backlog"`
	MaxDesired   int     `json:"max_desired"`
	Changes      int     `json:"changes"` // steps whose desired number differs from the step before
	Perfect      Perfect `json:"perfect"`

	BoundNoneLate  *int64 `json:"bound_none_late"`            // see BoundNoneLate; nil where no plan can
	BoundLateSteps *int64 `json:"bound_late_steps,omitempty"` // see BoundLate; only of small cases
}

// Perfect is a system that scales at once: ceil(load/per replica) in each step. It is no bound where
// requests may wait.
type Perfect struct {
	Peak         int64   `json:"peak"`
	Mean         float64 `json:"mean"`
	ReplicaSteps int64   `json:"replica_steps"`
}

// summary returns the figures of the run.
func (p *player) summary() Summary {
	s := Summary{
		Requests: p.queue.Arrived, ReplicaSteps: p.paid, ReplicaHours: float64(p.paid) * float64(p.Length) / 3600,
		Late: p.queue.LateByEnd(), Served: p.queue.Served, BacklogEnd: p.queue.Backlog, Perfect: p.perfect(),
	}
	if s.Requests > 0 {
		s.LateShare = float64(s.Late) / float64(s.Requests)
	}
	for i, r := range p.run.Rows {
		s.MaxBacklog = max(s.MaxBacklog, r.Backlog)
		s.MaxDesired = max(s.MaxDesired, r.Desired)
		if i > 0 && r.Desired != p.run.Rows[i-1].Desired {
			s.Changes++
		}
	}
	s.BoundNoneLate = p.BoundNoneLate()
	if len(p.Load)*p.max() <= smallCase {
		if n, err := p.BoundLate(); err == nil {
			s.BoundLateSteps = n
		}
	}
	return s
}

// perfect returns what a system that scales at once would need.
func (c *Case) perfect() Perfect {
	var out Perfect
	for _, n := range c.Load {
		need := c.need(n)
		out.Peak = max(out.Peak, need)
		out.ReplicaSteps += need
	}
	out.Mean = float64(out.ReplicaSteps) / float64(len(c.Load))
	return out
}

// need returns the replicas that serve n requests in a step.
func (c *Case) need(n int64) int64 { return n/c.PerUnit + min(1, n%c.PerUnit) }
