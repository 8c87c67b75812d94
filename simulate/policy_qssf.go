package simulate

import "capcli"

func init() {
	Policies.Add("qssf", "shortest predicted service first (Helios), with predictions from finished jobs only", func(s Settings) Policy {
		return &qssf{skip: s.Skip, given: s.Predicted, past: map[likeness]rolling{}}
	})
}

// qssf starts the job with the least predicted GPU time, duration times GPUs,
// and waits for it when it does not fit (Hu et al., "Characterization and
// Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC
// 2021). Predictions may be given by job id. Its own are a rolling mean of the
// jobs that had finished when the job came, of the nearest likeness: same
// tenant, class of work and GPUs; same tenant and GPUs; same tenant; same GPUs;
// all. Before any has finished it takes the job's limit, or an hour.
type qssf struct {
	skip  bool
	given map[string]capcli.Seconds
	past  map[likeness]rolling
}

// likeness is what jobs have in common; kind says which of its fields count.
type likeness struct {
	kind          uint8
	gpus          int
	tenant, class string
}

// rolling is a mean that forgets: each job weighs at least a tenth.
type rolling struct {
	mean float64
	jobs int
}

func (p *qssf) Schedule(t *Turn) { startInOrder(t, p.skip) }

func (p *qssf) Key(l *Live, _ capcli.Seconds) int64 {
	return service(l, p.predict(l), true)
}

func (p *qssf) predict(l *Live) capcli.Seconds {
	if s, ok := p.given[l.ID]; ok {
		return s
	}
	for _, k := range likenesses(l) {
		if r, ok := p.past[k]; ok {
			s := capcli.Seconds(r.mean + 0.5)
			if l.Limit > 0 {
				s = min(s, l.Limit)
			}
			return max(1, s)
		}
	}
	if l.Limit > 0 {
		return l.Limit
	}
	return capcli.Hour
}

// Observe learns from jobs that finish.
func (p *qssf) Observe(e Event, _ *Cluster) {
	if e.Kind != Finish || p.given != nil {
		return
	}
	for _, k := range likenesses(e.Job) {
		r := p.past[k]
		r.jobs++
		r.mean += (float64(e.Job.Run) - r.mean) / float64(min(r.jobs, 10))
		p.past[k] = r
	}
}

// likenesses of l, the nearest first.
func likenesses(l *Live) [5]likeness {
	return [5]likeness{
		{kind: 4, gpus: l.GPUs, tenant: l.Tenant, class: l.Class},
		{kind: 3, gpus: l.GPUs, tenant: l.Tenant},
		{kind: 2, tenant: l.Tenant},
		{kind: 1, gpus: l.GPUs},
		{},
	}
}
