package scenarios

import (
	"math/rand/v2"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/supply"
)

var failuresSection = strict.Section[Failures]{Name: "failures", Needs: []string{"mtbf", "repair"}, Fields: func(f *Failures) []strict.Field {
	return []strict.Field{
		{"mtbf", "mean time between failures of one node", strict.Duration(&f.MTBF, 1)},
		{"repair", "mean time to repair", strict.Duration(&f.Repair, 1)},
		{"rack", "failures of racks, which take all their nodes: {nodes: 8, mtbf: 1y, repair: 8h}", rackSection.Pointer(&f.Rack)},
		{"gpu", "failures of single GPUs: {mtbf: 400d, repair: 1d, takes: gpu}", gpuSection.Pointer(&f.GPU)},
		{"crews", "nodes, racks and GPUs repaired at once; default: all", strict.Integer(&f.Crews, 1, maxGPUs)},
	}
}}

var rackSection = strict.Section[RackFailures]{Name: "failures.rack", Needs: []string{"mtbf", "repair"}, Fields: func(r *RackFailures) []strict.Field {
	return []strict.Field{
		{"nodes", "nodes of a rack; default: those of the domains", strict.Integer(&r.Nodes, 1, maxGPUs)},
		{"level", "level of domains that fails so; default: rack", strict.Name(&r.Level)},
		{"mtbf", "mean time between failures of one rack", strict.Duration(&r.MTBF, 1)},
		{"repair", "mean time to repair it", strict.Duration(&r.Repair, 1)},
	}
}}

var gpuSection = strict.Section[GPUFailures]{Name: "failures.gpu", Start: GPUFailures{Takes: "node"}, Needs: []string{"mtbf", "repair"}, Fields: func(g *GPUFailures) []strict.Field {
	return []strict.Field{
		{"mtbf", "mean time between failures of one GPU", strict.Duration(&g.MTBF, 1)},
		{"repair", "mean time to repair it", strict.Duration(&g.Repair, 1)},
		{"takes", "what a failed GPU takes away: gpu, itself with the job that holds it, or node; default: node", strict.Choice(&g.Takes, "takes", "gpu", "node")},
	}
}}

func (f *Failures) supply(p *simulate.Pool, rng *rand.Rand) simulate.Supply {
	if f.Rack == nil && f.GPU == nil && f.Crews == 0 {
		return supply.NewHazard(p.Nodes, f.MTBF, f.Repair, 0, rng)
	}
	all := supply.Failures{Nodes: p.Nodes, GPUsPerNode: p.GPUsPerNode, Node: supply.Part{MTBF: f.MTBF, Repair: f.Repair}, Crews: f.Crews}
	if r := f.Rack; r != nil {
		all.Rack, all.RackNodes = supply.Part{MTBF: r.MTBF, Repair: r.Repair}, r.Nodes
		for i := range p.Domains {
			if d := &p.Domains[i]; d.Level == r.Level {
				all.RackStarts = d.Starts
			}
		}
	}
	if g := f.GPU; g != nil {
		all.GPU, all.GPUTakesNode = supply.Part{MTBF: g.MTBF, Repair: g.Repair}, g.Takes == "node"
	}
	return supply.NewFailures(all, rng)
}

// meanUp returns the mean time until a node of so many GPUs is lost by itself or by a GPU.
func (f *Failures) meanUp(gpus int) capcli.Seconds {
	rate := 1 / float64(f.MTBF)
	if f.GPU != nil {
		rate += float64(gpus) / float64(f.GPU.MTBF)
	}
	return max(1, capcli.Seconds(1/rate))
}
