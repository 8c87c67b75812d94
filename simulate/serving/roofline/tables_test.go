package roofline

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"capcli/simulate/serving"
)

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

// columns returns the places of columns, each by its only name.
func (s *sheet) columns(names ...string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		c, err := s.Column(name)
		if err != nil {
			return nil, err
		}
		at[i] = c
	}
	return at, nil
}

// A Source is a table of operations, and its name in errors.
type Source struct {
	File string
	Text io.Reader
}

// Sources are the four tables of operations. Their columns: gpu, gemm_dtype, m, n, k, latency_us of matrix
// products; gpu, num_heads, num_key_value_heads, kv_cache_dtype, batch_size, isl, latency_us of attention
// over prompts; the same with step in place of isl of attention of one step; gpu, num_gpus, message_size
// (elements of two bytes), backend, latency_us of all-reduces.
type Sources struct{ Products, Prefill, Decode, AllReduce Source }

// ReadTables reads the tables of operations. It returns those of each GPU, by name. backend says which
// all-reduce counts; "" is each.
func ReadTables(src Sources, backend string) (map[string]*Tables, error) {
	all := map[string]*Tables{}
	products := map[[2]string][]product{}
	if err := readProducts(src.Products, products); err != nil {
		return nil, err
	}
	get := func(gpu string) *Tables {
		if all[gpu] == nil {
			all[gpu] = &Tables{GPU: gpu, products: map[string][]*plane{}, prefill: map[Attention][]Point{}, decode: map[Attention][]Point{}, reduce: map[int64][]Point{}}
		}
		return all[gpu]
	}
	for key, list := range products {
		get(key[0]).products[key[1]] = newPlanes(list)
	}
	err := readAttention(src.Prefill, "isl", func(gpu string, a Attention, p Point) {
		t := get(gpu)
		t.prefill[a] = append(t.prefill[a], p)
	})
	if err != nil {
		return nil, err
	}
	err = readAttention(src.Decode, "step", func(gpu string, a Attention, p Point) {
		t := get(gpu)
		t.decode[a] = append(t.decode[a], p)
	})
	if err != nil {
		return nil, err
	}
	err = readAllReduce(src.AllReduce, backend, func(gpu string, gpus int64, p Point) {
		t := get(gpu)
		t.reduce[gpus] = append(t.reduce[gpus], p)
	})
	for _, t := range all {
		t.sort()
	}
	return all, err
}

func (t *Tables) sort() {
	for a, p := range t.prefill {
		t.prefill[a] = sortPoints(p)
	}
	for a, p := range t.decode {
		t.decode[a] = sortPoints(p)
	}
	for n, p := range t.reduce {
		t.reduce[n] = sortPoints(p)
	}
}

func readProducts(src Source, out map[[2]string][]product) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "gemm_dtype", "m", "n", "k", "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		key := [2]string{s.word(at[0]), s.word(at[1])}
		out[key] = append(out[key], product{v[0], v[1], v[2], v[3]})
	}
	return ended(err)
}

func readAttention(src Source, length string, add func(gpu string, a Attention, p Point)) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "kv_cache_dtype", "num_heads", "num_key_value_heads", "batch_size", length, "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		add(s.word(at[0]), Attention{int64(v[0]), int64(v[1]), s.word(at[1])}, Point{v[2], v[3], v[4]})
	}
	return ended(err)
}

func readAllReduce(src Source, backend string, add func(gpu string, gpus int64, p Point)) error {
	s, err := openSheet(src.File, src.Text)
	if err != nil {
		return err
	}
	at, err := s.columns("gpu", "backend", "num_gpus", "message_size", "latency_us")
	if err != nil {
		return err
	}
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[2:])
		if err != nil {
			return err
		}
		if backend == "" || s.word(at[1]) == backend {
			add(s.word(at[0]), int64(v[0]), Point{1, v[1], v[2]})
		}
	}
	return ended(err)
}

