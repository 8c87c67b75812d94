package main

import (
	"context"
	"errors"
	"fmt"

	"capcli"
	"capcli/cmd/report"
	planning "capcli/simulate/plan"
)

// Decisions after the first, and groups that each tells apart from one before.
const (
	againCount    = 3
	againBranches = 3
)

// again finds the plan that decides again, and what it is worth to wait.
func (r *futuresPlan) again(ctx context.Context) error {
	if r.o.futures.wait == "" || r.ask.wait.Length() <= 0 {
		r.noWait = "not asked for (--wait)"
		return nil
	}
	mean, err := r.field.Choose(ctx, planning.Risk{})
	if err != nil {
		return err
	}
	r.waiting, err = r.field.Wait(ctx, planning.Stages{Every: r.ask.wait, Count: againCount, Branches: againBranches}, mean, r.alone)
	if errors.Is(err, planning.ErrNothingAhead) {
		r.noWait = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	a, err := r.field.AssessStaged("again", "the least mean of the cost of a plan that is decided again every "+r.o.futures.wait, r.waiting.Plan)
	r.plans = append(r.plans, a)
	return err
}

// againText says what to buy now where the plan is decided again, and what that
// saves; "" where it saves nothing.
func (r *futuresPlan) againText() string {
	w := r.waiting
	if w == nil || w.Again >= w.Now {
		return ""
	}
	return fmt.Sprintf(" If the plan is decided again every %s, buy %s now; the mean is then %s, %s (%.1f%%) less than with all settled now.",
		r.o.futures.wait, r.frame().buysFirst(w.Plan.Nodes[0].Purchases, 0), w.Again, w.Now-w.Again, 100*float64(w.Now-w.Again)/float64(w.Now))
}

// stageTable says what to buy at the first decisions; every later one is in the
// JSON.
func (r *futuresPlan) stageTable() report.Table {
	t := report.Table{Name: "again", Title: "What to buy if the plan is decided again every " + r.o.futures.wait, Columns: []report.Column{
		{Name: "decide"},
		{Name: "share_of_futures", Head: "futures"},
		{Name: "wanted_before_gpus", Head: "wanted before", Priority: 1},
		{Name: "least_gpus", Head: "least", Priority: 2},
		{Name: "most_gpus", Head: "most", Priority: 2},
		{Name: "buy", Align: report.Left},
	}}
	if r.waiting == nil {
		return t
	}
	for _, n := range r.waiting.Plan.Nodes {
		if n.Stage > 1 {
			continue
		}
		var before, least, most any
		if n.Stage > 0 {
			before, least, most = report.Ratio(n.Wanted), report.Ratio(n.Least), report.Ratio(n.Most)
		}
		t.Rows = append(t.Rows, []any{r.when(n.From), report.Percent(float64(len(n.Futures)) / float64(r.field.Count())), before, least, most, r.frame().buysFirst(n.Purchases, n.From)})
	}
	return t
}

func (r *futuresPlan) waitTable() report.Table {
	t := report.Table{Name: "waiting", Title: "What it is worth to wait " + r.o.futures.wait + "*", Columns: []report.Column{
		{Name: "decide", Align: report.Left},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "saves_usd", Head: "saves"},
	}}
	w := r.waiting
	if w == nil {
		return t
	}
	for _, x := range []struct {
		name, head string
		cost       capcli.USD
	}{
		{"all_now", "all of it now", w.Now},
		{"again", "some now, again every " + r.o.futures.wait, w.Again},
		{"first_now_rest_later", "what the plan buys first now, then again", w.Rest},
		{"all_later", "nothing for " + r.o.futures.wait + ", then again", w.Later},
		{"known", "if the future were known", w.Known},
	} {
		t.Rows = append(t.Rows, []any{report.Label{Name: x.name, Head: x.head}, x.cost, report.Change{Of: w.Now - x.cost}})
	}
	return t
}

// stageAssumptions are what the plan that decides again rests on.
func (r *futuresPlan) stageAssumptions() []string {
	w := r.waiting
	if w == nil {
		return nil
	}
	last := w.Plan.Nodes[len(w.Plan.Nodes)-1].Stage
	text := fmt.Sprintf("deciding again*: %d decisions after the first; what is known then is the demand so far, which divides the futures into groups of equal size, by the demand that it foretells", last)
	if r.field.Count() <= planning.MaxScenarios {
		text = fmt.Sprintf("deciding again*: %d decisions after the first; each future is a scenario, known as soon as its demand differs", last)
	}
	if !w.Plan.Exact() {
		text += "; no plan that decides so costs under " + w.Bound.String()
	}
	return []string{text}
}

// waitingJSON says what waiting is worth. Purchases of a decision are those of each
// future that comes to it.
type waitingJSON struct {
	For       string      `json:"for"`
	Now       capcli.USD  `json:"all_now_usd"`
	Again     capcli.USD  `json:"decide_again_usd"`
	Bound     capcli.USD  `json:"decide_again_lower_bound_usd"`
	Later     capcli.USD  `json:"all_later_usd"`
	Value     capcli.USD  `json:"value_of_waiting_usd"`
	Deciding  capcli.USD  `json:"value_of_deciding_again_usd"`
	Rest      capcli.USD  `json:"first_now_rest_later_usd"`
	Known     capcli.USD  `json:"known_usd"`
	Perfect   capcli.USD  `json:"value_of_knowing_usd"`
	Decisions []stageJSON `json:"decisions"`
}

type stageJSON struct {
	Number    int            `json:"decision"`
	After     *int           `json:"after_decision"`
	Date      any            `json:"date"`
	Futures   []int          `json:"futures"`
	Wanted    *float64       `json:"wanted_before_gpus"`
	Least     *float64       `json:"wanted_before_least_gpus"`
	Most      *float64       `json:"wanted_before_most_gpus"`
	Purchases []purchaseJSON `json:"purchases"`
}

func (r *futuresPlan) waitingJSON() *waitingJSON {
	w := r.waiting
	if w == nil {
		return nil
	}
	out := &waitingJSON{
		For: r.o.futures.wait, Now: w.Now, Again: w.Again, Bound: w.Bound, Later: w.Later, Value: w.Value(),
		Deciding: w.Now - w.Again, Rest: w.Rest, Known: w.Known, Perfect: w.Now - w.Known,
	}
	for i := range w.Plan.Nodes {
		n := &w.Plan.Nodes[i]
		x := stageJSON{Number: i, Date: r.when(n.From), Futures: n.Futures, Purchases: r.bought(n.Purchases)}
		if n.Parent >= 0 {
			x.After, x.Wanted, x.Least, x.Most = &n.Parent, &n.Wanted, &n.Least, &n.Most
		}
		out.Decisions = append(out.Decisions, x)
	}
	return out
}
