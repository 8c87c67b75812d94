package policy

import "capcli/simulate"

func init() {
	Catalog.Add("drf", "dominant resource fairness over GPUs, CPUs and memory among tenants", func(s simulate.Settings) simulate.Policy {
		p := &drf{}
		p.tenants = tenants{skip: s.Skip, has: p.dominant}
		return p
	})
}

// drf starts the next job of the tenant with the least dominant share divided by weight. The
// dominant share is the largest of a tenant's shares of GPUs, CPUs and memory (Ghodsi et al.,
// "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011). Shares are
// relative to the committed pools of the queue, or to all its pools if none is committed.
type drf struct {
	tenants
	total [3]float64 // thousandths of GPUs, thousandths of CPUs, MiB of memory
	pools int        // number of the queue's pools when total was summed
}

func (p *drf) Schedule(t *simulate.Turn) {
	if p.pools != len(t.AllPools()) {
		p.count(t)
	}
	p.serve(t)
}

// count sums the queue's capacity.
func (p *drf) count(t *simulate.Turn) {
	p.total, p.pools = [3]float64{}, len(t.AllPools())
	for _, only := range []bool{true, false} {
		for _, i := range t.AllPools() {
			pool := t.Cluster().Pool(i)
			if pool.Terms.Committed() != only {
				continue
			}
			p.total[0] += 1000 * float64(pool.Capacity())
			p.total[1] += float64(pool.CPUMilli) * float64(pool.Nodes)
			p.total[2] += float64(pool.MemMiB) * float64(pool.Nodes)
		}
		if p.total[0] > 0 {
			return
		}
	}
}

func (p *drf) dominant(t *simulate.Tenant) float64 {
	var most float64
	gpus, cpus, mem := t.Holdings()
	for i, held := range [3]int64{gpus, cpus, mem} {
		if p.total[i] > 0 {
			most = max(most, float64(held)/p.total[i])
		}
	}
	return most / t.Weight
}

var _ simulate.Keyed = (*drf)(nil)
