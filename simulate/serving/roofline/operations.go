package roofline

import (
	"fmt"
)

// Operations gives the time of the operations of a model on one kind of GPU, in microseconds.
type Operations interface {
	// Product is the time of an m by k matrix times a k by n matrix, whose weights have a type.
	Product(weights string, m, n, k float64) float64
	// Prefill is the time of attention over whole prompts: batch of them, each of length tokens.
	Prefill(a Attention, batch, length float64) float64
	// Decode is the time of attention of one step of batch sequences, each after tokens before it.
	Decode(a Attention, batch, after float64) float64
	// AllReduce is the time of an all-reduce of elements of two bytes between GPUs.
	AllReduce(gpus int64, elements float64) float64
	// Tokens are the token counts at which products are known, ascending.
	Tokens(weights string) []float64
}

// Attention is the shape of attention on one GPU: its heads, and the type of the KV cache.
type Attention struct {
	Heads, KVHeads int64
	Cache          string // bfloat16 or fp8
}

// interpolate interpolates on the line of the two known values nearest to x; value is 0 where it is unknown.
func interpolate(xs []float64, x float64, value func(i int) float64) float64 {
	lo, hi := -1, -1
	for i, at := range xs {
		if value(i) <= 0 {
			continue
		}
		switch {
		case hi < 0:
			hi = i
		case at <= x || xs[hi] < x:
			lo, hi = hi, i
		}
	}
	if hi < 0 {
		return 0
	}
	if lo < 0 {
		return value(hi)
	}
	share := (x - xs[lo]) / (xs[hi] - xs[lo])
	return max(value(lo)+(value(hi)-value(lo))*share, min(value(lo), value(hi))/2)
}

// String names the shape.
func (a Attention) String() string {
	return fmt.Sprintf("%d/%d heads, %s", a.Heads, a.KVHeads, a.Cache)
}
