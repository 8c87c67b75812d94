package paper

import (
	"fmt"

	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/figure"
)

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
