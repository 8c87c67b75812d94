package tables

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// outcomeCell is the table cell of a figure; of formats its value.
func outcomeCell(f outcome.Figure, of func(float64) any) any {
	if f.AtLeast {
		return report.AtLeast{Of: of(f.Value)}
	}
	return of(f.Value)
}

// spreadCell is the table cell of a mean with its range, or of the figure of a single run.
func spreadCell(s outcome.Spread, of func(float64) any) any {
	if s.Runs == 1 {
		return outcomeCell(s.Mean, of)
	}
	return report.Range{Mid: outcomeCell(s.Mean, of), Lo: outcomeCell(s.Lo, of), Hi: outcomeCell(s.Hi, of)}
}

// spreadText is the text of a mean with its range, or of the mean alone where the range has no
// width.
func spreadText(s outcome.Spread, of func(float64) string) string {
	mean, lo, hi := s.Mean.Text(of), s.Lo.Text(of), s.Hi.Text(of)
	if lo == hi {
		return mean
	}
	return fmt.Sprintf("%s (%s to %s)", mean, lo, hi)
}

// overRuns is the table cell of a metric over replications; nil where no run has the metric.
func overRuns(runs []*play.Run, metric string, cell func(float64) any) any {
	s, ok := outcome.SpreadOf(runs, metric)
	if !ok {
		return nil
	}
	return spreadCell(s, cell)
}

// sameInAll is a cell with the same value in every run.
type sameInAll struct{ cell any }

// reachedOn is the time at which a run reached a state; NoTime if it never did.
type reachedOn struct{ at capcli.Time }

// fillRuns returns t with a row for each element of rows, which holds that row's part of each run.
// A cell is the mean over the runs with its range; a text is the text of the first run.
func fillRuns[R any](t report.Table, rows [][]R, fields []report.Field[R]) report.Table {
	var columns []report.Field[[]R]
	for _, f := range fields {
		columns = append(columns, report.Field[[]R]{Name: f.Name, Head: f.Head, Priority: f.Priority, Cell: func(parts []R) any {
			cells := capcli.Map(parts, f.Value)
			return joinCells(cells)
		}})
	}
	return report.Fill(t, rows, columns)
}

// joinCells merges the cells of several runs into one; nil where the figure is known in no run.
func joinCells(cells []any) any {
	switch first := cells[0].(type) {
	case sameInAll:
		return first.cell
	case reachedOn:
		return joinReached(cells)
	}
	if len(cells) == 1 {
		return cells[0]
	}
	var all []outcome.Figure
	var of func(float64) any
	for _, c := range cells {
		if text, ok := c.(string); ok {
			return text
		}
		if v, cell := numberOf(c); cell != nil {
			all, of = append(all, v), cell
		}
	}
	s, known := outcome.SpreadOver(all)
	if !known {
		return nil
	}
	return spreadCell(s, of)
}

// joinReached is the day on which a single run reached the state, or in how many of several runs
// that happened.
func joinReached(cells []any) any {
	came := slices.DeleteFunc(cells, func(c any) bool { return !c.(reachedOn).at.IsKnown() })
	switch {
	case len(came) == 0:
		return "-"
	case len(cells) == 1:
		return came[0].(reachedOn).at.Date()
	}
	return fmt.Sprintf("in %d of %d runs", len(came), len(cells))
}

// numberOf splits a cell into its figure and the function that formats such figures. The function
// is nil where the cell holds no number.
func numberOf(v any) (outcome.Figure, func(float64) any) {
	bound, over := v.(report.AtLeast)
	if over {
		v = bound.Of
	}
	x, cell := report.Number(v)
	return outcome.Figure{Value: x, AtLeast: over}, cell
}

// boundOver is the lower bound of a mean over replications, in seconds; nil where the mean is
// exact.
func boundOver(runs []*play.Run, metric string) any {
	if s, ok := outcome.SpreadOf(runs, metric); ok && s.Mean.AtLeast {
		return report.AsSeconds(s.Mean.Value)
	}
	return nil
}

// metricCell returns the function that formats values of m for a table.
func metricCell(m *outcome.Metric) func(float64) any {
	switch m.Unit {
	case outcome.InSeconds:
		return report.AsSeconds
	case outcome.InUSD:
		return report.AsMoney
	case outcome.InGPUHours:
		return report.AsHours
	case outcome.InShare:
		return report.AsPercent
	case outcome.InCount:
	}
	if m.Name == "bounded_slowdown_mean" {
		return report.AsRatio
	}
	return report.AsCount
}
