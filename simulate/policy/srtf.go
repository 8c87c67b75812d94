package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("srtf", "shortest remaining time first: takes GPUs away from jobs with more left to do", func(s simulate.Settings) simulate.Policy {
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

// Believes declares that it decides by how long jobs are believed to run.
func (*srtf) Believes() {}

func (p *srtf) Schedule(t *simulate.Turn) { p.rank(t, p) }

func (p *srtf) Key(l *simulate.Live, now capcli.Seconds) int64 {
	return service(l, l.LeftBelieved(now)+l.Restarting(now), p.byGPUs)
}
