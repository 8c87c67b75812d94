// Package joint plans several GPU models and kinds of product at once. It matches the demand to the
// models of a market, finds cheap purchases, and proves a lower bound on the cost of every plan.
// The Result is the document of the plan.
package joint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/money/billing"
)

// Result is a joint plan.
type Result struct {
	Schema      string     `json:"schema"`
	Currency    string     `json:"currency"`
	Cost        capcli.USD `json:"cost_usd"`
	CostYear    capcli.USD `json:"cost_usd_per_year"`
	Commitments capcli.USD `json:"commitments_usd"`
	OnDemand    capcli.USD `json:"on_demand_usd"`
	AllOnDemand capcli.USD `json:"all_on_demand_cost_usd"`
	Bound       capcli.USD `json:"bound_usd"` // lower bound on every plan
	Gap         float64    `json:"gap"`       // most that Cost can be above the optimum, as a share of Bound
	Purchases   []Purchase `json:"purchases"`
	Models      []Model    `json:"gpu_models"`
	Moves       []Moved    `json:"moves,omitempty"`         // none where nothing may move
	Without     *Without   `json:"without_moves,omitempty"` // the plan in which nothing moves
	Notes       []string   `json:"notes"`

	Length  capcli.Seconds `json:"-"` // length of the demand
	Partial string         `json:"-"` // what is missing of the input; "" is nothing
}

// Moved is the work that one move takes over a span of time in which what is bought stays the same.
// Start and End are as in Purchase.
type Moved struct {
	From    string  `json:"from_gpu_model"`
	To      string  `json:"to_gpu_model"`
	Speed   float64 `json:"speed"` // hours of From that are one hour of To
	Start   any     `json:"start"`
	End     any     `json:"end"`
	May     float64 `json:"may_move_gpu_hours"`
	Moved   float64 `json:"moved_gpu_hours"`   // hours of From
	Arrived float64 `json:"arrived_gpu_hours"` // the same work in hours of To, rounded up by step
	Busy    float64 `json:"moving_hours"`      // time in which some work moves
}

// Without is the cheapest plan found in which nothing moves.
type Without struct {
	Cost  capcli.USD `json:"cost_usd"`
	Bound capcli.USD `json:"bound_usd"`
	Saved capcli.USD `json:"moves_save_usd"` // Cost less that of the plan with moves; 0 or more
}

// Purchase is an amount bought of one offer at one time: GPUs of a model, or money an hour for all
// models. Start and End are days, or instants in RFC 3339 where they are not at midnight, or
// seconds where the demand has no dates.
type Purchase struct {
	Offer    string     `json:"offer"`
	Product  string     `json:"product"`
	Model    *string    `json:"gpu_model"`
	Start    any        `json:"start"`
	End      any        `json:"end"`
	GPUs     *float64   `json:"gpus"`
	PerHour  *float64   `json:"commitment_usd_per_hour"`
	Cost     capcli.USD `json:"cost_usd"`
	Ended    bool       `json:"ended_early"`
	Extended bool       `json:"extended"`
}

// Model is the use of one GPU model by the way it is served.
type Model struct {
	Name     string  `json:"gpu_model"`
	Wanted   float64 `json:"wanted_gpu_hours"`
	Reserved float64 `json:"reserved_gpu_hours"` // served by its own purchases
	Planned  float64 `json:"plan_gpu_hours"`     // served under plans
	OnDemand float64 `json:"on_demand_gpu_hours"`
	Out      float64 `json:"moved_out_gpu_hours,omitempty"` // wanted, and served by other models
	In       float64 `json:"moved_in_gpu_hours,omitempty"`  // wanted of other models, and served by this one
}

