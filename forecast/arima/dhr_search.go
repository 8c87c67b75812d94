package arima

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// harmonicSearch chooses how many harmonics each season has. One orthogonal decomposition gives
// the residuals of the series for any number of harmonics: waves of different length are nearly
// orthogonal, and in long series ordinary least squares is as good for them as generalised least
// squares (Grenander 1954). The score of the residuals is the error variance of the best
// autoregression of them.
type harmonicSearch struct {
	waves []harmonic
	basis [][]float64 // orthonormal: a constant, then the columns of the waves; nil if dependent
	first []int       // index in basis of the first column of each wave
	d     int         // number of differences of the errors
	y     []float64   // the series, with gaps filled, differenced
	size  float64     // largest absolute value of the series before differencing
	order int         // highest order of the autoregressions
}

// dhrOrder is the highest order of the autoregressions. With more, an autoregression would
// imitate a season.
const dhrOrder = 8

// newHarmonicSearch decomposes the series s over the waves.
func newHarmonicSearch(waves []harmonic, s *arimaSeries) *harmonicSearch {
	h := &harmonicSearch{waves: waves, y: model.SpanGaps(s.y)}
	n := len(h.y)
	h.size = finiteTop(h.y)
	h.add(filled(n, func(int) float64 { return 1 }))
	// The slow waves of all seasons come before the fast ones: large effects come first.
	order := make([]int, len(waves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return waves[a].number - waves[b].number })
	h.first = make([]int, len(waves))
	for _, i := range order {
		w := waves[i]
		h.first[i] = len(h.basis)
		for c := range w.columns() {
			h.add(filled(n, func(t int) float64 { return w.valueAt(c, float64(s.lead+t+1)) }))
		}
	}
	rest := h.y
	for _, q := range h.basis {
		rest = projectOut(rest, q)
	}
	h.d = ndiffs(rest, false)
	if h.order = dhrOrder; finiteTop(rest) <= flatness*h.size {
		h.d, h.order = 0, 0
	}
	for range h.d {
		h.y = append([]float64{0}, lagged(h.y, 1)...)
	}
	for i := range h.d {
		h.y[i] = 0
	}
	return h
}

// add appends a column to the basis (modified Gram-Schmidt), nil where it depends on the columns
// before.
func (h *harmonicSearch) add(x []float64) {
	before := math.Sqrt(squares(x))
	for _, q := range h.basis {
		if q == nil {
			continue
		}
		by := model.Dot(q, x)
		for t, v := range q {
			x[t] -= by * v
		}
	}
	size := math.Sqrt(squares(x))
	if !(size > 1e-6*before) {
		h.basis = append(h.basis, nil)
		return
	}
	for t := range x {
		x[t] /= size
	}
	h.basis = append(h.basis, x)
}

// projectOut returns x minus its projection on the unit vector q.
func projectOut(x, q []float64) []float64 {
	out := append([]float64(nil), x...)
	if q != nil {
		by := model.Dot(q, x)
		for t, v := range q {
			out[t] -= by * v
		}
	}
	return out
}

// choose returns the number of harmonics of each season with the least AICc. It starts from all
// harmonics and goes through the seasons twice, choosing the best number for each given the
// others.
func (h *harmonicSearch) choose() []int {
	best := h.waveCounts()
	for range 2 {
		for i := range best {
			best[i] = h.bestCount(best, i)
		}
	}
	return best
}

// bestCount returns the best number of harmonics of season i when the other seasons
// have k.
func (h *harmonicSearch) bestCount(k []int, i int) int {
	others := append([]int(nil), k...)
	others[i] = 0
	rest := projectOut(h.y, h.basis[0])
	columns := 0
	take := func(w int) {
		columns += h.waves[w].columns()
		for c := range h.waves[w].columns() {
			rest = projectOut(rest, h.basis[h.first[w]+c])
		}
	}
	var mine []int
	seen := make([]int, len(k))
	for w, wave := range h.waves {
		if wave.season == i {
			mine = append(mine, w)
		}
		if seen[wave.season]++; seen[wave.season] <= others[wave.season] {
			take(w)
		}
	}
	best, bestIC := 0, h.criterion(rest, columns)
	for n, w := range mine {
		take(w)
		if ic := h.criterion(rest, columns); ic < bestIC {
			best, bestIC = n+1, ic
		}
	}
	return best
}

// criterion returns the AICc, less a constant, of the residuals of a regression with
// the given number of columns.
func (h *harmonicSearch) criterion(rest []float64, columns int) float64 {
	rest = rest[h.d:]
	n := float64(len(rest))
	phi, variance := burg(rest, min(h.order, len(rest)/8))
	p := float64(columns + len(phi) + 2)
	if n-p-1 <= 0 {
		return math.Inf(1)
	}
	return n*math.Log(math.Max(variance, flatness*h.size*flatness*h.size)) + 2*p*n/(n-p-1)
}

// waveCounts returns the number of waves of each season.
func (h *harmonicSearch) waveCounts() []int {
	var k []int
	for _, w := range h.waves {
		for w.season >= len(k) {
			k = append(k, 0)
		}
		k[w.season]++
	}
	return k
}

// take returns the first k[i] waves of each season i.
func (h *harmonicSearch) take(k []int) []harmonic {
	var out []harmonic
	seen := make([]int, len(k))
	for _, w := range h.waves {
		if seen[w.season]++; seen[w.season] <= k[w.season] {
			out = append(out, w)
		}
	}
	return out
}

// burg returns the autoregression of x, of an order up to most, chosen by AICc, and the variance
// of its errors (Burg 1975: the reflections minimise forward and backward errors).
func burg(x []float64, most int) (best []float64, least float64) {
	n := len(x)
	forward, back := append([]float64(nil), x...), append([]float64(nil), x...)
	var phi []float64
	variance := squares(x) / float64(n)
	ic := func(k int) float64 {
		return float64(n)*math.Log(variance) + 2*float64(k+1)*float64(n)/math.Max(1, float64(n-k-2))
	}
	if !(variance > 0) {
		return nil, 0
	}
	bestIC := ic(0)
	least = variance
	for k := 1; k <= most; k++ {
		above, below := 0.0, 0.0
		for t := k; t < n; t++ {
			above += forward[t] * back[t-1]
			below += forward[t]*forward[t] + back[t-1]*back[t-1]
		}
		if !(below > 0) {
			break
		}
		a := 2 * above / below
		next := make([]float64, k)
		next[k-1] = a
		for j := range k - 1 {
			next[j] = phi[j] - a*phi[k-2-j]
		}
		phi = next
		for t := n - 1; t >= k; t-- {
			forward[t], back[t] = forward[t]-a*back[t-1], back[t-1]-a*forward[t]
		}
		if variance *= 1 - a*a; !(variance > 0) {
			break
		}
		if v := ic(k); v < bestIC {
			best, bestIC, least = phi, v, variance
		}
	}
	return best, least
}
