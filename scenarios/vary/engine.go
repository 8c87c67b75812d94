package vary

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/live"
	"capcli/scenarios/outcome"
	"capcli/scenarios/whatif"
)

// Engine answers requests about one decision.
type Engine struct {
	w      *World
	m      *plan.Meter
	limits []outcome.Check
}

// Engine returns the engine of a world. It fails with *capcli.InputError where the world is damaged.
func (w *World) Engine() (*Engine, error) {
	m, err := w.Meter()
	if err != nil {
		return nil, err
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	limits, err := w.checks()
	return &Engine{w, m, limits}, err
}

// Answer is what becomes of a decision with changes.
type Answer struct {
	Figures Figures           `json:"figures"`
	Heads   []whatif.Headline `json:"headlines"`
	Limits  []Limit           `json:"limits"`
	Notes   []string          `json:"notes"`           // what the figures stand on; the first says whether all limits hold
	Later   string            `json:"later,omitempty"` // the operation that adds figures which take longer
}

// Limit is a limit, and whether it holds.
type Limit struct {
	Limit string `json:"limit"`
	Text  string `json:"text"` // whether it holds and in how many futures, in words
	Holds bool   `json:"holds"`
}

// Open returns the engine of a world, whose JSON is text, and the JSON {"ok":true}; or the document of the error and
// nil.
func Open(text string) (answer string, e *Engine) {
	answer = live.Guard(func() (any, error) {
		var w World
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			return nil, damaged(err.Error())
		}
		next, err := w.Engine()
		if err != nil {
			return nil, err
		}
		e = next
		return map[string]bool{"ok": true}, nil
	})
	return answer, e
}

// Call answers a request in JSON by the document of its result or of its error. The operations are panel, for Answer,
// and cheapest, for AddCheapest.
func (e *Engine) Call(_ context.Context, operation, request string) string {
	return live.Guard(func() (any, error) {
		if operation != "panel" && operation != "cheapest" {
			return nil, &capcli.RequestError{Field: "operation", Text: fmt.Sprintf("wants panel or cheapest, found %.40q", operation)}
		}
		var r whatif.Request
		if err := live.Decode(request, &r); err != nil {
			return nil, err
		}
		if operation == "cheapest" {
			return e.AddCheapest(r)
		}
		return e.Answer(r)
	})
}

// Answer prices the decision with the changes of r. Changes that a decision has no number for, and values out of
// range, fail with *capcli.RequestError.
func (e *Engine) Answer(r whatif.Request) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	q, err := e.read(r.Changes)
	if err != nil {
		return nil, err
	}
	out := &Answer{Later: "cheapest", Limits: []Limit{}, Notes: []string{}}
	readings, err := e.m.Read(q.bill())
	if err != nil {
		return nil, err
	}
	in, above := make([]plan.InFuture, len(readings)), capcli.Seconds(0)
	for i := range readings {
		in[i] = readings[i].InFuture
		above += readings[i].Above
	}
	out.Figures = Summarise(in, e.m.Len(), q.limits)
	out.Heads = heads(&out.Figures, float64(above)/float64(len(in)))
	q.judge(out)
	q.place(out)
	out.Notes = append(out.Notes, q.notes...)
	return out, nil
}

// AddCheapest returns the figures of a request that take longer: the size of least cost.
func (e *Engine) AddCheapest(r whatif.Request) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	q, err := e.read(r.Changes)
	if err != nil {
		return nil, err
	}
	head := whatif.Headline{Name: "cheapest", Label: "GPUs committed first that cost least, by the mean", Unit: "gpus", Text: "nothing can be bought"}
	best, cost, err := q.cheapest()
	if err != nil {
		return nil, err
	}
	if best >= 0 {
		gpus := float64(best) / 1000
		head.Value, head.Text = &gpus, fmt.Sprintf("%s, at %s", number(gpus), cost.Brief())
	}
	return &Answer{Heads: []whatif.Headline{head}, Limits: []Limit{}, Notes: []string{}}, nil
}

// heads returns figures as a table shows them. above is the mean time above the commitment, in seconds.
func heads(f *Figures, above float64) []whatif.Headline {
	usd := func(name, label string, v capcli.USD) whatif.Headline {
		x := v.Float()
		return whatif.Headline{Name: name, Label: label, Unit: "usd", Value: &x, Text: v.String()}
	}
	part := func(name, label string, v *float64) whatif.Headline {
		x := whatif.Headline{Name: name, Label: label, Unit: "share", Value: v, Text: "n/a", More: true}
		if v != nil {
			x.Text = fmt.Sprintf("%.1f%%", 100**v)
		}
		return x
	}
	hours := above / 3600
	return []whatif.Headline{
		usd("cost", "cost until the end, mean of the futures", f.Cost),
		usd("cost_per_year", "cost a year", f.PerYear),
		usd("cost_low", "cost, lowest of the range", f.Range[0]),
		usd("cost_high", "cost, highest of the range", f.Range[1]),
		usd("cost_worst", "cost, mean of the worst 5%", f.Worst),
		usd("committed", "of it committed", f.Committed),
		usd("on_demand", "of it on demand and spot", f.OnDemand),
		usd("stranded", "committed and not used", f.Stranded),
		part("covered_share", "of the work wanted, covered", f.Covered),
		part("commitment_used_share", "of the commitment, used", f.Used),
		{Name: "hours_above", Label: "hours with more wanted than is committed", Unit: "hours", Value: &hours, Text: capcli.Grouped(int64(hours + 0.5))},
	}
}

// cheapest returns the size of the first purchases of least mean cost, in thousandths of GPUs, with that cost; below 0
// where nothing can be bought. The cost of a size is a sum of costs that fall to a point and rise from there.
func (q *numbers) cheapest() (milli int64, cost capcli.USD, err error) {
	if len(q.w.Terms) == 0 {
		return -1, 0, nil
	}
	costs := map[int64]capcli.USD{}
	at := func(lots int64) capcli.USD {
		if v, known := costs[lots]; known || err != nil {
			return v
		}
		var readings []plan.Reading
		if readings, err = q.m.Read(q.sized(lots * q.w.Lot).bill()); err != nil {
			return 0
		}
		costs[lots] = capcli.MeanUSD(len(readings), true, func(i int) capcli.USD { return readings[i].Cost })
		return costs[lots]
	}
	lo, hi := int64(0), q.highestDemand()/q.w.Lot+1
	for lo < hi && err == nil {
		if mid := (lo + hi) / 2; at(mid) <= at(mid+1) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo * q.w.Lot, at(lo), err
}

// highestDemand returns a demand that no future is above, in thousandths of GPUs.
func (q *numbers) highestDemand() int64 {
	top := int32(0)
	for _, row := range q.m.Milli {
		top = max(top, slices.Max(row))
	}
	return int64(top)*q.demand/1000 + 1
}
