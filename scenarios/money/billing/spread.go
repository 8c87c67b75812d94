package billing

import "capcli"

// Spread divides the cost of pool p in month m of the record by tier among parts of the month, in
// proportion to their weights: the GPU time that is paid for in each. The parts add up to the cost
// of the cell, to the millionth of a dollar.
func (inv *Invoice) Spread(m, p int, tier Tier, weights []int64) [][3]capcli.USD {
	out := make([][3]capcli.USD, len(weights))
	line := inv.ByMonth[m].ByPool[p]
	var part Line // what commitments beside the pool's terms paid for
	if s := inv.settledAt(m, p); s != nil {
		part = s.lay(&line)
	}
	for i, cost := range capcli.Split(line.Cost-part.Cost, weights) {
		out[i][tier] += cost
	}
	for i, cost := range capcli.Split(part.Cost, weights) {
		out[i][Committed] += cost
	}
	return out
}
