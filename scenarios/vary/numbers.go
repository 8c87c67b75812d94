package vary

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/outcome"
	"capcli/scenarios/whatif"
)

// Paths of the numbers that can be changed.
const (
	gpusPath     = "commitment.gpus"
	monthsPath   = "commitment.months"
	ratePath     = "commitment.price"
	fencedPath   = "fenced.price"
	onDemandPath = "on_demand.price"
	spotPath     = "spot.share_percent"
	spotRatePath = "spot.price"
	demandPath   = "demand.percent"
	waitPath     = "limit.wait_p95_minutes"
	budgetPath   = "limit.budget_usd"
)

// Group is knobs that a page shows together.
type Group struct {
	Title string
	Note  string // what the group cannot vary, and why; "" where there is nothing
	Knobs []whatif.Knob
}

// numbers are the numbers of a request.
type numbers struct {
	*Engine
	milli    int64 // bought first, in thousandths of GPUs; below 0 as decided
	months   int   // of the first purchases; 0 as decided
	rate     capcli.Rate
	fenced   capcli.Rate
	onDemand capcli.Rate
	spot     int64 // thousandths of what is not covered
	spotRate capcli.Rate
	demand   int64 // thousandths of the futures'
	limits   []outcome.Check
	priced   bool // rate is another than the decision's
	limited  bool // a limit is another than the decision's
	notes    []string
}

// firstTerm returns the term of the first purchases, its rate, and what is bought first.
func (w *World) firstTerm() (t Term, milli int64) {
	if len(w.Terms) == 0 {
		return t, 0
	}
	t = w.Terms[0]
	for i := len(w.Bought) - 1; i >= 0; i-- {
		p := &w.Bought[i]
		if p.From == 0 {
			milli += p.Milli
		}
		if p.From == 0 || i == 0 && milli == 0 {
			t = w.Terms[p.Term]
		}
	}
	return t, milli
}

// limit returns the value of the upper limit on a metric; NaN where there is none.
func limit(list []outcome.Check, metric string) float64 {
	out := math.NaN()
	for _, c := range list {
		if c.Metric.Name == metric && c.Op[0] == '<' && !(out < c.Value) {
			out = c.Value
		}
	}
	return out
}

// number writes a number as an input holds it; "" where it is not known.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Groups returns the knobs with the values of the decision.
func (e *Engine) Groups() []Group {
	w := e.w
	knob := func(path, label, unit, value string, most, step float64) whatif.Knob {
		return whatif.Knob{Path: path, Label: label, Kind: whatif.Number, Unit: unit, Value: value, Max: most, Step: step}
	}
	price := func(path, label string, r capcli.Rate) whatif.Knob {
		return knob(path, label, "usd_per_gpu_hour", r.Decimal(), max(1, math.Ceil(3*r.Float())), 0.01)
	}
	order := Group{Title: "What is bought"}
	t, milli := w.firstTerm()
	if len(w.Terms) > 0 {
		lot := float64(w.Lot) / 1000
		top := math.Ceil(1.5*max(float64(milli), float64((&numbers{Engine: e, demand: 1000}).highestDemand()))/float64(w.Lot)) * lot
		order.Knobs = append(order.Knobs,
			knob(gpusPath, "GPUs committed first", "gpus", number(float64(milli)/1000), top, lot),
			knob(monthsPath, "Term, months", "months", strconv.Itoa(t.Months), mostMonths/2, 1),
			price(ratePath, "Commitment, $ a GPU-hour", t.Rate))
	} else {
		order.Note = "No commitment that covers use has a price, so its size and term cannot be varied; the fenced sizes are those that were played."
	}
	if w.Fenced != nil {
		order.Knobs = append(order.Knobs, price(fencedPath, "Fenced GPUs, $ a GPU-hour", w.Fenced.Rate))
	}
	spot := Group{Title: "What is not covered", Note: "Spot is a share of the use above the commitment. That it is taken back is not counted: what is lost and run again costs more."}
	spotRate := ""
	if w.Spot != nil {
		spotRate = w.Spot.Rate.Decimal()
	} else {
		spot.Note += " No spot price is listed here: type one."
	}
	x := price(spotRatePath, "Spot, $ a GPU-hour", w.OnDemand.Rate)
	x.Value = spotRate
	spot.Knobs = append(spot.Knobs, price(onDemandPath, "On demand, $ a GPU-hour", w.OnDemand.Rate), knob(spotPath, "Spot share, %", "percent", "0", 100, 1), x)
	limits := Group{Title: "Limits", Note: "With commitments that cover nobody waits, so any limit on waits holds."}
	if len(w.Places) > 0 {
		limits.Note += " It chooses among the sizes of fenced GPUs that were played."
	}
	budget := limit(e.limits, "cost")
	limits.Knobs = append(limits.Knobs,
		knob(waitPath, "95% wait at most, minutes", "min", number(limit(e.limits, "wait_p95")/60), 1440, 5),
		knob(budgetPath, "Budget until the end, $", "usd", number(budget), math.Ceil(2*max(budget, w.scale())), 1000))
	grow := Group{Title: "Demand", Knobs: []whatif.Knob{knob(demandPath, "Demand, % of the forecast", "percent", "100", 300, 1)}}
	if len(w.Places) > 0 {
		grow.Note = "Fenced sizes stay as they were played: with more demand other jobs wait, and those are not here."
	}
	return []Group{order, grow, spot, limits}
}

