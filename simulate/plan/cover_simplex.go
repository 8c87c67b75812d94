package plan

import (
	"container/heap"
	"math"

	"gonum.org/v1/gonum/mat"
)

// coverLP is the linear program of a cover, solved by the primal simplex for
// piecewise-linear costs (Fourer 1985, "A simplex algorithm for piecewise-linear
// programming I"). Each row has one variable of its own, the level L that covers
// it, with a convex cost; the constraints are Σ offers x - L = 0, so the basis has
// as many columns as there are rows however many levels they have. It starts from
// nothing bought, which is always feasible. Its figures are floating point: they
// steer a search, whose bounds are exact.
//
// Breakpoints are shifted by amounts of up to a millionth that differ from row to
// row, so that no two bounds are met at once and the simplex cannot cycle.
type coverLP struct {
	rows  [][]float64 // breakpoints
	slope [][]float64 // cost of a level uncovered, by segment; the last is 0
	cols  [][]int
	cost  []float64
	lo    []float64
	hi    []float64
	scale float64

	inverse []float64 // of the basis, by row
	basis   []int     // variables: offers first, then levels
	where   []int     // place in the basis; -1 outside
	value   []float64 // of each variable
	seg     []int     // of each level: the segment that it is in, or of one outside the basis the breakpoint that it is at
	y       []float64
	pivots  int
	stuck   bool
	ahead   events
}

func newCoverLP(rows []coverRow, offers []coverOffer) *coverLP {
	n, m := len(offers), len(rows)
	lp := &coverLP{where: make([]int, n+m), value: make([]float64, n+m), seg: make([]int, m), y: make([]float64, m), scale: 1}
	for _, r := range rows {
		for _, s := range r.slope {
			lp.scale = max(lp.scale, float64(s))
		}
	}
	for r, row := range rows {
		at, slope := make([]float64, len(row.ends)), make([]float64, len(row.ends)+1)
		for k := range at {
			at[k] = float64(row.ends[k]) + 1e-6*math.Mod(float64(r*7919+k*104729+13)*0.6180339887498949, 1)
			slope[k] = float64(row.slope[k]) / lp.scale
		}
		lp.rows, lp.slope = append(lp.rows, at), append(lp.slope, slope)
	}
	for j, o := range offers {
		lp.cols, lp.cost, lp.lo = append(lp.cols, o.rows), append(lp.cost, float64(o.cost)/lp.scale), append(lp.lo, float64(o.lo))
		hi := math.Inf(1)
		if o.hi >= 0 {
			hi = float64(o.hi)
		}
		lp.hi = append(lp.hi, hi)
		lp.where[j], lp.value[j] = -1, float64(o.lo)
		for _, r := range o.rows {
			lp.value[n+r] += float64(o.lo)
		}
	}
	lp.inverse, lp.basis = make([]float64, m*m), make([]int, m)
	for r := range m {
		lp.inverse[r*m+r] = -1
		lp.basis[r], lp.where[n+r] = n+r, r
		for lp.seg[r] < len(lp.rows[r]) && lp.rows[r][lp.seg[r]] < lp.value[n+r] {
			lp.seg[r]++
		}
	}
	return lp
}

// slack is the least reduced cost that makes a variable enter.
const slack = 1e-11

// solve runs the simplex until nothing improves.
func (lp *coverLP) solve() {
	limit := 200 + 40*(len(lp.rows)+len(lp.cols))
	for lp.pivots < limit && !lp.stuck {
		lp.reprice()
		e, dir, rate := lp.enter()
		if e < 0 {
			return
		}
		lp.step(e, dir, rate)
		if lp.pivots++; lp.pivots%100 == 0 {
			lp.refresh()
		}
	}
}

// reprice sets the prices of the rows: the costs of the basis times its inverse.
func (lp *coverLP) reprice() {
	m, n := len(lp.rows), len(lp.cols)
	clear(lp.y)
	for p, b := range lp.basis {
		c := 0.0
		if b < n {
			c = lp.cost[b]
		} else {
			c = -lp.slope[b-n][lp.seg[b-n]]
		}
		if c != 0 {
			row := lp.inverse[p*m : p*m+m]
			for r, v := range row {
				lp.y[r] += c * v
			}
		}
	}
}

