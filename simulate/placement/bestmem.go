package placement

import "capcli/simulate"

func init() {
	Catalog.Add("best-mem", "a share of a GPU goes to the GPU with the least free memory that suffices; whole GPUs as with best", func() simulate.Placement { return bestMem{} })
}

// bestMem is best fit by GPU memory (Johnson 1973): a share goes to the GPU that has the least memory free
// of those with room for it, the lowest among equals, so that large holes in memory stay. Jobs without a
// share go by best fit.
type bestMem struct{}

func (bestMem) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	node, device, least := -1, -1, int64(0)
	for _, p := range pools {
		if l.GPUMilli == 0 || c.Pool(p).Fluid() {
			continue
		}
		for n := c.Candidate(l, p, -1); n >= 0; n = c.Candidate(l, p, n) {
			if !c.Fits(l, n) {
				continue
			}
			for d := range c.Pool(p).GPUsPerNode {
				if has := c.DeviceMem(n, d); (node < 0 || has < least) && c.DeviceFits(l, n, d) {
					node, device, least = n, d, has
				}
			}
		}
	}
	if node < 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	s := c.WholeSlice(l, node)
	s.Device = int32(device)
	return append(dst, s)
}
