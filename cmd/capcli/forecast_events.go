package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/forecast"
	"capcli/scenarios"
)

// eventsMax is how large a file of events may be read.
const eventsMax = 2 << 20

// eventPlan is what a file of events says of the series of a call.
type eventPlan struct {
	*forecast.PlannedEvents
	hs   *histories
	of   map[string][]forecast.Event         // by series, in the file's order
	days map[string][]*forecast.PlannedEvent // holidays, by series
	why  map[*forecast.PlannedEvent]string   // why it changes none
}

// readEvents reads the file of --events; nil where there is none.
func (o *forecastOptions) readEvents(e *env) (*forecast.PlannedEvents, error) {
	if o.events == "" {
		return nil, nil //nolint:nilnil // no events given is no error
	}
	b, err := readFile(e, o.events, eventsMax)
	if err != nil {
		return nil, err
	}
	return scenarios.ParseEvents(o.events, b, o.history.zone)
}

// planFor finds the series that each event changes; nil where there are no events.
func planFor(ctx context.Context, events *forecast.PlannedEvents, hs *histories) (*eventPlan, error) {
	if events == nil {
		return nil, context.Cause(ctx)
	}
	if !hs.Clock {
		return nil, &capcli.InputError{File: strings.Join(hs.Inputs, ", "), Field: "ds", Text: "--events needs stamps that are times, found whole numbers", Hint: "give times in the column ds (or --time-col)"}
	}
	p := &eventPlan{
		PlannedEvents: events, hs: hs, of: map[string][]forecast.Event{}, days: map[string][]*forecast.PlannedEvent{},
		why: map[*forecast.PlannedEvent]string{},
	}
	for i := range events.List {
		e := &events.List[i]
		if err := p.bind(e); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// onThePast says what a backtest does not see of the events.
func (p *eventPlan) onThePast() {
	if p != nil && slices.ContainsFunc(p.List, func(e forecast.PlannedEvent) bool { return e.Holiday == nil }) {
		p.hs.Notes = append(p.hs.Notes, "of the events of "+p.File+" only holidays bear on the past: the others are left out here")
	}
}

// bind finds the series of one event.
func (p *eventPlan) bind(e *forecast.PlannedEvent) error {
	bad := func(field, text, hint string) error {
		return &capcli.InputError{File: p.File, Line: e.Line, Field: field, Text: fmt.Sprintf("%s: %s", e.Name, text), Hint: hint}
	}
	hs := p.hs
	switch hs.Measure {
	case "", "demand", "usage":
	default:
		if e.InGPUs() {
			return bad("gpus", "an event in GPUs, but --measure "+hs.Measure+" counts something else", "give a share, or forecast --measure demand")
		}
	}
	names := make([]string, len(hs.list))
	for i, h := range hs.list {
		names[i] = h.Name
	}
	to := e.Series
	switch {
	case (e.All || len(e.Series) == 0) && (len(names) == 1 || !e.InGPUs()):
		to = names
	case e.All:
		to = p.parts(names)
	case len(e.Series) == 0 && slices.Contains(names, "total"):
		to = []string{"total"}
	case len(e.Series) == 0:
		return bad("series", fmt.Sprintf("expected the series that the event changes, as there are %d of them; found none named", len(names)),
			fmt.Sprintf("write series: %q or another of them, or series: all, which adds it to each", names[0]))
	}
	var unknown []string
	for _, name := range to {
		if !slices.Contains(names, name) {
			text := "there is no series " + name
			if near := capcli.Nearest(name, names); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			unknown = append(unknown, text)
			continue
		}
		p.add(e, name, 1)
		for _, sum := range p.sumsOver(e, name) {
			p.add(e, sum.Name, p.partOf(name, sum, e))
		}
	}
	if len(unknown) > 0 {
		p.why[e] = strings.Join(capcli.Abridge(unknown, 3), ", ")
		hs.Notes = append(hs.Notes, fmt.Sprintf("event %s (%s:%d): %s", e.Name, p.File, e.Line, p.why[e]))
	}
	return nil
}

// add has an event change a series, at a scale of itself.
func (p *eventPlan) add(e *forecast.PlannedEvent, name string, scale float64) {
	if e.Holiday != nil {
		p.days[name] = append(p.days[name], e)
		return
	}
	event := e.Event
	event.Size, event.SizeSD = event.Size*scale, event.SizeSD*scale
	if k := slices.IndexFunc(p.of[name], func(other forecast.Event) bool { return other.Name == e.Name }); k >= 0 {
		other := &p.of[name][k] // of two parts: it happens to both or to none
		other.Size, other.SizeSD = other.Size+event.Size, other.SizeSD+event.SizeSD
		return
	}
	p.of[name] = append(p.of[name], event)
}

// parts are the series that are no sums of others.
func (p *eventPlan) parts(names []string) []string {
	if p.hs.tree == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(p.hs.tree.sums, func(h *history) bool { return h.Name == name })
	})
}

