package supply_test

// Repair is a set of nodes that fail independently and that a limited number of crews repairs.
type Repair struct {
	Nodes, Needed    int
	MeanUp, MeanDown float64 // of one node, seconds; MeanDown is the time that one crew works on it
	Crews            int     // nodes repaired at once; 0 is all
}

// RepairUp is how often, and for how long, enough nodes are up.
type RepairUp struct {
	ToShortage float64 `json:"mean_to_first_shortage_s"` // from all up until fewer than needed are up
	Enough     float64 `json:"p_enough"`                 // in the long run
	MeanUp     float64 `json:"mean_up_nodes"`            // in the long run
}

// Availability returns how often enough nodes are up. The number k of failed nodes is a birth and
// death chain (the machine repairman of Palm, 1947; Kleinrock, Queueing Systems 1, 3.8): it rises at
// (n - k)/up and falls at min(k, crews)/down. The time to the first shortage is the sum over k of
// the mean times from k to k + 1 failures, h(k) = (1 + fall(k) h(k - 1)) / rise(k).
func (r Repair) Availability() RepairUp {
	crews := r.Crews
	if crews <= 0 {
		crews = r.Nodes
	}
	rise := func(k int) float64 { return float64(r.Nodes-k) / r.MeanUp }
	fall := func(k int) float64 { return float64(min(k, crews)) / r.MeanDown }
	var out RepairUp
	weight, all, step := 1.0, 0.0, 0.0
	for k := 0; k <= r.Nodes; k++ {
		if k > 0 {
			weight *= rise(k-1) / fall(k)
		}
		all += weight
		out.MeanUp += weight * float64(r.Nodes-k)
		if r.Nodes-k >= r.Needed {
			out.Enough += weight
			if k < r.Nodes {
				step = (1 + fall(k)*step) / rise(k)
				out.ToShortage += step
			}
		}
	}
	out.Enough /= all
	out.MeanUp /= all
	return out
}
