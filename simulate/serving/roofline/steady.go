package roofline

import (
	"math"

	"capcli/simulate/serving"
)

// steadyStep returns the mean time of an iteration, in microseconds, of n requests that are always present,
// with in tokens of prompt and out tokens of answer each, and prompts in pieces of at most chunk tokens: the
// time per output token of a server under steady load. Prompts come in lumps, so their cost is the
// time by which each piece lengthens an iteration that decodes, spread over the answer.
func steadyStep(t *serving.Time, n, in, out, chunk int64) float64 {
	kv := float64(n) * (float64(in) + float64(out)/2)
	base := micros(t, float64(n), float64(n), kv, 0)
	add := 0.0
	for k := int64(0); k < in; {
		c := min(max(1, chunk-(n-1)), in-k)
		add += micros(t, float64(n-1+c), float64(n), kv, float64(c*(2*k+c+1)/2)) - base
		k += c
	}
	return base + float64(n)/float64(out)*add
}

// micros is the time of an iteration in microseconds, not rounded.
func micros(t *serving.Time, tokens, sequences, kv, pa float64) float64 {
	most := math.Inf(-1)
	for _, l := range t.Lin {
		most = max(most, float64(l[0])+float64(l[1])*tokens)
	}
	return (float64(t.C0) + most + float64(t.Seq)*sequences + float64(t.KV)*kv + float64(t.PA)*pa) / 1e6
}
