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

// srtf runs the jobs with the least time left and preempts others for them (Schrage, "A proof of
// the optimality of the shortest remaining processing time discipline", 1968). With byGPUs the time
// is multiplied by the GPUs: shortest remaining service first (Gu et al., Tiresias, NSDI 2019).
// Restart time counts as time left. A running job loses a tie, as in the simulator of Helios, whose
// schedules it reproduces to the second.
type srtf struct {
	byGPUs bool
	contest
}

// Preempts declares that it takes GPUs away from running jobs.
func (*srtf) Preempts() {}

// Believes declares that it uses estimates of run times.
func (*srtf) Believes() {}

func (p *srtf) Schedule(t *simulate.Turn) { p.rank(t, p.remaining) }

func (p *srtf) Key(l *simulate.Live) int64 { return p.remaining(l, l.Since) }

// remaining returns what is left of l at a time, with its restart.
func (p *srtf) remaining(l *simulate.Live, now capcli.Seconds) int64 {
	return service(l, l.LeftBelieved(now)+l.Restarting(now), p.byGPUs)
}
