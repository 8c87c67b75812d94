package demand

import (
	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// checkTable returns an error for a setting that does not apply to a table.
func (r *reader) checkTable(name string) error {
	switch {
	case len(r.By) > 0:
		return &capcli.RequestError{Text: name + " is a table of series, which --by cannot divide; it is for job logs", Hint: "name the column that tells series apart: --id-col"}
	case r.Measure != "demand" && !r.Curve:
		return &capcli.RequestError{Text: name + " is a table of series; --measure is for job logs", Hint: "leave --measure out"}
	case r.Peak && !r.PeakPeriods:
		return &capcli.RequestError{Text: name + " is a table of series; --peak alone is the highest level in each step of a job log", Hint: "--peak week gives the highest step of each week ahead (hour, day, month, quarter and year too); --agg max with a coarser --step forecasts peaks"}
	}
	return nil
}

func (r *reader) readTable(in trace.Input, opts series.Options) (*Histories, error) {
	if err := r.checkTable(in.Name); err != nil {
		return nil, err
	}
	text, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	table, err := series.Read(text, opts)
	if err != nil {
		return nil, err
	}
	return r.fromTable(table, r.Step)
}

// maxCurve is the most steps of a demand curve: seven years of minutes.
const maxCurve = 4_000_000

// fromTable returns the histories of a table on the given steps; zero is the step of its stamps.
func (r *reader) fromTable(table *series.Table, steps capcli.Step) (*Histories, error) {
	most := 0
	if r.Curve {
		most = maxCurve
		if err := checkNotNegative(table, r.Trace.TZ); err != nil {
			return nil, err
		}
		if table.Stamp != series.Instant {
			steps = capcli.Step{}
		}
	}
	regular, err := table.Regular(series.Rules{MaxPoints: most, Step: steps, Combine: r.Combine, Gaps: r.Gaps, Zone: r.Trace.TZ})
	if err != nil {
		return nil, err
	}
	hs := &Histories{Inputs: []string{table.File}, Zone: r.Trace.TZ, Clock: table.Stamp == series.Instant, Notes: table.Notes, Summed: r.Combine == series.Sum}
	if hs.Clock {
		hs.Step = regular[0].Grid.Step
		table.Dates = table.Dates && hs.Step.Seconds%capcli.Day == 0 || hs.Step.Days > 0 && r.stepped() || hs.Step.Months > 0 && r.stepped()
	}
	stamps := &series.Table{Stamp: table.Stamp, Dates: table.Dates} // the rows are let go
	hs.FormatStamp = func(stamp int64) string { return stamps.Text(stamp, r.Trace.TZ) }
	for i := range regular {
		hs.List = append(hs.List, &History{Regular: regular[i], Set: hs, Warnings: regular[i].Notes})
	}
	return hs, r.attach(table, hs)
}
