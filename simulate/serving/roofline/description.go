package roofline

import "math"

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
