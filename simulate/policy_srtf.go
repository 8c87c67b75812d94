package simulate

import "capcli"

func init() {
	Policies.Add("srtf", "shortest remaining time first: takes GPUs away from jobs with more left to do", func(s Settings) Policy {
		return &srtf{byGPUs: s.ByGPUs, contest: contest{yield: true}}
	})
}

// srtf keeps running the jobs with the least left to do and preempts others
// for them (Schrage, "A proof of the optimality of the shortest remaining
// processing time discipline", 1968). By GPUs it weighs what is left by them:
// shortest remaining service first (Gu et al., Tiresias, NSDI 2019). Time that
// a restart will take counts as left to do. A running job loses a tie, as in
// the simulator of Helios, whose schedules it gives to the second.
type srtf struct {
	byGPUs bool
	contest
}

// Preempts declares that jobs lose their GPUs to others.
func (*srtf) Preempts() {}

func (p *srtf) Schedule(t *Turn) { p.rank(t, p) }

func (p *srtf) Key(l *Live, now capcli.Seconds) int64 {
	return service(l, l.LeftBelieved(now)+l.restarting(now), p.byGPUs)
}

// restarting is what is left of the restart that the present stay began with,
// or that the next will begin with.
func (l *Live) restarting(now capcli.Seconds) capcli.Seconds {
	if l.state != running || now < l.Since {
		return l.overhead
	}
	return max(0, l.overhead-(now-l.Since))
}
