package simulate

// leastNode puts all of l on the node of pools with room for it and the least
// score, the lowest number among equals; a gang that no node has room for is
// split as best fit would.
func leastNode(c *Cluster, l *Live, pools []int, score func(n int) float64, dst []Slice) []Slice {
	at, least := -1, 0.0
	for _, p := range pools {
		if l.GPUs > c.pools[p].GPUsPerNode {
			continue
		}
		for n := c.candidate(l, p, -1); n >= 0; n = c.candidate(l, p, n) {
			if !c.Fits(l, n) {
				continue
			}
			if s := score(n); at < 0 || s < least {
				at, least = n, s
			}
		}
	}
	if at < 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	return append(dst, c.whole(l, at))
}

// share is v of all, 0 where there is none.
func share(v, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return float64(v) / float64(all)
}
