package joint

import (
	"math"
	"slices"

	"capcli"
	"capcli/simulate/exact"
)

// split divides the work of a segment between the models, at the least cost under given levels. It
// is the linear program
//
//	min Σ list·u  so that
//	  u + Σ t + Σ out - Σ in/speed >= use - level   for each model,
//	  Σ rate·t <= money                             for each plan,
//	  y <= share of the use                         for each move,
//
// where u is on demand, t is under a plan, and y is moved out of one model and into another. Only
// the right side differs between segments and levels. So the basis of one segment is feasible in
// the dual of every other, and often optimal (bunching; Wets 1988, "Large scale linear programming
// techniques"). The dual simplex goes on from it (Lemke 1954).
//
// Amounts are GPUs and dollars an hour.
type split struct {
	p       *problem
	rows    int       // models, then plans, then moves
	width   int       // columns: a slack of each row, on demand of each model, moves, pairs of rank
	start   []float64 // first table, by row
	costs   []float64
	table   []float64 // start times the inverse of the basis, which is in its first columns
	reduced []float64 // reduced costs
	basis   []int
	right   []float64 // right side
	value   []float64 // of the basis
	pivots  int
}

const (
	// moveTax is what a move costs, as a share of the on-demand rate: work that gains nothing stays.
	moveTax = 1e-8
	// splitTiny is the error that a value below 0 may have, as a share of the right side.
	splitTiny = 1e-11
	// splitFresh is the number of pivots after which the table is made anew.
	splitFresh = 2000
)

func (p *problem) newSplit() *split {
	models, plans, moves := len(p.GPUs), len(p.plans), len(p.Moves)
	q := &split{p: p, rows: models + plans + moves}
	q.width = q.rows + models + moves + len(p.rank)
	q.start, q.costs = make([]float64, q.rows*q.width), make([]float64, q.width)
	set := func(row, column int, v float64) { q.start[row*q.width+column] = v }
	for r := range q.rows {
		set(r, r, 1)
	}
	at := q.rows
	for m := range models {
		set(m, at+m, -1)
		q.costs[at+m] = float64(p.list[m]) / 1e6
	}
	at += models
	for j, x := range p.Moves {
		set(x.From, at+j, -1)
		set(x.To, at+j, 1000/float64(x.Speed))
		set(models+plans+j, at+j, 1)
		q.costs[at+j] = moveTax * float64(p.list[x.From]) / 1e6
	}
	at += moves
	for i, x := range p.rank {
		set(x.model, at+i, -1)
		set(models+x.plan, at+i, x.rate/1e6)
	}
	q.right, q.value = make([]float64, q.rows), make([]float64, q.rows)
	q.renew()
	return q
}

// renew starts from the basis of the slacks, which is feasible in the dual: no cost is below 0.
func (q *split) renew() {
	q.table, q.reduced = append(q.table[:0], q.start...), append(q.reduced[:0], q.costs...)
	q.basis, q.pivots = q.basis[:0], 0
	for r := range q.rows {
		q.basis = append(q.basis, r)
	}
}

// fill sets the right side: a segment under levels.
func (q *split) fill(s *segment, levels []float64) {
	p, models := q.p, len(s.work)
	gpu := 1 / float64(1000*s.dur)
	for m, w := range s.work {
		q.right[m] = levels[m]*float64(p.lots[m])/1000 - float64(w)*gpu
	}
	for k := range p.plans {
		q.right[models+k] = levels[models+k] * planMilli / 1e6
	}
	for j, x := range p.Moves {
		q.right[models+len(p.plans)+j] = float64(exact.Portion(s.work[x.From], x.Share, 1e6)) * gpu
	}
}

// solve finds the optimum of the right side.
func (q *split) solve() {
	if q.pivots > splitFresh {
		q.renew()
	}
	least := 1.0
	for r := range q.value {
		q.value[r] = 0
		for c, v := range q.right {
			q.value[r] += q.table[r*q.width+c] * v
		}
		least = max(least, math.Abs(q.right[r]))
	}
	least *= -splitTiny
	for n := range 100 * q.rows {
		out := -1
		for r, v := range q.value {
			switch {
			case v >= least:
			case out < 0, n < 10*q.rows && v < q.value[out], n >= 10*q.rows && q.basis[r] < q.basis[out]:
				out = r // the lowest variable after many steps, so that it cannot cycle (Bland 1977)
			}
		}
		if out < 0 {
			return
		}
		in, best := -1, math.Inf(1)
		for c, v := range q.table[out*q.width : (out+1)*q.width] {
			if v < -1e-10 && q.reduced[c]/-v < best {
				in, best = c, q.reduced[c]/-v
			}
		}
		if in < 0 {
			return
		}
		q.pivot(out, in)
	}
}

