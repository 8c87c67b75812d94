package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// figureTable is a table of single figures, one in a row: what it is, and how
// much.
type figureTable struct{ report.Table }

func newFigures(name string) *figureTable {
	return &figureTable{report.Table{Name: name, Columns: []report.Column{{Name: "figure"}, {Name: "value", Align: report.Right}}}}
}

// add appends a figure, by its name for programs and its words for people.
func (t *figureTable) add(name, head string, value any) {
	t.Rows = append(t.Rows, []any{report.Label{Name: name, Head: head}, value})
}

// outcomeCell is a figure for a table.
func outcomeCell(f outcome.Figure, of func(float64) any) any {
	if f.AtLeast {
		return report.AtLeast{Of: of(f.Value)}
	}
	return of(f.Value)
}

// spreadCell is the mean with its range, or the figure of a single run.
func spreadCell(s outcome.Spread, of func(float64) any) any {
	if s.Runs == 1 {
		return outcomeCell(s.Mean, of)
	}
	return report.Range{Mid: outcomeCell(s.Mean, of), Lo: outcomeCell(s.Lo, of), Hi: outcomeCell(s.Hi, of)}
}

// spreadText is the mean with its range in a sentence, or the figure of a single run.
func spreadText(s outcome.Spread, of func(float64) string) string {
	mean, lo, hi := s.Mean.Text(of), s.Lo.Text(of), s.Hi.Text(of)
	if lo == hi {
		return mean
	}
	return fmt.Sprintf("%s (%s to %s)", mean, lo, hi)
}

// overRuns is a metric over replications for a table.
func overRuns(runs []*play.Run, metric string, cell func(float64) any) any {
	s, ok := outcome.SpreadOf(runs, metric)
	if !ok {
		return nil
	}
	return spreadCell(s, cell)
}

// cellOf is a cell of a run as it is, and of several runs their mean with its range;
// nil where no run knows it.
func cellOf(runs []*play.Run, get func(*play.Run) any) any {
	if len(runs) == 1 {
		return get(runs[0])
	}
	var all []outcome.Figure
	var of func(float64) any
	for _, r := range runs {
		if v, cell := numberOf(get(r)); cell != nil {
			all, of = append(all, v), cell
		}
	}
	s, known := outcome.SpreadOver(all)
	if !known {
		return nil
	}
	return spreadCell(s, func(v float64) any { return signed(of, v) })
}

// numberOf takes a cell apart: its figure, and how to write such figures; nil for what
// is not known.
func numberOf(v any) (outcome.Figure, func(float64) any) {
	switch v := v.(type) {
	case report.AtLeast:
		n, cell := numberOf(v.Of)
		n.AtLeast = true
		return n, cell
	case capcli.USD:
		return outcome.Figure{Value: v.Float()}, moneyCell
	case capcli.GPUTime:
		return outcome.Figure{Value: v.Hours()}, hoursCell
	case capcli.Seconds:
		return outcome.Figure{Value: float64(v)}, secondsCell
	case int64:
		return outcome.Figure{Value: float64(v)}, countCell
	case float64:
		return outcome.Figure{Value: v}, func(v float64) any { return v }
	case report.Percent:
		return outcome.Figure{Value: float64(v)}, percentCell
	case report.Ratio:
		return outcome.Figure{Value: float64(v)}, ratioCell
	case report.MeanTime:
		return outcome.Figure{Value: float64(v)}, secondsCell
	}
	return outcome.Figure{}, nil
}

// boundOver is the lower bound of a mean over replications, nil where the mean is
// known.
func boundOver(runs []*play.Run, metric string) any {
	if s, ok := outcome.SpreadOf(runs, metric); ok && s.Mean.AtLeast {
		return secondsCell(s.Mean.Value)
	}
	return nil
}

// metricCell returns what writes values of a metric for a table.
func metricCell(m *outcome.Metric) func(float64) any {
	switch m.Unit {
	case outcome.InSeconds:
		return secondsCell
	case outcome.InUSD:
		return moneyCell
	case outcome.InGPUHours:
		return hoursCell
	case outcome.InShare:
		return percentCell
	case outcome.InCount:
	}
	if m.Name == "bounded_slowdown_mean" {
		return ratioCell
	}
	return countCell
}

// cells of figures that come as floats.
func secondsCell(v float64) any { return report.MeanTime(v) }
func moneyCell(v float64) any   { return capcli.USD(v*1e6 + 0.5) }
func hoursCell(v float64) any   { return capcli.GPUTime(v*3.6e6 + 0.5) }
func percentCell(v float64) any { return report.Percent(v) }
func ratioCell(v float64) any   { return report.Ratio(v) }
func countCell(v float64) any   { return int64(v + 0.5) }
