// Package linear solves linear programs with piecewise-linear costs:
//
//	min Σ f(x)  so that  Σ coefficients · x = right, in each row,
//
// where the cost f of each variable is convex and piecewise linear. A bound is a break
// beyond which the slope is infinite.
//
// The method is the primal simplex for piecewise-linear costs (Fourer 1985, "A simplex algorithm
// for piecewise-linear programming I") with a dense inverse of the basis. The basis has as many
// columns as there are rows, however many breaks the costs have. Results are floating point: they
// guide a search whose bounds are exact.
package linear

import (
	"container/heap"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli"
)

// Variable is a variable of a program: its coefficients in the rows, and its cost. Slope k holds
// below break k, the last one above all breaks; slopes rise.
type Variable struct {
	Rows           []int
	Coefficients   []float64 // in the order of Rows; nil is 1 in each
	Breaks, Slopes []float64
}

// Bounded returns a variable from lo to hi, which may be infinite, with one slope of cost.
func Bounded(rows []int, coefficients []float64, cost, lo, hi float64) Variable {
	v := Variable{rows, coefficients, []float64{lo}, []float64{math.Inf(-1), cost}}
	switch {
	case lo == hi:
		v.Slopes[1] = math.Inf(1)
	case !math.IsInf(hi, 1):
		v.Breaks, v.Slopes = append(v.Breaks, hi), append(v.Slopes, math.Inf(1))
	}
	return v
}

// Program is a program in progress. A variable outside the basis is at one of its breaks.
type Program struct {
	// Prices are the cost of one more unit of the right side of each row.
	Prices []float64
	Values []float64 // value of each variable
	Pivots int

	variables []Variable
	right     []float64
	inverse   []float64 // inverse of the basis, by row
	basis     []int     // variable of each row
	where     []int     // index in the basis; -1 outside
	segment   []int     // of each variable: its segment, or outside the basis the break that it is at
	stuck     bool
	ahead     capcli.Heap[event]
}

// NewProgram returns a program that starts from a basis, one variable for each row. All other
// variables are at their first break, or at the break that at gives. The start must be within all
// bounds.
func NewProgram(right []float64, variables []Variable, basis []int, at map[int]int) *Program {
	n, m := len(variables), len(right)
	p := &Program{
		Prices: make([]float64, m), Values: make([]float64, n), variables: variables, right: right,
		inverse: make([]float64, m*m), basis: basis, where: make([]int, n), segment: make([]int, n),
	}
	for j := range variables {
		p.where[j], p.segment[j] = -1, at[j]
	}
	for r, j := range basis {
		p.where[j] = r
	}
	for j, v := range variables {
		if p.where[j] < 0 {
			p.Values[j] = v.Breaks[p.segment[j]]
		}
	}
	p.refresh()
	for _, j := range basis {
		p.segment[j] = variables[j].segmentOf(p.Values[j])
	}
	return p
}

// segmentOf returns the segment of a value, among those within the bounds.
func (v *Variable) segmentOf(value float64) int {
	k := 0
	for k < len(v.Breaks) && (v.Breaks[k] < value || math.IsInf(v.Slopes[k], -1)) && !math.IsInf(v.Slopes[k+1], 1) {
		k++
	}
	return k
}

// Add adds a variable at its first break, which must be 0.
func (p *Program) Add(v Variable) {
	p.variables, p.Values = append(p.variables, v), append(p.Values, 0)
	p.where, p.segment = append(p.where, -1), append(p.segment, 0)
}

// tiny is the least reduced cost that makes a variable enter.
const tiny = 1e-11

// Solve runs the simplex until nothing improves or ctx ends, for at most most pivots more. In the
// second half of them it takes the first variable that improves, so that it cannot cycle.
func (p *Program) Solve(ctx context.Context, most int) {
	for k := 0; k < most && !p.stuck; k++ {
		if k%64 == 0 && ctx.Err() != nil {
			return
		}
		p.reprice()
		e, dir, rate := p.enter(k > most/2)
		if e < 0 {
			return
		}
		p.step(e, dir, rate)
		if p.Pivots++; p.Pivots%100 == 0 {
			p.refresh()
		}
	}
}

// coefficient returns the variable's coefficient in the k-th of its rows.
func (v *Variable) coefficient(k int) float64 {
	if v.Coefficients == nil {
		return 1
	}
	return v.Coefficients[k]
}

// reprice sets the prices of the rows: the costs of the basis times its inverse.
func (p *Program) reprice() {
	m := len(p.right)
	clear(p.Prices)
	for place, b := range p.basis {
		if c := p.variables[b].Slopes[p.segment[b]]; c != 0 {
			for r, v := range p.inverse[place*m : place*m+m] {
				p.Prices[r] += c * v
			}
		}
	}
}

// enter returns the variable outside the basis with the most negative rate, its direction and the
// rate; with first, the first variable with a negative rate. It returns -1 where none improves.
func (p *Program) enter(first bool) (e int, dir, best float64) {
	e, best = -1, -tiny
	for j := range p.variables {
		if p.where[j] >= 0 {
			continue
		}
		v, k := &p.variables[j], p.segment[j]
		worth := 0.0
		for i, r := range v.Rows {
			worth += v.coefficient(i) * p.Prices[r]
		}
		if up := v.Slopes[k+1] - worth; up < best {
			e, dir, best = j, 1, up
		}
		if down := worth - v.Slopes[k]; down < best {
			e, dir, best = j, -1, down
		}
		if first && e >= 0 {
			break
		}
	}
	return e, dir, best
}