// scale returns a cost of the order of the decision's, in dollars.
func (w *World) scale() float64 {
	if w.Decided == nil {
		return 1e6
	}
	return w.Decided.Cost.Float()
}

func (e *Engine) read(changes []whatif.Change) (*numbers, error) {
	t, _ := e.w.firstTerm()
	q := &numbers{Engine: e, milli: -1, rate: t.Rate, onDemand: e.w.OnDemand.Rate, spotRate: -1, demand: 1000, limits: slices.Clone(e.limits)}
	if e.w.Spot != nil {
		q.spotRate = e.w.Spot.Rate
	}
	if e.w.Fenced != nil {
		q.fenced = e.w.Fenced.Rate
	}
	for _, c := range changes {
		v, err := strconv.ParseFloat(c.Value, 64)
		if err != nil || !(v >= 0) {
			return nil, &capcli.RequestError{Field: c.Path, Text: fmt.Sprintf("wants a number of 0 or more, found %.40q", c.Value)}
		}
		if err := q.set(c.Path, v); err != nil {
			return nil, err
		}
	}
	if q.spot > 0 && q.spotRate < 0 {
		return nil, &capcli.RequestError{Field: spotRatePath, Text: "is missing: no spot price of these GPUs is listed", Hint: "type the price beside the share"}
	}
	if q.months > 0 && !q.priced {
		q.rate = q.listed(t)
	}
	return q, nil
}

