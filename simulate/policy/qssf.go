package policy

import (
	"cmp"
	"slices"

	"capcli/simulate"

	"capcli"
)

func init() {
	Catalog.Add("qssf", "shortest predicted service first (Helios), with predictions from finished jobs only", func(s simulate.Settings) simulate.Policy {
		return &qssf{skip: s.Skip, given: s.Predicted, past: map[likeness]rolling{}}
	})
}

// qssf starts the job with the least predicted GPU time, duration times GPUs, and waits for it if
// it does not fit (Hu et al., "Characterization and Prediction of Deep Learning Workloads in
// Large-Scale GPU Datacenters", SC 2021). Predictions can be given by job id. Its own predictions
// are based on jobs that finished before the job arrived: rolling means of run times by likeness
// (all; same GPUs; same tenant; same tenant and GPUs; same tenant, GPUs and class of work). Each
// mean is shrunk towards the one before it as if that were a number of jobs (the credibility mean
// of Bühlmann, "Experience rating and credibility", 1967), and the first towards the job's limit,
// or an hour. Run times have such a long tail that the mean of a few says little: without
// shrinkage, a row of short jobs with many GPUs would put the next such job at the head of the
// queue, and all others would wait for it.
type qssf struct {
	skip     bool
	given    map[string]capcli.Seconds
	past     map[likeness]rolling
	together []*simulate.Live // the new jobs, during a turn
}

// likeness is a key of jobs with the same properties. kind says which of the fields count.
type likeness struct {
	kind          uint8
	gpus          int
	tenant, class string
}

// predictorMemory is the number of jobs in a rolling mean. predictorPrior is the number of jobs for
// which the mean of the likeness before counts.
const (
	predictorMemory = 1000
	predictorPrior  = 100
)

// rolling is a mean in which each job weighs at least one in predictorMemory.
type rolling struct {
	mean float64
	jobs int
}

// Believes declares that it uses estimates of run times.
func (*qssf) Believes() {}

// Schedule starts jobs in the queue's order. If all of them arrived together and none waited
// before, they have no priority yet, and jobs with the fewest GPUs go first, as in the authors'
// scheduler.
func (p *qssf) Schedule(t *simulate.Turn) {
	p.together = slices.AppendSeq(p.together[:0], t.Fresh())
	if n := len(p.together); n < 2 || n < t.Waiting() {
		startInOrder(t, p.skip)
		return
	}
	slices.SortFunc(p.together, func(a, b *simulate.Live) int {
		return cmp.Or(cmp.Compare(a.Milli(), b.Milli()), cmp.Compare(a.Index(), b.Index()))
	})
	for _, l := range p.together {
		if !l.OverQuota() && !t.Start(l) && !p.skip {
			return
		}
	}
}

func (p *qssf) Key(l *simulate.Live) int64 { return service(l, p.predict(l), true) }

func (p *qssf) predict(l *simulate.Live) capcli.Seconds {
	if s, ok := p.given[l.ID]; ok {
		return s
	}
	expected := float64(capcli.Hour)
	if l.Limit > 0 {
		expected = float64(l.Limit)
	}
	alike := likenesses(l)
	for _, k := range slices.Backward(alike[:]) {
		r := p.past[k]
		n := float64(min(r.jobs, predictorMemory))
		expected += (r.mean - expected) * n / (n + predictorPrior)
	}
	s := capcli.Seconds(expected + 0.5)
	if l.Limit > 0 {
		s = min(s, l.Limit)
	}
	return max(1, s)
}

// Observe learns from jobs that finish.
func (p *qssf) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Finish || p.given != nil {
		return
	}
	for _, k := range likenesses(e.Job) {
		r := p.past[k]
		r.jobs++
		r.mean += (float64(e.Job.Run) - r.mean) / float64(min(r.jobs, predictorMemory))
		p.past[k] = r
	}
}

// likenesses returns the likenesses of l, the closest first.
func likenesses(l *simulate.Live) [5]likeness {
	return [5]likeness{
		{kind: 4, gpus: l.GPUs, tenant: l.Tenant, class: l.Class},
		{kind: 3, gpus: l.GPUs, tenant: l.Tenant},
		{kind: 2, tenant: l.Tenant},
		{kind: 1, gpus: l.GPUs},
		{},
	}
}
