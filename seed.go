package capcli

import (
	"hash/fnv"
	"math/rand/v2"
)

// Seed is the source of all random numbers of a run.
type Seed uint64

// Stream returns the random numbers for one use, such as "arrivals" or "failures/base".
// Uses are independent: a further draw of one changes no other, so two plans with one
// seed have the same jobs and the same failures (common random numbers). The generator
// is PCG-DXSM (O'Neill 2014), seeded with the seed and the FNV-1a hash of the name.
func (s Seed) Stream(use string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(use)) // a hash never fails
	return rand.New(rand.NewPCG(uint64(s), h.Sum64()))
}

// Child returns the seed of the i-th replication: splitmix64 (Steele et al. 2014) of
// the seed, so that neighbouring seeds share no replication. Child(0) is s.
func (s Seed) Child(i int) Seed {
	if i == 0 {
		return s
	}
	z := uint64(s) + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return Seed(z ^ (z >> 31))
}
