package supply_test

import "math"

// Racks are nodes in racks. A rack fails as a whole, and a node serves if both it and its rack are
// up.
type Racks struct {
	Racks, NodesPerRack      int
	NodeMeanUp, NodeMeanDown float64
	RackMeanUp, RackMeanDown float64
	Needed                   int // nodes that must serve at once
	GangNodes, GangRacks     int // a gang that fills whole racks
}

// RacksUp is how often enough nodes serve.
type RacksUp struct {
	Enough        float64 `json:"p_enough"`
	GangUp        float64 `json:"p_gang_placed_up"`
	GangMTBF      float64 `json:"gang_mtbf_s"`
	IfIndependent float64 `json:"p_if_independent"` // Enough if nodes had the same availability without the common cause
	MeanUp        float64 `json:"mean_up_nodes"`
}

// Availability returns how often enough nodes serve. The number that serve is the sum over racks of
// zero, with the probability that the rack is down, or else of a binomial number.
func (r Racks) Availability() RacksUp {
	a := r.NodeMeanUp / (r.NodeMeanUp + r.NodeMeanDown)
	ra := r.RackMeanUp / (r.RackMeanUp + r.RackMeanDown)
	total := r.Racks * r.NodesPerRack
	one := make([]float64, r.NodesPerRack+1)
	for k := range one {
		one[k] = ra * binomial(r.NodesPerRack, k, a)
	}
	one[0] += 1 - ra
	sum := []float64{1}
	for range r.Racks {
		next := make([]float64, len(sum)+r.NodesPerRack)
		for i, p := range sum {
			for k, q := range one {
				next[i+k] += p * q
			}
		}
		sum = next
	}
	enough := 0.0
	for k := total; k >= r.Needed && k >= 0; k-- {
		enough += sum[k]
	}
	return RacksUp{
		Enough:        min(enough, 1),
		GangUp:        math.Pow(a, float64(r.GangNodes)) * math.Pow(ra, float64(r.GangRacks)),
		GangMTBF:      1 / (float64(r.GangNodes)/r.NodeMeanUp + float64(r.GangRacks)/r.RackMeanUp),
		IfIndependent: atLeast(total, r.Needed, a*ra),
		MeanUp:        float64(total) * a * ra,
	}
}