// Judge returns the relative errors of a time on the iterations that are composed from every second point
// of attention that Half leaves out: mean and 90th percentile of decoding, then of whole prompts. Points
// of decoding have 127 tokens or more before them and at most 256 sequences; prompts have 128
// tokens or more together, and no more than the products were measured with.
func (l *Layout) Judge(t *Tables, time *serving.Time) [4]float64 {
	tokens := t.Tokens(l.Weights)
	if len(tokens) == 0 {
		return [4]float64{}
	}
	var decode, prefill []Sample
	for i, p := range t.decode[l.attention()] {
		if i%2 == 1 && p.Length >= 127 && p.Batch <= 256 {
			decode = append(decode, l.decoding(t, p.Batch, p.Length))
		}
	}
	for i, p := range t.prefill[l.attention()] {
		if n := p.Batch * p.Length; i%2 == 1 && n >= 128 && n <= tokens[len(tokens)-1] {
			prefill = append(prefill, l.prefilling(t, p.Batch, p.Length))
		}
	}
	var out [4]float64
	out[0], out[1] = relativeError(decode, time)
	out[2], out[3] = relativeError(prefill, time)
	return out
}

// relativeError returns the mean and the 90th percentile of the relative error.
func relativeError(samples []Sample, t *serving.Time) (mean, p90 float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	errors := make([]float64, len(samples))
	for i, s := range samples {
		errors[i] = math.Abs(micros(t, s.T, s.S, s.KV, s.PA)/s.Micros - 1)
		mean += errors[i] * cmp.Or(s.Weight, 1)
	}
	slices.Sort(errors)
	return mean / float64(len(samples)), errors[(9*len(errors)+9)/10-1]
}

// Measure describes the GPU of tables, fits the times of layouts, which must be of attention that was measured, to the
// tables, and judges both by the points that it leaves out.
func Measure(t *Tables, layouts []Layout) *Measured {
	half := t.Half()
	m := &Measured{Operations: Describe(half), Errors: map[string][4]float64{}, Times: map[string]Fitted{}}
	counts := map[string]float64{}
	for i := range layouts {
		l := &layouts[i]
		composed := Compose(l, m.Operations)
		mean := m.Errors[l.Weights]
		for j, e := range l.Judge(t, &composed) {
			mean[j] += e
		}
		m.Errors[l.Weights] = mean
		counts[l.Weights]++
		fitted := Fitted{Time: Compose(l, half)}
		fitted.Errors = l.Judge(t, &fitted.Time)
		m.Times[l.Key()] = fitted
	}
	for w, e := range m.Errors {
		for j := range e {
			e[j] /= counts[w]
		}
		m.Errors[w] = e
	}
	return m
}

// Knows reports whether tables have all operations of l.
func (t *Tables) Knows(l *Layout) bool {
	return t.products[l.Weights] != nil && t.decode[l.attention()] != nil && t.prefill[l.attention()] != nil && (l.GPUs == 1 || t.reduce[l.GPUs] != nil)
}

// Describe fits a description to tables.
func Describe(t *Tables) *Description {
	d := &Description{GPU: t.GPU, Products: map[string]Products{}, Prefills: map[string]Surface{}, Decodes: map[string]Surface{}, Reduces: map[int64]Line{}}
	for weights, planes := range t.products {
		d.Products[weights] = describeProducts(planes)
	}
	prefill, decode := map[string][]observation{}, map[string][]observation{}
	for _, a := range t.Shapes() {
		for _, p := range t.prefill[a] {
			if p.Length > 1 {
				prefill[a.Cache] = append(prefill[a.Cache], observation{p.Batch * float64(a.Heads), p.Length, p.Micros})
			}
		}
		for _, p := range t.decode[a] {
			decode[a.Cache] = append(decode[a.Cache], observation{p.Batch * float64(a.KVHeads), p.Length + 1, p.Micros})
		}
	}
	for cache := range decode {
		d.Prefills[cache] = fitSurface(knotsHeads, knotsLength, prefill[cache])
		d.Decodes[cache] = fitSurface(knotsKV, knotsAfter, decode[cache])
	}
	for gpus, points := range t.reduce {
		var l Line
		for _, p := range points {
			l.X, l.Micros = append(l.X, p.Length), append(l.Micros, significant(p.Micros))
		}
		d.Reduces[gpus] = l
	}
	return d
}

