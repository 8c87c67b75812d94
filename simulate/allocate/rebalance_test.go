package allocate

import (
	"fmt"
	"slices"
	"testing"

	"capcli"

	"pgregory.net/rapid"
)

// drawSteps draws the steps of a job: times are not monotone.
func drawSteps(t *rapid.T) (steps []Step) {
	gpus, left := 0, capcli.Seconds(10_000)
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		gpus += rapid.IntRange(1, 4).Draw(t, "more")
		left = max(1, left-capcli.Seconds(rapid.IntRange(-300, 3000).Draw(t, "saves")))
		steps = append(steps, Step{gpus, left})
	}
	return steps
}

// TestRebalance: it never gives more GPUs than there are, takes all GPUs from no job, and leaves no GPU free
// that would gain something.
func TestRebalance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gpus := rapid.IntRange(1, 40).Draw(rt, "gpus")
		var jobs [][]Step
		var at []int
		held := 0
		for range rapid.IntRange(1, 8).Draw(rt, "jobs") {
			s := drawSteps(rt)
			k := rapid.IntRange(-1, len(s)-1).Draw(rt, "at")
			if k >= 0 && held+s[k].GPUs > gpus {
				k = -1
			}
			if k >= 0 {
				held += s[k].GPUs
			}
			jobs, at = append(jobs, s), append(at, k)
		}
		was := slices.Clone(at)
		Rebalance(gpus, jobs, at, rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "keep"))
		free := gpus
		for m, k := range at {
			if was[m] >= 0 && k < 0 {
				rt.Fatalf("job %d lost all its GPUs", m)
			}
			if k >= 0 {
				free -= jobs[m][k].GPUs
			}
		}
		if free < 0 {
			rt.Fatalf("%d of %d GPUs are given", gpus-free, gpus)
		}
		for m, k := range at {
			if k < 0 {
				if jobs[m][0].GPUs <= free {
					rt.Fatalf("job %d has none, and %d are free", m, free)
				}
				continue
			}
			for _, s := range jobs[m][k+1:] {
				if s.GPUs-jobs[m][k].GPUs <= free && s.Left < jobs[m][k].Left {
					rt.Fatalf("job %d would gain from %d free GPUs", m, free)
				}
			}
		}
	})
}

func ExampleMarginal() {
	long := []Step{{1, 900}, {2, 500}, {4, 300}}
	short := []Step{{1, 100}, {2, 60}}
	fmt.Println(Marginal(4, [][]Step{long, short}))
	// Output: [1 1]
}

func ExampleSolve() {
	p := &Problem{Workers: []int{1, 1}, Jobs: []Job{
		{Throughput: []float64{3, 1}, GPUs: 1}, // three times as fast on the first type
		{Throughput: []float64{1, 1}, GPUs: 1},
	}}
	r, _ := Solve(p, "las", Options{})
	fmt.Printf("%.2f, shares %.2f\n", r.Objective, r.X)
	// Output: 1.00, shares [[1.00 0.00] [0.00 1.00]]
}
