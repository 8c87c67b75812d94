package paper

import (
	"fmt"

	"capcli"
	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// serviceAnswer is the answer of the size of a service: what is dropped first, what to buy, its cost.
func serviceAnswer(r *sizing.Result) Answer {
	out := Answer{Sentence: r.Says}
	if r.Bound.Promise != "" {
		out.Details = append(out.Details, sentence(r.Bound.Says))
	}
	for _, text := range []string{r.SplitSays(), r.HeadroomSays(), r.BreakEvenSays()} {
		if text != "" {
			out.Details = append(out.Details, text)
		}
	}
	if r.GPUs == nil {
		return out
	}
	put := func(name string, v figure.Number, u figure.Unit, about string) {
		out.Heads = append(out.Heads, Headline{name, v, u, headText(v, u), about})
	}
	put("GPUs", figure.Number(*r.GPUs), figure.Count, fmt.Sprintf("%d %s", *r.Replicas, capcli.Plural(int64(*r.Replicas), "replica")))
	for i := range r.Costs {
		if c := &r.Costs[i]; c.Rate > 0 {
			put("Cost a year, "+c.Term, dollars(c.PerYear), figure.USD, "with all GPUs held all the time")
		}
	}
	if c := r.Costs[0]; c.Rate > 0 && c.PerMillion != nil {
		put("A million tokens", dollars(*c.PerMillion), figure.USD, c.Term)
	}
	return out
}

// serviceSpoilers says what a reader must know before the answer.
func (m *material) serviceSpoilers() []string {
	var out []string
	for _, x := range m.services {
		r := x.Doc
		if r.Best == nil {
			out = append(out, "NOT KEPT: no size of "+r.Service+" keeps its promises")
			continue
		}
		if n := r.Choices[*r.Best].Rejected; n > 0 {
			out = append(out, fmt.Sprintf("NOT SERVED: %s rejects %s of %s requests", r.Service, capcli.Grouped(n), capcli.Grouped(int64(r.Traffic.Requests))))
		}
	}
	for i := range m.trials {
		for k := range m.trials[i].Runs[0].Services {
			if text := m.trials[i].unkept(k); text != "" {
				out = append(out, text+" ("+m.name(&m.trials[i])+")")
			}
		}
	}
	return out
}

// mostLate is the share of the requests of a service without a promise that may be late before the paper
// says so first.
const mostLate = 0.01

// unkept says what the worst run of the plan does to the requests of service k; "" where the promise is
// kept, or where few are late and there is none.
func (t *trial) unkept(k int) string {
	worst, text := 1.0, ""
	for i := range t.Runs {
		if k >= len(t.Runs[i].Services) {
			continue
		}
		s := &t.Runs[i].Services[k]
		p := s.Promise
		switch {
		case p != nil && p.Kept != nil:
			if !*p.Kept && p.Share != nil && *p.Share < worst {
				worst = *p.Share
				text = fmt.Sprintf("PROMISE BROKEN: %s answers %s of its requests in time, of %s promised", s.Name, outcome.ShareText(*p.Share), outcome.ShareText(p.Wanted))
			}
		default:
			if kept := 1 - s.LateShare(); kept < min(worst, 1-mostLate) {
				worst = kept
				text = fmt.Sprintf("LATE REQUESTS: %s serves %s of its requests late or not at all", s.Name, outcome.ShareText(1-kept))
			}
		}
	}
	return text
}
