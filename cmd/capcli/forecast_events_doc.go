package main

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
	"capcli/forecast/outlook"
)

// eventsTable has one row for each event and series that it changes.
func (r *forecastResult) eventsTable() report.Table {
	t := report.Table{Name: "events", Title: "events", Most: shownSeries, Columns: []report.Column{
		{Name: "event"},
		{Name: "kind", Priority: 2},
		{Name: "unique_id", Head: "series"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left, Priority: 1},
		{Name: "gpus", Head: "GPUs"},
		{Name: "share", Priority: 1},
		{Name: "most", Head: "most added"},
		{Name: "gpu_hours", Head: "GPU-hours ahead"},
		{Name: "first_ds", Head: "changes from", Align: report.Left, Priority: 1},
		{Name: "last_ds", Head: "to", Align: report.Left, Priority: 1},
	}}
	planned := r.o.ask.Events
	for i, e := range r.Events {
		p := &planned.List[i]
		gpus, share := plannedSize(p)
		from, to := any(nil), any(nil)
		if p.Holiday == nil {
			from, to = outlook.FormatDay(p.Event.Start, planned.Zone, false), outlook.FormatDay(endOf(&p.Event), planned.Zone, true)
		}
		for _, c := range e.Changes {
			row := []any{e.Name, e.Kind, c.ID, from, to, gpus, share, nil, nil, nil, nil}
			if l := c.Learnt; l != nil && l.Days > 0 {
				row[5], row[6] = learntSize(l)
			}
			if c.Last != "" {
				row[7], row[8], row[9], row[10] = c.Most, c.GPUHours, c.First, c.Last
			}
			t.Rows = append(t.Rows, row)
		}
		if len(e.Changes) == 0 {
			t.Rows = append(t.Rows, []any{e.Name, e.Kind, nil, from, to, gpus, share, nil, nil, nil, nil})
		}
	}
	return t
}

func endOf(e *forecast.Event) capcli.Time {
	if e.End == 0 {
		return capcli.NoTime
	}
	return e.End
}

// plannedSize is how much an event adds, in GPUs with the range that holds 80 %,
// or as a share of the forecast.
func plannedSize(e *forecast.PlannedEvent) (gpus, share any) {
	switch {
	case e.Holiday != nil && !e.Holiday.Declared:
		return nil, nil
	case e.Event.Relative:
		return nil, report.Percent(e.Event.Size)
	case e.Event.SizeSD == 0:
		return e.Event.Size, nil
	}
	const eighty = 1.2815515655446004 // half of the range, in standard deviations
	return report.Range{Mid: e.Event.Size, Lo: e.Event.Size - eighty*e.Event.SizeSD, Hi: e.Event.Size + eighty*e.Event.SizeSD}, nil
}

// learntSize is what the history says of a holiday, mean over such a day.
func learntSize(l *outlook.Learnt) (gpus, share any) {
	if l.Relative {
		return nil, report.Percent(l.Size)
	}
	return l.Size, nil
}
