package roofline

import (
	"cmp"
	"fmt"
	"slices"
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

// Point is a measurement of attention: a batch and a length, and the time in microseconds.
type Point struct{ Batch, Length, Micros float64 }

// product is a measured matrix product.
type product struct{ m, n, k, micros float64 }

// Tables are measured operations of one kind of GPU. They interpolate between measurements.
type Tables struct {
	GPU      string
	products map[string][]*plane // by type of the weights; by m
	prefill  map[Attention][]Point
	decode   map[Attention][]Point
	reduce   map[int64][]Point // by number of GPUs; Length is the number of elements
}

// plane holds the products of one m on a grid of widths.
type plane struct {
	m    float64
	n, k []float64
	us   [][]float64 // by n, then k; 0 is not measured
}

// newPlanes sorts products into one plane for each m.
func newPlanes(list []product) []*plane {
	slices.SortFunc(list, func(a, b product) int {
		return cmp.Or(cmp.Compare(a.m, b.m), cmp.Compare(a.n, b.n), cmp.Compare(a.k, b.k), cmp.Compare(a.micros, b.micros))
	})
	var out []*plane
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(p product) bool { return p.m != list[0].m })
		if n < 0 {
			n = len(list)
		}
		out = append(out, newPlane(list[:n]))
		list = list[n:]
	}
	return out
}

func newPlane(list []product) *plane {
	p := &plane{m: list[0].m}
	for _, x := range list {
		p.n, p.k = append(p.n, x.n), append(p.k, x.k)
	}
	slices.Sort(p.n)
	slices.Sort(p.k)
	p.n, p.k = slices.Compact(p.n), slices.Compact(p.k)
	p.us = make([][]float64, len(p.n))
	for i := range p.us {
		p.us[i] = make([]float64, len(p.k))
	}
	for _, x := range slices.Backward(list) { // the least of repeated rows comes first
		i, _ := slices.BinarySearch(p.n, x.n)
		j, _ := slices.BinarySearch(p.k, x.k)
		p.us[i][j] = x.micros
	}
	return p
}

// time is the time of a product of widths n and k, linear between measurements, and on the line of the
// two nearest beyond them.
func (p *plane) time(n, k float64) float64 {
	return interpolate(p.k, k, func(j int) float64 {
		return interpolate(p.n, n, func(i int) float64 { return p.us[i][j] })
	})
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

// Product is the time of a product, linear in m, n and k between measurements.
func (t *Tables) Product(weights string, m, n, k float64) float64 {
	planes := t.products[weights]
	ms := t.Tokens(weights)
	return interpolate(ms, m, func(i int) float64 { return planes[i].time(n, k) })
}

// Tokens are the token counts at which products were measured.
func (t *Tables) Tokens(weights string) []float64 {
	var out []float64
	for _, p := range t.products[weights] {
		out = append(out, p.m)
	}
	return out
}

// Prefill is the time of attention over whole prompts.
func (t *Tables) Prefill(a Attention, batch, length float64) float64 {
	return attentionAt(t.prefill[a], batch, length)
}

// Decode is the time of attention of one step.
func (t *Tables) Decode(a Attention, batch, after float64) float64 {
	return attentionAt(t.decode[a], batch, after)
}

// AllReduce is the time of an all-reduce.
func (t *Tables) AllReduce(gpus int64, elements float64) float64 {
	return lengthwise(t.reduce[gpus], elements)
}

// attentionAt interpolates points in the length, then in the batch.
func attentionAt(points []Point, batch, length float64) float64 {
	var batches []float64
	var rows [][]Point
	for i, p := range points {
		if i == 0 || p.Batch != points[i-1].Batch {
			batches, rows = append(batches, p.Batch), append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return interpolate(batches, batch, func(i int) float64 { return lengthwise(rows[i], length) })
}

func lengthwise(row []Point, length float64) float64 {
	xs := make([]float64, len(row))
	for i, p := range row {
		xs[i] = p.Length
	}
	return interpolate(xs, length, func(i int) float64 { return row[i].Micros })
}

// Shapes are the shapes of attention that were measured, in order.
func (t *Tables) Shapes() []Attention {
	var out []Attention
	for a := range t.decode {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Attention) int {
		return cmp.Or(cmp.Compare(a.Heads, b.Heads), cmp.Compare(a.KVHeads, b.KVHeads), cmp.Compare(a.Cache, b.Cache))
	})
	return out
}

// Half returns the tables with every second token count of the products and all-reduces and every second
// point of attention: what a fit uses, so that the others can judge it. The largest sizes stay.
func (t *Tables) Half() *Tables {
	h := &Tables{GPU: t.GPU, products: map[string][]*plane{}, prefill: map[Attention][]Point{}, decode: map[Attention][]Point{}, reduce: map[int64][]Point{}}
	for w, planes := range t.products {
		h.products[w] = everySecond(planes, true)
	}
	for a, p := range t.prefill {
		h.prefill[a] = everySecond(p, false)
	}
	for a, p := range t.decode {
		h.decode[a] = everySecond(p, false)
	}
	for n, p := range t.reduce {
		h.reduce[n] = everySecond(p, true)
	}
	return h
}

func everySecond[T any](list []T, last bool) []T {
	var out []T
	for i, v := range list {
		if i%2 == 0 || last && i == len(list)-1 {
			out = append(out, v)
		}
	}
	return out
}

// sortPoints sorts points by batch and length and keeps the least time of repeated ones.
func sortPoints(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.Length, b.Length), cmp.Compare(a.Micros, b.Micros))
	})
	return slices.CompactFunc(points, func(a, b Point) bool { return a.Batch == b.Batch && a.Length == b.Length })
}

// String names the shape.
func (a Attention) String() string {
	return fmt.Sprintf("%d/%d heads, %s", a.Heads, a.KVHeads, a.Cache)
}
