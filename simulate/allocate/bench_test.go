package allocate

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// monthProblem is about what one round of a month of a large cluster asks: groups of equal jobs on three
// types, more wanted than there is.
func monthProblem(groups int) *Problem {
	r := rand.New(rand.NewPCG(1, 2))
	p := &Problem{Workers: []int{256, 256, 512}}
	for range groups {
		fast := 1 + 9*r.Float64()
		p.Jobs = append(p.Jobs, Job{
			Throughput: []float64{fast, fast * (0.3 + 0.6*r.Float64()), fast * (0.05 + 0.3*r.Float64())},
			GPUs:       1 << r.IntN(4), Count: 1 + r.IntN(12), Steps: 100 + 1e5*r.Float64(), Elapsed: 1e4 * r.Float64(),
		})
	}
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, groups := range []int{100, 1000} {
		p := monthProblem(groups)
		for _, e := range Objectives.All() {
			b.Run(fmt.Sprint(e.Name, "/", groups), func(b *testing.B) {
				for range b.N {
					e.Value(p)
				}
			})
		}
	}
}
