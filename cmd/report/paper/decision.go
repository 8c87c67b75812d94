package paper

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide"
	past "capcli/scenarios/decide/trial"
	"capcli/scenarios/figure"
)

// The cost of a decision by the number of GPUs that are bought first, with the sizes that cost the same.
func init() {
	register(Drawing{
		ID: "cost-by-size", Rank: 5, Needs: "a decision of capcli decide", Draw: drawCostBySize,
		Only: func(m *material) bool { return len(m.decisions) > 0 },
	})
}

// The regret of the decision and of rules of thumb on earlier dates of the log.
func init() {
	register(Drawing{
		ID: "regret-by-rule", Rank: 6, Needs: "a decision of capcli decide that was tried on the past", Draw: drawRegret,
		Only: func(m *material) bool { return len(m.decisions) > 0 },
	})
}

// decisionAnswer is the answer of a decision: its own words, and the amounts that a board signs.
func decisionAnswer(r *decide.Result) Answer {
	out := Answer{Sentence: r.Answer, Heads: []Headline{}}
	p := r.Plan
	if p == nil {
		return out
	}
	put := func(name string, v figure.Number, u figure.Unit, about string) {
		if v.IsKnown() {
			out.Heads = append(out.Heads, Headline{Name: name, Value: v, Unit: u, Text: headText(v, u), About: about})
		}
	}
	put("GPUs to commit to", figure.Number(p.GPUs), figure.Count, "from "+r.Start.Date())
	if o := r.Order; o != nil {
		for i := range o.Parts {
			x := &o.Parts[i]
			put(map[string]string{"place": "Of them fenced", "bill": "Of them as a bill"}[x.As], figure.Number(x.GPUs), figure.Count, fmt.Sprintf("for %s at %s a GPU-hour, bound until %s", x.Term, x.Rate, x.Until.Date()))
		}
		put("Order total", dollars(o.Total), figure.USD, fmt.Sprintf("bought on %s, bound until %s", o.Date.Date(), o.Until.Date()))
	}
	put("Cost", dollars(p.Cost), figure.USD, fmt.Sprintf("over %s, mean of %d futures", lengthText(r.Length), r.Futures))
	for i := range r.Alternatives {
		a := &r.Alternatives[i]
		if decide.IsBaseline(a.Name) {
			put("Saving against "+a.Name, dollars(a.Difference), figure.USD, fmt.Sprintf("%s commits to %s GPUs and costs %s", a.Name, capcli.Grouped(int64(a.GPUs)), a.Cost.Brief()))
		}
	}
	return out
}

// decisionTables are the tables of a decision: its plan beside the alternatives, the purchases by date,
// and the sellers.
func (m *material) decisionTables() []Table {
	var out []Table
	for _, x := range m.decisions {
		r := x.Doc
		t := Table{ID: "alternatives", Title: "The plan and what it is compared with", Columns: []Column{
			column("Plan", figure.Name), column("GPUs committed first", figure.Count), column("Cost", figure.USD), column("More than the plan", figure.USD), column("Mean of the worst 5%", figure.USD),
			column("On demand", figure.USD), column("Unused commitment", figure.USD), column("Mean wait", figure.Seconds), column("Wait p95", figure.Seconds), column("Limits held", figure.Share),
		}}
		both := r.Stacks()
		if both {
			t.Columns = slices.Insert(t.Columns, 2, column("Of them fenced", figure.Count))
		}
		for i := range r.Alternatives {
			a := &r.Alternatives[i]
			row := []any{
				a.Name, figure.Number(a.GPUs), dollars(a.Cost), dollars(a.Difference), dollars(a.Worst), dollars(a.OnDemand), dollars(a.Stranded),
				figure.Number(a.WaitMean), figure.Number(a.WaitP95), figure.Number(a.Held),
			}
			if both {
				row = slices.Insert(row, 2, any(figure.Number(a.Place)))
			}
			t.Rows = append(t.Rows, row)
		}
		t.Sentence = "Amounts are means over the futures."
		out = append(out, t)
		if len(r.Sellers) > 1 {
			s := Table{ID: "sellers", Title: "The same work at other sellers", Columns: []Column{
				column("Seller", figure.Name), column("On-demand price", figure.Name), column("GPUs committed first", figure.Count), column("Term", figure.Name), column("Cost", figure.USD), column("More than the plan", figure.USD),
			}}
			for i := range r.Sellers {
				x := &r.Sellers[i]
				s.Rows = append(s.Rows, []any{x.Provider, x.Key + " " + x.OnDemand.String(), figure.Number(x.GPUs), x.Term, dollars(x.Cost), dollars(x.Difference)})
			}
			s.Sentence = "Each is the cheapest plan at the listed prices of that seller, for the same futures; whether the GPUs can be had there is not known."
			out = append(out, s)
		}
		if len(r.Requests) > 0 {
			out = append(out, requestTable(r.Requests))
		}
	}
	return out
}

