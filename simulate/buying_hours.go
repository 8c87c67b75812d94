package simulate

import "capcli"

// UnusedByHour returns what was billed of a pool of bought nodes and not held, in each clock hour from
// Hourly.First. What is billed beyond the end of the run is in its last hour. The run must have kept its
// hours.
func (r *Record) UnusedByHour(p int) []capcli.GPUTime {
	h, milli := r.Hourly, 1000*int64(r.Pools[p].GPUsPerNode)
	var out []capcli.GPUTime
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Pool != p || n.From < 0 {
			continue
		}
		for at, end := int64(n.From+h.shift), int64(n.To+h.shift); at < end; {
			k := at / anHour
			to := min(end, (k+1)*anHour)
			*hourAt(&out, k) += capcli.GPUTime(milli * (to - at))
			at = to
		}
		if n.Beyond > 0 {
			*hourAt(&out, int64(max(n.From, n.To-1)+h.shift)/anHour) += capcli.GPUTime(milli * int64(n.Beyond))
		}
	}
	if p < len(h.Use) {
		for t := range h.Use[p] {
			for k, used := range h.Use[p][t].Used {
				*hourAt(&out, int64(k)) -= used
			}
		}
	}
	return out
}

// hourAt returns element k of a list, which grows to have it.
func hourAt(list *[]capcli.GPUTime, k int64) *capcli.GPUTime {
	for int64(len(*list)) <= k {
		*list = append(*list, 0)
	}
	return &(*list)[k]
}

// EmptyByHour returns the time that nodes of a pool of bought nodes were there and not held, in each clock
// hour from Hourly.First: what they draw power for. Time on the way, and time billed after a node is gone,
// does not count.
func (r *Record) EmptyByHour(p int) []capcli.GPUTime {
	there := *r
	there.Nodes = nil
	for _, n := range r.Nodes {
		if n.Pool == p && n.Came >= 0 {
			there.Nodes = append(there.Nodes, BoughtNode{Pool: p, From: n.Came, To: n.Ended})
		}
	}
	return there.UnusedByHour(p)
}

// checkBought fails unless what was billed of pool p and not held sums to that of the months, and is
// nowhere below 0.
func (h *Hourly) checkBought(r *Record, p int) error {
	if r.Pools[p].Buy == nil {
		return nil
	}
	var months, hours capcli.GPUTime
	for m := range r.Months {
		months += r.Months[m].Pools[p].Offered - r.Months[m].Pools[p].Used
	}
	for _, unused := range r.UnusedByHour(p) {
		if hours += unused; unused < 0 {
			return &AccountError{"pool " + r.Pools[p].Name + ": more is held in an hour than its nodes have"}
		}
	}
	if hours != months {
		return &AccountError{"pool " + r.Pools[p].Name + ": its nodes were free for other time by hour than by month"}
	}
	return nil
}