func (q *numbers) set(path string, v float64) error {
	most := map[string]float64{
		gpusPath: mostMilli / 1000, monthsPath: mostMonths, ratePath: mostRate / 1e6, fencedPath: mostRate / 1e6, onDemandPath: mostRate / 1e6,
		spotPath: 100, spotRatePath: mostRate / 1e6, demandPath: 1000, waitPath: 1e6, budgetPath: 9e12,
	}
	top, known := most[path]
	if !known || len(q.w.Terms) == 0 && (path == gpusPath || path == monthsPath || path == ratePath) {
		return &capcli.RequestError{Field: "changes", Text: fmt.Sprintf("has the path %.60q, which this decision has no number for", path)}
	}
	if v > top {
		return &capcli.RequestError{Field: path, Text: fmt.Sprintf("wants at most %s, found %s", number(top), number(v))}
	}
	rate := capcli.Rate(math.Round(v * 1e6))
	switch path {
	case gpusPath:
		lot := float64(q.w.Lot)
		q.milli = int64(math.Round(1000*v/lot) * lot)
		if got := float64(q.milli) / 1000; got != v {
			q.notes = append(q.notes, fmt.Sprintf("GPUs are bought in whole machines of %s: %s are priced.", number(lot/1000), number(got)))
		}
	case monthsPath:
		if q.months = int(v); v != math.Trunc(v) || v < 1 {
			return &capcli.RequestError{Field: path, Text: fmt.Sprintf("wants whole months, 1 or more, found %s", number(v))}
		}
	case ratePath:
		q.rate, q.priced = rate, true
	case fencedPath:
		q.fenced = rate
	case onDemandPath:
		q.onDemand = rate
	case spotPath:
		q.spot = int64(math.Round(10 * v))
	case spotRatePath:
		q.spotRate = rate
	case demandPath:
		q.demand = int64(math.Round(10 * v))
	case waitPath:
		return q.limitTo("wait_p95", fmt.Sprintf("wait_p95<=%ss", number(math.Round(60*v))))
	case budgetPath:
		return q.limitTo("cost", fmt.Sprintf("cost<=$%.2f", v))
	}
	return nil
}

// limitTo puts a limit in place of the upper limits on its metric.
func (q *numbers) limitTo(metric, text string) error {
	c, err := outcome.ParseCheck(text)
	if err != nil {
		return err
	}
	q.limited = true
	q.limits = append(slices.DeleteFunc(q.limits, func(c outcome.Check) bool { return c.Metric.Name == metric && c.Op[0] == '<' }), c)
	return nil
}

// listed returns the rate of the term that was asked for, or that of the decision's where none is listed.
func (q *numbers) listed(own Term) capcli.Rate {
	for _, t := range q.w.Terms {
		if t.Months == q.months {
			q.notes = append(q.notes, fmt.Sprintf("%d months are bought at the listed %s a GPU-hour.", t.Months, t.Rate))
			return t.Rate
		}
	}
	q.notes = append(q.notes, fmt.Sprintf("No price of %d months is listed: they are priced as %s, at %s a GPU-hour.", q.months, own.Name, own.Rate))
	return own.Rate
}

// sized returns the numbers with another size bought first.
func (q *numbers) sized(milli int64) *numbers {
	out := *q
	out.milli = milli
	return &out
}

// bill returns what is paid with the numbers. Another term is bought at the start and again whenever it ends, in place
// of all purchases; another size scales what is bought first, and later purchases stay.
func (q *numbers) bill() *plan.Bill {
	own, milli := q.w.firstTerm()
	if q.milli >= 0 {
		milli = q.milli
	}
	out := &plan.Bill{Held: q.w.OnHand, Lot: q.w.Lot, Demand: q.demand, OnDemand: q.onDemand}
	if q.spot > 0 {
		out.OnDemand = (q.onDemand*capcli.Rate(1000-q.spot) + q.spotRate*capcli.Rate(q.spot) + 500) / 1000
	}
	if q.months > 0 {
		out.Bought = q.m.Renewed(milli, q.months, q.rate)
		return out
	}
	for _, p := range q.w.Bought {
		out.Bought = append(out.Bought, plan.Purchase{Term: p.Term, From: p.From, To: p.To, Milli: p.Milli, Rate: p.Rate})
	}
	if q.milli >= 0 {
		out.Bought = plan.ScaleFirst(out.Bought, q.milli, q.w.Lot)
	}
	for i := range out.Bought {
		p := &out.Bought[i]
		if p.To == 0 { // nothing was bought first
			*p = q.m.Renewed(p.Milli, own.Months, own.Rate)[0]
		}
		switch {
		case !q.priced:
		case own.Rate == p.Rate || own.Rate == 0:
			p.Rate = q.rate
		default: // another term moves in proportion
			p.Rate = capcli.Rate(math.Round(float64(p.Rate) * float64(q.rate) / float64(own.Rate)))
		}
	}
	return out
}
