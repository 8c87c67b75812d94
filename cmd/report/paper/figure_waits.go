package paper

import (
	"fmt"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
	"capcli/scenarios/validate"
)

// Recorded against simulated waits: how far the simulation is to be believed.
func init() {
	register(Drawing{ID: "waits", Rank: 140, Needs: "a result of capcli validate, or a run or a plan on a log that records starts", Draw: drawWaits})
}

// Names of the series of waits.
const (
	recordedSeries  = "Recorded"
	simulatedSeries = "Simulated"
)

func drawWaits(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for _, x := range m.checks {
		f := replayed(&x.Doc.Fidelity, "Recorded and simulated waits of "+x.Doc.Input+" ("+x.Doc.Policy+")")
		if x.Doc.Answer != "" {
			f.Notes = append(f.Notes, x.Doc.Answer)
		}
		out = append(out, f)
	}
	seen := map[string]bool{}
	past := func(p *validate.OwnPast, trace string) {
		if p == nil || seen[p.Sentence] {
			return
		}
		seen[p.Sentence] = true
		f := replayed(&p.Fidelity, "Recorded and simulated waits of "+trace+" on its own past")
		f.Notes = append(f.Notes, p.WidenedText())
		out = append(out, f)
	}
	for _, x := range m.mixes {
		past(x.Doc.OwnPast, x.Doc.Trace)
	}
	for i := range m.trials {
		past(m.trials[i].Runs[0].OwnPast, m.trials[i].Runs[0].Trace)
	}
	for i := range m.trials {
		if f, ok := logWaits(m, &m.trials[i]); ok && len(out) < mostPlans {
			out = append(out, f)
		}
	}
	return number1(out), ""
}

func waitsFigure(title string, names []string, recorded, simulated []figure.Number) figure.Figure {
	return figure.Figure{
		ID: "waits", Title: title, Kind: figure.Bars,
		X: figure.Axis{Label: "Quantile of the waits", Unit: figure.Name, Names: names}, Y: figure.Axis{Label: "Wait", Unit: figure.Seconds},
		Series: []figure.Series{{Name: recordedSeries, Y: recorded}, {Name: simulatedSeries, Y: simulated}},
	}
}

// replayed draws the quantiles of a replay of a log with the policy of the simulation.
func replayed(v *validate.Fidelity, title string) figure.Figure {
	values := func(w *validate.Waits) []figure.Number {
		return []figure.Number{figure.Number(w.P50), figure.Number(w.P75), figure.Number(w.P90), figure.Number(w.P95), figure.Number(w.P99)}
	}
	f := waitsFigure(title, []string{"p50", "p75", "p90", "p95", "p99"}, values(&v.Recorded), values(&v.Simulated))
	f.Sentence = sentence(fmt.Sprintf("95%% of the jobs waited at most %s as recorded and %s as simulated", wait(f.Series[0].Y[3]), wait(f.Series[1].Y[3])))
	f.Notes = []string{fmt.Sprintf("of %s jobs", capcli.Grouped(int64(v.Jobs)))}
	return f
}

// logWaits draws the waits of a run beside those that the log records. They are of other capacity,
// unless the scenario is what the log ran on.
func logWaits(m *material, t *trial) (figure.Figure, bool) {
	o := &t.Runs[0]
	l := o.LogWait
	if l == nil {
		return figure.Figure{}, false
	}
	value := func(metric string) figure.Number {
		x, _, _, atLeast := (&trial{Plan: outcome.Plan{Runs: t.Runs[:1]}}).spread(metric)
		if atLeast {
			return unknown
		}
		return x
	}
	f := waitsFigure("Waits that the log records and those of "+m.name(t), []string{"mean", "p50", "p95", "p99"},
		[]figure.Number{figure.Number(l.Mean), figure.Number(l.P50), figure.Number(l.P95), figure.Number(l.P99)},
		[]figure.Number{value("wait_mean"), value("wait_p50"), value("wait_p95"), value("wait_p99")})
	text := fmt.Sprintf("95%% of the jobs waited at most %s as recorded", wait(f.Series[0].Y[2]))
	if s := f.Series[1].Y[2]; s.IsKnown() {
		text += fmt.Sprintf(" and %s in this run", wait(s))
	}
	f.Sentence = sentence(text)
	f.Notes = []string{fmt.Sprintf("the log records the starts of %s jobs, on the capacity of that time", capcli.Grouped(l.Jobs))}
	return f, true
}
