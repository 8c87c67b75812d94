package roofline

import (
	"fmt"
	"math"
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

// Description is a compact description of the operations of one kind of GPU: surfaces over coarse grids,
// fitted to tables of measurements.
type Description struct {
	GPU      string              `json:"gpu"`
	Products map[string]Products `json:"products"` // by type of the weights
	Prefills map[string]Surface  `json:"prefill"`  // by type of the KV cache; batch·heads, length
	Decodes  map[string]Surface  `json:"decode"`   // by type of the KV cache; batch·kv_heads, tokens attended to
	Reduces  map[int64]Line      `json:"all_reduce,omitempty"`
}

// Products are the matrix products of one type of weights: a surface over n and k for each m.
type Products struct {
	M      []float64     `json:"m"`
	N      []float64     `json:"n"`
	K      []float64     `json:"k"`
	Micros [][][]float64 `json:"us"` // by M, then N, then K
}

// Line is a time over one size.
type Line struct {
	X      []float64 `json:"x"`
	Micros []float64 `json:"us"`
}

// Product is the time of a product; linear in m between surfaces.
func (d *Description) Product(weights string, m, n, k float64) float64 {
	p := d.Products[weights]
	return interpolate(p.M, m, func(i int) float64 {
		s := Surface{p.N, p.K, p.Micros[i]}
		return s.At(n, k)
	})
}

// Tokens are the token counts at which products are known.
func (d *Description) Tokens(weights string) []float64 { return d.Products[weights].M }

// Prefill is the time of attention over whole prompts. It depends on the product of batch and heads.
func (d *Description) Prefill(a Attention, batch, length float64) float64 {
	s := d.Prefills[a.Cache]
	return s.At(batch*float64(a.Heads), length)
}

// Decode is the time of attention of one step. It depends on the product of batch and heads of keys and values, for
// reading these is its work.
func (d *Description) Decode(a Attention, batch, after float64) float64 {
	s := d.Decodes[a.Cache]
	return s.At(batch*float64(a.KVHeads), after+1)
}

// AllReduce is the time of an all-reduce.
func (d *Description) AllReduce(gpus int64, elements float64) float64 {
	l := d.Reduces[gpus]
	return interpolate(l.X, elements, func(i int) float64 { return l.Micros[i] })
}

// Surface gives a time over two sizes. The logarithm of the time is linear in the logarithms of the sizes
// within each field of a coarse grid, and beyond it.
type Surface struct {
	X      []float64   `json:"x"`
	Y      []float64   `json:"y"`
	Micros [][]float64 `json:"us"` // by X, then Y
}

// locate returns the field of a grid in which x lies, or the nearest, and how far along it, in logarithms.
func locate(xs []float64, x float64) (field int, along float64) {
	i := 0
	for i+2 < len(xs) && x >= xs[i+1] {
		i++
	}
	return i, math.Log(x/xs[i]) / math.Log(xs[i+1]/xs[i])
}

// At is the time at two sizes, in microseconds.
func (s *Surface) At(x, y float64) float64 {
	i, u := locate(s.X, x)
	j, v := locate(s.Y, y)
	low := (1-v)*math.Log(s.Micros[i][j]) + v*math.Log(s.Micros[i][j+1])
	high := (1-v)*math.Log(s.Micros[i+1][j]) + v*math.Log(s.Micros[i+1][j+1])
	return math.Exp((1-u)*low + u*high)
}