// sumsOver are the sums that hold a series of which an event changes by name: what
// a part gets more they have too, unless the event names them or every series.
func (p *eventPlan) sumsOver(e *forecast.PlannedEvent, name string) []*history {
	t := p.hs.tree
	if t == nil || e.Holiday != nil || e.Event.Relative && len(e.Series) == 0 {
		return nil
	}
	within := []int{slices.IndexFunc(t.parts, func(h *history) bool { return h.Name == name })}
	if k := slices.IndexFunc(t.sums, func(h *history) bool { return h.Name == name }); k >= 0 {
		within = t.of[k]
	}
	var out []*history
	for k, sum := range t.sums {
		holds := !slices.ContainsFunc(within, func(j int) bool { return !slices.Contains(t.of[k], j) })
		if holds && sum.Name != name && !slices.Contains(e.Series, sum.Name) {
			out = append(out, sum)
		}
	}
	return out
}

// partOf is what share of a sum an event that is a share of a part is; 1 of one
// that is in GPUs.
func (p *eventPlan) partOf(name string, sum *history, e *forecast.PlannedEvent) float64 {
	if !e.Event.Relative {
		return 1
	}
	part, whole := 0.0, recentLevel(sum)
	for _, h := range p.hs.list {
		if h.Name == name {
			part = recentLevel(h)
		}
	}
	if !(part >= 0 && whole > 0) {
		return 0
	}
	return min(1, part/whole)
}

// recentLevel is the mean of the last values that are known; 0 where none is.
func recentLevel(h *history) float64 {
	level, n := 0.0, 0.0
	for _, v := range h.Values[max(0, len(h.Values)-recentSteps):] {
		if !math.IsNaN(v) {
			level, n = level+v, n+1
		}
	}
	return level / max(1, n)
}

// recentSteps are the last values that a series' level is told from.
const recentSteps = 168

// added is what one event adds to one series.
type added struct {
	event       string
	first, last int // steps ahead that it changes, from 0; first > last is none
	hours       float64
	most        float64 // the largest change of a step's mean
	steps       int
	why         string                  // why it changes none
	learnt      *forecast.HolidayEffect // of a holiday that the history was asked about
}

// roadmapOf is the roadmap of a series and the bounds of the steps ahead.
func (o *forecastOptions) roadmapOf(h *history, steps int) (*forecast.Roadmap, []capcli.Time) {
	if o.plan == nil || len(o.plan.of[h.Name]) == 0 {
		return nil, nil
	}
	end := len(h.Values)
	for end > 0 && math.IsNaN(h.Values[end-1]) {
		end--
	}
	return &forecast.Roadmap{Events: o.plan.of[h.Name], Seed: capcli.Seed(o.seed), Known: capcli.Time(h.Stamp(end))}, h.bounds(len(h.Values), steps)
}

// bounds are the instants between n steps from step from on.
func (h *history) bounds(from, n int) []capcli.Time {
	out := make([]capcli.Time, n+1)
	for i := range out {
		out[i] = capcli.Time(h.Stamp(from + i))
	}
	return out
}