func describeProducts(planes []*plane) Products {
	p := Products{N: knotsN, K: knotsK}
	for _, plane := range planes {
		var seen []observation
		for i, n := range plane.n {
			for j, k := range plane.k {
				if us := plane.us[i][j]; us > 0 {
					seen = append(seen, observation{n, k, us})
				}
			}
		}
		p.M = append(p.M, plane.m)
		p.Micros = append(p.Micros, fitSurface(knotsN, knotsK, seen).Micros)
	}
	return p
}

var knotsN = []float64{1024, 2048, 4096, 8192, 16384, 65536}

var knotsK = []float64{512, 1024, 2048, 4096, 8192, 16384, 65536}

var knotsHeads = []float64{8, 32, 128, 512, 2048, 16384}

var knotsLength = []float64{16, 128, 512, 1024, 2048, 4096, 16384}

var knotsKV = []float64{1, 8, 32, 128, 512, 2048}

var knotsAfter = []float64{2, 128, 512, 2048, 8192, 65536}

// observation is a measured time of two sizes.
type observation struct{ x, y, micros float64 }

// stiffness is the weight of a second difference of the grid beside that of an observation. It decides only
// where observations do not.
const stiffness = 1e-3

// fitSurface returns the surface over a grid that is nearest to the observations, by least squares of the
// logarithm of the time.
func fitSurface(xs, ys []float64, seen []observation) Surface {
	nx, ny := len(xs), len(ys)
	h := mat.NewSymDense(nx*ny, nil)
	g := mat.NewVecDense(nx*ny, nil)
	for _, o := range seen {
		i, u := locate(xs, o.x)
		j, v := locate(ys, o.y)
		add(h, g, []int{i*ny + j, i*ny + j + 1, (i+1)*ny + j, (i+1)*ny + j + 1}, []float64{(1 - u) * (1 - v), (1 - u) * v, u * (1 - v), u * v}, math.Log(o.micros), 1)
	}
	bend := []float64{1, -2, 1}
	for i := range nx {
		for j := range ny {
			if i+2 < nx {
				add(h, g, []int{i*ny + j, (i+1)*ny + j, (i+2)*ny + j}, bend, 0, stiffness)
			}
			if j+2 < ny {
				add(h, g, []int{i*ny + j, i*ny + j + 1, i*ny + j + 2}, bend, 0, stiffness)
			}
		}
	}
	var chol mat.Cholesky
	var v mat.VecDense
	if !chol.Factorize(h) || chol.SolveVecTo(&v, g) != nil {
		return Surface{}
	}
	s := Surface{X: xs, Y: ys, Micros: make([][]float64, nx)}
	for i := range nx {
		for j := range ny {
			s.Micros[i] = append(s.Micros[i], significant(math.Exp(v.AtVec(i*ny+j))))
		}
	}
	return s
}

// add adds weight · (shares·v[at] - want)² to normal equations.
func add(h *mat.SymDense, g *mat.VecDense, at []int, shares []float64, want, weight float64) {
	for a, i := range at {
		g.SetVec(i, g.AtVec(i)+weight*shares[a]*want)
		for b, j := range at {
			if i <= j {
				h.SetSym(i, j, h.At(i, j)+weight*shares[a]*shares[b])
			}
		}
	}
}

// significant rounds to three digits.
func significant(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return short
}

// ReadMeasurements reads a table of servers under steady load, and on what each row was measured. Its columns: batch
// (or concurrency), tokens_in (or isl), tokens_out (or osl), tpot_ms (or itl_ms), and perhaps ttft_ms, engine (or
// backend), model, gpu (or system), tp (or tp_size), weights (or precision). Rows without one of the first four
// are left out and counted.
func ReadMeasurements(file string, r io.Reader) (rows []Measurement, on []MeasuredOn, leftOut int, err error) {
	s, err := openSheet(file, r)
	if err != nil {
		return nil, nil, 0, err
	}
	return s.measurements()
}

// Calibrate fits a calibration to measurements. The error of each is that of a calibration by the three
// quarters that it is not in.
func (s *Server) Calibrate(rows []Measurement) (*ServerFit, error) {
	fit, _, _, err := s.calibrate(rows)
	return fit, err
}