// Plan finds cheap purchases in a market for the demand of its GPU models. Each model has a series
// of its name. Errors are those of curve.Question.Plan.
func Plan(ctx context.Context, m *scenarios.Market, hs *demand.Histories) (*Result, error) {
	curves, err := curvesOf(m, hs)
	if err != nil {
		return nil, err
	}
	for _, o := range m.Offers {
		if o.Fixed && !curves[0].Dated() {
			return nil, &capcli.InputError{File: m.File, Line: o.Line, Field: "from", Text: fmt.Sprintf("offer %s has dates, and the demand has none", o.Name), Hint: "give the demand times, or the offer a term"}
		}
	}
	p, err := newProblem(m, curves)
	if err != nil {
		return nil, curve.Failed(hs.Inputs[0], err)
	}
	best, err := p.solve(ctx)
	if err != nil {
		return nil, curve.Failed(hs.Inputs[0], err)
	}
	out := &Result{
		Schema: "capcli/plan_joint/v1", Currency: "USD", Cost: best.cost, Commitments: best.commitments, OnDemand: best.onDemand, AllOnDemand: best.allOnDemand,
		Bound: best.bound, Gap: best.gap(), Purchases: []Purchase{}, Notes: append([]string{billing.YearNote}, p.notes(hs)...), Length: curves[0].Len(), Partial: hs.Partial,
	}
	out.CostYear, _ = billing.PerYear(out.Cost, out.Length)
	for _, x := range best.purchases {
		out.Purchases = append(out.Purchases, p.document(x))
	}
	out.Models = p.models(best)
	for i := range best.moved {
		out.Moves = append(out.Moves, p.movedDocument(&best.moved[i]))
	}
	if w := best.without; w != nil {
		out.Without = &Without{w.cost, w.bound, w.cost - best.cost}
	}
	return out, nil
}

func (p *problem) models(s *solution) []Model {
	in, leave := make([]capcli.GPUTime, len(p.GPUs)), make([]capcli.GPUTime, len(p.GPUs))
	for i := range s.moved {
		x := &s.moved[i]
		leave[p.Moves[x.move].From] += x.left
		in[p.Moves[x.move].To] += x.arrived
	}
	var out []Model
	for i, g := range p.GPUs {
		out = append(out, Model{
			Name: g.Model, Wanted: s.wanted[i].Hours(), Reserved: s.reserved[i].Hours(), Planned: s.planned[i].Hours(),
			OnDemand: (s.wanted[i] - leave[i] + in[i] - s.reserved[i] - s.planned[i]).Hours(), Out: leave[i].Hours(), In: in[i].Hours(),
		})
	}
	return out
}

func (p *problem) movedDocument(x *moved) Moved {
	m, start := &p.Moves[x.move], p.curves[0].Start
	return Moved{
		From: p.GPUs[m.From].Model, To: p.GPUs[m.To].Model, Speed: float64(m.Speed) / 1000, Start: instant(start, x.from), End: instant(start, x.to),
		May: x.may.Hours(), Moved: x.left.Hours(), Arrived: x.arrived.Hours(), Busy: float64(x.busy) / float64(capcli.Hour),
	}
}

// Lead returns the answer in one sentence or two: what to buy, what it costs, what the moves save,
// and how near the optimum it is.
func (r *Result) Lead() string {
	proof := "no plan costs less"
	switch {
	case r.Gap > 0 && r.Gap <= 1e-6:
		proof = "no plan costs less (to a millionth of the cost)"
	case r.Gap > 0:
		proof = fmt.Sprintf("no plan costs less than %s, so this one is at most %.3g%% above the cheapest", r.Bound, 100*r.Gap)
	}
	out := fmt.Sprintf("Buy nothing: all on demand costs %s over %s; %s.", r.AllOnDemand, r.Length, proof)
	if n := int64(len(r.Purchases)); n > 0 {
		out = fmt.Sprintf("Make %d %s: %s over %s, %s a year; all on demand costs %s; %s.", n, capcli.Plural(n, "purchase"), r.Cost, r.Length, r.CostYear, r.AllOnDemand, proof)
	} else if r.Cost < r.AllOnDemand { // what is moved is cheaper, all of it on demand
		out = fmt.Sprintf("Buy nothing: on demand costs %s over %s, where work moves; %s without; %s.", r.Cost, r.Length, r.AllOnDemand, proof)
	}
	if r.Without != nil {
		out += r.leadOfMoves()
	}
	return out
}

