package paper

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/figure"
)

// What is bought when, until when, and where commitments end.
func init() {
	register(Drawing{ID: "calendar", Rank: 90, Needs: "a dated plan of purchases, or runs with dated commitments", Draw: drawCalendar})
}

// span is a commitment over time.
type span struct {
	row      string
	from, to capcli.Time
	gpus     figure.Number
	cost     capcli.USD
}

func drawCalendar(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	why := ""
	put := func(title string, spans []span, undated bool) {
		switch {
		case undated:
			why = "purchases without dates have no calendar"
		case len(spans) > 0:
			out = append(out, calendar(title, spans))
		}
	}
	for _, x := range m.futures {
		spans, undated := purchased(x.Doc.Optimum.Purchases)
		put("Purchases of the plan over futures", spans, undated)
	}
	for _, x := range m.curves {
		spans, undated := purchased(x.Doc.Optimum.Purchases)
		put("Purchases of the plan for one demand", spans, undated)
	}
	for _, x := range m.joints {
		spans, undated := purchasedJointly(x.Doc.Purchases)
		put("Purchases of the plan for several GPU models", spans, undated)
	}
	for _, x := range m.mixes {
		var spans []span
		for _, o := range x.Doc.Owed {
			if o.Start.IsKnown() && o.End > o.Start {
				s := span{row: o.Name, from: o.Start, to: o.End, gpus: unknown, cost: o.UsedUp + o.LockIn}
				for _, b := range x.Doc.Buys {
					if b.Pool == o.Name {
						s.gpus = figure.Number(b.GPUs)
					}
				}
				spans = append(spans, s)
			}
		}
		put("Commitments of the plan", spans, false)
	}
	if len(out) == 0 {
		for i := range m.trials {
			put("Commitments of "+m.name(&m.trials[i]), contracts(&m.trials[i]), false)
		}
	}
	if len(out) > mostPlans {
		out = out[:mostPlans]
	}
	return number1(out), why
}

// purchased returns purchases as spans. undated reports that they have no dates.
func purchased(list []market.Purchase) (out []span, undated bool) {
	for i := range list {
		p := &list[i]
		if !p.Start.Dated() || !p.End.Dated() {
			return nil, true
		}
		out = append(out, span{p.Term, p.Start.Time, p.End.Time, figure.Number(p.GPUs), cmp.Or(p.Total, p.Cost)})
	}
	return out, false
}

// purchasedJointly returns the purchases of a plan of several models as spans. undated reports that
// they have no dates.
func purchasedJointly(list []joint.Purchase) (out []span, undated bool) {
	for i := range list {
		p := &list[i]
		from, start := instantOf(p.Start)
		to, end := instantOf(p.End)
		if !start || !end {
			return nil, true
		}
		s := span{p.Offer, from, to, unknown, p.Cost}
		if p.Model != nil {
			s.row += ", " + *p.Model
		}
		if p.GPUs != nil {
			s.gpus = figure.Number(*p.GPUs)
		}
		out = append(out, s)
	}
	return out, false
}

// instantOf reads a day or an instant of a joint plan; false where the plan has no dates.
func instantOf(v any) (capcli.Time, bool) {
	text, ok := v.(string)
	if !ok {
		return 0, false
	}
	at, err := capcli.ParseTime(text, nil, false)
	return at, err == nil
}

// contracts returns the commitments of the first run of a plan.
func contracts(t *trial) []span {
	var out []span
	o := &t.Runs[0]
	for i := range o.Contracts {
		c := &o.Contracts[i]
		if !c.Start.IsKnown() || c.End <= c.Start {
			continue
		}
		s := span{row: c.Name, from: c.Start, to: c.End, gpus: unknown, cost: c.UsedUp + c.Unexpired}
		for k := range o.Pools {
			if p := &o.Pools[k]; p.Name == c.Name && o.Ended > 0 {
				s.gpus = figure.Number(p.Offered.Hours() / o.Ended.Hours())
			}
		}
		out = append(out, s)
	}
	return out
}

// calendar draws spans in rows, and marks the instant at which most GPUs end.
func calendar(title string, spans []span) figure.Figure {
	f := figure.Figure{
		ID: "calendar", Title: title, Kind: figure.Spans,
		X: figure.Axis{Label: "Time (UTC)", Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	ends := map[capcli.Time]figure.Number{}
	var cost capcli.USD
	for _, p := range spans {
		i := slices.IndexFunc(f.Series, func(s figure.Series) bool { return s.Name == p.row })
		if i < 0 {
			i, f.Series = len(f.Series), append(f.Series, figure.Series{Name: p.row})
		}
		s := &f.Series[i]
		label := p.cost.String()
		if p.gpus.IsKnown() {
			label = count(p.gpus) + " GPUs, " + label
			ends[p.to] += p.gpus
		}
		s.Lo, s.Hi = append(s.Lo, figure.Number(p.from)), append(s.Hi, figure.Number(p.to))
		s.Y, s.Labels = append(s.Y, p.gpus), append(s.Labels, label)
		cost += p.cost
	}
	parts := []string{fmt.Sprintf("%d %s, %s in all over their terms", len(spans), capcli.Plural(int64(len(spans)), "commitment"), cost)}
	var cliff capcli.Time
	found := false
	for at, gpus := range ends {
		if !found || gpus > ends[cliff] || gpus == ends[cliff] && at < cliff {
			cliff, found = at, true
		}
	}
	if found {
		at := figure.Number(cliff)
		f.Marks = append(f.Marks, figure.Mark{Label: count(ends[cliff]) + " GPUs end", Axis: "x", At: at})
		parts = append(parts, fmt.Sprintf("the largest end is on %s, of %s GPUs", moment(at), count(ends[cliff])))
	}
	f.Sentence = sentence(parts...)
	return f
}
