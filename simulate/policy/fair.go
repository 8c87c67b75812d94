package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	OwnSettings.Add("half_life", "fair: decay of past use", 1)
	Catalog.Add("fair", "weighted fair share of GPUs among tenants; past use decays by half in a week", func(s simulate.Settings) simulate.Policy {
		half := s.Own["half_life"]
		if half <= 0 {
			half = 7 * capcli.Day
		}
		p := &fair{sharers: newSharers(half)}
		p.tenants = tenants{skip: s.Skip, has: p.ratio}
		return p
	})
}

// fair starts the next job of the tenant with the least use per share. Use is what the tenant holds
// plus its decayed past use (Kay and Lauder, "A Fair Share Scheduler", CACM 1988). Tenants whose
// names are paths share as a tree. Without past use this is max-min fairness (Keshav, "An
// Engineering Approach to Computer Networking", 1997, chapter 9). The jobs of one tenant start in
// order of arrival.
type fair struct {
	tenants
	*sharers
	now capcli.Seconds
}

// Observe tracks what tenants hold in all queues.
func (p *fair) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		p.hold(e.Job.Tenant, e.Job.Milli(), e.At)
	case simulate.Finish, simulate.Preempt:
		p.hold(e.Job.Tenant, -e.Job.Milli(), e.At)
	default:
	}
}

func (p *fair) Schedule(t *simulate.Turn) {
	for l := range t.Fresh() {
		p.place(l.Tenant)
	}
	p.weigh(t.Tenant)
	p.now = t.Now()
	p.serve(t)
}

func (p *fair) ratio(t *simulate.Tenant) float64 {
	use, share := p.effective(p.place(t.Name), p.now)
	return use / share
}