// planned puts the events into a forecast, within what can be, and notes what
// each does.
func (f *forecasted) planned(fc forecast.Forecast, within func(int, float64) float64) (forecast.Forecast, error) {
	if f.roadmap == nil {
		return fc, nil
	}
	adds, err := f.roadmap.Added(fc.Mean, f.bounds)
	if err != nil {
		return fc, err
	}
	for k := range f.roadmap.Events {
		f.added = append(f.added, f.addedBy(&f.roadmap.Events[k], adds[k]))
	}
	if fc, err = f.roadmap.Apply(fc, f.bounds); err != nil {
		return fc, err
	}
	keepWithin(fc, within)
	return fc, nil
}

// withinOf is what keeps the figures of a fit, by step ahead, to what can be.
func withinOf(fit forecast.Fitted) func(int, float64) float64 {
	if b, ok := fit.(*forecast.BoundedFit); ok {
		return b.Bounds()
	}
	return func(_ int, v float64) float64 { return v }
}

// keepWithin brings all figures of a forecast within bounds.
func keepWithin(fc forecast.Forecast, within func(int, float64) float64) {
	all := [][]float64{fc.Mean}
	for _, iv := range fc.Intervals {
		all = append(all, iv.Lo, iv.Hi)
	}
	for _, list := range all {
		for i, v := range list {
			list[i] = within(i, v)
		}
	}
}

// addedBy says what an event that adds these figures does, and warns where it adds
// nothing.
func (f *forecasted) addedBy(e *forecast.Event, add []float64) added {
	out := added{event: e.Name, first: len(add), last: -1}
	out.note(add, f.bounds)
	n := len(f.h.Values)
	switch known := f.roadmap.Known; {
	case out.last >= 0 && e.Start < known:
		f.warnings = append(f.warnings, fmt.Sprintf("event %s began before the end of the history (%s): only what changes from then on is added", e.Name, f.h.StampText(n-1)))
	case out.last >= 0:
	case e.Start >= f.bounds[len(add)]:
		out.why = fmt.Sprintf("it begins after the last step forecast, %s", f.h.StampText(n+len(add)-1))
	case e.Start < known:
		out.why = fmt.Sprintf("it lies before the end of the history, %s, which has it already", f.h.StampText(n-1))
	default:
		out.why = "what is expected of it is nothing"
	}
	if out.why != "" {
		f.warnings = append(f.warnings, fmt.Sprintf("event %s changes nothing here: %s", e.Name, out.why))
	}
	return out
}

// future keeps one way that the events may go: what it adds to a drawn future.
func (f *forecasted) future(path []float64, seed capcli.Seed) {
	if f.roadmap == nil {
		return
	}
	with := slices.Clone(path)
	f.roadmap.ApplyPath(with, f.bounds, seed)
	f.extras = append(f.extras, less(with, path))
}

// less is a without b.
func less(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// eventful adds to each future what the events add to it.
func (f *forecasted) eventful() {
	for k, add := range f.extras {
		for i, v := range add {
			f.paths[k][i] = f.within(i, f.paths[k][i]+v)
		}
	}
}

// dayOrTime writes an instant for people: a day where it is one in the zone, the
// last day where it is an end.
func dayOrTime(t capcli.Time, in *time.Location, last bool) string {
	if !t.Known() {
		return ""
	}
	if in == nil {
		in = time.UTC
	}
	local := t.Std().In(in)
	if local.Hour() == 0 && local.Minute() == 0 && local.Second() == 0 {
		if last { // not the instant after it
			local = local.AddDate(0, 0, -1)
		}
		return local.Format(time.DateOnly)
	}
	return local.Format(time.RFC3339)
}

// dayOrTime is the same in the zone of the call.
func (hs *histories) dayOrTime(t capcli.Time, last bool) string { return dayOrTime(t, hs.Zone, last) }
