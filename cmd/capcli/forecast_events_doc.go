package main

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
)

// eventJSON is an event and what it changed.
type eventJSON struct {
	Name        string            `json:"name"`
	Kind        string            `json:"kind"`
	From        string            `json:"from,omitempty"`
	To          string            `json:"to,omitempty"` // the first instant after it
	GPUs        *float64          `json:"gpus,omitempty"`
	Share       *float64          `json:"share,omitempty"`
	SD          float64           `json:"sd"`
	Probability float64           `json:"probability"`
	Late        capcli.Seconds    `json:"late_s"`
	Campaign    *campaignJSON     `json:"campaign,omitempty"`
	Changes     []eventChangeJSON `json:"changes"`
	Why         string            `json:"why_not,omitempty"`
}

type campaignJSON struct {
	FLOPs    float64 `json:"flops"`
	GPUHours float64 `json:"gpu_hours"`
	Lo       float64 `json:"gpu_hours_lo"`
	Hi       float64 `json:"gpu_hours_hi"`
	Hours    float64 `json:"hours"`
}

type eventChangeJSON struct {
	ID       string  `json:"unique_id"`
	First    string  `json:"first_ds,omitempty"`
	Last     string  `json:"last_ds,omitempty"`
	Steps    int     `json:"steps"`
	Most     float64 `json:"most"`
	GPUHours float64 `json:"gpu_hours"`
	Why      string  `json:"why_not,omitempty"`
	// Learnt is what the history says of a holiday.
	Learnt *learntJSON `json:"learnt,omitempty"`
}

type learntJSON struct {
	Days     int     `json:"days"`
	Size     float64 `json:"size"`
	SD       float64 `json:"sd"`
	Relative bool    `json:"relative"`
}

// plannedJSON is the event without what it changed.
func plannedJSON(e *forecast.PlannedEvent) eventJSON {
	out := eventJSON{
		Name: e.Name, Kind: e.Kind, From: e.Event.Start.String(), SD: e.Event.SizeSD, Probability: 1, Late: e.Event.Delay, Changes: []eventChangeJSON{},
	}
	if e.Event.End != 0 {
		out.To = e.Event.End.String()
	}
	if c := e.Event.Chance; c > 0 {
		out.Probability = c
	}
	size := e.Event.Size
	switch {
	case e.Holiday != nil && !e.Holiday.Declared:
	case e.Event.Relative:
		out.Share = &size
	default:
		out.GPUs = &size
	}
	if e.Campaign != nil {
		out.Campaign = &campaignJSON{e.Cost.FLOPs, e.Cost.GPUHours, e.Cost.Lo, e.Cost.Hi, e.Cost.Hours}
	}
	return out
}

// eventsJSON are the events with what they changed; nil where there are none.
func (r *forecastResult) eventsJSON() []eventJSON {
	p := r.o.plan
	if p == nil {
		return nil
	}
	out := make([]eventJSON, len(p.List))
	for i := range p.List {
		e := &p.List[i]
		out[i] = plannedJSON(e)
		out[i].Why = p.why[e]
		for _, f := range r.list {
			for _, a := range f.added {
				if a.event == e.Name {
					out[i].Changes = append(out[i].Changes, a.json(f))
				}
			}
		}
	}
	return out
}

func (a *added) json(f *forecasted) eventChangeJSON {
	out := eventChangeJSON{ID: f.h.Name, Most: a.most, GPUHours: a.hours, Why: a.why, Steps: a.steps}
	if l := a.learnt; l != nil {
		out.Learnt = &learntJSON{l.Past, l.Size, l.SD, l.Relative}
	}
	if n := len(f.h.Values); a.last >= 0 {
		out.First, out.Last = f.h.StampText(n+a.first), f.h.StampText(n+a.last)
	}
	return out
}

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
	p := r.o.plan
	for i := range p.List {
		e := &p.List[i]
		head := []any{e.Name, e.Kind}
		var when []any
		gpus, share := plannedSize(e)
		if e.Holiday == nil {
			when = []any{dayOrTime(e.Event.Start, p.Zone, false), dayOrTime(endOf(&e.Event), p.Zone, true), gpus, share}
		} else {
			when = []any{nil, nil, gpus, share}
		}
		told := false
		for _, f := range r.list {
			for _, a := range f.added {
				if a.event != e.Name {
					continue
				}
				told = true
				row := append(append(append([]any{}, head...), f.h.Name), when...)
				if l := a.learnt; l != nil && l.Past > 0 {
					row[len(row)-2], row[len(row)-1] = learntSize(l)
				}
				if a.last < 0 {
					row = append(row, nil, nil, nil, nil)
				} else {
					n := len(f.h.Values)
					row = append(row, a.most, a.hours, f.h.StampText(n+a.first), f.h.StampText(n+a.last))
				}
				t.Rows = append(t.Rows, row)
			}
		}
		if !told {
			t.Rows = append(t.Rows, append(append(append([]any{}, head...), nil), append(when, nil, nil, nil, nil)...))
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
func learntSize(l *forecast.HolidayEffect) (gpus, share any) {
	if l.Relative {
		return nil, report.Percent(l.Size)
	}
	return l.Size, nil
}
