package paper

import (
	"fmt"

	"capcli"
	"capcli/scenarios/paper/figure"
	"capcli/simulate/plan/sizing"
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
	return out
}
