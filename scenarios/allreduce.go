package scenarios

import (
	"math/big"
	"slices"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/width"
)

// allReduce is what a step of data-parallel training sums over the GPUs of a job, and over what. From it
// follow the factors on the run time by the narrowest level that holds the job.
type allReduce struct {
	gib, step          string // GiB of gradients on each GPU, and seconds of a step within one node
	bandwidth, latency []levelNumber
	node               int // GPUs of a node that are summed first; 0 is one ring of all
}

// reduceFields are the fields of near about the all-reduce of a step.
func reduceFields(r *allReduce) []strict.Field {
	return []strict.Field{
		{"gradient_gib", "GiB of gradients that an all-reduce sums in each step; needs step_s and bandwidth in GiB a second", positiveDecimal(&r.gib)},
		{"step_s", "seconds of a step within one node, all-reduce included", positiveDecimal(&r.step)},
		{"latency_us", "microseconds of one message by level; default: none: {node: 5, rack: 10, cluster: 20}", levelNumbers(&r.latency, "latencies by level such as {node: 5, rack: 10, cluster: 20}")},
		{"node_gpus", "GPUs of a node that are summed first, so that one in so many goes over the wider level; default: one ring of all GPUs", strict.Integer(&r.node, 2, maxPerNode)},
	}
}

func (r *allReduce) check(o *strict.Object) {
	if !o.Has("gradient_gib") {
		o.FaultEach([]string{"step_s", "latency_us", "node_gpus"}, "%s is of an all-reduce; give gradient_gib too")
		return
	}
	switch {
	case o.Has("slowdown") || o.Has("comm_share"):
		o.FaultName("gradient_gib", "gradient_gib, comm_share and slowdown each say what it costs to be spread; give one")
	case !o.Has("step_s") || !o.Has("bandwidth"):
		o.FaultMissing("step_s", "gradient_gib needs step_s and bandwidth: {gradient_gib: 14, step_s: 0.8, bandwidth: {node: 400, rack: 45, cluster: 20}}")
	case o.IsClean("gradient_gib", "step_s", "bandwidth", "latency_us") && r.numberAt(r.bandwidth, simulate.NodeLevel) == nil:
		o.Fault("bandwidth", "the bandwidth within a node is missing: step_s is that within one node")
	case o.IsClean("gradient_gib", "step_s", "bandwidth", "latency_us") && r.time(simulate.NodeLevel, 2).Cmp(decimalOf(r.step)) >= 0:
		o.Fault("step_s", "an all-reduce of two GPUs takes longer than a step of %s s; is a unit wrong?", r.step)
	}
}

// decimalOf returns a decimal that has been read.
func decimalOf(text string) *big.Rat {
	r, _ := width.ParseDecimal(text)
	return r
}

// numberAt returns the number of a level; nil if there is none.
func (r *allReduce) numberAt(list []levelNumber, level string) *big.Rat {
	i := slices.IndexFunc(list, func(x levelNumber) bool { return x.level == level })
	if i < 0 {
		return nil
	}
	return decimalOf(list[i].number)
}

// ring returns the seconds that a ring of n GPUs takes to sum gib at a level. Each sends 2 (n - 1) messages of gib / n:
// 2 (n - 1)/n gib / B + 2 (n - 1) a, with the bandwidth B and the latency a of the slowest link (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69:2, 2009).
func (r *allReduce) ring(level string, n int, gib *big.Rat) *big.Rat {
	t := new(big.Rat).Quo(gib, r.numberAt(r.bandwidth, level))
	t.Mul(t, big.NewRat(2*int64(n-1), int64(n)))
	if a := r.numberAt(r.latency, level); a != nil {
		t.Add(t, a.Mul(a, big.NewRat(2*int64(n-1), 1_000_000)))
	}
	return t
}

// time returns the seconds of an all-reduce of n GPUs that are spread over a level. With node_gpus g it is a
// reduce-scatter and an all-gather within nodes, and between them a ring over n / g nodes of each g-th part.
func (r *allReduce) time(level string, n int) *big.Rat {
	gib := decimalOf(r.gib)
	if g := r.node; level != simulate.NodeLevel && g > 0 && n > g && n%g == 0 {
		within := r.ring(simulate.NodeLevel, g, gib)
		return within.Add(within, r.ring(level, n/g, gib.Quo(gib, big.NewRat(int64(g), 1))))
	}
	return r.ring(level, n, gib)
}

// slowdowns returns the factors on the run time of a job of n GPUs: (s - t + t') / s, with the step s and its
// all-reduce t within one node, and t' at the level.
func (r *allReduce) slowdowns(n int) (out []capcli.Slowdown) {
	if n < 2 {
		return nil
	}
	step, within := decimalOf(r.step), r.time(simulate.NodeLevel, n)
	if step.Cmp(within) < 0 { // so many GPUs within one node: nothing but the all-reduce
		step = within
	}
	for _, x := range r.bandwidth {
		t := new(big.Rat).Sub(r.time(x.level, n), within)
		t.Quo(t.Add(t, step), step)
		s := capcli.Slowdown{Level: x.level}
		s.Num, s.Den = ratio(t)
		out = append(out, s)
	}
	return out
}