// pivot brings a column into the basis in the place of a row's.
func (q *split) pivot(out, in int) {
	q.pivots++
	row := q.table[out*q.width : (out+1)*q.width]
	by := 1 / row[in]
	for c := range row {
		row[c] *= by
	}
	q.value[out] *= by
	for r := range q.rows {
		other := q.table[r*q.width : (r+1)*q.width]
		f := other[in]
		if r == out || f == 0 {
			continue
		}
		for c, v := range row {
			other[c] -= f * v
		}
		q.value[r] -= f * q.value[out]
	}
	f := q.reduced[in]
	for c, v := range row {
		q.reduced[c] = max(0, q.reduced[c]-f*v)
	}
	q.reduced[in] = 0
	q.basis[out] = in
}

// move fills in the moved work of a segment and the use that it leaves each model, in whole
// thousandths of GPU-seconds: what arrives is rounded up.
func (q *split) move(s *segment, o *coverage) {
	at := q.rows + len(s.work)
	clear(o.moved)
	for r, c := range q.basis {
		if j := c - at; j >= 0 && j < len(o.moved) {
			// 1e-6 of a thousandth is the error of a whole amount
			most := exact.Portion(s.work[q.p.Moves[j].From], q.p.Moves[j].Share, 1e6)
			o.moved[j] = min(most, int64(math.Floor(max(0, q.value[r])*float64(1000*s.dur)*(1+1e-12)+1e-6)))
		}
	}
	for j, x := range q.p.Moves {
		o.arrived[j] = arrives(o.moved[j], x.Speed)
		o.use[x.From] -= float64(o.moved[j])
		o.use[x.To] += float64(o.arrived[j])
	}
}

// arrives returns what moved work is on a model of a speed, in thousandths, rounded up.
func arrives(moved, speed int64) int64 {
	whole := moved / speed
	return 1000*whole + (1000*(moved-whole*speed)+speed-1)/speed
}

// addCut adds the lower bound of a segment to a cut. The prices of the rows are made feasible in
// the dual, so that the bound holds whatever their errors: a GPU-second of a model is worth no more
// than on demand or under a plan, and a share that may move is worth the difference of its two
// models.
func (q *split) addCut(s *segment, c *cut) {
	p, models := q.p, len(s.work)
	price := make([]float64, models)
	for m := range price {
		price[m] = min(q.reduced[m]*1e6, float64(p.list[m]))
	}
	for _, x := range p.rank {
		price[x.model] = min(price[x.model], x.rate*q.reduced[models+x.plan])
	}
	for m, w := range s.work {
		c.at += price[m] * float64(w)
		c.slope[m] -= price[m] * float64(p.lots[m]*s.dur)
	}
	for k := range p.plans {
		c.slope[models+k] -= q.reduced[models+k] * float64(planMilli*1000*s.dur)
	}
	for _, x := range p.Moves {
		if saves := price[x.From] - price[x.To]*1000/float64(x.Speed); saves > 0 {
			c.at -= saves * float64(exact.Portion(s.work[x.From], x.Share, 1e6))
		}
	}
}

// spansOfMoves returns, for each move, the spans of time between changes of what is bought.
func (p *problem) spansOfMoves(units []int64) []moved {
	if len(p.Moves) == 0 {
		return nil
	}
	changes := []capcli.Seconds{0, p.curves[0].Len()}
	for j, n := range units {
		if n > 0 {
			changes = append(changes, p.edges[p.columns[j].from], p.edges[p.columns[j].to])
		}
	}
	slices.Sort(changes)
	changes = slices.Compact(changes)
	var out []moved
	for i, from := range changes[:len(changes)-1] {
		for j := range p.Moves {
			out = append(out, moved{move: j, from: from, to: changes[i+1]})
		}
	}
	return out
}

func (s *solution) addMoved(p *problem, period int, seg *segment, o *coverage) {
	for i := range s.moved {
		x := &s.moved[i]
		if at := p.edges[period]; at < x.from || at >= x.to {
			continue
		}
		m := &p.Moves[x.move]
		x.may += capcli.GPUTime(exact.Portion(seg.work[m.From], m.Share, 1e6))
		x.left += capcli.GPUTime(o.moved[x.move])
		x.arrived += capcli.GPUTime(o.arrived[x.move])
		if o.moved[x.move] > 0 {
			x.busy += capcli.Seconds(seg.dur)
		}
	}
}