// enter picks the variable outside the basis with the best rate, which is below 0,
// and its direction; -1 where none improves.
func (lp *coverLP) enter() (e int, dir, best float64) {
	e, best = -1, -slack
	for j, rows := range lp.cols {
		if lp.where[j] >= 0 || lp.lo[j] == lp.hi[j] {
			continue
		}
		d := lp.cost[j]
		for _, r := range rows {
			d -= lp.y[r]
		}
		if lp.value[j] <= lp.lo[j] && d < best {
			e, dir, best = j, 1, d
		}
		if lp.value[j] >= lp.hi[j] && -d < best {
			e, dir, best = j, -1, -d
		}
	}
	n := len(lp.cols)
	for r := range lp.rows {
		if lp.where[n+r] >= 0 {
			continue
		}
		k := lp.seg[r]
		if up := lp.y[r] - lp.slope[r][k+1]; up < best {
			e, dir, best = n+r, 1, up
		}
		if down := lp.slope[r][k] - lp.y[r]; down < best {
			e, dir, best = n+r, -1, down
		}
	}
	return e, dir, best
}

// column is the basis inverse times the column of a variable.
func (lp *coverLP) column(e int) []float64 {
	m, n := len(lp.rows), len(lp.cols)
	w := make([]float64, m)
	for p := range w {
		row := lp.inverse[p*m : p*m+m]
		if e >= n {
			w[p] = -row[e-n]
			continue
		}
		for _, r := range lp.cols[e] {
			w[p] += row[r]
		}
	}
	return w
}

// event is the next place on the way of the entering variable at which something
// changes: a bound that stops it, or a breakpoint of a level, beyond which the rate
// is worse.
type event struct {
	at    float64 // how far the entering variable has moved
	place int     // in the basis; -1 is the entering variable itself
	jump  float64 // what the rate gains; infinite at a bound
}

// next is the event of a variable that moves at some speed, from where it stands at
// a time. false where nothing is ahead.
func (lp *coverLP) next(v, place int, speed, value, at float64) (event, bool) {
	n := len(lp.cols)
	if v < n {
		bound := lp.lo[v]
		if speed > 0 {
			bound = lp.hi[v]
		}
		return event{at + max(0, (bound-value)/speed), place, math.Inf(1)}, !math.IsInf(bound, 0)
	}
	k, slope, rows := lp.seg[v-n], lp.slope[v-n], lp.rows[v-n]
	if speed > 0 {
		if k >= len(rows) {
			return event{}, false
		}
		return event{at + max(0, (rows[k]-value)/speed), place, speed * (slope[k] - slope[k+1])}, true
	}
	if k == 0 {
		return event{}, false
	}
	return event{at + max(0, (rows[k-1]-value)/speed), place, speed * (slope[k] - slope[k-1])}, true
}

