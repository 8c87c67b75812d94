package paper

import (
	"fmt"
	"slices"

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

// What the promises of a service come to, by number of replicas: a picture for each promise on a time.
func init() {
	register(Drawing{ID: "service-promise", Rank: 5, Needs: "a plan of capcli plan service with a promise on a time", Only: hasServices, Draw: drawPromises})
}

func hasServices(m *material) bool { return len(m.services) > 0 }

func drawPromises(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		for i := range x.Doc.Promises {
			if f, ok := promiseFigure(x.Doc, &x.Doc.Promises[i]); ok && len(out) < mostPlans {
				out = append(out, f)
			}
		}
	}
	return number1(out), ""
}

func promiseFigure(r *sizing.Result, p *sizing.Promise) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-promise", Title: fmt.Sprintf("%s of %s by replicas", p.Metric, r.Service), Kind: figure.Lines,
		X: figure.Axis{Label: "Replicas", Unit: figure.Count}, Y: figure.Axis{Label: p.Metric, Unit: figure.Seconds},
	}
	if p.Unit == "share" {
		f.Y.Unit = figure.Share
	} else if p.Unit != "s" {
		return f, false
	}
	s := figure.Series{Name: p.Metric}
	for _, t := range r.TriedRows() {
		for i := range t.Promises {
			if t.Promises[i].Metric == p.Metric {
				if r.Replicas != nil && t.Replicas == *r.Replicas {
					s.Chosen = []int{len(s.X)}
				}
				s.X, s.Y = append(s.X, figure.Number(t.Replicas)), append(s.Y, number(t.Promises[i].Value))
			}
		}
	}
	if len(s.X) == 0 {
		return f, false
	}
	f.Series, f.Marks = []figure.Series{s}, []figure.Mark{{Label: "Promise", Axis: "y", At: figure.Number(p.Value)}}
	if f.Sentence = promiseSentence(&f, p); f.Sentence == "" {
		return f, false
	}
	f.Notes = []string{"of all requests that came; one that is rejected is later than any limit"}
	return f, true
}

// promiseSentence says what the chosen number and one fewer make of a promise.
func promiseSentence(f *figure.Figure, p *sizing.Promise) string {
	s := &f.Series[0]
	if len(s.Chosen) == 0 {
		last := len(s.X) - 1
		return sentence(fmt.Sprintf("with %s replicas %s is %s; the promise is %s", count(s.X[last]), p.Metric, f.Y.Unit.Text(s.Y[last]), f.Y.Unit.Text(figure.Number(p.Value))))
	}
	k := s.Chosen[0]
	text := fmt.Sprintf("with %s replicas %s is %s, and the promise is %s", count(s.X[k]), p.Metric, f.Y.Unit.Text(s.Y[k]), f.Y.Unit.Text(figure.Number(p.Value)))
	if k > 0 && s.Y[k-1].IsKnown() {
		text += fmt.Sprintf("; with %s it is %s", count(s.X[k-1]), f.Y.Unit.Text(s.Y[k-1]))
	}
	return sentence(text)
}

// How long the services of played plans take to begin an answer.
func init() {
	register(Drawing{ID: "service-times", Rank: 95, Needs: "a run with services whose requests are played one by one", Only: playsServices, Draw: drawServiceTimes})
}

func playsServices(m *material) bool {
	return slices.ContainsFunc(m.trials, func(x trial) bool { return len(x.Runs[0].Services) > 0 })
}

// fillServices gives f a bar for each of two metrics of each service of the played plans of which both are
// known, as means over the runs. It returns the place of the service with the most of the second; -1 without
// any.
func (m *material) fillServices(f *figure.Figure, first, firstName, second, secondName string) int {
	a, b := figure.Series{Name: firstName}, figure.Series{Name: secondName}
	most := -1
	for i := range m.trials {
		t := &m.trials[i]
		for k := range t.Runs[0].Services {
			name := t.Runs[0].Services[k].Name
			x, _, _, _ := t.spread(name + "." + first)
			y, _, _, _ := t.spread(name + "." + second)
			if !x.IsKnown() || !y.IsKnown() {
				continue
			}
			if len(m.trials) > 1 {
				name += " in " + m.name(t)
			}
			f.X.Names, a.Y, b.Y = append(f.X.Names, name), append(a.Y, x), append(b.Y, y)
			if most < 0 || y > b.Y[most] {
				most = len(b.Y) - 1
			}
		}
	}
	f.Series = []figure.Series{a, b}
	return most
}

func drawServiceTimes(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "service-times", Title: "Time to the first token of an answer", Kind: figure.Bars,
		X: figure.Axis{Label: "Service", Unit: figure.Name}, Y: figure.Axis{Label: "Time", Unit: figure.Seconds},
	}
	slowest := m.fillServices(&f, "ttft_p50", "50% of the requests within", "ttft_p99", "99% within")
	if slowest < 0 {
		return nil, ""
	}
	text := fmt.Sprintf("99%% of the answers of %s begin within %s", f.X.Names[slowest], wait(f.Series[1].Y[slowest]))
	if n := len(f.X.Names); n > 1 {
		text += fmt.Sprintf(", the slowest of %d services", n)
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"over the requests that were answered, the mean over the runs; those rejected or never answered are in the share within the promise alone"}
	return []figure.Figure{f}, ""
}

// What a million tokens cost, by GPU model, width and weights, or by term where there is one choice.
func init() {
	register(Drawing{ID: "service-cost", Rank: 7, Needs: "a plan of capcli plan service with prices", Only: hasServices, Draw: drawServiceCost})
}

