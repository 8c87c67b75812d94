package main

import (
	"capcli"
	"capcli/profile/demand"
	"capcli/profile/series"
	"capcli/profile/trace"
)

// tableFlags refuses flags that a table cannot follow.
func (o *historyOptions) tableFlags(name string) error {
	switch {
	case len(o.by) > 0:
		return &usageError{text: name + " is a table of series, which --by cannot divide; it is for job logs", hint: "name the column that tells series apart: --id-col"}
	case o.measure != "demand" && !o.whole:
		return &usageError{text: name + " is a table of series; --measure is for job logs", hint: "leave --measure out"}
	case o.peak && o.peakBy == "" && !o.periods:
		return &usageError{text: name + " is a table of series; --peak alone is the highest level in each step of a job log", hint: "--peak week gives the highest step of each week ahead (hour, day, month, quarter and year too); --agg max with a coarser --step forecasts peaks"}
	}
	return nil
}

// ofTable makes the histories of a table, where the flags let it.
func (o *historyOptions) ofTable(table *series.Table) (*demand.Histories, error) {
	if err := o.tableFlags(table.File); err != nil {
		return nil, err
	}
	return o.fromSeries(table)
}

func (o *historyOptions) fromTable(in trace.Input, opts series.Options) (*demand.Histories, error) {
	if err := o.tableFlags(in.Name); err != nil {
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
	return o.fromSeries(table)
}

// maxCurve is how many steps a demand curve may have: seven years of minutes.
const maxCurve = 4_000_000

// fromSeries makes the histories of a table that was read.
func (o *historyOptions) fromSeries(table *series.Table) (*demand.Histories, error) {
	steps, most := o.steps, 0
	if o.whole {
		most = maxCurve
		if err := notNegative(table, o); err != nil {
			return nil, err
		}
		if table.Stamp != series.Instant {
			steps = capcli.Step{}
		}
	}
	regular, err := table.Regular(series.Rules{MaxPoints: most, Step: steps, Combine: series.Combine(o.agg), Gaps: series.Gaps(o.gaps), Zone: o.zone})
	if err != nil {
		return nil, err
	}
	hs := &demand.Histories{Inputs: []string{table.File}, Zone: o.zone, Clock: table.Stamp == series.Instant, Notes: table.Notes}
	if hs.Clock {
		hs.Step = regular[0].Grid.Step
		table.Dates = table.Dates && hs.Step.Seconds%capcli.Day == 0 || hs.Step.Days > 0 && o.step != "" || hs.Step.Months > 0 && o.step != ""
	}
	hs.FormatStamp = func(stamp int64) string { return table.Text(stamp, o.zone) }
	for i := range regular {
		hs.List = append(hs.List, &demand.History{Regular: regular[i], Set: hs, Warnings: regular[i].Notes})
	}
	return hs, o.attach(table, hs)
}
