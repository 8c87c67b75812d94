package roofline

import (
	"fmt"
	"slices"
	"sync"

	"capcli/simulate/serving"
)

// Layout is how a model lies on its GPUs.
type Layout struct {
	Model   Model
	GPUs    int64  // tensor parallel
	Weights string // bfloat16 or fp8
	Cache   string // bfloat16 or fp8
}

// Key names the layout: model/tpN/weights.
func (l *Layout) Key() string { return fmt.Sprintf("%s/tp%d/%s", l.Model.Name, l.GPUs, l.Weights) }

// attention is the shape of attention on one GPU.
func (l *Layout) attention() Attention {
	return Attention{max(1, l.Model.Heads/l.GPUs), max(1, l.Model.KVHeads/l.GPUs), l.Cache}
}

// linear is the time of the matrix products and all-reduces of all layers on t tokens.
func (l *Layout) linear(ops Operations, t float64) float64 {
	m, tp := &l.Model, float64(l.GPUs)
	hidden, width := float64(m.Hidden), float64(m.Intermediate)
	heads := float64(m.Heads * m.HeadDim)
	shared := float64(2 * max(l.GPUs, m.KVHeads) * m.HeadDim) // heads below the GPUs are repeated
	us := ops.Product(l.Weights, t, (heads+shared)/tp, hidden) +
		ops.Product(l.Weights, t, hidden, heads/tp) +
		ops.Product(l.Weights, t, 2*width/tp, hidden) +
		ops.Product(l.Weights, t, hidden, width/tp)
	if l.GPUs > 1 {
		us += 2 * ops.AllReduce(l.GPUs, hidden*t)
	}
	return us * float64(m.Layers)
}

// vocabulary is the time of the output of s sequences.
func (l *Layout) vocabulary(ops Operations, s float64) float64 {
	return ops.Product("bfloat16", s, float64(l.Model.Vocabulary)/float64(l.GPUs), float64(l.Model.Hidden))
}

// decoding is an iteration of batch sequences, each after tokens before its own.
func (l *Layout) decoding(ops Operations, batch, after float64) Sample {
	us := l.linear(ops, batch) + l.vocabulary(ops, batch) + float64(l.Model.Layers)*ops.Decode(l.attention(), batch, after)
	return Sample{T: batch, S: batch, KV: batch * (after + 1), Micros: us}
}

// prefilling is an iteration of batch whole prompts.
func (l *Layout) prefilling(ops Operations, batch, length float64) Sample {
	us := l.linear(ops, batch*length) + l.vocabulary(ops, batch) + float64(l.Model.Layers)*ops.Prefill(l.attention(), batch, length)
	return Sample{T: batch * length, S: batch, PA: batch * length * (length + 1) / 2, Micros: us}
}

// Compose returns the time of iterations of a layout from the times of its operations: fitTime of
// iterations composed from them, of pure decoding and of whole prompts.
func Compose(l *Layout, ops Operations) serving.Time { return fitTime(l.samples(ops)) }

// composed remembers the times that Compose gave for the descriptions of this package, because a search
// asks for the same ones often.
var composed = struct {
	sync.Mutex
	times map[composedKey]serving.Time
}{times: map[composedKey]serving.Time{}}

type composedKey struct {
	gpu    string
	layout Layout
}

// maxComposed is the largest number of remembered times.
const maxComposed = 4096

// composeOnce is Compose from the description of a kind of GPU.
func composeOnce(l *Layout, d *Description) serving.Time {
	key := composedKey{d.GPU, *l}
	key.layout.Model.Name, key.layout.Model.Source, key.layout.Model.Parameters = "", "", 0
	composed.Lock()
	t, ok := composed.times[key]
	composed.Unlock()
	if !ok {
		t = Compose(l, d)
		composed.Lock()
		if len(composed.times) >= maxComposed {
			clear(composed.times)
		}
		composed.times[key] = t
		composed.Unlock()
	}
	t.Lin = slices.Clone(t.Lin)
	return t
}

// samples composes iterations over the sizes at which servers work.
func (l *Layout) samples(ops Operations) []Sample {
	tokens := ops.Tokens(l.Weights)
	most := tokens[len(tokens)-1]
	var out []Sample
	kv := float64(l.attention().KVHeads)
	for batch := 1.0; batch <= 512; batch *= 2 {
		for after := 128.0; after <= 65536 && batch*after*kv <= 1<<22; after *= 2 {
			out = append(out, l.decoding(ops, batch, after-1))
		}
	}
	for batch := 1.0; batch <= 64; batch *= 2 {
		for _, length := range prompts {
			if t := batch * length; t >= 128 && t <= most {
				out = append(out, l.prefilling(ops, batch, length))
			}
		}
	}
	return out
}

var prompts = []float64{16, 32, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384}