// column returns the inverse of the basis times the column of a variable.
func (p *Program) column(e int) []float64 {
	m, v := len(p.right), &p.variables[e]
	w := make([]float64, m)
	for place := range w {
		row := p.inverse[place*m : place*m+m]
		for i, r := range v.Rows {
			w[place] += v.coefficient(i) * row[r]
		}
	}
	return w
}

// event is the next point on the path of the entering variable at which a variable reaches a break,
// after which the rate is worse.
type event struct {
	at    float64 // how far the entering variable has moved
	place int     // in the basis; -1 is the entering variable itself
	jump  float64 // increase of the rate; infinite at a bound
}

// nextEvent returns the next event of a variable that moves at a speed, from a value that it has
// after the distance at; false where no break is ahead.
func (p *Program) nextEvent(j, place int, speed, value, at float64) (event, bool) {
	v, k := &p.variables[j], p.segment[j]
	beyond := k + 1
	if speed < 0 {
		k, beyond = k-1, k-1
	}
	if k < 0 || k >= len(v.Breaks) {
		return event{}, false
	}
	return event{at + max(0, (v.Breaks[k]-value)/speed), place, speed * (v.Slopes[beyond] - v.Slopes[p.segment[j]])}, true
}

// Precedes orders by distance, then place.
func (e event) Precedes(f event) bool { return e.at < f.at || e.at == f.at && e.place < f.place }

// step moves a variable while that lowers the cost: past breaks, until the rate is used up or a
// bound is reached. It changes the basis where another variable stops it.
func (p *Program) step(e int, dir, rate float64) {
	w := p.column(e)
	if dir > 0 {
		p.segment[e]++ // from the break into the segment above it
	}
	moving := func(place int) (variable int, speed float64) {
		if place < 0 {
			return e, dir
		}
		return p.basis[place], -dir * w[place]
	}
	p.ahead = p.ahead[:0]
	for place := -1; place < len(w); place++ {
		if j, speed := moving(place); math.Abs(speed) > 1e-9 {
			if ev, ok := p.nextEvent(j, place, speed, p.Values[j], 0); ok {
				p.ahead = append(p.ahead, ev)
			}
		}
	}
	heap.Init(&p.ahead)
	for p.ahead.Len() > 0 {
		ev := p.ahead[0]
		if rate += ev.jump; rate >= -tiny {
			p.move(e, dir, ev, w)
			return
		}
		j, speed := moving(ev.place)
		if speed < 0 {
			p.segment[j]--
		}
		at := p.variables[j].Breaks[p.segment[j]]
		if speed > 0 {
			p.segment[j]++
		}
		if following, ok := p.nextEvent(j, ev.place, speed, at, ev.at); ok {
			p.ahead[0] = following
			heap.Fix(&p.ahead, 0)
		} else {
			heap.Pop(&p.ahead)
		}
	}
	p.stuck = true // the cost is bounded from below, so only rounding leads here
}

// move carries out a step up to an event.
func (p *Program) move(e int, dir float64, ev event, w []float64) {
	for place, v := range w {
		p.Values[p.basis[place]] -= dir * ev.at * v
	}
	p.Values[e] += dir * ev.at
	if ev.place < 0 {
		p.leave(e, dir > 0)
		return
	}
	p.leave(p.basis[ev.place], -dir*w[ev.place] > 0)
	p.swap(e, ev.place, w)
}

// leave sets a variable that leaves the basis, or stays outside, to the break that it reached, from
// below where rising.
func (p *Program) leave(j int, rising bool) {
	if !rising {
		p.segment[j]--
	}
	p.Values[j] = p.variables[j].Breaks[p.segment[j]]
}

// swap puts e into the basis in place of the variable that leaves.
func (p *Program) swap(e, place int, w []float64) {
	m := len(p.right)
	p.where[p.basis[place]], p.where[e], p.basis[place] = -1, place, e
	pivot := p.inverse[place*m : place*m+m]
	for r := range pivot {
		pivot[r] /= w[place]
	}
	for other, v := range w {
		if other == place || v == 0 {
			continue
		}
		row := p.inverse[other*m : other*m+m]
		for r, x := range pivot {
			row[r] -= v * x
		}
	}
}

// Refresh recomputes the values, so that they have no rounding errors but those of the last basis.
func (p *Program) Refresh() { p.refresh() }

// refresh recomputes the inverse and the values of the basis, so that rounding errors do not add
// up.
func (p *Program) refresh() {
	m := len(p.right)
	b := mat.NewDense(m, m, nil)
	right := append([]float64(nil), p.right...)
	for j := range p.variables {
		v := &p.variables[j]
		for i, r := range v.Rows {
			if place := p.where[j]; place >= 0 {
				b.Set(r, place, v.coefficient(i))
			} else {
				right[r] -= v.coefficient(i) * p.Values[j]
			}
		}
	}
	var inverse mat.Dense
	if inverse.Inverse(b) != nil {
		return // too near to singular: the old inverse is better
	}
	copy(p.inverse, inverse.RawMatrix().Data)
	for place, j := range p.basis {
		sum := 0.0
		for r, x := range right {
			sum += p.inverse[place*m+r] * x
		}
		p.Values[j] = sum
	}
}