func drawServiceCost(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceCost(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceCost(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-cost", Title: "Cost of a million tokens of " + r.Service, Kind: figure.Bars,
		X: figure.Axis{Label: "Choice", Unit: figure.Name}, Y: figure.Axis{Label: "Cost of a million tokens", Unit: figure.USD},
	}
	s := figure.Series{Name: "A million tokens, in and out"}
	add := func(name string, c *sizing.Cost) {
		if c != nil && c.PerMillion != nil && c.Rate > 0 {
			f.X.Names, s.Y = append(f.X.Names, name), append(s.Y, dollars(*c.PerMillion))
		}
	}
	if len(r.Choices) > 1 {
		for i := range r.Choices {
			add(r.Choices[i].Name(), r.Choices[i].Cost)
		}
	} else {
		f.X.Label = "Term"
		for i := range r.Costs {
			add(r.Costs[i].Term, &r.Costs[i])
		}
	}
	if len(s.Y) == 0 {
		return f, false
	}
	least := 0
	for i := range s.Y {
		if s.Y[i] < s.Y[least] {
			least = i
		}
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(fmt.Sprintf("%s is cheapest with %s for a million tokens", f.X.Names[least], usd(s.Y[least])))
	f.Notes = []string{"at the rate of requests that was given, with all replicas held all the time; choices that keep no promise are left out"}
	return f, true
}

// The GPUs that each hour of a service needs, beside what is reserved.
func init() {
	register(Drawing{ID: "service-hours", Rank: 6, Needs: "a plan of capcli plan service --hourly", Only: hasServices, Draw: drawServiceHours})
}

func drawServiceHours(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceHours(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceHours(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-hours", Title: "GPUs that each hour of " + r.Service + " needs", Kind: figure.Bars,
		X: figure.Axis{Label: "Hour", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	if len(r.Hours) == 0 || len(r.Hours) > 24*8 {
		return f, false
	}
	s := figure.Series{Name: "GPUs"}
	high, low := 0, 0
	for i, h := range r.Hours {
		f.X.Names = append(f.X.Names, h.Name())
		s.Y = append(s.Y, number(h.GPUs))
		if s.Y[i] > s.Y[high] || !s.Y[high].IsKnown() {
			high = i
		}
		if s.Y[i] < s.Y[low] || !s.Y[low].IsKnown() {
			low = i
		}
	}
	if !s.Y[high].IsKnown() {
		return f, false
	}
	f.Series = []figure.Series{s}
	text := fmt.Sprintf("%s needs the most with %s GPUs, and %s the fewest with %s", f.X.Names[high], count(s.Y[high]), f.X.Names[low], count(s.Y[low]))
	if r.Split != nil && r.Split.Base > 0 {
		f.Marks = []figure.Mark{{Label: "Reserved", Axis: "y", At: figure.Number(r.Split.Base)}}
		text += fmt.Sprintf("; %s are reserved, and the rest scales", count(f.Marks[0].At))
	}
	f.Sentence = sentence(text)
	return f, true
}

// The GPUs that a service needs if its load grows.
func init() {
	register(Drawing{ID: "service-growth", Rank: 8, Needs: "a plan of capcli plan service --growth", Only: hasServices, Draw: drawServiceGrowth})
}

func drawServiceGrowth(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.services {
		if f, ok := serviceGrowth(x.Doc); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func serviceGrowth(r *sizing.Result) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "service-growth", Title: "GPUs that " + r.Service + " needs if its load grows", Kind: figure.Bars,
		X: figure.Axis{Label: "Load", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
	}
	s := figure.Series{Name: "GPUs"}
	for i := range r.Growth {
		g := &r.Growth[i]
		f.X.Names, s.Y = append(f.X.Names, fmt.Sprintf("x %g", g.Load)), append(s.Y, number(g.GPUs))
	}
	last := len(s.Y) - 1
	if last < 0 || !s.Y[last].IsKnown() || r.Headroom == nil {
		return f, false
	}
	f.Series = []figure.Series{s}
	f.Sentence = sentence(fmt.Sprintf("at %s the load it needs %s GPUs", f.X.Names[last], count(s.Y[last])), r.Headroom.Clause())
	return f, true
}

// What a million tokens and a thousand requests of the services of played plans cost.
func init() {
	register(Drawing{ID: "service-unit-costs", Rank: 121, Needs: "a priced run with services whose tokens are known", Only: playsServices, Draw: drawServiceMoney})
}

func drawServiceMoney(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "service-unit-costs", Title: "Cost of tokens and of requests", Kind: figure.Bars,
		X: figure.Axis{Label: "Service", Unit: figure.Name}, Y: figure.Axis{Label: "Cost", Unit: figure.USD},
	}
	dearest := m.fillServices(&f, "usd_per_mtok", "A million tokens", "usd_per_1000_requests", "1,000 requests")
	if dearest < 0 {
		return nil, ""
	}
	text := fmt.Sprintf("with %s 1,000 requests cost %s and a million tokens %s", f.X.Names[dearest], usd(f.Series[1].Y[dearest]), usd(f.Series[0].Y[dearest]))
	if n := len(f.X.Names); n > 1 {
		text += fmt.Sprintf(", the most for requests of %d services", n)
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"the cost is that of what the replicas held, and their share of what nobody held; over tokens and requests that were answered, the mean over the runs"}
	return []figure.Figure{f}, ""
}