// leadOfMoves returns what moves, by pair of models, and what it saves.
func (r *Result) leadOfMoves() string {
	type pair struct{ from, to string }
	var order []pair
	moved, may := map[pair]float64{}, map[pair]float64{}
	for i := range r.Moves {
		x := &r.Moves[i]
		k := pair{x.From, x.To}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		moved[k] += x.Moved
		may[k] += x.May
	}
	var parts []string
	for _, k := range order {
		if moved[k] > 0 {
			parts = append(parts, fmt.Sprintf("%.3g%% of the work of %s that may run on %s", 100*moved[k]/may[k], k.from, k.to))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf(" No work moves: the cheapest plan found costs the same without moves, %s.", r.Without.Cost)
	}
	if r.Without.Saved == 0 {
		return fmt.Sprintf(" Move %s; it saves nothing: %s without.", strings.Join(parts, ", "), r.Without.Cost)
	}
	return fmt.Sprintf(" Move %s: it saves %s of the %s that the cheapest plan found without moves costs.", strings.Join(parts, ", "), r.Without.Saved, r.Without.Cost)
}

// curvesOf returns the demand for each model of a market, in order.
func curvesOf(m *scenarios.Market, hs *demand.Histories) ([]*plan.Curve, error) {
	var curves []*plan.Curve
	for _, g := range m.GPUs {
		h, err := curve.Named(hs, g.Model)
		if err != nil && len(hs.List) == 1 && len(m.GPUs) == 1 {
			h, err = hs.List[0], nil
		}
		if err != nil {
			return nil, &capcli.InputError{File: m.File, Field: "gpus", Text: fmt.Sprintf("the demand has no series for it: %v", err), Hint: "gpu_model names a series of the demand (its unique_id)"}
		}
		grid := curve.Grid(h, capcli.Step{})
		c, err := plan.NewCurve(grid.Origin, grid.Step, h.Values)
		var at *plan.StepError
		if errors.As(err, &at) {
			return nil, &capcli.InputError{File: hs.Inputs[0], Field: "y", Text: fmt.Sprintf("%s, %s: %s", h.Name, h.StampText(at.Step), at.Text), Hint: "a demand is GPUs, 0 or more; for gaps say --gaps zero, linear or previous"}
		}
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return curves, nil
}

// notes returns the notes of the demand, one for each series that no model has, and what is assumed
// of the time after the demand.
func (p *problem) notes(hs *demand.Histories) []string {
	out, m := append([]string{}, hs.Notes...), p.Market
	switch p.after.Rule {
	case plan.Prorated:
		out = append(out, "purchases that last beyond the end of the demand count with their time within it: what lies beyond is neither charged nor worth anything (after: prorated)")
	case plan.Tail:
		out = append(out, "assumed*: after the end of the demand, the tail of each model is wanted until the last purchase that is offered ends; all of each is paid (after: tail)")
	case plan.InFull:
		out = append(out, "purchases may last beyond the end of the demand, and all of each is paid (after: whole)")
	case plan.Fitting:
		out = append(out, "purchases that would end after the demand are not offered (after: fitting)")
	}
	for _, h := range hs.List {
		if len(hs.List) > 1 && !slices.ContainsFunc(m.GPUs, func(g scenarios.MarketGPU) bool { return g.Model == h.Name }) {
			out = append(out, fmt.Sprintf("the series %s is left out: the market has no such model", h.Name))
		}
	}
	return out
}

func (p *problem) document(x purchase) Purchase {
	o, start := &p.Offers[x.offer], p.curves[0].Start
	out := Purchase{Offer: o.Name, Product: o.Product, Start: instant(start, x.from), End: instant(start, x.to), Cost: x.cost, Ended: x.left, Extended: x.extended}
	size := float64(x.milli) / 1000
	if o.Model < 0 {
		out.PerHour = &size
	} else {
		out.Model, out.GPUs = &p.GPUs[o.Model].Model, &size
	}
	return out
}

// instant returns the day or time that is at seconds after start; the seconds where start is
// unknown.
func instant(start capcli.Time, at capcli.Seconds) any {
	if !start.IsKnown() {
		return int64(at)
	}
	t := start + capcli.Time(at)
	if t%capcli.Time(capcli.Day) == 0 {
		return t.Date()
	}
	return t.String()
}
