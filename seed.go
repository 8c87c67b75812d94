package capcli

import (
	"hash/fnv"
	"math/rand/v2"
)

// Seed is where all chance in a run comes from.
type Seed uint64

// Stream is the chance for one use, named "arrivals" or "failures/base". Uses
// do not disturb each other: adding a draw to one never moves another, so two
// plans under one seed meet the same jobs and the same failures (common random
// numbers). The generator is PCG-DXSM (O'Neill 2014) seeded with the seed and
// the FNV-1a hash of the name.
func (s Seed) Stream(use string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(use)) // a hash never fails
	return rand.New(rand.NewPCG(uint64(s), h.Sum64()))
}

// Child is the seed of the i-th replication: splitmix64 (Steele et al. 2014)
// of the seed, so that neighbouring seeds share no replication. Child(0) is s.
func (s Seed) Child(i int) Seed {
	if i == 0 {
		return s
	}
	z := uint64(s) + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return Seed(z ^ (z >> 31))
}