// events is a heap by distance, then place.
type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(a, b int) bool {
	return h[a].at < h[b].at || h[a].at == h[b].at && h[a].place < h[b].place
}
func (h events) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *events) Push(x any)   { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// step moves a variable as long as that pays: past breakpoints, until the rate is
// used up or a bound is reached. It changes the basis where another variable stops
// it.
func (lp *coverLP) step(e int, dir, rate float64) {
	w := lp.column(e)
	if n := len(lp.cols); e >= n && dir > 0 {
		lp.seg[e-n]++ // from the breakpoint into the segment over it
	}
	speed := func(place int) float64 {
		if place < 0 {
			return dir
		}
		return -dir * w[place]
	}
	variable := func(place int) int {
		if place < 0 {
			return e
		}
		return lp.basis[place]
	}
	lp.ahead = lp.ahead[:0]
	for p := -1; p < len(w); p++ {
		if v := speed(p); math.Abs(v) > 1e-9 {
			if ev, ok := lp.next(variable(p), p, v, lp.value[variable(p)], 0); ok {
				lp.ahead = append(lp.ahead, ev)
			}
		}
	}
	heap.Init(&lp.ahead)
	for lp.ahead.Len() > 0 {
		ev := lp.ahead[0]
		v, moves := variable(ev.place), speed(ev.place)
		if rate += ev.jump; rate >= -slack {
			lp.move(e, dir, ev, w)
			return
		}
		r := v - len(lp.cols) // a level: only those have finite jumps
		at := 0.0
		if moves > 0 {
			at = lp.rows[r][lp.seg[r]]
			lp.seg[r]++
		} else {
			lp.seg[r]--
			at = lp.rows[r][lp.seg[r]]
		}
		if following, ok := lp.next(v, ev.place, moves, at, ev.at); ok {
			lp.ahead[0] = following
			heap.Fix(&lp.ahead, 0)
		} else {
			heap.Pop(&lp.ahead)
		}
	}
	lp.stuck = true // costs are never below 0, so only rounding leads here
}

// move carries out a step up to an event.
func (lp *coverLP) move(e int, dir float64, ev event, w []float64) {
	for p, v := range w {
		lp.value[lp.basis[p]] -= dir * ev.at * v
	}
	lp.value[e] += dir * ev.at
	if ev.place < 0 {
		lp.rest(e, dir > 0)
		return
	}
	lp.rest(lp.basis[ev.place], -dir*w[ev.place] > 0)
	lp.swap(e, ev.place, w)
}

// rest puts a variable that leaves the basis, or stays outside, on the bound or
// breakpoint that it reached, rising or falling.
func (lp *coverLP) rest(v int, rising bool) {
	if r := v - len(lp.cols); r >= 0 {
		if !rising {
			lp.seg[r]--
		}
		lp.value[v] = lp.rows[r][lp.seg[r]]
		return
	}
	lp.value[v] = lp.lo[v]
	if rising {
		lp.value[v] = lp.hi[v]
	}
}

// swap takes e into the basis at the place of the variable that leaves.
func (lp *coverLP) swap(e, place int, w []float64) {
	m := len(lp.rows)
	lp.where[lp.basis[place]], lp.where[e], lp.basis[place] = -1, place, e
	pivot := lp.inverse[place*m : place*m+m]
	for r := range pivot {
		pivot[r] /= w[place]
	}
	for p, v := range w {
		if p == place || v == 0 {
			continue
		}
		row := lp.inverse[p*m : p*m+m]
		for r, x := range pivot {
			row[r] -= v * x
		}
	}
}

// refresh computes the inverse and the values of the basis again, so that rounding
// does not add up.
func (lp *coverLP) refresh() {
	m, n := len(lp.rows), len(lp.cols)
	b := mat.NewDense(m, m, nil)
	right := make([]float64, m)
	for p, v := range lp.basis {
		if v >= n {
			b.Set(v-n, p, -1)
			continue
		}
		for _, r := range lp.cols[v] {
			b.Set(r, p, 1)
		}
	}
	for j, rows := range lp.cols {
		if lp.where[j] < 0 && lp.value[j] != 0 {
			for _, r := range rows {
				right[r] -= lp.value[j]
			}
		}
	}
	for r := range lp.rows {
		if lp.where[n+r] < 0 {
			right[r] += lp.value[n+r]
		}
	}
	var inverse mat.Dense
	if inverse.Inverse(b) != nil {
		return // too near to singular to be better than what there is
	}
	copy(lp.inverse, inverse.RawMatrix().Data)
	for p, v := range lp.basis {
		sum := 0.0
		for r, x := range right {
			sum += lp.inverse[p*m+r] * x
		}
		lp.value[v] = sum
	}
}

// choice is how much of each offer is bought.
func (lp *coverLP) choice() []float64 {
	out := make([]float64, len(lp.cols))
	for j := range out {
		out[j] = max(lp.lo[j], min(lp.hi[j], lp.value[j]))
	}
	return out
}

// prices are what covering one level of each row is worth.
func (lp *coverLP) prices() []float64 {
	out := make([]float64, len(lp.rows))
	for r, v := range lp.y {
		out[r] = v * lp.scale
	}
	return out
}