// requestTable says what each planned event takes of the plan, and adds to its cost.
func requestTable(asks []decide.Ask) Table {
	out := Table{ID: "requests", Title: "What each request takes, and adds to the cost", Columns: []Column{
		column("Request", figure.Name), column("Team", figure.Name), column("GPU-hours", figure.Count), column("Of them committed", figure.Share), column("Added cost", figure.USD), column("Fits the budget", figure.Name), column("Without it", figure.Name),
	}}
	for i := range asks {
		a := &asks[i]
		committed, cost, fits := figure.Number(math.NaN()), figure.Number(math.NaN()), ""
		if a.Committed != nil {
			committed = figure.Number(*a.Committed)
		}
		if a.Cost != nil {
			cost = dollars(*a.Cost)
		}
		if a.Fits != nil {
			fits = map[bool]string{true: "yes", false: "no"}[*a.Fits]
		}
		out.Rows = append(out.Rows, []any{a.Event, a.Team, figure.Number(math.Round(a.GPUHours)), committed, cost, fits, a.Without})
	}
	out.Sentence = "The added cost is that of the best purchases less that of the best without the request alone; the costs need not add up."
	return out
}

func drawCostBySize(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.decisions {
		if f, ok := costBySize(x.Doc); ok {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func costBySize(r *decide.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "cost-by-size", Title: "Cost by the number of GPUs committed first", Kind: figure.Lines,
		X: figure.Axis{Label: "GPUs committed first", Unit: figure.Count}, Y: figure.Axis{Label: "Cost until " + r.End.Date(), Unit: figure.USD},
	}
	if len(r.Sizes) < 2 {
		return f, false
	}
	s := figure.Series{Name: "Cost"}
	least := 0
	for i := range r.Sizes {
		x := &r.Sizes[i]
		s.X, s.Y = append(s.X, figure.Number(x.GPUs)), append(s.Y, dollars(x.Cost))
		s.Lo, s.Hi = append(s.Lo, dollars(x.Range[0])), append(s.Hi, dollars(x.Range[1]))
		if x.Best {
			least = i
			s.Chosen = []int{i}
			f.Marks = append(f.Marks, figure.Mark{Label: "The plan", Axis: "x", At: figure.Number(x.GPUs)})
		}
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(fmt.Sprintf("%s GPUs cost %s; none cost %s, and %s cost %s", count(s.X[least]), usd(s.Y[least]), usd(s.Y[0]), count(s.X[len(s.X)-1]), usd(s.Y[len(s.Y)-1])))
	if t := r.Ties; t != nil && t.Most > t.Least {
		f.Sentence += " " + sentence(fmt.Sprintf("%s to %s GPUs cost the same within the noise", count(figure.Number(t.Least)), count(figure.Number(t.Most))))
	}
	f.Notes = []string{capcli.RangeNote(r.Futures, "futures") + "; later purchases are those of the plan"}
	return f, true
}

func drawRegret(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.decisions {
		if b := x.Doc.Backtest; b != nil {
			for i := range b.Terms {
				if f, ok := regretByRule(&b.Terms[i]); ok {
					out = append(out, f)
				}
			}
		}
	}
	return number1(out), ""
}

// regretByRule draws what each rule would have cost above hindsight.
func regretByRule(t *past.Term) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "regret-by-rule", Title: fmt.Sprintf("What such decisions would have cost on %d earlier dates", len(t.Origins)), Kind: figure.Bars,
		X: figure.Axis{Label: "Rule", Unit: figure.Name}, Y: figure.Axis{Label: "Cost above hindsight", Unit: figure.Share},
	}
	s := figure.Series{Name: "Cost above hindsight, all dates together"}
	own, best := -1, -1
	for i := range t.Rules {
		r := &t.Rules[i]
		if r.Share == nil {
			continue
		}
		k := len(s.Y)
		f.X.Names, s.Y = append(f.X.Names, r.Name), append(s.Y, figure.Number(*r.Share))
		if r == t.Forecast() {
			own, s.Chosen = k, []int{k}
		} else if best < 0 || s.Y[k] < s.Y[best] {
			best = k
		}
	}
	if own < 0 || best < 0 {
		return f, false
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(
		fmt.Sprintf("on %d earlier dates the %s would have cost %s more than hindsight", len(t.Origins), f.X.Names[own], share(s.Y[own])),
		fmt.Sprintf("the best of the other rules is %s, with %s", f.X.Names[best], share(s.Y[best])),
	)
	f.Notes = []string{"hindsight is the best level for what came; each rule decides by what was known at the date"}
	if t.Horizon != "" {
		f.Notes = append(f.Notes, fmt.Sprintf("the log is short: %s of the term %s count", t.Horizon, t.Name))
	}
	return f, true
}
