package policy

import (
	"slices"

	"capcli/simulate"
)

// mostKinds is the number of kinds of pools that are told apart.
const mostKinds = 64

// kinds sorts the pools of a queue by GPU model and partition.
type kinds struct {
	list []poolKind
	of   []int // by pool; -1 is none
}

// poolKind are pools of one model and partition.
type poolKind struct {
	model, partition string
	pools            []int
}

// refresh sorts the pools anew if there are more of them. It reports whether it did.
func (s *kinds) refresh(t *simulate.Turn) bool {
	if len(s.of) == t.Cluster().Pools() && !slices.ContainsFunc(t.AllPools(), func(i int) bool { return s.of[i] < 0 }) {
		return false
	}
	s.list, s.of = s.list[:0], make([]int, t.Cluster().Pools())
	for i := range s.of {
		s.of[i] = -1
	}
	for _, i := range t.AllPools() {
		pool := t.Cluster().Pool(i)
		k := slices.IndexFunc(s.list, func(k poolKind) bool { return k.model == pool.GPUModel && k.partition == pool.Partition })
		if k < 0 && len(s.list) == mostKinds {
			k = mostKinds - 1 // with it, as if it were alike
		}
		if k < 0 {
			k = len(s.list)
			s.list = append(s.list, poolKind{pool.GPUModel, pool.Partition, nil})
		}
		s.list[k].pools = append(s.list[k].pools, i)
		s.of[i] = k
	}
	return true
}
