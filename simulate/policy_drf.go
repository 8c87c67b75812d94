package simulate

func init() {
	Policies.Add("drf", "dominant resource fairness over GPUs, CPUs and memory among tenants", func(s Settings) Policy {
		p := &drf{}
		p.tenants = tenants{skip: s.Skip, has: p.dominant}
		return p
	})
}

// drf starts the next job of the tenant with the least dominant share: the
// largest, over GPUs, CPUs and memory, of what it holds by what there is,
// against its weight (Ghodsi et al., "Dominant Resource Fairness: Fair
// Allocation of Multiple Resource Types", NSDI 2011). What there is are the
// committed pools that the queue's jobs may use, or all its pools where none is.
type drf struct {
	tenants
	total [3]float64 // thousandths of GPUs and CPUs, MiB
	pools int        // of the queue when total was added up
}

func (p *drf) Schedule(t *Turn) {
	if p.pools != len(t.q.cell.pools) {
		p.count(t)
	}
	p.serve(t)
}

// count adds up the queue's capacity.
func (p *drf) count(t *Turn) {
	p.total, p.pools = [3]float64{}, len(t.q.cell.pools)
	for _, only := range []bool{true, false} {
		for _, i := range t.q.cell.pools {
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

func (p *drf) dominant(t *Tenant) float64 {
	var most float64
	for i, held := range [3]int64{t.milli, t.host[0], t.host[1]} {
		if p.total[i] > 0 {
			most = max(most, float64(held)/p.total[i])
		}
	}
	return most / t.Weight
}

var _ Keyed = (*drf)(nil)
